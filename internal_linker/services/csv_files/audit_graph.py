"""An audit -> audit_nodes.csv and audit_edges.csv, as `neo4j-admin database import` takes them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from internal_linker.audit_records import Audit
from internal_linker.graph_tables import NODE_COLUMNS, Cell, edge_rows, node_rows
from internal_linker.services.csv_files.writing import Row, write_rows
from internal_linker.whole_files import ReplaceWhole, replace_whole

_EDGE_HEADER = (":START_ID", ":END_ID", "state", "weight:double", ":TYPE")


class Neo4jCsv:
    """An `AuditSink`: a node a page, with its URL for its id, and a relationship LINKS_TO a link."""

    def __init__(self, nodes: Path, edges: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.nodes, self.edges, self._write_whole = nodes, edges, write_whole
        self.name = f"files/{nodes.name} and files/{edges.name}"

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace both files; the answer says in sentences what was unusual.

        Raises:
            OutputError: one can't be written; it is as it was.
        """
        (identity, _), *columns = NODE_COLUMNS
        header = (f"{identity}:ID", *(f"{name}:{kind}" for name, kind in columns), ":LABEL")
        nodes = ((*map(_cell, cells), "Page") for cells in node_rows(audit))
        urls = audit.urls
        edges = (
            (urls[source], urls[target], state, _cell(weight), "LINKS_TO")
            for source, target, state, weight in edge_rows(audit)
        )
        return self._write(self.nodes, header, nodes) + self._write(self.edges, _EDGE_HEADER, edges)

    def _write(self, path: Path, header: Sequence[str], rows: Iterable[Row]) -> list[str]:
        # Not every import skips a byte order mark: it would be a part of the first column's name.
        return write_rows(path, header, rows, self._write_whole, encoding="utf-8")


def _cell(cell: Cell) -> str | int:
    """A float as it comes back exactly; nothing where nothing is known."""
    if isinstance(cell, float):
        return repr(cell)
    return "" if cell is None else cell
