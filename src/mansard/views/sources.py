"""Where numbers come from, in words."""

from mansard.inputs.notes import Source
from mansard.views.report import Block, Text


def source_block(sources: tuple[Source, ...]) -> Block:
    """Where the numbers come from, a line each."""
    return Text(title="Sources", lines=tuple(f"- {source_line(source)}" for source in sources))


def source_line(source: Source) -> str:
    """Id, title, address, date, confidence, as far as they are known."""
    more = ", ".join(part for part in (source.address, source.date, source.confidence) if part)
    return f"[{source.id}] {source.title}" + (f": {more}" if more else "")
