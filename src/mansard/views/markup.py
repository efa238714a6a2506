"""A report as Markdown or as one page of HTML."""

from html import escape

from mansard.views.report import Block, Report, Table

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    ".scroll{overflow-x:auto;margin:.5rem 0 1.5rem}table{border-collapse:collapse}"
    "td,th{padding:.2rem .8rem;border-bottom:1px solid #8884;text-align:left;vertical-align:top}"
    ".right{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}pre{overflow-x:auto}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}}"
)
_VIEWPORT = '<meta name="viewport" content="width=device-width,initial-scale=1">'


def to_markdown(report: Report) -> str:
    """The report with headings and pipe tables."""
    parts = [report.headline] if report.headline else []
    for block in report.blocks:
        if block.title:
            parts.append(f"## {block.title}")
        parts.append(_markdown(block))
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(block: Block) -> str:
    if not isinstance(block, Table):
        if block.literal:
            return "```text\n" + "\n".join(block.lines) + "\n```"
        return "\n".join(line if line.startswith("- ") else f"{line}  " for line in block.lines).rstrip()
    heading = "| " + " | ".join(column.title or " " for column in block.columns) + " |"
    rule = "| " + " | ".join("---:" if column.right else "---" for column in block.columns) + " |"
    rows = ["| " + " | ".join(_indented(cell).replace("|", "\\|") for cell in row) + " |" for row in block.rows]
    return "\n".join([heading, rule, *rows])


def to_html(report: Report) -> str:
    """The report as a whole page that needs nothing else."""
    title = escape(report.headline.partition(":")[0] or "mansard")
    head = f'<head><meta charset="utf-8">{_VIEWPORT}<title>{title}</title><style>{_STYLE}</style></head>'
    return f'<!doctype html>\n<html lang="en">{head}\n<body>\n{to_fragment(report)}\n</body></html>\n'


def to_fragment(report: Report) -> str:
    """The report as a piece of a page, such as a notebook's cell."""
    body = [f"<p><strong>{escape(report.headline)}</strong></p>"] if report.headline else []
    for block in report.blocks:
        if block.title:
            body.append(f"<h2>{escape(block.title)}</h2>")
        body.append(_html(block))
    return "\n".join(body)


def _html(block: Block) -> str:
    if not isinstance(block, Table):
        if block.literal:
            return "<pre>" + escape("\n".join(block.lines)) + "</pre>"
        return "<p>" + "<br>\n".join(escape(line) for line in block.lines) + "</p>"

    right = ' class="right"'

    def cells(tag: str, row: tuple[str, ...]) -> str:
        pairs = zip(row, block.columns, strict=True)
        inner = "".join(f"<{tag}{right if c.right else ''}>{_indented(text)}</{tag}>" for text, c in pairs)
        return f"<tr>{inner}</tr>"

    heading = cells("th", tuple(column.title for column in block.columns)) if block.has_heading else ""
    rows = "\n".join(cells("td", row) for row in block.rows)
    return f'<div class="scroll"><table>{heading}{rows}</table></div>'


def _indented(text: str) -> str:
    """A cell whose leading spaces, which mark a part of the row above, are kept."""
    return "&nbsp;" * (len(text) - len(text.lstrip(" "))) + escape(text.lstrip(" "))
