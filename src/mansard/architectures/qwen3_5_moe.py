"""The Qwen3.5-MoE family, its language model: Qwen3.5's layers with experts and one shared expert in each.

The shared expert has a sigmoid gate [h, 1]. Every layer is sparse: the class knows neither `mlp_only_layers` nor
`decoder_sparse_step`.

Sources: arXiv:2412.06464, arXiv:2505.06708; the class Qwen3_5MoeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import require_nested, stack
from mansard.architectures._linear_attention import LINEAR, gated_attention, interval_kinds, qwen_experts, split_delta
from mansard.architectures._prediction import chained
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.architectures._state_space import scanned
from mansard.architectures.qwen3_5 import MODULES as _MODULES
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen3_5_moe", "qwen3_5_moe_text")
ARCHITECTURES = ("Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration")
MODULES = {
    "prediction": "mtp.layers.{layer}",
    **_MODULES,
    "shared_expert.gate_proj": "mlp.shared_expert.gate_proj", "shared_expert.up_proj": "mlp.shared_expert.up_proj",
    "shared_expert.down_proj": "mlp.shared_expert.down_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A configuration of the language model of Qwen3.5-MoE."""
    require_nested(keys, "qwen3_5_moe")
    hidden_size = keys.size("hidden_size", default=2048)
    attention = gated_attention(keys, hidden_size, kv_heads=2)
    linear = split_delta(keys, hidden_size)
    sparse = qwen_experts(keys, experts=256, top_k=8)
    count = layer_count(keys, default=40)
    kinds = interval_kinds(keys, count)
    _require_all_sparse(keys)
    layers = stack(count, lambda index: linear if kinds[index] == LINEAR else attention, rms_pair(hidden_size), sparse)
    block = Layer(mixer=attention, feed_forward=sparse, norms=rms_pair(hidden_size))
    model = decoder(keys, hidden_size, layers, vocab_size=248320, tied=False)
    return scanned(keys, chained(keys, model, block))


def _require_all_sparse(keys: Keys) -> None:
    """Faults where keys that the class does not know make layers dense."""
    only = keys.sizes("mlp_only_layers", default=(), minimum=0) if keys.has("mlp_only_layers") else ()
    keys.require(not only, "mlp_only_layers", "must be empty: the class has experts in every layer", only)
    step = keys.size("decoder_sparse_step") if keys.has("decoder_sparse_step") else 1
    keys.require(step == 1, "decoder_sparse_step", "must be 1: the class has experts in every layer", step)
