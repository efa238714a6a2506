"""The FlexOlmo family: OLMo 2's layer, normed after each part instead of before, with a few large experts.

RMS norms over all heads of queries and of keys at once; the two norms of a layer are applied to the outputs of
attention and of the mixture. Every layer is sparse; experts have intermediate_size.

Sources: arXiv:2507.07024; the class FlexOlmoForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention, whole_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("flex_olmo",)
ARCHITECTURES = ("FlexOlmoForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A FlexOlmo-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(
        keys, hidden_size, heads=32, kv_heads=None, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    q_norm, k_norm = whole_norms(mixer)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = routed(
        keys,
        names=("num_experts", "num_local_experts"),
        experts=7,
        top_k=5,
        expert=gated(keys.size("intermediate_size", default=11008)),
    )
    layers = stack(layer_count(keys, default=32), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=100352, tied=False)
