"""The Granite-4 hybrid family: Mamba-2 and attention by `layer_types`, and the mixture of GraniteMoeShared behind each.

All layers are Mamba-2 by default. Without experts (`num_local_experts` 0) the shared part of shared_intermediate_size
is the feed-forward part, dense. Heads are rotated only where `position_embedding_type` is "rope". The multipliers of
embedding, residual, attention and logits have no parameters.

Sources: the class GraniteMoeHybridForCausalLM of Hugging Face transformers; the model cards of ibm-granite/granite-4.0.
"""

from mansard.architectures import granitemoeshared
from mansard.architectures._experts import Part, gated, routed, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._state_space import HYBRID_MODULES, layer_kinds, mamba2_part, scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Mixer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("granitemoehybrid",)
ARCHITECTURES = ("GraniteMoeHybridForCausalLM",)
MODULES = HYBRID_MODULES | granitemoeshared.MODULES | {
    "feed_forward.gate_proj": "shared_mlp.input_linear", "feed_forward.up_proj": "shared_mlp.input_linear",
    "feed_forward.down_proj": "shared_mlp.output_linear",
}  # fmt: skip
_KINDS = ("linear_attention", "full_attention")


def read(keys: Keys) -> ModelConfig:
    """A GraniteMoeHybrid-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    attention = head_attention(
        keys,
        hidden_size,
        heads=32,
        kv_heads=None,
        bias=quiet_flag(keys, "attention_bias", default=False),
        rotary=1.0 if keys.raw("position_embedding_type") == "rope" else 0.0,
        floored=True,
    )
    mixer = mamba2_part(keys, hidden_size)
    count = layer_count(keys, default=32)
    kinds = _kinds(keys, count)

    def kind(index: int) -> Mixer:
        return attention if kinds[index] == "full_attention" else mixer

    layers = stack(count, kind, rms_pair(hidden_size), _part(keys))
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=32000, tied=False))


def _kinds(keys: Keys, count: int) -> tuple[str, ...]:
    names = ("layer_types", "layers_block_type")
    if keys.has(*names):
        return layer_kinds(keys, *names, length=count, kinds=_KINDS)
    keys.note("class-default", "layer_types is absent: all layers are Mamba-2, as in the class")
    return ("linear_attention",) * count


def _part(keys: Keys) -> Part:
    names = ("num_local_experts", "num_experts")
    shared = keys.size("shared_intermediate_size", default=1024, minimum=0)
    width = keys.size("intermediate_size", default=11008)
    if keys.size(*names, default=8, minimum=0) == 0:
        keys.require(shared > 0, "shared_intermediate_size", "must be positive where there are no experts", shared)
        return gated(shared)
    return routed(keys, names=names, experts=8, top_k=2, expert=gated(width), shared_width=shared)
