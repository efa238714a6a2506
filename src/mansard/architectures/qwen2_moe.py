"""The Qwen2-MoE family: small experts beside one shared expert behind a sigmoid gate [hidden_size, 1].

Biases on queries, keys and values only. Layer i (from 0) is sparse if it is not in `mlp_only_layers` and (i + 1) is a
multiple of `decoder_sparse_step`; else dense with intermediate_size. With `use_sliding_window` the even layers below
`max_window_layers` are windowed, unless `layer_types` says otherwise.

Sources: arXiv:2407.10671; the class Qwen2MoeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack, stepped
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, nullable_size, quiet_flag, rms_pair
from mansard.architectures._windows import windowed_layers
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen2_moe",)
ARCHITECTURES = ("Qwen2MoeForCausalLM",)
MODULES = {
    "shared_expert.gate_proj": "mlp.shared_expert.gate_proj", "shared_expert.up_proj": "mlp.shared_expert.up_proj",
    "shared_expert.down_proj": "mlp.shared_expert.down_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Qwen2Moe-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    mixer = head_attention(
        keys, hidden_size, heads=16, kv_heads=16, o_bias=False, bias=quiet_flag(keys, "qkv_bias", default=True)
    )
    sparse = routed(
        keys,
        names=("num_experts", "num_local_experts"),
        experts=60,
        top_k=4,
        expert=gated(keys.size("moe_intermediate_size", default=1408)),
        shared_width=keys.size("shared_expert_intermediate_size", default=5632),
        shared_gate=True,
    )
    dense = gated(keys.size("intermediate_size", default=5632))
    count = layer_count(keys, default=24)
    windows = _windows(keys, count)
    layers = stack(
        count,
        lambda index: mixer._replace(window=windows[index]),
        rms_pair(hidden_size),
        sparse,
        dense=dense,
        is_sparse=stepped(keys),
    )
    return decoder(keys, hidden_size, layers, vocab_size=151936, tied=False)


def _windows(keys: Keys, layers: int) -> tuple[int | None, ...]:
    if not quiet_flag(keys, "use_sliding_window", default=False):
        return (None,) * layers
    window = nullable_size(keys, "sliding_window", default=4096)
    last = keys.size("max_window_layers", default=28, minimum=0)
    local = windowed_layers(keys, layers, otherwise=lambda index: index % 2 == 0 and index < last)
    return tuple(window if own else None for own in local)
