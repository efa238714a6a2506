"""The nanochat family: norms without parameters, on every head too; a squared ReLU without a gate.

Sources: the repository karpathy/nanochat; the class NanoChatForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("nanochat",)
ARCHITECTURES = ("NanoChatForCausalLM",)
MODULES = {"feed_forward.up_proj": "mlp.fc1", "feed_forward.down_proj": "mlp.fc2"}


def read(keys: Keys) -> ModelConfig:
    """A nanochat-class configuration."""
    hidden_size = keys.size("hidden_size", default=768)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=6, kv_heads=None, bias=bias)
    q_norm, k_norm = (Norm(kind="none", size=mixer.head_dim, repeats=heads) for heads in (mixer.heads, mixer.kv_heads))
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    width = keys.size("intermediate_size", default=8192)
    part = FeedForward(intermediate_size=width, gated=False, activation="relu2")
    norm = Norm(kind="none", size=hidden_size)
    layers = (Layer(mixer=mixer, feed_forward=part, norms=(norm, norm)),) * layer_count(keys, default=12)
    return decoder(keys, hidden_size, layers, vocab_size=50304, tied=False, final_norm=norm)
