"""audit.xlsx in spreadsheet programs: every finding under its rule, written completely or not at all."""

import warnings
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from internal_linker.insight.audit.audit import AuditInput, inspect
from internal_linker.insight.audit.links import Proposals
from internal_linker.insight.audit.records import Audit, Finding, Limits, Rule
from internal_linker.insight.audit.workbook import write_workbook
from internal_linker.model.errors import OutputError
from internal_linker.model.records import Collected, ExistingLink
from tests.support.builders import nothing_excluded, page, url

FORMULAS = ["=1+1", "+1", "-2+3", "@SUM(A1)", "http://other.example/", "007"]


def audit() -> Audit:
    """Return an audit of six pages in a row, with titles that a spreadsheet program could misread."""
    pages = tuple(page(at, "some words", title=title) for at, title in enumerate(FORMULAS))
    links = tuple(ExistingLink(url(at), url(at + 1), "next") for at in range(5))
    collected = Collected(pages, (), (), 0, links, {}, len(links))
    return inspect(
        AuditInput(
            collected, Proposals(), None, nothing_excluded, "shop.example", "", Limits(), lambda _: None
        )
    )


def opened(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl leaves data bars out
        return openpyxl.load_workbook(path)


def test_every_finding_stands_under_its_rule(tmp_path: Path) -> None:
    made = audit()
    assert write_workbook(tmp_path / "audit.xlsx", made) == []
    book = opened(tmp_path / "audit.xlsx")
    rules = {one.rule for one in made.findings}
    assert set(book.sheetnames) == {"Summary", "Clusters", "Pages"} | rules
    for rule in rules:
        rows = [row[:3] for row in book[rule].iter_rows(min_row=2, values_only=True)]
        expected = [(one.page, one.other, one.detail) for one in made.findings if one.rule == rule]
        assert [tuple(cell or "" for cell in row) for row in rows] == expected
        assert book[rule].freeze_panes == "B2"
        assert book[rule].auto_filter.ref == f"A1:E{1 + len(expected)}"
    told = {row[0]: row[1:] for row in book["Summary"].iter_rows(values_only=True)}
    for measure in made.summary.itertuples():
        known = not isnan(measure.before)
        assert told[measure.name][0] == (round(measure.before, measure.decimals) if known else "unknown")
    assert told["dead-end"][0] == sum(one.rule == "dead-end" for one in made.findings)


def test_what_is_too_much_for_a_sheet_is_told(tmp_path: Path) -> None:
    made = replace(audit(), findings=[Finding(Rule.ORPHAN, url(at), "Alone.") for at in range(30)])
    remarks = write_workbook(tmp_path / "audit.xlsx", made, most_rows=20)
    assert remarks == ["files/audit.xlsx has the first 20 of 30 findings of orphan."]
    book = opened(tmp_path / "audit.xlsx")
    assert book["orphan"].max_row == 21
    assert ("orphan", 30) in {row[:2] for row in book["Summary"].iter_rows(values_only=True)}


def test_an_earlier_workbook_stays_where_the_new_one_fails(tmp_path: Path) -> None:
    path = tmp_path / "audit.xlsx"
    path.write_bytes(b"old")

    def full(where: Path, write: object, /) -> Path:
        raise OutputError(f"{where} can't be written: the disk is full.")

    with pytest.raises(OutputError):
        write_workbook(path, audit(), write_whole=full)
    assert path.read_bytes() == b"old"

    def beside(where: Path, write: Any, /) -> Path:
        other = where.with_name("audit 2.xlsx")
        with other.open("xb") as file:
            write(file)
        return other

    (remark,) = write_workbook(path, audit(), write_whole=beside)
    assert "the result is in audit 2.xlsx" in remark
    assert opened(tmp_path / "audit 2.xlsx").sheetnames[0] == "Summary"
