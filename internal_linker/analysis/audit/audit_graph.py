"""An audit -> audit_nodes.csv and audit_edges.csv, as `neo4j-admin database import` takes them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from internal_linker.adapters.files.atomic import ReplaceWhole, replace_whole
from internal_linker.adapters.tables.csv_writer import Row, write_rows
from internal_linker.analysis.audit.graph_tables import NODE_COLUMNS, Cell, edge_rows, node_rows
from internal_linker.analysis.audit.records import Audit


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
