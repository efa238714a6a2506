"""The Llama 4 family: chunked-local attention on rotary layers, whole attention without positions on the others.

Layer i (from 0) has no rotary positions if `no_rope_layers[i]` is 0 (by default each `no_rope_layer_interval`-th); the
rotary layers see the keys of their own chunk of `attention_chunk_size` only, unless `layer_types` says otherwise, and
norm queries and keys without weights (`use_qk_norm`). Sparse layers are those of `moe_layers`, else each
`interleave_moe_layer_step`-th: experts and one shared part of intermediate_size; dense layers have
intermediate_size_mlp. Of a multimodal config the text part is read.

Sources: Meta, "The Llama 4 herd" (2025); the class Llama4ForCausalLM of Hugging Face transformers.
"""

from collections.abc import Callable

from mansard.architectures._experts import gated, require_nested, routed, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, is_null, layer_count, nullable_size, quiet_flag, rms_pair
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("llama4", "llama4_text")
ARCHITECTURES = ("Llama4ForCausalLM", "Llama4ForConditionalGeneration")
MODULES = {
    "feed_forward.gate_proj": "feed_forward.gate_proj", "feed_forward.up_proj": "feed_forward.up_proj",
    "feed_forward.down_proj": "feed_forward.down_proj", "router.router": "feed_forward.router",
    "expert.gate_proj": "feed_forward.experts.gate_up_proj feed_forward.experts.{expert}.gate_proj",
    "expert.up_proj": "feed_forward.experts.gate_up_proj feed_forward.experts.{expert}.up_proj",
    "expert.down_proj": "feed_forward.experts.down_proj feed_forward.experts.{expert}.down_proj",
    "shared_expert.gate_proj": "feed_forward.shared_expert.gate_proj",
    "shared_expert.up_proj": "feed_forward.shared_expert.up_proj",
    "shared_expert.down_proj": "feed_forward.shared_expert.down_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Llama-4-class configuration, text alone or with the text part nested."""
    require_nested(keys, "llama4")
    hidden_size = keys.size("hidden_size", default=5120)
    mixer = head_attention(
        keys, hidden_size, heads=40, kv_heads=8, head_dim=128, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    width = keys.size("intermediate_size", default=8192)
    sparse = routed(
        keys, names=("num_local_experts", "num_experts"), experts=16, top_k=1, expert=gated(width), shared_width=width
    )
    dense = gated(keys.size("intermediate_size_mlp", default=16384))
    count = layer_count(keys, default=48)
    layers = stack(
        count, _mixers(keys, count, mixer), rms_pair(hidden_size), sparse, dense=dense, is_sparse=_sparse(keys, count)
    )
    return decoder(keys, hidden_size, layers, vocab_size=202048, tied=False)


def _mixers(keys: Keys, layers: int, mixer: Attention) -> Callable[[int], Attention]:
    chunk = nullable_size(keys, "attention_chunk_size", default=8192)
    rotary = _rotary(keys, layers)
    chunked = tuple(own and chunk is not None for own in rotary)
    if keys.has("layer_types"):
        kinds = keys.texts("layer_types", length=layers, choices=("full_attention", "chunked_attention"))
        chunked = tuple(kind == "chunked_attention" for kind in kinds)
        keys.require(
            chunk is not None or not any(chunked),
            "attention_chunk_size",
            "is null, but layers are chunked",
            hint="give its size, or full_attention in layer_types",
        )
    normed = quiet_flag(keys, "use_qk_norm", default=True)

    def own(index: int) -> Attention:
        if not rotary[index]:
            return mixer._replace(rotary_dim=0, chunk=chunk if chunked[index] else None)
        q_norm = Norm(kind="none", size=mixer.head_dim, repeats=mixer.heads) if normed else None
        k_norm = Norm(kind="none", size=mixer.head_dim, repeats=mixer.kv_heads) if normed else None
        return mixer._replace(chunk=chunk if chunked[index] else None, q_norm=q_norm, k_norm=k_norm)

    return own


def _rotary(keys: Keys, layers: int) -> tuple[bool, ...]:
    if keys.has("no_rope_layers") and keys.raw("no_rope_layers") != []:
        return tuple(bool(one) for one in keys.sizes("no_rope_layers", length=layers, minimum=0, maximum=1))
    interval = 4
    if keys.has("no_rope_layer_interval"):
        interval = keys.size("no_rope_layer_interval", maximum=MOST_LAYERS)
    return tuple((index + 1) % interval != 0 for index in range(layers))


def _sparse(keys: Keys, layers: int) -> Callable[[int], bool]:
    if "moe_layers" in keys.document and not is_null(keys, "moe_layers"):
        named = frozenset(keys.sizes("moe_layers", minimum=0, maximum=MOST_LAYERS))
        keys.require(
            all(index < layers for index in named),
            "moe_layers",
            f"must name layers below num_hidden_layers, {layers}",
            sorted(named),
        )
        return lambda index: index in named
    step = keys.size("interleave_moe_layer_step", default=1, maximum=MOST_LAYERS)
    return lambda index: (index + 1) % step == 0
