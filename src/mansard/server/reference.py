"""OpenAPI as a page that needs nothing from elsewhere: operations, their words with bounds, an example to copy."""

from html import escape
from typing import Any

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "code,pre{font-family:ui-monospace,monospace}pre{overflow-x:auto;padding:.6rem;border:1px solid #8884}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top;"
    "border-bottom:1px solid #8884}"
)
_EXAMPLES = {
    "/api/analyze": '{"model": "llama-3.1-8b", "on": "h100-sxm", "batch": 32}',
    "/api/operator": '{"name": "gemm", "on": "h100-sxm", "inputs": {"m": 32, "n": 4096, "k": 4096}}',
    "/api/request": '{"ttft": 0.2, "itl": 0.05, "output": 5}',
    "/api/list": '{"kind": "devices", "sort": "ridge"}',
    "/api/show": '{"name": "h100-sxm"}',
    "/api/cite": '{"name": "h100-sxm"}',
    "/api/schema": '{"name": "analysis"}',
    "/api/algebra": '{"batch": 1, "peak": 990e12, "bandwidth": 3.35e12}',
    "/api/chart": '{"kind": "roofline", "runs": [{"model": "llama-3.1-8b", "on": "h100-sxm"}]}',
    "/api/lesson": '{"name": "clocks"}',
    "/api/grade": '{"lesson": "clocks", "exercise": 0, "answer": "3.33 ms"}',
    "/api/page": '{"runs": [{"model": "llama-3.1-8b", "on": "h100-sxm"}]}',
}


def reference_page(openapi: dict[str, Any]) -> str:
    """The page, made from the OpenAPI document."""
    schemas = openapi["components"]["schemas"]
    parts = [_operation(path, one["post"], schemas) for path, one in openapi["paths"].items() if "post" in one]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>mansard: REST</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head><body>'
        f"<h1>mansard: REST</h1><p>{escape(openapi['info']['description'])} The document itself is "
        f'<a href="/openapi.json">openapi.json</a>; <a href="/">the page</a> uses nothing else.</p>'
        + "\n".join(parts)
        + "</body></html>\n"
    )


def _operation(path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = schemas[reference.rsplit("/", 1)[-1]]
    needed = set(schema.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{'needed' if name in needed else ''}</td>"
        f"<td>{escape(_said(kind))}</td></tr>"
        for name, kind in schema["properties"].items()
    )
    example = _EXAMPLES.get(path, _EXAMPLES["/api/analyze"].replace(', "batch": 32', ""))
    return (
        f"<h2><code>POST {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"
        f"<table><tbody>{rows}</tbody></table><pre>{escape(example)}</pre>"
    )


def _said(kind: dict[str, Any]) -> str:
    """A property's type and bounds in a line."""
    options = kind.get("anyOf", [kind])
    types = [_type(one) for one in options if one.get("type") != "null"]
    described = f"; {kind['description']}" if kind.get("description") else ""
    return " or ".join(types) + described


def _type(one: dict[str, Any]) -> str:
    if "enum" in one:
        return " | ".join(map(str, one["enum"]))
    bounds = [
        f"{word} {one[key]:,.0f}" if 1 <= one[key] < 1e15 else f"{word} {one[key]:g}"  # counts, then the rest
        for key, word in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"))
        if key in one
    ]
    return " ".join([str(one.get("type", one.get("$ref", "object").rsplit("/", 1)[-1])), *bounds])
