"""`schema`: the JSON Schema of an output."""

import json

from mansard.answers._answer import Answer
from mansard.answers._names import unknown
from mansard.answers._schemas import json_schema, schema_names
from mansard.views.report import Report, Text


def answer(name: str) -> Answer:
    """The JSON Schema (draft 2020-12) of an output by its name, such as `analysis`.

    Raises:
        UsageError: if no output is called so.
    """
    name = name.removeprefix("mansard.").removesuffix("/1")
    if name not in schema_names():
        raise unknown(name, "output", schema_names())
    document = json_schema(name)

    def report(*, quiet: bool = False) -> Report:
        del quiet  # there are no notes
        lines = tuple(json.dumps(document, indent=2, ensure_ascii=False).splitlines())
        return Report(headline="", blocks=(Text(title="", lines=lines, literal=True),))

    return Answer(
        document=lambda: document,
        rows=lambda: [{"field": field, "type": kind.get("type", "")} for field, kind in document["properties"].items()],
        report=report,
    )
