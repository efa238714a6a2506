"""Bytes that nobody meant: each reader gets mutations of good files for some seconds, and must read or refuse them.

    python tests/fuzz/fuzz.py gguf 20

Targets are gguf, safetensors and config. Coverage guides the mutations where atheris is installed; where there is no
wheel of it for this Python, bytes are changed blindly, and the first line says so.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import atheris
except ImportError:
    atheris = None

if atheris is not None:
    with atheris.instrument_imports(include=["mansard"]):
        import mansard.models
else:
    import mansard.models

from gguf_models import BASE, FAMILIES, write
from mansard.errors import MansardError

LONGEST_S = 2.0  # of one input, whatever it holds
DATA = 1 << 22  # bytes behind a header, so that the places of tensors can be good
CONFIG = json.dumps({**BASE, "model_type": "llama", "num_experts": None}).encode()
HEADER = {
    "model.layers.0.self_attn.q_proj.weight": {"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]},
    "model.layers.0.mlp.up_proj.weight_scale": {"dtype": "F32", "shape": [], "data_offsets": [64, 68]},
}


class Target:
    """One kind of file: good ones to begin with, and the reading of bytes in its place."""

    def __init__(self, folder: Path, name: str, seeds: Iterator[bytes], data: int = 0) -> None:
        self.path = folder / name
        self.seeds = list(seeds)
        self.data = data
        if name == "model.safetensors":
            (folder / "config.json").write_bytes(CONFIG)

    def __call__(self, content: bytes) -> None:
        with self.path.open("wb") as file:
            file.write(content)
            file.truncate(len(content) + self.data)
        started = time.perf_counter()
        try:
            model = mansard.models.load_model(str(self.path))
            assert model.parameters >= 0
            if model.stored is not None:
                assert mansard.analyze(model, on="h100-sxm").prefill.best_s > 0
        except MansardError as error:
            assert len(str(error)) < 20_000
        assert time.perf_counter() - started < LONGEST_S


def gguf_seeds(folder: Path) -> Iterator[bytes]:
    for arch, keys, tensors, _ in FAMILIES.values():
        few = dict(list(tensors.items())[:14])
        yield write(folder / "seed", arch, keys, few).read_bytes()[:2048]


def safetensors_seeds() -> Iterator[bytes]:
    content = json.dumps(HEADER).encode()
    yield len(content).to_bytes(8, "little") + content + bytes(68)


def config_seeds() -> Iterator[bytes]:
    yield CONFIG
    for _, _, _, config in FAMILIES.values():
        yield json.dumps({**BASE, **config}).encode()


def target_of(name: str, folder: Path) -> Target:
    if name == "gguf":
        return Target(folder, "model.gguf", gguf_seeds(folder), DATA)
    if name == "safetensors":
        return Target(folder, "model.safetensors", safetensors_seeds())
    if name == "config":
        return Target(folder, "config.json", config_seeds())
    raise SystemExit(f"no target is called {name}: gguf, safetensors, config")


def mutated(content: bytes, random_: random.Random) -> bytes:
    """Some bytes changed, doubled or cut."""
    found = bytearray(content)
    for _ in range(random_.randint(1, 6)):
        place = random_.randrange(len(found) + 1)
        how = random_.randrange(4)
        if how == 0:
            found[place : place + 1] = bytes([random_.randrange(256)])
        elif how == 1:
            found[place : place + 8] = random_.choice((0, 1, 255, 1 << 31, 1 << 62)).to_bytes(8, "little")
        elif how == 2:
            found[place:place] = found[place : place + random_.randrange(64)]
        else:
            del found[place : place + random_.randrange(16)]
    return bytes(found)


def blindly(target: Callable[[bytes], None], seeds: list[bytes], seconds: float) -> int:
    """Mutations without guidance; how many were tried."""
    random_, end, tried = random.Random(0), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        target(mutated(random_.choice(seeds), random_))
        tried += 1
    return tried


def main(name: str, seconds: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        target = target_of(name, folder)
        if atheris is None:
            print(f"atheris is not installed: {name} is mutated blindly for {seconds} s")
            print(f"{blindly(target, target.seeds, seconds):,} inputs were read or refused")
            return
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(target.seeds):
            (corpus / str(number)).write_bytes(seed)
        flags = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=4096", "-verbosity=1"]
        atheris.Setup([sys.argv[0], *flags, f"-artifact_prefix={folder}/", str(corpus)], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
