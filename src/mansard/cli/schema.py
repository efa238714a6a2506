"""`mansard schema`."""

import json

import click

from mansard.cli import _options as options
from mansard.cli._names import unknown
from mansard.cli._output import Answer, deliver


@click.command("schema", short_help="The JSON Schema of an output.")
@click.argument("name")
@options.output_options
def command(*, name: str, shape: str | None, as_json: bool, file: str | None, quiet: bool) -> int:
    """The JSON Schema of an output: analysis, explanation, saturation, operator, advice, request, model, device.

    \b
    mansard schema analysis > analysis.schema.json
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.views.report import Report, Text
    from mansard.views.schemas import json_schema, schema_names

    name = name.removeprefix("mansard.").removesuffix("/1")
    if name not in schema_names():
        raise unknown(name, "output", schema_names())
    schema = json_schema(name)
    text = json.dumps(schema, indent=2, ensure_ascii=False)
    answer = Answer(
        document=lambda: schema,
        rows=lambda: [{"field": field, "type": kind.get("type", "")} for field, kind in schema["properties"].items()],
        report=lambda: Report(headline="", blocks=(Text(title="", lines=tuple(text.splitlines()), literal=True),)),
    )
    return deliver(answer, shape=shape, as_json=as_json, file=file, quiet=quiet)
