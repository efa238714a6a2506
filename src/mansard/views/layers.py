"""A model's layers in words: runs of alike ones, with what mixes the sequence and what feeds forward in each."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from mansard.inputs.mechanisms import FeedForward, Layer, MixtureOfExperts
from mansard.inputs.mixers import Attention, CrossAttention, LatentAttention, Mixer, Recurrence
from mansard.inputs.model import ModelConfig, layer_parameters
from mansard.views.report import Column
from mansard.views.wording import NONE, counted, number

LAYER_COLUMNS = (Column("layers"), Column("mixer"), Column("feed-forward"), Column("parameters each", right=True))


def layer_runs(model: ModelConfig) -> list[dict[str, Any]]:
    """Runs of alike layers of the decoder."""
    return stack_runs(model.layers, model.hidden_size)


def stack_runs(layers: Sequence[Layer], hidden_size: int) -> list[dict[str, Any]]:
    """Runs of alike layers in order: first and last (from 0), what they are, parameters of one."""
    runs: list[dict[str, Any]] = []
    previous: Layer | None = None
    for place, layer in enumerate(layers):
        if layer == previous:
            runs[-1]["last"] = place
            continue
        runs.append(
            {
                "first": place,
                "last": place,
                "mixer": layer_mixers(layer),
                "feed_forward": feed_forward_words(layer),
                "parameters": layer_parameters(layer, hidden_size),
            }
        )
        previous = layer
    return runs


def layer_cells(run: dict[str, Any]) -> tuple[str, ...]:
    """A run as cells."""
    where = f"{run['first']}" if run["first"] == run["last"] else f"{run['first']}–{run['last']}"
    return where, run["mixer"], run["feed_forward"], number(run["parameters"])


def layer_mixers(layer: Layer) -> str:
    """All mixers of a layer in words."""
    return "; ".join(mixer_words(mixer) for mixer in layer.mixers) or NONE


@singledispatch
def mixer_words(mixer: Mixer) -> str:
    """A mixer in words."""
    raise TypeError(f"no words are known for a {type(mixer).__name__}")


@mixer_words.register
def _heads(mixer: Attention) -> str:
    limit = f", window {mixer.window:,}" if mixer.window else f", chunks of {mixer.chunk:,}" if mixer.chunk else ""
    keys = "" if mixer.kv_heads == mixer.heads else f", {counted(mixer.kv_heads, 'key/value head')}"
    ways = "" if mixer.causal else ", both ways"
    kept = ", an earlier layer's cache" if mixer.shares_cache else ""
    return f"attention: {mixer.heads} heads of {mixer.head_dim}{keys}{limit}{ways}{kept}"


@mixer_words.register
def _latents(mixer: LatentAttention) -> str:
    rank = f"latent {mixer.kv_lora_rank} + {mixer.qk_rope_head_dim}"
    sparse = f", sparse: {mixer.top_k:,} tokens" if mixer.top_k else ""
    again = ", an earlier choice" if mixer.top_k and not mixer.indexer else ""
    return f"MLA: {mixer.heads} heads of {mixer.qk_head_dim}/{mixer.v_head_dim}, {rank}{sparse}{again}"


@mixer_words.register
def _cross(mixer: CrossAttention) -> str:
    keys = "" if mixer.kv_heads == mixer.heads else f", {counted(mixer.kv_heads, 'key/value head')}"
    return f"cross-attention: {mixer.heads} heads of {mixer.head_dim}{keys}"


@mixer_words.register
def _recurrent(mixer: Recurrence) -> str:
    kernel = f", convolution over {mixer.convolution.kernel} tokens" if mixer.convolution else ""
    state = f": state {mixer.state:,}" if mixer.state else ""
    shift = ", mixed with the token before" if mixer.shift else ""
    return f"{mixer.kind.replace('_', ' ')}{state}{kernel}{shift}"


def feed_forward_words(layer: Layer) -> str:
    """The feed-forward part in words."""
    part = layer.feed_forward
    if part is None:
        return NONE
    if isinstance(part, FeedForward):
        return f"{'gated ' if part.gated else ''}{part.intermediate_size:,} ({part.activation})"
    return _experts_words(part)


def _experts_words(part: MixtureOfExperts) -> str:
    shared = f", shared {part.shared.intermediate_size:,}" if part.shared else ""
    inside = f" in a width of {part.latent_size:,}" if part.latent_size else ""
    width = part.expert.intermediate_size
    return f"{part.num_experts_per_tok} of {part.num_experts} experts of {width:,}{inside}{shared}"
