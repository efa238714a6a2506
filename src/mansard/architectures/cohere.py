"""The Cohere family (Command R): one norm without bias per layer, read by both parts in parallel; tied.

With `use_qk_norm` every query and key head has a norm with a weight of its own, [heads, head_dim].

Sources: the model cards of CohereForAI; the class CohereForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("cohere",)
ARCHITECTURES = ("CohereForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Cohere-class configuration."""
    hidden_size = keys.size("hidden_size", default=8192)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=64, kv_heads=None, bias=bias)
    if quiet_flag(keys, "use_qk_norm", default=False):
        q_norm, k_norm = (
            Norm(kind="layer-no-bias", size=heads * mixer.head_dim) for heads in (mixer.heads, mixer.kv_heads)
        )
        mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=22528), gated=True)
    norm = Norm(kind="layer-no-bias", size=hidden_size)
    layer = Layer(mixer=mixer, feed_forward=part, norms=(norm,), parallel=True)
    layers = (layer,) * layer_count(keys, default=40)
    return decoder(keys, hidden_size, layers, vocab_size=256000, tied=True, final_norm=norm)
