"""The places in files/ where an audit is written."""

from collections.abc import Sequence
from pathlib import Path

from internal_linker.analysis.audit.graph_exports import EdgesCsv, GraphmlFile, NodesCsv
from internal_linker.analysis.audit.records import AuditSink
from internal_linker.analysis.audit.report.html import AuditHtml
from internal_linker.analysis.audit.workbook import AuditXlsx


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
