"""The roofline algebra: intensity, ridge point, attainable rate, the clocks, and a request's arithmetic.

Every function takes numbers or NumPy arrays, which broadcast; NumPy is loaded only when an array comes in. Units are
SI base units: FLOP, byte, second, FLOP/s, byte/s.

Source of the model: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore
architectures", CACM 52(4), 2009.
"""

import math
from typing import Any, NamedTuple, TypeAlias

Numeric: TypeAlias = Any  # an int, a float or a NumPy array

# Above this a float no longer tells neighbouring whole numbers apart.
_EXACT_FLOAT = 1 << 53


def arithmetic_intensity(flops: Numeric, bytes_moved: Numeric) -> Numeric:
    """FLOPs per byte moved, I = flops / bytes_moved [FLOP/byte].

    Raises:
        ValueError: if bytes_moved is not positive.

    >>> arithmetic_intensity(8_640_266_240, 138_412_032)  # standard attention, 4096 tokens, one head of 128
    62.4242...
    """
    flops, bytes_moved = _numeric(flops), _numeric(bytes_moved)
    _require(bytes_moved > 0, "bytes_moved must be positive")
    return flops / bytes_moved


def matmul_intensity(b: Numeric, bytes_per_weight: Numeric = 2) -> Numeric:
    """Intensity of a matrix product of b rows against weights that are read once: 2·b / bytes_per_weight [FLOP/byte].

    Each weight of `bytes_per_weight` bytes takes part in one multiply-add, 2 FLOPs, for each of the b rows.

    Raises:
        ValueError: if bytes_per_weight is not positive or b is negative.

    >>> matmul_intensity(1), matmul_intensity(296)
    (1.0, 296.0)
    """
    b, bytes_per_weight = _numeric(b), _numeric(bytes_per_weight)
    _require(bytes_per_weight > 0, "bytes_per_weight must be positive")
    _require(b >= 0, "b must not be negative")
    return 2 * b / bytes_per_weight


def attainable(peak_flops: Numeric, bandwidth: Numeric, intensity: Numeric) -> Numeric:
    """The roof over an intensity, min(peak_flops, bandwidth · intensity) [FLOP/s].

    >>> attainable(1e14, 1e12, 1)
    1000000000000.0
    """
    peak_flops, slope = _numeric(peak_flops), _numeric(bandwidth) * _numeric(intensity)
    if _is_array(peak_flops) or _is_array(slope):
        import numpy as np

        return np.minimum(peak_flops, slope)
    return min(peak_flops, slope)


def ridge_point(peak_flops: Numeric, bandwidth: Numeric) -> Numeric:
    """The intensity at which the roof turns flat, peak_flops / bandwidth [FLOP/byte].

    Raises:
        ValueError: if bandwidth is not positive.

    >>> round(ridge_point(989.4e12, 3.35e12), 1)  # an H100 SXM in bf16
    295.3
    """
    peak_flops, bandwidth = _numeric(peak_flops), _numeric(bandwidth)
    _require(bandwidth > 0, "bandwidth must be positive")
    return peak_flops / bandwidth


def bound(peak_flops: Numeric, bandwidth: Numeric, intensity: Numeric) -> Any:
    """Which clock binds: "bandwidth" below the ridge point, else "compute"; an array of them for arrays.

    Raises:
        ValueError: if bandwidth is not positive.

    >>> bound(989.4e12, 3.35e12, 1), bound(989.4e12, 3.35e12, 300)
    ('bandwidth', 'compute')
    """
    below = _numeric(intensity) < ridge_point(peak_flops, bandwidth)
    if _is_array(below):
        import numpy as np

        return np.where(below, "bandwidth", "compute")
    return "bandwidth" if below else "compute"


def batch_to_saturate(peak_flops: Numeric, bandwidth: Numeric, bytes_per_weight: Numeric = 2) -> Any:
    """The smallest whole b whose `matmul_intensity` reaches the ridge point: both clocks of a matrix product even out.

    Exact at the edge: a quotient that is whole is not pushed up by rounding.

    Raises:
        ValueError: if bandwidth or bytes_per_weight is not positive, or the peak is negative or not finite.

    >>> batch_to_saturate(1e14, 1e12), batch_to_saturate(990e12, 3.35e12)
    (100, 296)
    """
    peak_flops, bandwidth, bytes_per_weight = _numeric(peak_flops), _numeric(bandwidth), _numeric(bytes_per_weight)
    ridge = ridge_point(peak_flops, bandwidth)
    _require(bytes_per_weight > 0, "bytes_per_weight must be positive")
    _require((ridge >= 0) & (ridge < math.inf), "peak_flops must be finite and not negative")
    if _is_array(ridge) or _is_array(bytes_per_weight):
        return _batches_to_saturate(ridge, bytes_per_weight)
    from fractions import Fraction

    # Decimal text, not binary value: 0.1 byte means a tenth.
    exact = Fraction(str(peak_flops)) * Fraction(str(bytes_per_weight)) / (2 * Fraction(str(bandwidth)))
    batch = math.ceil(exact)
    if batch >= _EXACT_FLOAT:
        return batch
    if batch and matmul_intensity(batch - 1, bytes_per_weight) >= ridge:
        return batch - 1
    return batch if matmul_intensity(batch, bytes_per_weight) >= ridge else batch + 1


_MOST_BATCH = 2.0**62


def _batches_to_saturate(ridge: Numeric, bytes_per_weight: Numeric) -> Any:
    import numpy as np

    batch = np.ceil(ridge * bytes_per_weight / 2)
    lower = np.maximum(batch - 1, 0)
    batch = np.where(2 * lower / bytes_per_weight >= ridge, lower, batch)
    batch = np.where(2 * batch / bytes_per_weight >= ridge, batch, batch + 1)
    _require(batch < _MOST_BATCH, "the batch is larger than an array of whole numbers can hold")
    return batch.astype(np.int64)


def memory_time(bytes_moved: Numeric, bandwidth: Numeric) -> Numeric:
    """The memory clock: seconds to move the bytes at the bandwidth.

    >>> round(memory_time(16e9, 3.35e12) * 1e3, 2)  # 8e9 parameters of 2 bytes on an H100: 4.78 ms
    4.78
    """
    bytes_moved, bandwidth = _numeric(bytes_moved), _numeric(bandwidth)
    _require(bandwidth > 0, "bandwidth must be positive")
    return bytes_moved / bandwidth


def compute_time(flops: Numeric, peak_flops: Numeric) -> Numeric:
    """The compute clock: seconds to do the operations at the peak.

    >>> round(compute_time(128e12, 990e12) * 1e3, 2)  # 8,000 tokens through 8e9 parameters: 129.29 ms
    129.29
    """
    flops, peak_flops = _numeric(flops), _numeric(peak_flops)
    _require(peak_flops > 0, "peak_flops must be positive")
    return flops / peak_flops


class RequestTimes(NamedTuple):
    """A request's times [s] and rates [token/s]; `tpot_s` and the steady rate are None for a single token."""

    ttft_s: Numeric
    itl_s: Numeric
    e2e_s: Numeric
    tpot_s: Numeric
    steady_tokens_per_s: Numeric
    request_tokens_per_s: Numeric


def request_times(ttft_s: Numeric, itl_s: Numeric, output_tokens: Numeric) -> RequestTimes:
    """The arithmetic of a request with steady gaps between its tokens; numbers, or arrays that broadcast.

    T_request = TTFT + (n_out - 1)·ITL; TPOT = (T_request - TTFT) / (n_out - 1); the steady rate is 1 / ITL and the
    request's output rate n_out / T_request. What a single token does not have is None, and NaN in arrays.

    Raises:
        ValueError: if a time is negative or not finite, or output_tokens is not a positive whole number.

    >>> times = request_times(0.2, 0.05, 5)
    >>> times.e2e_s, times.steady_tokens_per_s, times.request_tokens_per_s
    (0.4, 20.0, 12.5)
    """
    ttft_s, itl_s, output_tokens = _numeric(ttft_s), _numeric(itl_s), _numeric(output_tokens)
    _require((ttft_s >= 0) & (ttft_s < math.inf), "ttft_s must be finite and not negative")
    _require((itl_s >= 0) & (itl_s < math.inf), "itl_s must be finite and not negative")
    is_count = not isinstance(output_tokens, bool)
    _require(
        is_count & (output_tokens >= 1) & (output_tokens % 1 == 0), "output_tokens must be a positive whole number"
    )
    gaps = output_tokens - 1
    e2e_s = ttft_s + gaps * itl_s
    _require(e2e_s > 0, "a request must take some time: ttft_s and itl_s are both 0")
    if any(map(_is_array, (ttft_s, itl_s, output_tokens))):
        tpot_s, steady = _where(gaps > 0, itl_s), 1 / _where((gaps > 0) & (itl_s > 0), itl_s)
    else:
        tpot_s, steady = itl_s if gaps else None, 1 / itl_s if gaps and itl_s else None
    return RequestTimes(
        ttft_s=ttft_s,
        itl_s=itl_s,
        e2e_s=e2e_s,
        # For steady gaps (T_request - TTFT) / gaps is the gap itself, without the rounding of the way there and back.
        tpot_s=tpot_s,
        steady_tokens_per_s=steady,
        request_tokens_per_s=output_tokens / e2e_s,
    )


def _where(condition: Numeric, value: Numeric) -> Numeric:
    """The value where the condition holds, else NaN."""
    import numpy as np

    return np.where(condition, value, np.nan)


def _is_array(value: Numeric) -> bool:
    return hasattr(value, "__array__") and getattr(value, "ndim", 0) > 0


def _numeric(value: Numeric) -> Numeric:
    if isinstance(value, (list, tuple)):
        import numpy as np

        return np.asarray(value)
    return value


def _require(condition: Numeric, message: str) -> None:
    if not (condition.all() if hasattr(condition, "all") else condition):
        raise ValueError(message)
