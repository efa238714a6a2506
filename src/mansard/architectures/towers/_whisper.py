"""Whisper's encoder as sound towers have it: two convolutions over the spectrum, layers that see a whole window.

The second convolution leaves one of two frames; learned or fixed positions are a table [max_source_positions, d_model].
Queries, values and outputs have biases, keys have none. One norm behind the layers.

Sources: arXiv:2212.04356; the classes WhisperEncoder, Qwen2AudioEncoder and VoxtralEncoder of Hugging Face
transformers.
"""

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.architectures.towers._reading import activation, note_unknown, seeing_layer
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.weights import Matrix

_KERNEL = 3


def whisper(keys: Keys) -> Encoder:
    """The encoder by Whisper's own keys or the newer general ones; defaults are those of Whisper-large-v3."""
    hidden = keys.size("d_model", "hidden_size", default=1280)
    bins = keys.size("num_mel_bins", default=128, maximum=1 << 16)
    positions = keys.size("max_source_positions", default=1500)
    heads = keys.size("encoder_attention_heads", "num_attention_heads", default=20)
    width = keys.size("encoder_ffn_dim", "intermediate_size", default=5120)
    layer = seeing_layer(keys, hidden, heads, width, kind=activation(keys, "activation_function", default="gelu"))
    mixer = layer.mixer
    if isinstance(mixer, Attention):
        layer = layer._replace(mixer=mixer._replace(k_bias=False))
    count = layer_count(keys, "encoder_layers", "num_hidden_layers", default=32)
    note_unknown(keys)
    return Encoder(
        name="audio",
        modality="audio",
        hidden_size=hidden,
        layers=(layer,) * count,
        front=(
            Applied(Matrix("conv1", _KERNEL * bins, hidden, bias=True), times=2, kind="convolution"),
            Applied(Matrix("conv2", _KERNEL * hidden, hidden, bias=True), kind="convolution"),
        ),
        norms=(layer_norm(hidden),),
        vectors=positions * hidden,
    )


def positions(keys: Keys) -> int:
    """Tokens of one window of sound."""
    return keys.size("max_source_positions", default=1500)
