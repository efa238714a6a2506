"""Voxtral: Whisper's encoder over windows of 30 seconds, four tokens side by side as one, a perceptron to the decoder.

As many tokens are side by side as make intermediate_size of hidden_size. The last window is padded, and its padding
goes on to the decoder.

Sources: arXiv:2507.13264; the class VoxtralForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures.towers._reading import part
from mansard.architectures.towers._whisper import positions, whisper
from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import PaddedAudio
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("voxtral",)
_TOKENS_PER_S = 50


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its encoder and projector."""
    text = keys.nested("text_config")
    text.require(text.has("head_dim"), "head_dim", "must be stated: the class has 128 where others derive it")
    own = part(keys, "audio_config")
    tower, tokens = whisper(own), positions(own)
    wide = own.size("intermediate_size", "encoder_ffn_dim", default=5120)
    own.require(
        wide % tower.hidden_size == 0 and tokens % max(1, wide // tower.hidden_size) == 0,
        "intermediate_size",
        f"must be whole tokens of {tower.hidden_size} side by side",
        wide,
    )
    each, out = max(1, wide // tower.hidden_size), model.hidden_size
    back = (
        Applied(Matrix("projector_in", wide, out), per=each),
        Applied(Matrix("projector_out", out, out), per=each),
    )
    reads = PaddedAudio(tokens / _TOKENS_PER_S, tokens, tokens // each)
    return replace(model, encoders=(tower._replace(back=back, reads=reads),))
