"""The Qwen3-Next family: three gated delta layers, then one of gated attention; experts and one shared expert in each.

`layer_types` says which layer is which, else every `full_attention_interval`-th has attention. Delta layers project
queries, keys, values and gate at once [h, 2·G·K + 2·H·V], decay and rate of writing [h, 2·H]. Attention has norms on
each head, a quarter of it rotated, and a gate in its queries' projection. Layer i (from 0) is sparse if it is not in
`mlp_only_layers` and (i + 1) is a multiple of `decoder_sparse_step`; else dense with intermediate_size. The shared
expert has a sigmoid gate [h, 1]. No experts at all means that every layer is dense.

Sources: arXiv:2412.06464, arXiv:2505.06708; the class Qwen3NextForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, stack, stepped
from mansard.architectures._linear_attention import (
    EXPERTS,
    LINEAR,
    DeltaSizes,
    gated_attention,
    interval_kinds,
    note_chunks,
    qwen_experts,
)
from mansard.architectures._prediction import chained
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.architectures._state_space import scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Recurrence
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("qwen3_next",)
ARCHITECTURES = ("Qwen3NextForCausalLM",)
MODULES = {
    "prediction": "mtp.layers.{layer}",
    "mixer.in_proj_qkvz": "linear_attn.in_proj_qkvz", "mixer.in_proj_ba": "linear_attn.in_proj_ba",
    "mixer.out_proj": "linear_attn.out_proj", "mixer.g_proj": "self_attn.q_proj",
    "shared_expert.gate_proj": "mlp.shared_expert.gate_proj", "shared_expert.up_proj": "mlp.shared_expert.up_proj",
    "shared_expert.down_proj": "mlp.shared_expert.down_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Qwen3-Next-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    attention = gated_attention(keys, hidden_size, kv_heads=2)
    linear = _delta(keys, hidden_size)
    dense = gated(keys.size("intermediate_size", default=5632))
    sparse = qwen_experts(keys, experts=512, top_k=10) if keys.size(*EXPERTS, default=512, minimum=0) else dense
    count = layer_count(keys, default=48)
    kinds = interval_kinds(keys, count)
    layers = stack(
        count,
        lambda index: linear if kinds[index] == LINEAR else attention,
        rms_pair(hidden_size),
        sparse,
        dense=dense,
        is_sparse=stepped(keys),
    )
    block = Layer(mixer=attention, feed_forward=sparse, norms=rms_pair(hidden_size))
    model = decoder(keys, hidden_size, layers, vocab_size=151936, tied=False)
    return scanned(keys, chained(keys, model, block, default=1))


def _delta(keys: Keys, hidden_size: int) -> Recurrence:
    sizes = DeltaSizes(keys)
    into = (
        Matrix("in_proj_qkvz", hidden_size, 2 * sizes.keys + 2 * sizes.values),
        Matrix("in_proj_ba", hidden_size, 2 * sizes.value_heads),
    )
    mixer = sizes.mixer(into, Matrix("out_proj", sizes.values, hidden_size))
    note_chunks(keys, mixer)
    return mixer
