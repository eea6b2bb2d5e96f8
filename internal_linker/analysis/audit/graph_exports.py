"""An audit -> audit.gexf and audit.graphml, written a line at a time: one node a page, one edge a link."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

from internal_linker.adapters.files.atomic import ReplaceWhole, remarks_on, replace_whole
from internal_linker.adapters.tables.csv_writer import Row, write_rows
from internal_linker.analysis.audit.records import Audit
from internal_linker.analysis.graph.site_graph import SiteGraph

Cell = str | int | float | None
ColumnType = Literal["string", "int", "double"]

NODE_COLUMNS: tuple[tuple[str, ColumnType], ...] = (
    ("url", "string"),
    ("title", "string"),
    ("section", "string"),
    ("topic", "string"),
    ("in_links", "int"),
    ("out_links", "int"),
    ("depth", "int"),
    ("pagerank", "double"),
)
"""What is told of a page; the figures are those of today's links."""


def node_rows(audit: Audit) -> Iterator[tuple[Cell, ...]]:
    """The pages in their order, as `NODE_COLUMNS`; the depth is None where no link path leads from the home page."""
    today = audit.before
    return zip(
        audit.urls,
        map(one_line, audit.titles),
        map(one_line, audit.sections),
        map(one_line, audit.topics),
        today.inlinks.tolist(),
        today.outlinks.tolist(),
        (None if depth < 0 else depth for depth in today.depth.tolist()),
        today.pagerank.tolist(),
        strict=True,
    )


def edge_rows(audit: Audit) -> Iterator[tuple[int, int, str, float]]:
    """Row of the source, row of the target, "existing" or "proposed", and the weight; existing links first."""
    yield from _links(audit.existing, "existing")
    yield from _links(audit.proposed, "proposed")


def one_line(text: str) -> str:
    """Line ends and runs of white space as one space: a cell of many lines breaks simple readers."""
    return " ".join(text.split())


def _links(graph: SiteGraph, state: str) -> Iterator[tuple[int, int, str, float]]:
    ends = graph.sources.tolist(), graph.targets.tolist()
    return zip(*ends, repeat(state, len(graph.sources)), graph.weights.tolist(), strict=True)


# What XML 1.0 allows; no escape makes the others legal, and one of them makes the whole file unreadable.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(cell: Cell) -> str:
    """The text of an element or of a double-quoted attribute; forbidden characters are left out.

    Floats are written so that they come back exactly.
    """
    if not isinstance(cell, str):
        return str(cell)
    return escape(_FORBIDDEN.sub("", cell), {'"': "&quot;"})


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_GEXF_TYPES: dict[ColumnType, str] = {"string": "string", "int": "integer", "double": "double"}


class _GraphFile:
    """An `AuditSink`: a whole graph file, of which only one line is in memory at a time."""

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self.name, self._write_whole = path, f"files/{path.name}", write_whole

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace the file; the answer says in a sentence where it landed, if not in its place.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        lines = (f"{line}\n" for line in self._lines(audit))
        return remarks_on(self.path, self._write_whole(self.path, lambda file: file.writelines(lines)))

    def _lines(self, audit: Audit) -> Iterator[str]:
        raise NotImplementedError


class GexfFile(_GraphFile):
    """audit.gexf: GEXF 1.3, as Gephi writes it."""

    def _lines(self, audit: Audit) -> Iterator[str]:
        yield _HEAD
        yield '<gexf xmlns="http://gexf.net/1.3" version="1.3">'
        yield '<graph mode="static" defaultedgetype="directed" idtype="string">'
        yield '<attributes class="node">'
        for number, (name, kind) in enumerate(NODE_COLUMNS):
            yield f'<attribute id="{number}" title="{name}" type="{_GEXF_TYPES[kind]}"/>'
        yield "</attributes>"
        yield '<attributes class="edge"><attribute id="0" title="state" type="string"/></attributes>'
        yield "<nodes>"
        yield from map(_gexf_node, range(len(audit.urls)), node_rows(audit))
        yield "</nodes>"
        yield "<edges>"
        for number, (source, target, state, weight) in enumerate(edge_rows(audit)):
            yield (
                f'<edge id="{number}" source="{source}" target="{target}" weight="{weight}">'
                f'<attvalues><attvalue for="0" value="{state}"/></attvalues></edge>'
            )
        yield "</edges>"
        yield "</graph>"
        yield "</gexf>"


class GraphmlFile(_GraphFile):
    """audit.graphml: GraphML, for what reads no GEXF."""

    def _lines(self, audit: Audit) -> Iterator[str]:
        yield _HEAD
        yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        for name, kind in (("label", "string"), *NODE_COLUMNS):
            yield f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>'
        for name, kind in (("state", "string"), ("weight", "double")):
            yield f'<key id="{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>'
        yield '<graph edgedefault="directed">'
        for number, cells in enumerate(node_rows(audit)):
            yield f'<node id="{number}">{_data("label", _label(cells))}{_graphml_data(cells)}</node>'
        for source, target, state, weight in edge_rows(audit):
            yield (
                f'<edge source="{source}" target="{target}">'
                f'<data key="state">{state}</data><data key="weight">{weight}</data></edge>'
            )
        yield "</graph>"
        yield "</graphml>"


def _gexf_node(number: int, cells: Sequence[Cell]) -> str:
    values = "".join(_attvalue(column, cell) for column, cell in enumerate(cells) if cell is not None)
    label = xml_text(_label(cells))
    return f'<node id="{number}" label="{label}"><attvalues>{values}</attvalues></node>'


def _graphml_data(cells: Iterable[Cell]) -> str:
    named = zip(NODE_COLUMNS, cells, strict=True)
    return "".join(_data(name, cell) for (name, _), cell in named if cell is not None)


def _attvalue(column: int, cell: Cell) -> str:
    return f'<attvalue for="{column}" value="{xml_text(cell)}"/>'


def _data(key: str, cell: Cell) -> str:
    return f'<data key="{key}">{xml_text(cell)}</data>'


def _label(cells: Sequence[Cell]) -> Cell:
    """The title, else the URL."""
    url, title, *_ = cells
    return title or url


class _Neo4jCsv:
    """An `AuditSink`: one file of the pair."""

    header: tuple[str, ...]

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self.name, self._write_whole = path, f"files/{path.name}", write_whole

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace the file; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        # Not every import skips a byte order mark: it would be a part of the first column's name.
        return write_rows(self.path, self.header, self._rows(audit), self._write_whole, encoding="utf-8")

    def _rows(self, audit: Audit) -> Iterable[Row]:
        raise NotImplementedError


class NodesCsv(_Neo4jCsv):
    """audit_nodes.csv: a node `Page` a page, with its URL for its id."""

    header = ("url:ID", *(f"{name}:{kind}" for name, kind in NODE_COLUMNS[1:]), ":LABEL")

    def _rows(self, audit: Audit) -> Iterable[Row]:
        return ((*map(_cell, cells), "Page") for cells in node_rows(audit))


class EdgesCsv(_Neo4jCsv):
    """audit_edges.csv: a relationship `LINKS_TO` a link."""

    header = (":START_ID", ":END_ID", "state", "weight:double", ":TYPE")

    def _rows(self, audit: Audit) -> Iterable[Row]:
        urls = audit.urls
        return (
            (urls[source], urls[target], state, _cell(weight), "LINKS_TO")
            for source, target, state, weight in edge_rows(audit)
        )


def _cell(cell: Cell) -> str | int:
    """A float as it comes back exactly; nothing where nothing is known."""
    if isinstance(cell, float):
        return repr(cell)
    return "" if cell is None else cell
