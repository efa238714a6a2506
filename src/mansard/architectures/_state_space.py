"""Selective state-space mixers, Mamba-1 and Mamba-2, and the keys that families of them share.

Both keep a state per channel: a token decays it, adds an outer product to it, and reads an output from it. The work of
this recurrence is counted once for each token, on the vector units, in prefill as in decode.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Recurrence, ShortConvolution
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm
from mansard.precision import DTYPE_BITS, dtype_name

_OLDER_WORDS: Mapping[str, str] = {"mamba": "linear_attention", "attention": "full_attention"}
_STATE_DTYPES = ("mamba_ssm_cache_dtype", "mamba_ssm_dtype")
# What the checkpoints of models of such mixers alone call their modules, and those of hybrids the mixers.
PURE_MODULES = {
    "layer": "backbone.layers.{layer}",
    "embedding": "backbone.embeddings",
    **{f"mixer.{name}": f"mixer.{name}" for name in ("in_proj", "x_proj", "dt_proj", "out_proj")},
}
HYBRID_MODULES = {f"mixer.{name}": f"mamba.{name}" for name in ("in_proj", "x_proj", "dt_proj", "out_proj")}
# A mixer's heads are separate products where they have weights of their own: more than anybody built.
MOST_HEADS = 1024


def mamba1(
    hidden_size: int,
    *,
    channels: int,
    state: int,
    rank: int,
    kernel: int,
    conv_bias: bool,
    bias: bool,
    heads: int = 1,
    norms: tuple[Norm, ...] = (),
) -> Recurrence:
    """Mamba-1's selective scan over I channels with N numbers of state each.

    The input is projected to I channels and I gates [h, 2·I]; after a convolution the channels give a time step of
    `rank` R and the vectors B and C [I, R + 2·N], and the time step is spread over the channels again [R, I] with a
    bias. Learned are A [I, N] and the skip D [I]. `heads`: so many parts of the channels have products of their own.
    Then, for each channel and token, h = exp(Δ·A)·h + (Δ·x)·B and y = C·h + D·x, gated by silu(z).

    Vector FLOPs of a token: 7·I·N for the state (two for the decay, one for the product with B, two to decay and add,
    two to read), 11·I beside it (softplus 3, Δ·x, skip 2, gate 5) and 4·I for the activation of the convolution.
    State: I·N elements of a sequence, and k inputs of each channel.

    Source: Mamba, arXiv:2312.00752, equations 2 to 4 and figure 3; the class MambaMixer of Hugging Face transformers.

    >>> mamba1(768, channels=1536, state=16, rank=48, kernel=4, conv_bias=True, bias=False).scan_flops
    195072
    >>> 7 * 1536 * 16 + 15 * 1536
    195072
    """
    part = channels // heads
    each = (Matrix("x_proj", part, rank + 2 * state), Matrix("dt_proj", rank, part, bias=True))
    return Recurrence(
        kind="mamba",
        projections=(Matrix("in_proj", hidden_size, 2 * channels, bias), *each * heads),
        out=(Matrix("out_proj", channels, hidden_size, bias),),
        state=channels * state,
        scan_flops=7 * channels * state + 15 * channels,
        scan_formula="(7·I·N + 15·I)",
        symbols=(("I", channels, "channels"), ("N", state, "numbers of state of a channel")),
        convolution=ShortConvolution(channels, kernel, conv_bias),
        vectors=channels * state + channels,
        norms=norms,
    )


def mamba2(
    hidden_size: int,
    *,
    heads: int,
    head_dim: int,
    state: int,
    groups: int,
    kernel: int,
    conv_bias: bool,
    in_bias: bool,
    out_bias: bool,
    normed: bool = True,
) -> Recurrence:
    """Mamba-2's scan over H heads of P channels with N numbers of state each; G groups of heads share B and C.

    One projection gives gate, channels, B, C and time step [h, 2·H·P + 2·G·N + H]; channels, B and C pass the
    convolution. Learned are A, the skip D and the time step's bias [H] each. Then, for each head and token,
    S = exp(Δ·A)·S + (Δ·x)·Bᵀ with S [P, N], and y = S·C + D·x, gated by silu(z), and normalised [H·P] if `normed`.

    Vector FLOPs of a token: 5·H·P·N for the state (decay, outer product, sum, and two to read), 8·H·P beside it (Δ·x,
    skip 2, gate 5), 6·H for the time step (bias, softplus 3, Δ·A, exp) and 4·(H·P + 2·G·N) for the activation of the
    convolution. State: H·P·N elements of a sequence, and k inputs of each of the H·P + 2·G·N channels.

    Source: Mamba-2, arXiv:2405.21060, sections 5 to 7; the class Mamba2Mixer of Hugging Face transformers.

    >>> sizes = dict(heads=80, head_dim=64, state=128, groups=1, kernel=4)
    >>> mixer = mamba2(2560, **sizes, conv_bias=True, in_bias=False, out_bias=False)
    >>> mixer.state, mixer.convolution_state, mixer.scan_flops
    (655360, 21504, 3339744)
    >>> 5 * 80 * 64 * 128 + 8 * 80 * 64 + 6 * 80 + 4 * (80 * 64 + 2 * 128)
    3339744
    """
    inner = heads * head_dim
    mixed = inner + 2 * groups * state
    return Recurrence(
        kind="mamba2",
        projections=(Matrix("in_proj", hidden_size, inner + mixed + heads, in_bias),),
        out=(Matrix("out_proj", inner, hidden_size, out_bias),),
        state=inner * state,
        scan_flops=5 * inner * state + 8 * inner + 6 * heads + 4 * mixed,
        scan_formula="(5·H·P·N + 8·H·P + 6·H + 4·C)",
        symbols=(
            ("H", heads, "heads"),
            ("P", head_dim, "channels of a head"),
            ("N", state, "numbers of state of a channel"),
            ("C", mixed, "channels of the convolution: H·P + 2·G·N"),
        ),
        convolution=ShortConvolution(mixed, kernel, conv_bias),
        vectors=3 * heads,
        norms=(Norm(kind="rms", size=inner),) if normed else (),
    )


def chunk_flops(mixer: Recurrence, chunk: int) -> int:
    """Matrix FLOPs of one token where Mamba-2 is prefilled in chunks of Q tokens, the whole square of each.

    Inside a chunk the scores C·Bᵀ and their product with the inputs, 2·Q·H·(N + P); between chunks the states that are
    made and read, 4·H·P·N. Scores may be shared by the heads of a group. Source: arXiv:2405.21060, section 6.

    >>> sizes = dict(heads=80, head_dim=64, state=128, groups=1, kernel=4)
    >>> mixer = mamba2(2560, **sizes, conv_bias=True, in_bias=False, out_bias=False)
    >>> chunk_flops(mixer, 256), 2 * 256 * 80 * (128 + 64) + 4 * 80 * 64 * 128
    (10485760, 10485760)
    """
    size = {symbol: int(value) for symbol, value, _ in mixer.symbols}
    return 2 * chunk * size["H"] * (size["N"] + size["P"]) + 4 * mixer.state


def note_chunks(keys: Keys, mixer: Recurrence, chunk: int) -> None:
    """Says that the scan is counted as a recurrence, and what an engine does that prefills in chunks."""
    text = (
        f"the scan is counted as a recurrence, {mixer.scan_flops:,} vector FLOPs a token and layer; engines that "
        f"prefill in chunks of {chunk:,} tokens do {chunk_flops(mixer, chunk):,} matrix FLOPs in its place"
    )
    keys.note("scan", text)


def scanned(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with the dtype that its configuration gives the state; fp32 otherwise, as the classes keep it."""
    stated = keys.raw(*_STATE_DTYPES)
    name = next((name for name in _STATE_DTYPES if keys.has(name)), "")
    if stated is None or stated == "auto":
        keys.note("default-state-dtype", "the config names no dtype of the state: fp32, as the class keeps it")
        return model
    found = dtype_name(stated) if isinstance(stated, str) else None
    if found is None or DTYPE_BITS[found] > DTYPE_BITS["fp32"]:
        keys.fault(name, "is no dtype that a state is kept in", stated, "float32, bfloat16 or float16")
        return model
    return replace(model, state_dtype=found)


def expanded(keys: Keys, name: str, hidden_size: int) -> int:
    """Channels of a mixer: the key times the hidden size, twice it by default; the key may be a fraction."""
    return max(1, int(keys.number(name, default=2.0, minimum=0.0, maximum=1024.0) * hidden_size))


def auto_size(keys: Keys, name: str, automatic: int) -> int:
    """A whole number; the class's own where the key is absent, null or "auto"."""
    return automatic if keys.raw(name) in (None, "auto") else keys.size(name)


def mamba1_decoder(keys: Keys, *, normed: bool) -> ModelConfig:
    """A model of Mamba-1 layers alone; `normed`: time step, B and C are normalised, without weights.

    A stated `intermediate_size` is what the classes take, whatever `expand` says.
    """
    hidden_size = keys.size("hidden_size", default=768)
    channels = keys.optional_size("intermediate_size") or expanded(keys, "expand", hidden_size)
    state, rank = keys.size("state_size", default=16), auto_size(keys, "time_step_rank", -(-hidden_size // 16))
    mixer = mamba1(
        hidden_size,
        channels=channels,
        state=state,
        rank=rank,
        kernel=keys.size("conv_kernel", default=4),
        conv_bias=quiet_flag(keys, "use_conv_bias", default=True),
        bias=quiet_flag(keys, "use_bias", default=False),
        norms=tuple(Norm(kind="none", size=size) for size in (rank, state, state)) if normed else (),
    )
    layer = Layer(mixer=mixer, feed_forward=None, norms=(Norm(kind="rms", size=hidden_size),))
    layers = (layer,) * layer_count(keys, default=32)
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=50280, tied=True))


def mamba1_part(keys: Keys, hidden_size: int, *, heads: int = 1, normed: bool = False) -> Recurrence:
    """The Mamba-1 mixer of a hybrid, by the keys `mamba_…`; `normed`: time step, B and C have RMS norms."""
    channels = expanded(keys, "mamba_expand", hidden_size)
    state, rank = keys.size("mamba_d_state", default=16), auto_size(keys, "mamba_dt_rank", -(-hidden_size // 16))
    keys.require(channels % heads == 0, "n_mamba_heads", f"must divide the {channels} channels", heads)
    return mamba1(
        hidden_size,
        channels=channels,
        state=state,
        rank=rank,
        kernel=keys.size("mamba_d_conv", default=4),
        conv_bias=quiet_flag(keys, "mamba_conv_bias", default=True),
        bias=quiet_flag(keys, "mamba_proj_bias", default=False),
        heads=heads,
        norms=tuple(Norm(kind="rms", size=size) for size in (rank, state, state)) if normed else (),
    )


def mamba2_part(
    keys: Keys, hidden_size: int, *, channels: int | None = None, out_bias: bool | None = None, normed: bool = True
) -> Recurrence:
    """The Mamba-2 mixer of a hybrid, by the keys `mamba_…`, with the class defaults that Bamba's relatives share.

    channels: where they are not `mamba_expand` · `hidden_size`. out_bias: where it is not `mamba_proj_bias`.
    """
    inner = channels or expanded(keys, "mamba_expand", hidden_size)
    heads = keys.size("mamba_n_heads", default=128)
    head_dim = auto_size(keys, "mamba_d_head", max(1, inner // heads))
    problem = f"times the head size {head_dim} must be the {inner} channels of the mixer"
    keys.require(heads * head_dim == inner, "mamba_n_heads", problem, heads)
    groups = keys.size("mamba_n_groups", default=1)
    keys.require(heads % groups == 0, "mamba_n_groups", f"must divide mamba_n_heads, {heads}", groups)
    bias = quiet_flag(keys, "mamba_proj_bias", default=False)
    mixer = mamba2(
        hidden_size,
        heads=heads,
        head_dim=head_dim,
        groups=groups,
        state=keys.size("mamba_d_state", default=256),
        kernel=keys.size("mamba_d_conv", default=4),
        conv_bias=quiet_flag(keys, "mamba_conv_bias", default=True),
        in_bias=bias,
        out_bias=bias if out_bias is None else out_bias,
        normed=normed,
    )
    note_chunks(keys, mixer, keys.size("mamba_chunk_size", default=256))
    return mixer


def layer_kinds(keys: Keys, *names: str, length: int | None, kinds: Sequence[str]) -> tuple[str, ...]:
    """The kind of each layer from a list under the first of the names that is there, in the classes' newer words.

    Older files say "mamba" and "attention" for "linear_attention" and "full_attention". A kind that is not one of
    `kinds` is a fault.
    """
    older = [word for word, newer in _OLDER_WORDS.items() if newer in kinds]
    name = next(name for name in names if keys.has(name))
    found = tuple(_OLDER_WORDS.get(kind, kind) for kind in keys.texts(name, length=length))
    if keys.is_sound(name):
        unknown = ", ".join(dict.fromkeys(kind for kind in found if kind not in kinds))
        hint = f"known are {', '.join((*older, *kinds))}"
        keys.require(not unknown, name, "names kinds of layers that are not known", unknown[:60], hint)
        keys.require(bool(found), name, "must name at least one layer", [])
    for other in (other for other in names if other != name and keys.has(other)):
        again = tuple(_OLDER_WORDS.get(kind, kind) for kind in keys.texts(other))
        keys.require(again == found, other, f"is not what {name} says", keys.raw(other))
    return found if keys.is_sound(name) else (kinds[0],) * (length or 1)
