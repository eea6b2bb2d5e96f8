"""Show and change the rules of the house, config/link_rules.csv and config/link_targets.csv, as tables with fields."""

import csv
import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.house_rules import LinkRule, TargetGoal
from internal_linker.model.records import Collected, Table
from internal_linker.project.edit_settings import SettingsChanged
from internal_linker.project.pipeline.run_input import known_rules
from internal_linker.project.settings.link_rules import (
    GOAL_COLUMNS,
    LINK_RULES_FILE,
    LINK_TARGETS_FILE,
    RULE_COLUMNS,
    goals_of,
    read_table,
    rules_of,
)
from internal_linker.sources.tables.columns import find_named
from internal_linker.sources.tables.csv_reader import CsvRecords
from internal_linker.store.files.atomic import replace_whole, require_in_place

TableName = Literal["link_rules", "link_targets"]
# Rows that a page of fields can hold.
MOST_ROWS = 1_000
_TABLES: Mapping[
    TableName, tuple[Path, Sequence[str], Callable[[Table], Sequence[LinkRule | TargetGoal]]]
] = {
    "link_rules": (LINK_RULES_FILE, RULE_COLUMNS, rules_of),
    "link_targets": (LINK_TARGETS_FILE, GOAL_COLUMNS, goals_of),
}
# Two changes at once would lose one of them.
_CHANGING = threading.Lock()


@dataclass(frozen=True, slots=True)
class TableChecked:
    """What a run would say of a table: `problem` stops it, `notes` are on rows that it leaves out."""

    problem: str
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class EditedTable:
    """A table of the rules of the house; the first of its rows is row 2 of the file.

    Attributes:
        header: its columns: those that the rules have, and others that the file has.
        rows: the cells of each row, as many as there are columns.
        checked: what a run would say of it.
        version: changes whenever the file does.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    checked: TableChecked
    version: str


def show_table(root: Path, name: TableName, site: Callable[[], Collected | None]) -> EditedTable:
    """Return a table of a project folder; an empty one without the file.

    Args:
        site: returns the site's pages, which rules name; None: nobody knows them.

    Raises:
        ConfigurationError: the file can't be read, or is too long for a page of fields.
    """
    path, columns, _ = _TABLES[name]
    table = read_table(root / path)
    last = table.rows[-1][0] if table.rows else 1
    if last > MOST_ROWS:
        raise ConfigurationError(
            f"{table.name} has {last:,} rows, and up to {MOST_ROWS:,} can be edited here: use a spreadsheet program."
        )
    header = [*table.header, *(each for each in columns if find_named(table.header, each) is None)]
    width = max([len(header), *(len(row) for _, row in table.rows)])
    header += [""] * (width - len(header))
    # Empty rows keep the others at the numbers that messages name.
    found = dict(table.rows)
    rows = [[*(row := found.get(number, ())), *[""] * (width - len(row))] for number in range(2, last + 1)]
    return EditedTable(header, rows, check_table(name, header, rows, site), _version(root / path))


def check_table(
    name: TableName,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    site: Callable[[], Collected | None],
) -> TableChecked:
    """Return what a run would say of a table."""
    path, _, read = _TABLES[name]
    table = Table(
        path.as_posix(), tuple(header), [(at, row) for at, row in enumerate(rows, 2) if "".join(row).strip()]
    )
    try:
        rules = read(table)
    except ConfigurationError as error:
        return TableChecked(str(error), ())
    notes = list[str]()
    if rules and (known := site()):
        known_rules(rules, table.name, known, notes.append)
    return TableChecked("", notes)


def change_table(
    root: Path, name: TableName, header: Sequence[str], rows: Sequence[Sequence[str]], version: str
) -> None:
    """Write a table, without empty rows and with the separator of its file; nothing is written if a row is wrong.

    Args:
        version: the `EditedTable.version` that the change starts from.

    Raises:
        ConfigurationError: a row is wrong, or the present file can't be read.
        SettingsChanged: the file has changed since `version`.
        OutputError: the file can't be written.
    """
    path = root / _TABLES[name][0]
    if problem := check_table(name, header, rows, lambda: None).problem:
        raise ConfigurationError(problem)
    with _CHANGING:
        if version != _version(path):
            raise SettingsChanged(
                f"config/{path.name} has changed in the meantime. Load the page again, then repeat it."
            )
        separator = ","
        if path.exists():
            records = CsvRecords(path)
            next(records.stream())
            separator = records.body.separator if records.body else separator

        def write(file: TextIO) -> None:
            lines = csv.writer(file, delimiter=separator, lineterminator="\n")
            lines.writerows([header, *(row for row in rows if "".join(row).strip())])

        # Excel takes a file without the mark for another encoding.
        require_in_place(path, replace_whole(path, write, encoding="utf-8-sig"))


def _version(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else "new"
