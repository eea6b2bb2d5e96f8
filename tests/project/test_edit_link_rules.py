"""The rules of the house as tables with fields: checked as a run checks them, and nothing of a file is lost."""

from pathlib import Path

import pytest

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.progress import Tracker
from internal_linker.project.edit_link_rules import (
    MOST_ROWS,
    EditedTable,
    change_table,
    check_table,
    show_table,
)
from internal_linker.project.edit_settings import SettingsChanged
from internal_linker.project.stored_links import StoredLinks
from tests.support.linked_site import make_linked
from tests.support.small_project import write_text

HEAD = "Phrase;URL;Mode;Max pages;Section;Owner"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_linked(tmp_path / "site")


def shown(folder: Path) -> EditedTable:
    return show_table(folder, "link_rules", lambda: StoredLinks(folder, Tracker()).texts().site)


def test_without_a_file_there_is_an_empty_table(tmp_path: Path) -> None:
    """Its columns are those of the rules, and what is saved makes the file."""
    goals = show_table(tmp_path, "link_targets", lambda: None)
    assert (goals.header, goals.rows, goals.checked.problem) == (["URL", "Least", "Most"], [], "")
    change_table(tmp_path, "link_targets", goals.header, [["/tea/", "5", ""]], goals.version)
    assert show_table(tmp_path, "link_targets", lambda: None).rows == [["/tea/", "5", ""]]


def test_a_file_keeps_its_columns_and_its_separator(folder: Path) -> None:
    """Rows have the numbers of the file; once saved, empty ones are left out, and all else is as it was."""
    path = folder / "config/link_rules.csv"
    write_text(path, f"{HEAD}\ntea;/blog/green/;always;3;/blog;Anna;x\n\nté;/blog/black/;prefer\n")
    table = shown(folder)
    assert table.header == [*HEAD.split(";"), ""]
    assert table.rows[1] == [""] * 7 and table.rows[2][:3] == ["té", "/blog/black/", "prefer"]
    change_table(folder, "link_rules", table.header, [*table.rows, [" ", ""]], table.version)
    text = path.read_bytes().decode("utf-8-sig")
    assert text == f"{HEAD};\ntea;/blog/green/;always;3;/blog;Anna;x\nté;/blog/black/;prefer;;;;\n"


def test_rows_are_checked_as_by_a_run(folder: Path) -> None:
    """Wrong rows are named as on the command line, and so are those of pages that the site lacks."""
    write_text(folder / "config/link_rules.csv", f"{HEAD}\n\ntea;/no/page/;always\ntin;;never\n")
    table = shown(folder)
    assert table.checked.problem == ""
    [note] = table.checked.notes
    assert note.startswith("config/link_rules.csv, row 3 is left out: /no/page/ is neither")
    rows = [["", "/blog/green/", "never"], ["tea", "", "allways"]]
    checked = check_table("link_rules", table.header, rows, lambda: None)
    assert checked.problem == (
        "config/link_rules.csv, row 2: Phrase is empty. Write the words of the link. "
        "row 3: Mode is 'allways'. Write always, never or prefer."
    )


def test_a_wrong_row_changes_nothing(folder: Path) -> None:
    path = folder / "config/link_rules.csv"
    write_text(path, f"{HEAD}\ntea;/blog/green/;always\n")
    before, table = path.read_bytes(), shown(folder)
    with pytest.raises(ConfigurationError, match=r"link_rules\.csv, row 2: Mode is 'x'"):
        change_table(folder, "link_rules", table.header, [["tea", "/blog/green/", "x"]], table.version)
    assert path.read_bytes() == before


def test_a_file_that_changed_meanwhile_stays(folder: Path) -> None:
    path = folder / "config/link_rules.csv"
    table = shown(folder)
    write_text(path, f"{HEAD}\ntea;/blog/green/;always\n")
    with pytest.raises(SettingsChanged, match=r"config/link_rules\.csv has changed"):
        change_table(folder, "link_rules", table.header, [], table.version)
    assert "green" in path.read_text("utf-8")


def test_a_table_too_long_for_fields_is_refused(folder: Path) -> None:
    write_text(folder / "config/link_rules.csv", f"{HEAD}\n" + "tea;;never\n" * MOST_ROWS)
    with pytest.raises(ConfigurationError, match="use a spreadsheet program"):
        shown(folder)
