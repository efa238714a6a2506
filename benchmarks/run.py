"""Speed from the shell, in one process and over arrays, beside a bare interpreter and a peer: see README.md here."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from shell import ENVIRONMENT, Timing, time_in_turn

HERE = Path(__file__).resolve().parent
PEER_DEVICE = "H100 80GB"
# Llama-3.1-8B, for the peer, which has no catalogue of models.
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def commands(peer: Path | None, config: Path) -> list[Timing]:
    """What is timed from the shell; the bare interpreters come first of their kind."""
    python = sys.executable
    beside = Path(python).parent / "mansard"
    mansard = [str(beside)] if beside.exists() else [python, "-m", "mansard"]
    analyze = [*mansard, "analyze", "llama-3.1-8b", "--on", "h100-sxm"]
    found = [
        Timing(name="python -c pass", command=[python, "-c", "pass"]),
        Timing(name="mansard --version", command=[*mansard, "--version"]),
        Timing(name="mansard analyze, piped", command=analyze),
        Timing(name="mansard analyze --json, piped", command=[*analyze, "--json"]),
        Timing(name="mansard analyze, on a terminal", command=analyze, terminal=True),
        Timing(name="mansard analyze CONFIG, piped", command=[*mansard, "analyze", str(config), "--on", "h100-sxm"]),
    ]
    if peer is not None:
        workload = ["--gpu", PEER_DEVICE, "--prompt", "1024", "--gen", "256", "--concurrency", "1"]
        servcalc = [str(peer.parent / "servcalc"), str(config), *workload]
        found.append(Timing(name="servcalc CONFIG, piped", command=servcalc))
        found.append(Timing(name="servcalc CONFIG --json, piped", command=[*servcalc, "--json"]))
    return found


def worker(command: Sequence[str]) -> dict[str, float | None]:
    """The rates that a worker prints; none if it fails, with its error on standard error."""
    ran = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.stderr.write(ran.stderr)
        return {}
    rates: dict[str, float | None] = json.loads(ran.stdout)
    return rates


def rates(peer: Path | None, config: Path, seconds: float, rounds: int) -> dict[str, list[float]]:
    """Answers per second, one figure a round, the two programs in turn."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        turns = [[sys.executable, str(HERE / "worker_mansard.py"), str(seconds)]]
        if peer is not None:
            turns.append([str(peer), str(HERE / "worker_servcalc.py"), str(config), str(seconds)])
        for name, command in zip(("mansard", "servcalc"), turns, strict=False):
            for key, value in worker(command).items():
                if value is not None:
                    found.setdefault(f"{name} {key}", []).append(value)
    return found


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    processor = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": processor,
        "cores": os.cpu_count(),
    }


def summary(timings: Sequence[Timing], found: Mapping[str, Sequence[float]], where: Mapping[str, Any]) -> str:
    """The figures as Markdown."""
    base = median(timings[0].wall_s)
    lines = [
        f"Python {where['python']}, {where['processor']}, {where['cores']} cores.",
        "",
        "| from the shell | median s | least s | processor s | times `python -c pass` |",
        "| --- | --- | --- | --- | --- |",
    ]
    for timing in timings:
        if timing.failed:
            lines.append(f"| {timing.name} | failed | | | |")
            continue
        middle, least, cpu = median(timing.wall_s), min(timing.wall_s), median(timing.cpu_s)
        lines.append(f"| {timing.name} | {middle:.3f} | {least:.3f} | {cpu:.3f} | {middle / base:.2f} |")
    lines += ["", "| per second | median | most |", "| --- | --- | --- |"]
    lines += [
        f"| {name.removesuffix('_per_s')} | {median(each):,.0f} | {max(each):,.0f} |" for name, each in found.items()
    ]
    return "\n".join(lines) + "\n"


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", type=Path, help="the interpreter of an environment that has servcalc==0.1.0")
    parser.add_argument(
        "--output", type=Path, default=HERE / "results", help="a folder for results.json and results.md"
    )
    parser.add_argument("--repeats", type=int, default=20, help="runs of each command")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each measurement in a process")
    parser.add_argument("--rounds", type=int, default=5, help="measurements in a process")
    parser.add_argument("--quick", action="store_true", help="a few short runs, to see that all of it works")
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.seconds, options.rounds = 3, 0.3, 1
    return options


def main() -> int:
    """Measures, writes both files, prints the summary; 1 if something of ours could not be run."""
    options = parsed()
    peer = options.peer_python
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.json")
        config.write_text(json.dumps(CONFIG))
        timings = commands(peer, config)
        time_in_turn(timings, options.repeats)
        found = rates(peer, config, options.seconds, options.rounds)
    where = machine()
    shell = {t.name: {"wall_s": t.wall_s, "cpu_s": t.cpu_s, "failed": t.failed} for t in timings}
    results = {"machine": where, "shell": shell, "rates": found}
    (options.output / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    text = summary(timings, found, where)
    (options.output / "results.md").write_text(text)
    print(text)
    failed = [timing for timing in timings if timing.failed]
    for timing in failed:
        print(f"{timing.name}: {timing.failed}", file=sys.stderr)
    ours = any(timing.name.startswith(("python", "mansard")) for timing in failed)
    return 1 if ours or not any(name.startswith("mansard") for name in found) else 0


if __name__ == "__main__":
    sys.exit(main())
