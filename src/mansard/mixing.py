"""The operators of one sequence mixer: attention by heads, latents or to another sequence, and recurrences."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from mansard.inputs.mixers import Attention, CrossAttention, LatentAttention, Mixer, Recurrence
from mansard.inputs.weights import Matrix
from mansard.operators import attention, elementwise, matmul, recurrence
from mansard.operators.cost import Op, Setting
from mansard.operators.step import SOURCE
from mansard.precision import WeightFormat

Stored: TypeAlias = Callable[[Matrix], WeightFormat]


def mixer_operators(mixer: Mixer, hidden: int, weights: Stored, setting: Setting) -> Iterator[Op]:
    """The operators of a mixer in the order in which they run, its matrices stored as `weights` says."""
    if isinstance(mixer, Attention):
        return _heads(mixer, hidden, weights, setting)
    if isinstance(mixer, LatentAttention):
        return _latents(mixer, hidden, weights, setting)
    if isinstance(mixer, CrossAttention):
        return _cross(mixer, hidden, weights, setting)
    return _recurrent(mixer, weights, setting)


def _heads(mixer: Attention, hidden: int, weights: Stored, setting: Setting) -> Iterator[Op]:
    *into, out = mixer.matrices(hidden)
    yield from matmul.linears("qkv_proj", into, weights, setting, group="attention")
    for name, norm in (("q_norm", mixer.q_norm), ("k_norm", mixer.k_norm), ("v_norm", mixer.v_norm)):
        if norm:
            yield elementwise.norm(name, norm, setting, group="attention")
    if mixer.rotary_dim:
        yield elementwise.rotary(mixer, setting)
    if mixer.cache_elements_per_token:
        yield attention.append(mixer, setting)
    yield attention.head_attention(mixer, setting)
    if mixer.sinks:
        yield elementwise.sinks(mixer.heads, setting)
    if mixer.vectors:
        yield elementwise.learned_vectors("attention_vectors", mixer.vectors, setting, group="attention")
    if mixer.gate_size:
        yield elementwise.output_gate(mixer.gate_size, mixer.heads * mixer.value_dim, setting)
    yield matmul.linear("o_proj", [out], weights(out), setting, group="attention")


def _latents(mixer: LatentAttention, hidden: int, weights: Stored, setting: Setting) -> Iterator[Op]:
    *into, out = mixer.matrices(hidden)
    for matrix in into:
        yield matmul.linear(matrix.name, [matrix], weights(matrix), setting, group="attention")
    for norm in mixer.norms:
        yield elementwise.norm("latent_norm", norm, setting, group="attention")
    if mixer.rotates:
        yield elementwise.rotary(mixer, setting)
    yield attention.append(mixer, setting)
    if mixer.indexer:
        yield attention.index_scores(mixer.indexer, setting)
    yield attention.latent_attention(mixer, setting)
    if mixer.gate_size:
        yield elementwise.output_gate(mixer.gate_size, mixer.heads * mixer.v_head_dim, setting)
    yield matmul.linear("o_proj", [out], weights(out), setting, group="attention")


def _cross(mixer: CrossAttention, hidden: int, weights: Stored, setting: Setting) -> Iterator[Op]:
    query, out = mixer.own_matrices(hidden)
    yield matmul.linear(query.name, [query], weights(query), setting, group="cross_attention")
    if mixer.q_norm:
        yield elementwise.norm("cross_q_norm", mixer.q_norm, setting, group="cross_attention")
    yield attention.cross_attention(mixer, setting)
    if mixer.vectors:
        yield elementwise.learned_vectors("cross_vectors", mixer.vectors, setting, group="cross_attention")
    yield matmul.linear(out.name, [out], weights(out), setting, group="cross_attention")


def _recurrent(mixer: Recurrence, weights: Stored, setting: Setting) -> Iterator[Op]:
    if mixer.shift:
        yield recurrence.token_shift(mixer.shift, setting)
    for matrix in mixer.projections:
        yield matmul.linear(matrix.name, [matrix], weights(matrix), setting, group="state")
    if mixer.convolution:
        yield recurrence.short_convolution(mixer.convolution, setting)
    if mixer.scan_flops:
        yield recurrence.scan(mixer, setting)
    elif mixer.vectors:
        yield elementwise.learned_vectors(f"{mixer.kind}_vectors", mixer.vectors, setting, group="state")
    for norm in mixer.norms:
        yield elementwise.norm(f"{mixer.kind}_norm", norm, setting, group="state")
    for matrix in mixer.out:
        yield matmul.linear(matrix.name, [matrix], weights(matrix), setting, group="state")


def source_operators(mixer: CrossAttention, hidden: int, weights: Stored, setting: Setting) -> Iterator[Op]:
    """What cross-attention does once with the tokens of the other sequence: keys and values, kept for every step."""
    matrices = list(mixer.source_matrices(hidden))
    yield from matmul.linears("cross_kv_proj", matrices, weights, setting, group="cross_attention", basis=SOURCE)
    if mixer.k_norm:
        yield elementwise.norm("cross_k_norm", mixer.k_norm, setting, group="cross_attention", basis=SOURCE)
    yield attention.cross_append(mixer, setting)
