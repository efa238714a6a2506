"""Qwen2.5-Omni, its thinker: Qwen2.5-VL's tower for images, Whisper's encoder in chunks of two seconds for sound.

Sound is as long as it is; a token sees those of its own chunk, `n_window` of them, and the mean of each two goes on
through one matrix. Two learned vectors say where sound begins and ends. What speaks (talker, token2wav) is left out.

Sources: arXiv:2503.20215; the class Qwen2_5OmniThinkerForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures.towers._reading import part, require_width
from mansard.architectures.towers._whisper import whisper
from mansard.architectures.towers.qwen2_5_vl import windowed_tower
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.sounds import WholeAudio
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("qwen2_5_omni", "qwen2_5_omni_thinker")


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The thinker with its tower and its encoder of sound."""
    inner = keys.nested("thinker_config") if keys.has("thinker_config") else keys
    if keys.has("talker_config", "token2wav_config") or keys.raw("model_type") == "qwen2_5_omni":
        text = "only the thinker, which reads and writes, is counted: not what speaks (talker, token2wav)"
        keys.note("thinker-only", text, "warning")
    return replace(model, encoders=(windowed_tower(inner, model.hidden_size), _hearing(inner, model.hidden_size)))


def _hearing(keys: Keys, decoder_size: int) -> Encoder:
    own = part(keys, "audio_config")
    chunk = own.size("n_window", default=100)
    out = own.size("output_dim", default=3584)
    require_width(own, "output_dim", out, decoder_size)
    tower = whisper(own, has_table=False)
    made: dict[int, Layer] = {}
    for layer in tower.layers:
        mixer = layer.mixer
        if isinstance(mixer, Attention) and id(layer) not in made:
            made[id(layer)] = layer._replace(mixer=mixer._replace(chunk=chunk))
    return tower._replace(
        layers=tuple(made.get(id(layer), layer) for layer in tower.layers),
        back=(Applied(Matrix("sound_proj", tower.hidden_size, out, bias=True), per=2),),
        vectors=2 * out,
        reads=WholeAudio(),
    )
