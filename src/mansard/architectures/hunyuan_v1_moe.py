"""The Hunyuan MoE family (Hunyuan-A13B): Llama's layer with RMS norms on each head and one shared part of full width.

Every layer is sparse; experts and the one shared part have intermediate_size. `moe_topk` is one number, or one for each
layer. Published configs repeat the expert's width as `moe_intermediate_size`, which must be the same.

Sources: the Hunyuan-A13B technical report (Tencent, 2025); the class HunYuanMoEV1ForCausalLM of transformers.
"""

from collections.abc import Sequence

from mansard.architectures._experts import gated
from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer, MixtureOfExperts
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("hunyuan_v1_moe",)
ARCHITECTURES = ("HunYuanMoEV1ForCausalLM",)
MODULES = {
    "router.router": "mlp.gate.wg", "shared_expert.gate_proj": "mlp.shared_mlp.gate_proj",
    "shared_expert.up_proj": "mlp.shared_mlp.up_proj", "shared_expert.down_proj": "mlp.shared_mlp.down_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Hunyuan-MoE-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(
        keys, hidden_size, heads=32, kv_heads=None, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    width = keys.size("intermediate_size", default=11008)
    experts = keys.size("num_experts", "num_local_experts", default=1)
    count = layer_count(keys, default=32)
    _require_one_width(keys, "moe_intermediate_size", count, width, "intermediate_size")
    _require_one_width(keys, "num_shared_expert", count, 1, "1")
    layers = tuple(
        Layer(
            mixer=mixer,
            norms=rms_pair(hidden_size),
            feed_forward=MixtureOfExperts(
                num_experts=experts, num_experts_per_tok=chosen, expert=gated(width), shared=gated(width)
            ),
        )
        for chosen in _chosen(keys, count, experts)
    )
    return decoder(keys, hidden_size, layers, vocab_size=290943, tied=False)


def _chosen(keys: Keys, layers: int, experts: int) -> tuple[int, ...]:
    chosen = _by_layer(keys, ("moe_topk", "num_experts_per_tok"), layers, default=1)
    name = "moe_topk" if keys.has("moe_topk") else "num_experts_per_tok"
    keys.require(max(chosen) <= experts, name, f"must be at most the number of experts, {experts}", max(chosen))
    return tuple(min(one, experts) for one in chosen)


def _by_layer(keys: Keys, names: Sequence[str], layers: int, default: int) -> tuple[int, ...]:
    if isinstance(keys.raw(*names), (list, tuple)):
        found = keys.sizes(*names, length=layers)
        return found if len(found) == layers else (default,) * layers
    return (keys.size(*names, default=default),) * layers


def _require_one_width(keys: Keys, name: str, layers: int, wanted: int, called: str) -> None:
    if keys.has(name):
        found = _by_layer(keys, (name,), layers, default=wanted)
        keys.require(
            set(found) == {wanted},
            name,
            f"must be {called} on every layer",
            keys.raw(name),
            "the class has one shared part, and experts of intermediate_size",
        )
