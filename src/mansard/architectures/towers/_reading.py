"""What readers of towers share: the nested part of a configuration, and layers that see both ways."""

from mansard.architectures._plain import plain_attention
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.weights import Norm

LARGEST_SIDE = 1 << 16
# Keys of a part that change no count: what the library's base class writes, and what only training or numerics use.
_HARMLESS = frozenset(
    (
        "_attn_implementation", "_attn_implementation_autoset", "_name_or_path", "add_cross_attention",
        "architectures", "attention_dropout", "auto_map", "bad_words_ids", "begin_suppress_tokens",
        "bos_token_id", "chunk_size_feed_forward", "cross_attention_hidden_size", "decoder_start_token_id",
        "diversity_penalty", "do_sample", "drop_path_rate", "dropout", "dtype", "early_stopping",
        "encoder_no_repeat_ngram_size", "eos_token_id", "exponential_decay_length_penalty", "finetuning_task",
        "forced_bos_token_id", "forced_eos_token_id", "hidden_dropout", "hidden_dropout_prob", "id2label",
        "initializer_factor", "initializer_range", "is_decoder", "is_encoder_decoder", "label2id",
        "layer_norm_eps", "length_penalty", "max_length", "min_length", "model_type", "no_repeat_ngram_size",
        "norm_eps", "num_beam_groups", "num_beams", "num_image_tokens", "num_return_sequences",
        "output_attentions", "output_hidden_states", "output_scores", "pad_token_id", "prefix", "problem_type",
        "projection_dim", "projector_hidden_act", "pruned_heads", "remove_invalid_values", "repetition_penalty",
        "return_dict", "return_dict_in_generate", "rms_norm_eps", "rope_parameters", "rope_theta",
        "scale_embedding", "sep_token_id", "suppress_tokens", "task_specific_params", "temperature",
        "tf_legacy_loss", "tie_encoder_decoder", "tie_word_embeddings", "tokenizer_class", "tokens_per_second",
        "top_k", "top_p", "torch_dtype", "torchscript", "transformers_version", "typical_p", "use_bfloat16",
        "use_cache", "use_flash_attn", "vocab_size",
    )
)  # fmt: skip


def part(keys: Keys, name: str) -> Keys:
    """The keys of a tower; where the configuration has none the class's defaults count, with one note for all."""
    if keys.has(name):
        return keys.nested(name)
    keys.note("class-default", f"{name} is absent: the defaults of the class are counted", "warning")
    return Keys({}, keys.source, f"{keys.prefix}{name}.", faults=keys.faults, notes=[], asked=keys.asked)


def require_width(part: Keys, key: str, width: int, decoder_size: int) -> None:
    """A fault where what leads to the language model has another width; the defaults of an absent part may not fit."""
    if part.document:
        part.require(width == decoder_size, key, f"must be the language model's hidden_size, {decoder_size}", width)


def note_unknown(part: Keys) -> None:
    """Notes the keys of a part that no reader asked for and that are not known to change nothing."""
    unknown = [
        name for name in part.document
        if part.prefix + name not in part.asked and name not in _HARMLESS and not name.endswith("_dropout")
    ]  # fmt: skip
    for name in unknown[:8]:
        part.note("unknown-key", f"{part.prefix}{name[:60]} is not understood and left out", "warning")


def activation(keys: Keys, *names: str, default: str) -> str:
    """The kind of an activation: all kinds of GELU count the same."""
    stated = keys.text(*names, default=default)
    return "gelu" if "gelu" in stated else stated


def seeing_layer(
    keys: Keys, hidden: int, heads: int, width: int, *, kind: str, norm: str = "layer", gated: bool = False,
    bias: bool = True, part_bias: bool | None = None, o_bias: bool | None = None, rotated: bool = False,
) -> Layer:  # fmt: skip
    """A layer in which every token sees every other: attention of equal heads, a part, a norm of `norm` before each.

    bias: of the attention's projections (`o_bias`: of the output's), and of the part unless `part_bias` differs.
    """
    mixer = plain_attention(keys, hidden, heads, bias=bias, o_bias=o_bias)._replace(causal=False)
    inner = FeedForward(width, gated, kind, bias if part_bias is None else part_bias)
    around = Norm(kind="rms" if norm == "rms" else "layer", size=hidden)
    return Layer(
        mixer=mixer._replace(rotary_dim=mixer.head_dim if rotated else 0), feed_forward=inner, norms=(around, around)
    )
