"""The places in files/ where an audit is written."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from internal_linker.analysis.audit.graph_exports import EdgesCsv, GexfFile, GraphmlFile, NodesCsv
from internal_linker.analysis.audit.records import AuditSink
from internal_linker.analysis.audit.report.html import AuditHtml
from internal_linker.analysis.audit.workbook import AuditXlsx
from internal_linker.analysis.graph.communities import louvain
from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.core.arrays import Ints
from internal_linker.core.errors import ConfigurationError


def communities() -> Callable[[SiteGraph, int], Ints] | None:
    """What finds communities by links; None where the extra `graph` is not installed."""
    with suppress(ConfigurationError):
        return louvain()
    return None


def audit_sinks(files: Path, *, report: bool) -> Sequence[AuditSink]:
    """Where an audit is written: the workbook, then, if wanted, what `reports` has."""
    return [AuditXlsx(files / "audit.xlsx"), *(reports(files) if report else ())]


def reports(files: Path) -> Sequence[AuditSink]:
    """The report for browsers, and the files for graph programs."""
    graphs = GexfFile(files / "audit.gexf"), GraphmlFile(files / "audit.graphml")
    neo4j = NodesCsv(files / "audit_nodes.csv"), EdgesCsv(files / "audit_edges.csv")
    return [AuditHtml(files / "audit.html"), *graphs, *neo4j]
