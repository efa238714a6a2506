"""`mansard cite`."""

import click

from mansard.cli import _options as options
from mansard.cli._output import Answer, deliver
from mansard.inputs.device import Device


@click.command("cite", short_help="Where the numbers of a device or a model come from.")
@click.argument("name", type=options.Named("name", "devices"))
@options.online_option
@options.output_options
def command(*, name: str, online: bool, shape: str | None, as_json: bool, file: str | None, quiet: bool) -> int:
    """Where the numbers of a device or a model come from: title, address, date, and how far they can be trusted.

    \b
    mansard cite h100-sxm
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.cli._subject import subject_of
    from mansard.inputs.notes import Source
    from mansard.results import plain
    from mansard.views.catalogue import citation

    found = subject_of(name, online=online)
    if isinstance(found, Device):
        sources: tuple[Source, ...] = found.sources
    else:
        sources = (Source(id="model", title=found.source),) if found.source else ()
    rows = [plain(source) for source in sources]
    answer = Answer(
        document=lambda: {"schema": "mansard.sources/1", "name": found.name, "sources": rows},
        rows=lambda: rows,
        report=lambda: citation(found.name, sources),
    )
    return deliver(answer, shape=shape, as_json=as_json, file=file, quiet=quiet)
