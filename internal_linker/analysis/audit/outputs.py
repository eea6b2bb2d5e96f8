"""The files in files/ that an audit is written to."""

from collections.abc import Sequence
from pathlib import Path

from internal_linker.adapters.html.report_file import ReportFile
from internal_linker.analysis.audit.graph_exports import EdgesCsv, GraphmlFile, NodesCsv
from internal_linker.analysis.audit.records import AuditSink
from internal_linker.analysis.audit.report.html import AuditHtml
from internal_linker.analysis.audit.workbook import AuditXlsx


def audit_sinks(files: Path, *, report: bool) -> Sequence[AuditSink]:
    """Return the files of an audit: the workbook and, if wanted, the `reports`."""
    return [AuditXlsx(files / "audit.xlsx"), *(reports(files) if report else ())]


def reports(files: Path) -> Sequence[AuditSink]:
    """Return the report for browsers and the files for graph programs."""
    return [
        AuditHtml(ReportFile(files / "audit.html")),
        GraphmlFile(files / "audit.graphml"),
        NodesCsv(files / "audit_nodes.csv"),
        EdgesCsv(files / "audit_edges.csv"),
    ]
