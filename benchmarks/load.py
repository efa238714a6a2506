"""Load on a server of its own, on loopback: requests per second and latencies at 1, 8 and 64 clients."""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import time
from statistics import median
from typing import Any

import httpx

CLIENTS = (1, 8, 64)


async def client(ask: httpx.AsyncClient, until: float, number: int, found: list[float], wrong: list[int]) -> None:
    """Asks again and again, each time for another batch, so that nothing is remembered."""
    turn = number
    while time.perf_counter() < until:
        turn = turn % 4000 + 1
        started = time.perf_counter()
        answer = await ask.post("/api/analyze", json={"model": "llama-3.1-8b", "on": "h100-sxm", "batch": turn})
        found.append(time.perf_counter() - started)
        if answer.status_code != httpx.codes.OK:
            wrong.append(answer.status_code)


async def load(address: str, clients: int, seconds: float) -> dict[str, Any]:
    """The figures of so many clients for so many seconds."""
    found: list[float] = []
    wrong: list[int] = []
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=30) as ask:
        until = time.perf_counter() + seconds
        await asyncio.gather(*(client(ask, until, number, found, wrong) for number in range(clients)))
    found.sort()
    return {
        "clients": clients,
        "requests_per_s": len(found) / seconds,
        "median_ms": 1e3 * median(found),
        "p99_ms": 1e3 * found[min(len(found) - 1, int(0.99 * len(found)))],
        "errors": len(wrong),
    }


def main() -> int:
    """Starts the server, measures, prints a table; 1 if any request failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each measurement")
    seconds = parser.parse_args().seconds
    command = [sys.executable, "-m", "mansard", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        address = re.search(r"http://\S+", server.stderr.readline())
        assert address is not None
        rows = [asyncio.run(load(address[0], clients, seconds)) for clients in CLIENTS]
    finally:
        server.terminate()
        server.wait()
    print("| clients | requests/s | median ms | p99 ms | errors |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        figures = f"{row['requests_per_s']:.0f} | {row['median_ms']:.1f} | {row['p99_ms']:.1f} | {row['errors']}"
        print(f"| {row['clients']} | {figures} |")
    print(json.dumps(rows), file=sys.stderr)
    return 1 if any(row["errors"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
