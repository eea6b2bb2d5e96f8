"""Writes audit.xlsx: a summary, and the tables of an audit as sheets, without formulas."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

from internal_linker.insight.audit.actions import GAIN_MEANS
from internal_linker.insight.audit.records import Audit, Rule
from internal_linker.insight.audit.tables import (
    MOST_PAGES,
    actions_table,
    findings_table,
    links_table,
    pages_table,
)
from internal_linker.model.results import Cell, ResultTable
from internal_linker.sources.tables.xlsx_writer import put_row, write_xlsx
from internal_linker.store.files.atomic import ReplaceBinary, replace_binary

# Nobody reads more findings of one rule.
MOST_ROWS = 10_000


def write_workbook(
    path: Path, audit: Audit, most_rows: int = MOST_ROWS, write_whole: ReplaceBinary = replace_binary
) -> list[str]:
    """Replace the workbook; return what was unusual, one sentence each.

    It has `most_rows` findings of one rule; the summary counts the others, too.

    Raises:
        OutputError: the file can't be written; it stays as it was.
    """
    name = f"files/{path.name}"
    landed = write_xlsx(
        path,
        _tables(audit, most_rows),
        begin=lambda book: _add_summary(book, audit),
        write_whole=write_whole,
    )
    remarks = [
        f"{name} has the {MOST_PAGES:,} pages of the highest PageRank; audit_nodes.csv has all."
        for _ in range(len(audit.urls) > MOST_PAGES)
    ]
    missing = len(audit.candidates.sources) - len(audit.links)
    remarks += [
        f"{name} has the {len(audit.links):,} strongest proposed links; links.csv has all."
        for _ in range(bool(audit.links) and missing > 0)
    ]
    remarks += [
        f"{name} has the first {most_rows:,} of {len(found):,} findings of {rule}."
        for rule, found in audit.by_rule.items()
        if len(found) > most_rows
    ]
    return remarks + landed


def _tables(audit: Audit, most_rows: int) -> list[ResultTable]:
    optional = [actions_table(audit.actions, with_links=True), links_table(audit), audit.opportunities]
    return [
        *(table for table in optional if table),
        *(findings_table(rule, found[:most_rows]) for rule, found in audit.by_rule.items()),
        audit.cluster_links,
        pages_table(audit),
    ]


def _add_summary(book: Any, audit: Audit) -> None:
    bold = book.add_format({"bold": True, "bottom": 1})
    sheet = book.add_worksheet("Summary")
    sheet.set_column(0, 0, 46)
    sheet.set_column(1, 4, 16)
    rows: list[tuple[Sequence[Cell], bool]] = [
        (("Site", audit.site), False),
        (("Home page", audit.urls[audit.home] if audit.home >= 0 else "not among the pages"), False),
        (("Proposed links of run", audit.run_id or "none"), False),
        (("After", f"{audit.adopted_links} (--after {audit.after_by})"), False),
        (("Links today", str(audit.counted_today)), False),
        (("New links after adoption", str(audit.counted_new)), False),
        *(
            (("Opportunities", f"{len(table):,}, on the sheet {table.name}. {GAIN_MEANS}"), False)
            for table in [audit.opportunities]
            if table
        ),
        ((), False),
        (("", "Today", "After adoption", "Change"), True),
    ]
    for measure in audit.summary.itertuples():
        values = (measure.before, measure.after, measure.after - measure.before)
        figures = ["unknown" if isnan(value) else round(value, measure.decimals) for value in values]
        rows.append(((measure.name, *figures), False))
    rows += [((), False), (("Finding", "Count", "Resolved", "New", "Severity", "Meaning"), True)]
    by_rule, standings = audit.by_rule, audit.standings
    for rule in Rule:
        counts = (len(by_rule.get(rule, ())), standings[rule, "resolved"], standings[rule, "new"])
        known = ("unknown",) * 3 if rule in audit.unknown and rule not in by_rule else counts
        rows.append(((rule, *known, rule.severity, rule.message), False))
    for at, (cells, is_head) in enumerate(rows):
        put_row(sheet, at, cells, bold if is_head else None)
