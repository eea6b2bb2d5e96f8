"""The link graph of an audit for other programs: GraphML for Gephi and the like, two CSV files for Neo4j.

One node a page, one edge a link. Files are written row by row: a large graph takes no memory of its own.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from internal_linker.insight.audit.links import number
from internal_linker.insight.audit.records import UNKNOWN, Audit
from internal_linker.insight.graph import SiteGraph
from internal_linker.sources.tables.csv_writer import write_rows
from internal_linker.store.files.atomic import remarks_on, replace_whole

Cell = str | int | float | None

# The attributes of a page, with today's figures. GraphML and Neo4j have the same names for the types.
_NODE_COLUMNS = (
    ("url", "string"),
    ("title", "string"),
    ("section", "string"),
    ("cluster", "string"),
    ("in_links", "int"),
    ("out_links", "int"),
    ("depth", "int"),
    ("pagerank", "double"),
)
# Gephi has a column "Type" of its own.
_EDGE_COLUMNS = (
    *(("state", "string"), ("weight", "double"), ("link_type", "string"), ("anchor", "string")),
    *(("followed", "boolean"), ("status", "string"), ("tier", "string"), ("model", "string")),
    *(("run", "string"), ("inline_threshold", "double"), ("sidebar_threshold", "double")),
    *(("approver", "string"), ("approved_at", "string")),
)
# Characters that XML 1.0 allows; escaping doesn't make the others legal, and a single one makes the file unreadable.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Not every import skips a byte order mark; it would become part of the first column's name.
_CSV_ENCODING = "utf-8"


def write_graphml(path: Path, audit: Audit) -> list[str]:
    """Replace audit.graphml; return a sentence that says where it is, if it could not be replaced."""
    lines = (f"{line}\n" for line in _graphml(audit))
    return remarks_on(path, replace_whole(path, lambda file: file.writelines(lines)))


def write_nodes(path: Path, audit: Audit) -> list[str]:
    """Replace audit_nodes.csv, one node `Page` per page, with the URL as its id; return what was unusual."""
    header = ("url:ID", *(f"{name}:{kind}" for name, kind in _NODE_COLUMNS[1:]), ":LABEL")
    rows = ((*map(_csv_cell, cells), "Page") for cells in _nodes(audit))
    return write_rows(path, header, rows, replace_whole, _CSV_ENCODING)


def write_edges(path: Path, audit: Audit) -> list[str]:
    """Replace audit_edges.csv, one relationship `LINKS_TO` per link; return what was unusual."""
    columns = (name if kind == "string" else f"{name}:{kind}" for name, kind in _EDGE_COLUMNS)
    header = (":START_ID", ":END_ID", *columns, ":TYPE")
    rows = (
        (audit.urls[source], audit.urls[target], *map(_csv_cell, cells), "LINKS_TO")
        for source, target, cells in _edges(audit)
    )
    return write_rows(path, header, rows, replace_whole, _CSV_ENCODING)


def _nodes(audit: Audit) -> Iterator[tuple[Cell, ...]]:
    """Yield the pages in order, with `_NODE_COLUMNS`; the depth of an unreachable page is None."""
    today = audit.before
    return zip(
        audit.urls,
        map(_one_line, audit.titles),
        map(_one_line, audit.sections),
        map(_one_line, audit.clusters),
        today.inlinks.tolist(),
        today.outlinks.tolist(),
        (None if depth < 0 else depth for depth in today.depth.tolist()),
        today.pagerank.tolist(),
        strict=True,
    )


def _edges(audit: Audit) -> Iterator[tuple[int, int, tuple[Cell, ...]]]:
    """Yield row of the source, row of the target, and `_EDGE_COLUMNS`; existing links come first."""
    yield from _links(audit, audit.existing, "existing")
    yield from _links(audit, audit.candidates, "proposed")


def _links(audit: Audit, graph: SiteGraph, state: str) -> Iterator[tuple[int, int, tuple[Cell, ...]]]:
    ends = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    for (source, target), weight in zip(ends, graph.weights.tolist(), strict=True):
        one = audit.details.get((source, target), UNKNOWN)
        followed = "true" if weight > 0 else "false"
        told = one.kind, _one_line(one.anchor), followed, one.status, one.tier, one.model, one.run
        thresholds = number(one.inline), number(one.sidebar)
        yield source, target, (state, weight, *told, *thresholds, one.approver, one.approved_at)


def _one_line(text: str) -> str:
    """Replace line breaks and runs of white space by one space: cells with several lines break simple readers."""
    return " ".join(text.split())


def _graphml(audit: Audit) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for end, columns in (("node", (("label", "string"), *_NODE_COLUMNS)), ("edge", _EDGE_COLUMNS)):
        for name, kind in columns:
            yield f'<key id="{name}" for="{end}" attr.name="{name}" attr.type="{kind}"/>'
    yield '<graph edgedefault="directed">'
    names = [name for name, _ in _NODE_COLUMNS]
    for row, cells in enumerate(_nodes(audit)):
        url, title, *_ = cells
        data = "".join(_data(name, cell) for name, cell in zip(names, cells, strict=True) if cell is not None)
        yield f'<node id="{row}">{_data("label", title or url)}{data}</node>'
    names = [name for name, _ in _EDGE_COLUMNS]
    for source, target, cells in _edges(audit):
        known = ((name, cell) for name, cell in zip(names, cells, strict=True) if cell not in (None, ""))
        data = "".join(_data(name, cell) for name, cell in known)
        yield f'<edge source="{source}" target="{target}">{data}</edge>'
    yield "</graph>"
    yield "</graphml>"


def _data(key: str, cell: Cell) -> str:
    """Convert a value to text without characters that XML forbids; a float reads back exactly the same."""
    text = escape(_FORBIDDEN.sub("", cell), {'"': "&quot;"}) if isinstance(cell, str) else str(cell)
    return f'<data key="{key}">{text}</data>'


def _csv_cell(cell: Cell) -> str | int:
    """Convert a value to text; a float reads back exactly the same, and None is empty."""
    if isinstance(cell, float):
        return repr(cell)
    return "" if cell is None else cell
