"""Which part of a model a stored tensor belongs to, by the names that checkpoints and GGUF files give.

Parts are those by which formats are asked for ("attention", "feed_forward", "expert", "shared_expert", "router",
"lm_head"), and beside them "embedding" and "plain" (norms, biases, other vectors, gates of one column). What is no part
of the counted model is left out, with the reason in words.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from mansard.inputs.tensors import Tensor

BUFFERS = "buffers and tables that are worked out again"
PREDICTION = "extra prediction layers"
TOWERS = "vision and audio towers"
UNKNOWN = "tensors of names that are not known"

# Words are the parts of a name between its dots.
_LAYERS = frozenset(("layers", "h", "blocks", "blk", "layer"))
_PREDICTION = frozenset(("mtp", "nextn", "mtp_layers", "mtp_block"))
_TOWERS = frozenset(
    (
        "vision_tower", "vision_model", "visual", "vision_encoder", "vision_embed_tokens", "vision_backbone",
        "audio_tower", "audio_model", "multi_modal_projector", "mm_projector", "patch_merger", "image_newline", "mlp1",
        "embed_vision", "embed_audio", "resampler", "vpm", "apm", "audio_projection_layer", "talker", "token2wav",
    )
)  # fmt: skip
_BUFFERS = frozenset(
    (
        "rotary_emb", "rotary_pos_emb", "rope", "attn_rot_embd", "rope_freqs", "rope_factors_long",
        "rope_factors_short", "inv_freq", "masked_bias", "e_score_correction_bias", "expert_bias", "exp_probs_b",
        "k_scale", "v_scale", "q_scale", "kv_scale",
    )
)  # fmt: skip
_SCALE_ENDINGS = (
    "scale", "scales", "scale_inv", "scale_2", "qzeros", "zero_point", "zeros", "g_idx", "absmax", "quant_map",
    "weight_shape", "SCB", "biases",
)  # fmt: skip
_ROUTERS = frozenset(("gate", "router", "wg", "ffn_gate_inp"))
_SHARED = frozenset(
    ("shared_expert", "shared_experts", "shared_mlp", "ffn_gate_shexp", "ffn_up_shexp", "ffn_down_shexp")
)
_EXPERTS = frozenset(
    (
        "experts", "local_experts", "input_linear", "output_linear",
        "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps", "ffn_gate_up_exps",
    )
)  # fmt: skip
_HEADS = frozenset(("lm_head", "embed_out", "output_layer"))
_EMBEDDINGS = frozenset(
    (
        "embed_tokens", "wte", "wpe", "word_embeddings", "tok_embeddings", "embed_in", "embed_positions",
        "position_embeddings", "token_embd", "position_embd",
    )
)  # fmt: skip
_ATTENTION = frozenset(
    (
        "self_attn", "self_attention", "attn", "attention", "linear_attn", "mixer", "mamba", "temporal_block", "conv",
        "attn_q", "attn_k", "attn_v", "attn_qkv", "attn_output", "attn_gate", "attn_q_a", "attn_q_b", "attn_kv_a_mqa",
        "attn_kv_b", "attn_k_b", "attn_v_b", "ssm_in", "ssm_out", "ssm_x", "ssm_dt", "ssm_conv1d", "ssm_ba",
    )
)  # fmt: skip
_FEED_FORWARD = frozenset(
    ("mlp", "feed_forward", "ffn", "block_sparse_moe", "fc1", "fc2", "ffn_gate", "ffn_up", "ffn_down")
)
_PROJECTIONS = frozenset(("project_in", "project_out", "shared_expert_gate", "ffn_gate_inp_shexp"))


class Place(NamedTuple):
    """A part, or the reason for which it is left out; `is_scale`: bytes of the part that are no weights themselves."""

    part: str
    left_out: str = ""
    is_scale: bool = False


def place_of(tensor: Tensor, layers: int) -> Place:
    """Where a tensor belongs in a model of so many layers."""
    pieces = tensor.name.split(".")
    words = [piece for piece in pieces if not piece.isdecimal()]
    known = frozenset(words)
    layer = layer_of(tensor)
    if known & _PREDICTION or (layer is not None and layer >= layers):
        return Place("", PREDICTION)
    if known & _TOWERS or words[:1] in (["v"], ["mm"], ["a"]):
        return Place("", TOWERS)
    if known & _BUFFERS or (words[-1:] == ["bias"] and len(tensor.shape) == 4):  # the masks of old checkpoints
        return Place("", BUFFERS)
    if len(words) > 1 and (words[-1].endswith(_SCALE_ENDINGS) or ".quant_state." in tensor.name):
        return Place(_matrix(words, known, layer) or "plain", is_scale=True)
    if len(tensor.shape) <= 1 or _is_plain(words, known):
        return Place("plain")
    # Before 2024-04 the experts of a GGUF file were tensors of their own: blk.0.ffn_up.3.weight.
    is_old_expert = pieces[0] == "blk" and len(pieces) == 5 and pieces[3].isdecimal()
    part = "expert" if is_old_expert else _matrix(words, known, layer)
    return Place(part) if part else Place("", UNKNOWN)


def layer_of(tensor: Tensor) -> int | None:
    """The number of the layer that a tensor's name says; None: outside of the layers."""
    for word, number in pairwise(tensor.name.split(".")):
        if word in _LAYERS and number.isdecimal():
            return int(number[:9])
    return None


def _is_plain(words: Sequence[str], known: frozenset[str]) -> bool:
    last = words[-1] if words else ""
    owner = words[-2] if len(words) > 1 and last == "weight" else last
    return last == "bias" or last.endswith("_bias") or "norm" in owner or bool(known & _PROJECTIONS)


def _matrix(words: Sequence[str], known: frozenset[str], layer: int | None) -> str | None:
    """The part of a matrix, or of what lies beside one; None if no word is known."""
    owner = words[-2] if len(words) > 1 else ""
    for part, names in (("shared_expert", _SHARED), ("expert", _EXPERTS)):
        if known & names:
            return part
    if known & _ROUTERS and layer is not None and not known & _ATTENTION:
        return "router"
    if known & _HEADS or (owner == "output" and layer is None):
        return "lm_head"
    if owner in _EMBEDDINGS or (words and words[-1] in _EMBEDDINGS):
        return "embedding"
    if known & _ATTENTION:
        return "attention"
    return "feed_forward" if known & _FEED_FORWARD else None
