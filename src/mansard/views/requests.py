"""A request from given numbers, as a report."""

from mansard.algebra import RequestTimes
from mansard.views.report import Column, Report, Table
from mansard.views.wording import counted, duration, rate


def request_report(times: RequestTimes, output: int, prompt: int | None) -> Report:
    """The arithmetic of a request, each line with its definition."""
    gaps = output - 1
    first = f"{counted(output, 'token')} in {duration(times.e2e_s)}"
    if times.steady_tokens_per_s is not None:
        steady = rate(times.steady_tokens_per_s, "tokens")
        first += f": {steady} while it streams, {rate(times.request_tokens_per_s, 'tokens')} over the whole request"
    total = f"{number_s(times.ttft_s)} + {gaps:,} · {number_s(times.itl_s)}"
    steady, whole = rate(times.steady_tokens_per_s, "tokens"), rate(times.request_tokens_per_s, "tokens")
    end = number_s(times.e2e_s)
    rows = [
        ("TTFT", duration(times.ttft_s), "time from the request to its first token: queue and prefill (given)"),
        ("ITL", duration(times.itl_s), "gap between one token and the next (given)"),
        ("end to end", duration(times.e2e_s), f"T = TTFT + (n − 1) · ITL = {total}, n = {output:,} output tokens"),
        ("TPOT", duration(times.tpot_s), "time per output token after the first: (T − TTFT) / (n − 1)"),
        ("steady rate", steady, "per user while it streams: 1 / ITL"),
        ("request rate", whole, f"output tokens per user over the request: n / T = {output:,} / {end}"),
    ]
    if prompt is not None:
        read, both = prompt / times.ttft_s if times.ttft_s else None, (prompt + output) / times.e2e_s
        definition = f"prompt tokens over TTFT: {prompt:,} / {number_s(times.ttft_s)}"
        rows.append(("prompt rate", rate(read, "tokens"), definition))
        rows.append(("all tokens", rate(both, "tokens"), "prompt and output tokens over T"))
    columns = (Column("what"), Column("value", right=True), Column("definition"))
    return Report(headline=f"{first}.", blocks=(Table(title="", columns=columns, rows=tuple(rows)),))


def number_s(seconds: float) -> str:
    """Seconds as they were given, in seconds."""
    return f"{seconds:.6g} s"
