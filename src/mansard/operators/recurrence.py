"""Mixers that carry a state: short convolutions and scans over a state that does not grow with the context."""

from mansard.inputs.mixers import Recurrence, ShortConvolution, TokenShift
from mansard.operators.cost import Op, Setting, form
from mansard.operators.step import ONE, RESUMED, SEQUENCES, TOKENS, Basis


def scan(mixer: Recurrence, setting: Setting) -> Op:
    """The recurrence: each token decays the state, adds to it, and reads from it; vector work, once for each token.

    The state of a sequence is read at the beginning of a step, unless it begins with nothing, and written at its end.
    Learned decays, skips and time steps are read with the weights. Chunked algorithms, which turn part of the scan into
    matrix products, do other work for the same result. Sources: with the mixer that is scanned.

    A layer of Mamba-2 2.7B in decode: 80·64·128 numbers of state in fp32 are read and written, whatever the context.

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> work = dict(scan_flops=5 * 80 * 64 * 128, scan_formula="5·H·P·N", symbols=())
    >>> mixer = Recurrence("mamba2", projections=(), out=(), state=80 * 64 * 128, **work)
    >>> cost = scan(mixer, setting).cost(Step(batch=1, new=1, cached=1000))
    >>> cost.cache_read_bytes, cost.cache_write_bytes, 80 * 64 * 128 * 4
    (2621440, 2621440, 2621440)
    """
    stored = -(-mixer.state * setting.state_bits // 8)
    width = sum(matrix.columns for matrix in mixer.projections)
    moved = 0 if setting.fusion == "full" else width
    return Op(
        name=f"{mixer.kind}_scan",
        kind="scan",
        group="state",
        dtype=setting.activation_dtype,
        symbols=(*mixer.symbols, ("s", stored, "bytes of state of a sequence and layer")),
        vector_flops=form(mixer.scan_flops, TOKENS, mixer.scan_formula),
        weight_bytes=form(setting.vector_bytes(mixer.vectors), ONE, "w"),
        cache_read_bytes=form(stored, RESUMED, "s"),
        cache_write_bytes=form(stored, SEQUENCES, "s"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "N·a"),
    )


def short_convolution(part: ShortConvolution, setting: Setting) -> Op:
    """A causal convolution over k tokens, each channel by itself: 2·k FLOPs an element, on the vector units.

    The k - 1 inputs before the step are read, unless it begins with nothing. As many are kept for the next step, of
    which those of the step's own tokens are written. Source: Mamba, arXiv:2312.00752, section 3.4.

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> cost = short_convolution(ShortConvolution(channels=8192, kernel=4), setting).cost(Step(1, 1, 1000))
    >>> cost.vector_flops, 2 * 4 * 8192
    (65536, 65536)
    >>> cost.cache_read_bytes, 3 * 8192 * 2
    (49152, 49152)
    """
    kept = part.kernel - 1
    flops = 2 * part.kernel + (1 if part.bias else 0)
    moved = 0 if setting.fusion == "full" else 2 * part.channels
    return Op(
        name="short_convolution",
        kind="convolution",
        group="state",
        dtype=setting.activation_dtype,
        symbols=(("C", part.channels, "channels"), ("k", part.kernel, "tokens that the kernel spans")),
        vector_flops=form(flops * part.channels, TOKENS, f"{flops}·C"),
        weight_bytes=form(setting.vector_bytes(part.parameters), ONE, "C·k·w"),
        cache_read_bytes=form(setting.activation_bytes(kept * part.channels), RESUMED, "(k - 1)·C·a"),
        cache_write_bytes=form(setting.activation_bytes(part.channels), Basis("tail", fixed=kept), "C·a"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "2·C·a"),
    )


def token_shift(part: TokenShift, setting: Setting) -> Op:
    """Inputs mixed with those of the token before, μ·x + (1 - μ)·x': 3 vector FLOPs for each element of the vectors μ.

    Those of the last token are read, unless the step begins with nothing, and written at its end.
    Source: RWKV, arXiv:2305.13048, section 3.

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> cost = token_shift(TokenShift(kept=2 * 2560, mixes=5 * 2560), setting).cost(Step(1, 1, 1000))
    >>> cost.vector_flops, 3 * 5 * 2560
    (38400, 38400)
    >>> cost.cache_read_bytes, cost.cache_write_bytes, 2 * 2 * 2560
    (10240, 10240, 10240)
    """
    moved = 0 if setting.fusion == "full" else part.kept + part.mixes
    kept = setting.activation_bytes(part.kept)
    return Op(
        name="token_shift",
        kind="convolution",
        group="state",
        dtype=setting.activation_dtype,
        symbols=(("M", part.mixes, "elements of the vectors"), ("S", part.kept, "inputs of the token before")),
        vector_flops=form(3 * part.mixes, TOKENS, "3·M"),
        weight_bytes=form(setting.vector_bytes(part.mixes), ONE, "M·w"),
        cache_read_bytes=form(kept, RESUMED, "S·a"),
        cache_write_bytes=form(kept, SEQUENCES, "S·a"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "(S + M)·a"),
    )
