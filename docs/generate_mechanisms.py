"""Writes a page for each mechanism from the docstrings of the code that counts it: with `--write` into docs/mechanisms.

A docstring holds the formula, its symbols, its source and a worked value, which is run as a test where it stands. The
pages of families and of formats of weights take every file of their room, so that none can be forgotten.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent / "mechanisms"
WRITTEN = "<!-- Written by docs/generate_mechanisms.py from the code's own docstrings; a test compares the two. -->"


class Page(NamedTuple):
    """A page: the name of its file, its title, what it says first, and the objects whose docstrings it shows."""

    name: str
    title: str
    opening: str
    objects: tuple[str, ...]


PAGES = (
    Page(
        "attention", "Attention by heads",
        "Whole, windowed, chunked or without a mask. Multi-head, grouped-query and multi-query are one formula.",
        (
            "inputs.mixers:Attention", "operators.attention:head_attention", "operators.attention:append",
            "operators.step:attended_pairs", "operators.step:pairs_both_ways", "operators.step:pairs_in_squares",
            "operators.step:cached_tokens_read", "operators.step:cached_tokens_kept",
        ),
    ),
    Page(
        "latent-attention", "Latent and sparse attention",
        "Keys and values are made of a short latent, which alone is cached; an indexer may choose what a query sees.",
        (
            "inputs.mixers:LatentAttention", "operators.attention:latent_attention", "inputs.mixers:Indexer",
            "operators.attention:index_scores",
        ),
    ),
    Page(
        "cross-attention", "Cross-attention",
        "Keys and values come from another sequence: they are made once, kept, and read in every step.",
        ("inputs.mixers:CrossAttention", "operators.attention:cross_attention", "mixing:source_operators"),
    ),
    Page(
        "recurrences", "State-space layers, linear attention and short convolutions",
        "Layers that carry a state of fixed size instead of a cache that grows with the context.",
        (
            "inputs.mixers:Recurrence", "operators.recurrence:scan", "operators.recurrence:short_convolution",
            "operators.recurrence:token_shift",
            "architectures._state_space:mamba1", "architectures._state_space:mamba2",
            "architectures._state_space:chunk_flops", "architectures._linear_attention:gated_delta",
            "architectures._linear_attention:kimi_delta", "architectures._linear_attention:lightning",
            "architectures._linear_attention:chunk_flops", "architectures._short_convolutions:gated_convolution",
            "architectures.recurrent_gemma:rg_lru", "architectures.rwkv:rwkv4",
        ),
    ),
    Page(
        "experts", "Mixtures of experts",
        "Work goes by the experts that a token is sent to, bytes by those that all tokens of a step touch together.",
        (
            "inputs.mechanisms:MixtureOfExperts", "operators.matmul:expert_linear", "operators.step:distinct_experts",
            "operators.elementwise:routing",
        ),
    ),
    Page(
        "products", "Products with weights, and what is done beside them",
        "Linear layers, embedding and head on the matrix units; norms, activations and positions on the vector units.",
        (
            "operators.matmul:linear", "inputs.mechanisms:Embedding", "operators.elementwise:lookup",
            "inputs.mechanisms:Head", "operators.elementwise:logits_out", "operators.elementwise:norm",
            "operators.elementwise:activation", "operators.elementwise:rotary", "operators.elementwise:residual",
        ),
    ),
    Page(
        "encoders", "Encoders",
        "Stacks that see all of their input at once: alone, before a decoder, or to read images and sound for one.",
        ("inputs.encoder:Encoder", "inputs.encoder:Applied", "encoding:", "perceiving:"),
    ),
    Page(
        "perception", "Images, videos and sound as tokens",
        "How many sequences of how many tokens an image, a video or a sound becomes, and how many tokens that gives.",
        ("inputs.perception:", "inputs.tiles:"),
    ),
    Page(
        "weights", "How weights are stored",
        "Bits of an element, and the scales and zero points that go with them, counted to the byte.",
        (
            "precision:WeightFormat", "precision:WeightFormat.matrix_bytes", "precision:arithmetic_dtype",
            "quantizations/*",
        ),
    ),
    Page(
        "families", "Families of models",
        "What each family does differently, one file each. What is in none of them is refused by its name.",
        ("architectures/*", "architectures.towers/*"),
    ),
)  # fmt: skip


def render(page: Page) -> str:
    """The whole page."""
    sections = [f"# {page.title}", WRITTEN, page.opening]
    for spelled in page.objects:
        sections += _room(spelled.removesuffix("/*")) if spelled.endswith("/*") else _object(spelled)
    return "\n\n".join(sections) + "\n"


def _room(name: str) -> Iterator[str]:
    """Every public file of a package, with the words that it is asked for by."""
    package = import_module(f"mansard.{name}")
    for found in iter_modules(package.__path__):
        if found.name.startswith("_"):
            continue
        module = import_module(f"{package.__name__}.{found.name}")
        words = [word for key in ("MODEL_TYPES", "METHODS", "CLASSES") for word in getattr(module, key, ())]
        asked = ", ".join(f"`{word}`" for word in words)
        yield f"## {found.name}"
        yield "\n\n".join(filter(None, (asked, _text(module))))


def _object(spelled: str) -> Iterator[str]:
    """One object, or with an empty name a whole module: what it says, and every public function and class of it."""
    place, _, name = spelled.partition(":")
    module = import_module(f"mansard.{place}")
    if name:
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part)
        yield f"## {name}"
        yield _text(found)
        return
    yield f"## {place}"
    yield _text(module)
    for own, value in _own(module):
        yield f"### {own}"
        yield _text(value)
        reading = getattr(value, "reading", None)
        if inspect.isclass(value) and reading is not None:
            yield _text(reading)


def _own(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, value in vars(module).items():
        is_own = getattr(value, "__module__", "") == module.__name__
        if is_own and not name.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value)):
            yield name, value


def _text(documented: Any) -> str:
    """A docstring as Markdown: its paragraphs, and its examples in fences with what they import."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n", (inspect.getdoc(documented) or "").strip()):
        if ">>> " in block:
            example = inspect.cleandoc(block)
            found.append(f"```python\n{_imports(example, documented)}{example}\n```")
        elif not block.startswith(("Raises:", "    ")):
            found.append(" ".join(line.strip() for line in block.splitlines()).replace("*", "\\*"))
    return "\n\n".join(found)


def _imports(example: str, documented: Any) -> str:
    """What an example takes from the module in which it stands."""
    module = inspect.getmodule(documented)
    words = set(re.findall(r"[A-Za-z_]\w*", "\n".join(re.findall(r"^(?:>>>|\.\.\.) (.*)$", example, re.MULTILINE))))
    told = set(re.findall(r"import (\w+)", example))
    names = sorted(word for word in words - told if hasattr(module, word) and not inspect.ismodule(vars(module)[word]))
    return f">>> from {module.__name__} import {', '.join(names)}\n" if module and names else ""


def main() -> int:
    """Lists the pages that are out of date, or with `--write` writes them all."""
    stale = []
    for page in PAGES:
        place, text = FOLDER / f"{page.name}.md", render(page)
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            stale.append(place)
            if "--write" in sys.argv[1:]:
                place.parent.mkdir(exist_ok=True)
                place.write_text(text, encoding="utf-8")
    print("\n".join(f"{'written' if '--write' in sys.argv[1:] else 'out of date'}: {place.name}" for place in stale))
    return 0 if not stale or "--write" in sys.argv[1:] else 1


if __name__ == "__main__":
    sys.exit(main())
