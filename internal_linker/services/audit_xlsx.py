"""An audit -> audit.xlsx: the before/after table, a sheet of findings a rule, topics, and all pages."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import xlsxwriter

from internal_linker.audit_records import RULES, Audit, Finding
from internal_linker.whole_files import ReplaceWhole, remarks_on, replace_whole

Cell = str | int | float
# Nobody reads so many of one rule; Excel itself ends at 1,048,576 rows a sheet.
MOST_ROWS = 10_000
_WIDEST = 70
# Excel refuses longer texts.
_LONGEST = 32_767
_STANDINGS = {
    "mended": "mended by the proposed links",
    "stays": "stays",
    "new": "new with the proposed links",
}
_PAGES = (
    *("URL", "Title", "Section", "Topic", "Links here", "Links here after", "Own links", "Own links after"),
    *("Clicks", "Clicks after", "PageRank x n", "PageRank x n after"),
)
# Rows of the sheet Pages: more take longer to write than all of the audit, and Excel long to open.
MOST_PAGES = 50_000


class AuditXlsx:
    """An `AuditSink`: one workbook for Excel and its like, no cell of which is a formula.

    Args:
        path: the file.
        most_rows: findings of one rule that are written; the Summary tells of more.
        write_whole: replaces a file.
    """

    def __init__(
        self, path: Path, most_rows: int = MOST_ROWS, write_whole: ReplaceWhole = replace_whole
    ) -> None:
        self.path, self.name = path, f"files/{path.name}"
        self._most, self._write_whole = most_rows, write_whole

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace the last one; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        landed = self._write_whole(self.path, lambda file: self._fill(file, audit))
        remarks = [
            f"{self.name} has the {MOST_PAGES:,} pages of the highest PageRank; audit_nodes.csv has all."
            for _ in range(len(audit.urls) > MOST_PAGES)
        ]
        remarks += [
            f"{self.name} has the first {self._most:,} of {count:,} findings of {rule}."
            for rule, count in Counter(one.rule for one in audit.findings).items()
            if count > self._most
        ]
        return [*remarks, *remarks_on(self.path, landed)]

    def _fill(self, file: TextIO, audit: Audit) -> None:
        # Rows are written as they come, so that a site of 200,000 pages takes no gigabyte.
        options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        options |= {"strings_to_numbers": False, "nan_inf_to_errors": True}
        # The text layer of `file` is passed by: a workbook is no text.
        book = xlsxwriter.Workbook(file.buffer, options)
        bold = book.add_format({"bold": True, "bottom": 1})
        by_rule: dict[str, list[Finding]] = {rule: [] for rule in RULES}
        for one in audit.findings:
            by_rule[one.rule].append(one)
        self._summary(book, bold, audit, by_rule)
        for rule, found in by_rule.items():
            if found:
                header = ("Page", "Other page", "Detail", "After adoption", "Severity")
                rows = (
                    (one.page, one.other, one.detail, _STANDINGS[one.standing], one.severity)
                    for one in islice(found, self._most)
                )
                _table(book, bold, rule, header, rows, (50, 50, _WIDEST, 28, 10), min(len(found), self._most))
        _topics(book, bold, audit)
        _pages(book, bold, audit)
        book.close()

    def _summary(self, book: Any, bold: Any, audit: Audit, by_rule: dict[str, list[Finding]]) -> None:
        sheet = book.add_worksheet("Summary")
        sheet.set_column(0, 0, 46)
        sheet.set_column(1, 4, 16)
        rows: list[tuple[Sequence[Cell], bool]] = [
            (("Site", audit.site), False),
            (("Home page", audit.urls[audit.home]), False),
            (("Proposed links of run", audit.run_id or "none"), False),
            ((), False),
            (("", "Today", "After adoption", "Change"), True),
        ]
        for measure in audit.summary:
            figures = [round(value, measure.decimals) for value in (measure.before, measure.after)]
            change = round(measure.after - measure.before, measure.decimals)
            rows.append(((measure.name, *figures, change), False))
        rows += [((), False), (("Finding", "Count", "Mended", "New", "Severity", "Meaning"), True)]
        for rule, found in by_rule.items():
            standings = Counter(one.standing for one in found)
            told = (len(found), standings["mended"], standings["new"], *RULES[rule])
            rows.append(((rule, *told), False))
        for at, (cells, is_head) in enumerate(rows):
            _row(sheet, at, cells, bold if is_head else None)


def _topics(book: Any, bold: Any, audit: Audit) -> None:
    header = (
        "Topic",
        "Pages",
        "Strongest page",
        "Links inside",
        "... after",
        "Links out and in",
        "... after",
    )
    rows = (
        (topic.name, topic.pages, audit.urls[topic.hub], *topic.inner, *topic.outer)
        for topic in audit.communities
    )
    _table(book, bold, "Topics", header, rows, (40, 10, 60, 14, 14, 16, 14), len(audit.communities))


def _pages(book: Any, bold: Any, audit: Audit) -> None:
    """The pages in their order; PageRank in multiples of the mean, for 1 / n says nothing to anybody."""
    n, before, after = len(audit.urls), audit.before, audit.after
    rows = np.sort(np.argsort(-before.pagerank, kind="stable")[:MOST_PAGES])
    columns = zip(
        *([texts[row] for row in rows] for texts in (audit.urls, audit.titles, audit.sections, audit.topics)),
        *(each[rows].tolist() for each in (before.inlinks, after.inlinks, before.outlinks, after.outlinks)),
        *([at if at >= 0 else "" for at in each.depth[rows].tolist()] for each in (before, after)),
        *((each.pagerank[rows] * n).round(3).tolist() for each in (before, after)),
        strict=True,
    )
    widths = (60, 45, 16, 30, *[12] * 8)
    _table(book, bold, "Pages", _PAGES, columns, widths, len(rows), bars=(4, 5, 10, 11))


def _table(
    book: Any,
    bold: Any,
    name: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    widths: Sequence[int],
    count: int,
    bars: Sequence[int] = (),
) -> None:
    """A sheet whose first row and column stay in view, with a filter, and data bars in some columns."""
    sheet = book.add_worksheet(name)
    for column, width in enumerate(widths):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 1)
    sheet.autofilter(0, 0, max(1, count), len(header) - 1)
    for column in bars:
        sheet.conditional_format(1, column, max(1, count), column, {"type": "data_bar", "bar_solid": True})
    _row(sheet, 0, header, bold)
    for at, cells in enumerate(rows, 1):
        _row(sheet, at, cells)


def _row(sheet: Any, at: int, cells: Sequence[Cell], style: Any = None) -> None:
    for column, cell in enumerate(cells):
        if isinstance(cell, str):
            sheet.write_string(at, column, cell[:_LONGEST], style)
        elif isfinite(cell):
            sheet.write_number(at, column, cell, style)
