"""An audit -> audit.gexf and audit.graphml, written a line at a time: one node a page, one edge a link."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from internal_linker.adapters.files.atomic import ReplaceWhole, remarks_on, replace_whole
from internal_linker.analysis.audit.graph_tables import NODE_COLUMNS, Cell, ColumnType, edge_rows, node_rows
from internal_linker.analysis.audit.records import Audit
from internal_linker.analysis.audit.xml_text import xml_text

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
