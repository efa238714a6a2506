"""Numbers as people read them: SI prefixes, a few digits, thousands apart, singular and plural."""

_PREFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SMALLER = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
NONE = "–"


def figure(value: float) -> str:
    """Three significant digits; from 100 on one decimal, from 1000 on whole, thousands apart; whole ones as they are.

    >>> figure(4.6447), figure(129.85), figure(215.3e3), figure(0.0162), figure(16.0)
    ('4.64', '129.8', '215,300', '0.0162', '16')
    """
    size, whole = abs(value), round(value)
    if abs(value - whole) < 1e-9 * size:
        return f"{whole:,}"
    if size >= 999.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 0.9995 else f"{value:.3g}"


def scaled(value: float | None, unit: str) -> str:
    """A quantity with an SI prefix.

    >>> scaled(16_060_000_000, "B"), scaled(3.35e12, "B/s"), scaled(128.45e12, "FLOP")
    ('16.1 GB', '3.35 TB/s', '128.4 TFLOP')
    """
    if value is None:
        return NONE
    for factor, prefix in _PREFIXES:
        if abs(value) >= 0.9995 * factor:
            return f"{figure(value / factor)} {prefix}{unit}"
    return f"{figure(value) if value != int(value) else int(value)} {unit}"


def short_count(value: float) -> str:
    """A count in thousands, millions, billions.

    >>> short_count(8_030_261_248), short_count(999_999_900)
    ('8.03 B', '1.00 B')
    """
    for factor, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * factor:  # rounding carries a count up to the next suffix
            return f"{figure(value / factor)} {suffix}"
    return figure(value)


def duration(seconds: float | None) -> str:
    """A time in the unit that suits it.

    >>> duration(0.0046447), duration(0.1298), duration(1.6e-5), duration(0)
    ('4.64 ms', '129.8 ms', '16 µs', '0 s')
    """
    if seconds is None:
        return NONE
    for factor, unit in _SMALLER:
        if seconds >= 0.9995 * factor:
            return f"{figure(seconds / factor)} {unit}"
    return f"{seconds:.2g} s" if seconds else "0 s"


def milliseconds(seconds: float) -> str:
    """A time in ms, so that several can be compared line by line: two decimals, below 1 ms two digits.

    >>> milliseconds(0.004776), milliseconds(1.6162e-5), milliseconds(0.1292929)
    ('4.78 ms', '0.016 ms', '129.29 ms')
    """
    value = seconds * 1e3
    if value >= 1 or value == 0:
        return f"{value:,.2f} ms"
    digits = 1
    while value * 10**digits < 10 and digits < 15:
        digits += 1
    return f"{value:.{digits}f} ms"


def bytes_both(value: float | None) -> str:
    """Memory in GB and GiB (or the smaller pairs).

    >>> bytes_both(153_500_000_000)
    '153.5 GB (143.0 GiB)'
    """
    if value is None:
        return NONE
    for power, prefix in ((4, "T"), (3, "G"), (2, "M"), (1, "k")):
        if value >= 1000**power:
            binary = "Ki" if prefix == "k" else f"{prefix}i"
            return f"{figure(value / 1000**power)} {prefix}B ({figure(value / 1024**power)} {binary}B)"
    return f"{value:,.0f} B"


def rate(per_s: float | None, what: str) -> str:
    """A rate of things: whole from 100 on.

    >>> rate(215.3, "tokens"), rate(12.5, "tokens")
    ('215 tokens/s', '12.5 tokens/s')
    """
    if per_s is None:
        return NONE
    return f"{f'{per_s:,.0f}' if per_s >= 99.95 else figure(per_s)} {what}/s"


def number(value: float | None) -> str:
    """A whole number with its thousands apart; others with three digits; None as a dash.

    >>> number(4096), number(0.52134), number(None)
    ('4,096', '0.521', '–')
    """
    if value is None:
        return NONE
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    return figure(value)


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> counted(1, "token"), counted(4096, "token"), counted(2, "query", "queries")
    ('1 token', '4,096 tokens', '2 queries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """A share of a whole.

    >>> percent(0.8934), percent(0.0042), percent(0), percent(0.9966)
    ('89 %', '0.4 %', '0 %', 'over 99 %')
    """
    if share == 0:
        return "0 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def power(value: float) -> str:
    """A number in powers of ten, as it would be typed.

    >>> power(3.35e12), power(989.4e12)
    ('3.35e12', '9.894e14')
    """
    return f"{value:.6g}".replace("e+", "e")


def gain(speedup: float) -> str:
    """What a change gains, as a factor or as nothing.

    >>> gain(1.83), gain(1.0), gain(0.5)
    ('1.83 times', 'no gain', '0.50 times')
    """
    return "no gain" if abs(speedup - 1) < 0.005 else f"{speedup:.2f} times"
