"""The Whisper family: an encoder of sound behind two convolutions, and a decoder of text that attends to it.

Sound becomes 100 frames of `num_mel_bins` a second; the first convolution keeps them, the second takes every other one,
each over three, so that a window of `max_source_positions` tokens is that many fiftieths of a second (30 s), whatever
it holds. Keys have no bias. The table of the encoder's positions is not trained, and stored all the same. The head is
tied. The decoder begins with the start token and those that `forced_decoder_ids` lists (language, task, no time
stamps): four where it lists none.

Sources: arXiv:2212.04356; the class WhisperForConditionalGeneration of Hugging Face transformers.
"""

from mansard.architectures._encoders import named_class, refuse_pruning
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import quiet_flag
from mansard.architectures._seq2seq import StackDefaults, decoder_layers, encoder_layers
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Embedding, Head
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import PaddedAudio
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("whisper",)
ARCHITECTURES = ("WhisperForConditionalGeneration", "WhisperModel")
_USUAL = StackDefaults(layers=4, heads=6, width=1536, k_bias=False)
_KERNEL = 3
_TOKENS_PER_SECOND = 50
_START_TOKENS = 4


def read(keys: Keys) -> ModelConfig:
    """A Whisper-class configuration."""
    name = named_class(keys, ARCHITECTURES, ARCHITECTURES[0])
    refuse_pruning(keys)
    hidden = keys.size("d_model", "hidden_size", default=384)
    vocabulary = keys.size("vocab_size", default=51865)
    positions = keys.size("max_target_positions", default=448)
    tied = quiet_flag(keys, "tie_word_embeddings", default=True)
    return ModelConfig(
        name="",
        source=keys.source,
        model_type="",
        architecture="",
        hidden_size=hidden,
        layers=decoder_layers(keys, hidden, _USUAL),
        embedding=Embedding(vocab_size=vocabulary, dim=hidden, positions=positions, position_dim=hidden),
        head=Head(dim=hidden, vocab_size=vocabulary, tied=tied) if name == ARCHITECTURES[0] else None,
        final_norm=layer_norm(hidden),
        encoders=(sound_encoder(keys, hidden),),
        start_tokens=_start_tokens(keys),
        generates=name == ARCHITECTURES[0],
        dtype=keys.dtype(),
        max_position_embeddings=positions,
    )


def sound_encoder(keys: Keys, hidden: int) -> Encoder:
    """Whisper's encoder by its own keys, as models of speech and text have it too."""
    mel = keys.size("num_mel_bins", default=80, maximum=4096)
    tokens = keys.size("max_source_positions", default=1500)
    return Encoder(
        name="audio",
        modality="audio",
        hidden_size=hidden,
        layers=encoder_layers(keys, hidden, _USUAL),
        front=(
            Applied(Matrix("conv1", _KERNEL * mel, hidden, bias=True), times=2, kind="convolution"),
            Applied(Matrix("conv2", _KERNEL * hidden, hidden, bias=True), kind="convolution"),
        ),
        norms=(layer_norm(hidden),),
        vectors=tokens * hidden,
        reads=PaddedAudio(tokens / _TOKENS_PER_SECOND, tokens, tokens),
    )


def _start_tokens(keys: Keys) -> int:
    forced = keys.raw("forced_decoder_ids")
    if forced is None or forced == []:
        keys.note("start-tokens", f"forced_decoder_ids lists none: the decoder begins with {_START_TOKENS} tokens")
        return _START_TOKENS
    if not isinstance(forced, list):
        keys.fault("forced_decoder_ids", "must be a list of positions with tokens", forced)
        return _START_TOKENS
    return 1 + len(forced)
