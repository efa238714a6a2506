"""The RWKV family, version 4: time mixing with a weighted average of all values before, channel mixing, no attention.

Both mix their input with that of the token before (token shift). Time mixing projects receptance, key and value [h, A],
A = `attention_hidden_size`, and averages values by exp(key) with a decay of each channel. Channel mixing is a squared
ReLU `intermediate_size` wide (4·h where it is null), times the sigmoid of a receptance [h, h]. Layer norms, one more
after the embedding; nothing grows with the context. Later versions are other families.

Sources: arXiv:2305.13048; the class RwkvForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._reading import decoder, layer_count
from mansard.architectures._state_space import scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Recurrence, TokenShift
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("rwkv",)
ARCHITECTURES = ("RwkvForCausalLM",)
MODULES = {
    "layer": "rwkv.blocks.{layer}", "head": "head", "embedding": "rwkv.embeddings",
    **{f"mixer.{name}": f"attention.{name}" for name in ("receptance", "key", "value", "output")},
    "feed_forward.up_proj": "feed_forward.key", "feed_forward.down_proj": "feed_forward.value",
    "extras.channel_receptance": "feed_forward.receptance",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """An RWKV-4-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    norm = Norm(kind="layer", size=hidden_size)
    width = keys.optional_size("intermediate_size") or 4 * hidden_size
    layer = Layer(
        mixer=rwkv4(hidden_size, width=keys.optional_size("attention_hidden_size") or hidden_size),
        feed_forward=FeedForward(intermediate_size=width, gated=False, activation="relu2"),
        norms=(norm, norm),
        extras=(Matrix("channel_receptance", hidden_size, hidden_size),),
    )
    layers = (layer,) * layer_count(keys, default=32)
    model = decoder(keys, hidden_size, layers, vocab_size=50277, tied=False, final_norm=norm)
    if model.embedding is not None:
        model = replace(model, embedding=model.embedding._replace(norm=norm))
    return scanned(keys, model)


def rwkv4(hidden_size: int, *, width: int) -> Recurrence:
    """RWKV-4's time mixing over A channels, with what the channel mixing beside it keeps and gates.

    Learned are the decay w and the bonus u [A] each, and vectors that mix an input with the one before: three of time
    mixing, two of channel mixing [h]. For each channel and token, with the largest exponent p kept apart so that none
    overflows, y = (n + exp(u + k)·v)/(d + exp(u + k)), n = exp(-w)·n + exp(k)·v, d = exp(-w)·d + exp(k). The output is
    multiplied by the sigmoid of the receptance.

    Vector FLOPs of a token: 28·A, and 5·h. Each of the two averages is one maximum and one sum for its exponent, two
    differences and two exponentials, three operations on n and two on d (11); a division 1, the gate 5. The channel
    mixing's own gate is 5·h. State: n, d and p, 3·A elements of a sequence in fp32, and 2·h inputs of the token before.

    Source: RWKV, arXiv:2305.13048, section 3; the class RwkvSelfAttention of Hugging Face transformers.

    >>> mixer = rwkv4(2560, width=2560)
    >>> mixer.state, mixer.convolution_state, mixer.scan_flops
    (7680, 5120, 84480)
    """
    return Recurrence(
        kind="rwkv4",
        projections=tuple(Matrix(name, hidden_size, width) for name in ("receptance", "key", "value")),
        out=(Matrix("output", width, hidden_size),),
        state=3 * width,
        scan_flops=28 * width + 5 * hidden_size,
        scan_formula="(28·A + 5·h)",
        symbols=(("A", width, "channels"), ("h", hidden_size, "hidden size")),
        vectors=2 * width,
        shift=TokenShift(kept=2 * hidden_size, mixes=5 * hidden_size),
    )
