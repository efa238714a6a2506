"""The StableLM family: layer norms, a part of each head rotated, SwiGLU, biases on queries, keys and values if asked.

With `use_parallel_residual` there is one norm per layer; `qk_layernorm` norms every head with a weight of its own.
The head size is the hidden size over the heads: the class has no key for it, and a stated `head_dim` changes nothing.

Sources: arXiv:2402.17834; the class StableLmForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import rotary_share
from mansard.architectures._plain import layer_norm, plain_attention
from mansard.architectures._reading import decoder, layer_count, nullable_size, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("stablelm", "stablelm_epoch")
ARCHITECTURES = ("StableLmForCausalLM", "StableLMEpochForCausalLM")


def read(keys: Keys) -> ModelConfig:
    """A StableLM-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    bias = quiet_flag(keys, "use_qkv_bias", default=False)
    share = keys.number("rope_pct", minimum=0, maximum=1) if keys.has("rope_pct") else rotary_share(keys, default=0.25)
    mixer = _attention(keys, hidden_size, bias=bias, share=share)
    if quiet_flag(keys, "qk_layernorm", default=False):
        q_norm, k_norm = (
            Norm(kind="layer-no-bias", size=heads * mixer.head_dim) for heads in (mixer.heads, mixer.kv_heads)
        )
        mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=6912), gated=True)
    parallel = quiet_flag(keys, "use_parallel_residual", default=False)
    norms = (layer_norm(hidden_size),) * (1 if parallel else 2)
    layer = Layer(mixer=mixer, feed_forward=part, norms=norms, parallel=parallel)
    layers = (layer,) * layer_count(keys, default=32)
    return decoder(keys, hidden_size, layers, vocab_size=50304, tied=False, final_norm=layer_norm(hidden_size))


def _attention(keys: Keys, hidden_size: int, *, bias: bool, share: float) -> Attention:
    heads = keys.size("num_attention_heads", default=32)
    kv_heads = nullable_size(keys, "num_key_value_heads", default=32) or heads
    divides = heads % kv_heads == 0
    keys.require(divides, "num_key_value_heads", f"must divide num_attention_heads {heads}", kv_heads)
    mixer = plain_attention(keys, hidden_size, heads, kv_heads=kv_heads if divides else heads, bias=bias, o_bias=False)
    return mixer._replace(rotary_dim=int(mixer.head_dim * share))
