"""What an audit reads from a project's files/: the last run's results; and where it is written."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from internal_linker.analysis.audit.graph_exports import EdgesCsv, GraphmlFile, NodesCsv
from internal_linker.analysis.audit.inputs import read_duplicates, read_links
from internal_linker.analysis.audit.records import AuditSink, ProposedLink
from internal_linker.analysis.audit.report.html import AuditHtml
from internal_linker.analysis.audit.workbook import AuditXlsx
from internal_linker.core.records import Duplicate


def proposed_of(files: Path) -> Iterable[ProposedLink] | None:
    """The links of files/links.csv, read while they are gone through; None where no run wrote it."""
    path = files / "links.csv"
    return read_links(path) if path.exists() else None


def duplicates_of(files: Path) -> Iterable[Duplicate] | None:
    """The pairs of files/duplicates.csv, read while they are gone through; None where no run wrote it."""
    path = files / "duplicates.csv"
    return read_duplicates(path) if path.exists() else None


def audit_sinks(files: Path, *, report: bool) -> Sequence[AuditSink]:
    """Where an audit is written: the workbook, then, if wanted, what `reports` has."""
    return [AuditXlsx(files / "audit.xlsx"), *(reports(files) if report else ())]


def reports(files: Path) -> Sequence[AuditSink]:
    """The report for browsers, and the files for graph programs."""
    return [
        AuditHtml(files / "audit.html"),
        GraphmlFile(files / "audit.graphml"),
        NodesCsv(files / "audit_nodes.csv"),
        EdgesCsv(files / "audit_edges.csv"),
    ]
