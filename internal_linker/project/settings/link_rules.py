"""The rules of the house in config/: which words link to which page, and how many links some pages get."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.house_rules import LinkRule, Mode, TargetGoal
from internal_linker.model.records import Table
from internal_linker.sources.tables.columns import find_named, lacks
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.store.files.plain_text import shortened

LINK_RULES_FILE = Path("config/link_rules.csv")
LINK_TARGETS_FILE = Path("config/link_targets.csv")
RULE_COLUMNS = ("Phrase", "URL", "Mode", "Max pages", "Section")
GOAL_COLUMNS = ("URL", "Least", "Most")
# Wrong rows that one message names.
_NAMED = 5


def rules_of(table: Table) -> tuple[LinkRule, ...]:
    """Return the rules of a table with `RULE_COLUMNS`.

    Raises:
        ConfigurationError: a column is missing, or rows are wrong; each is named with what to write instead.
    """
    rules, wrong = list[LinkRule](), list[str]()
    for row, cells in _named_cells(table, RULE_COLUMNS, required=3):
        problem = _problem(cells)
        if problem:
            wrong.append(f"row {row}: {problem}")
            continue
        phrase, mode = " ".join(cells["Phrase"].split()), _mode(cells)
        rules.append(
            LinkRule(row, phrase, cells["URL"], mode, int(cells["Max pages"] or 0), cells["Section"])
        )
    _refuse(table, wrong)
    return tuple(rules)


def goals_of(table: Table) -> tuple[TargetGoal, ...]:
    """Return the goals of a table with `GOAL_COLUMNS`.

    Raises:
        ConfigurationError: a column is missing, or rows are wrong; each is named with what to write instead.
    """
    goals, wrong = list[TargetGoal](), list[str]()
    for row, cells in _named_cells(table, GOAL_COLUMNS, required=1):
        least, most = cells["Least"] or "0", cells["Most"]
        if not cells["URL"]:
            wrong.append(f"row {row}: URL is empty. Write the page that gets the links.")
        elif not _is_number(least):
            wrong.append(f"row {row}: Least is '{shortened(least)}'. Write a whole number, or nothing for 0.")
        elif most and (not _is_number(most) or int(most) < max(1, int(least))):
            wrong.append(
                f"row {row}: Most is '{shortened(most)}'. Write a whole number from 1 that is not below Least, or "
                "nothing for max_inlinks. A page that gets no links belongs in config/excluded_urls.txt."
            )
        else:
            goals.append(TargetGoal(row, cells["URL"], int(least), int(most or 0)))
    _refuse(table, wrong)
    return tuple(goals)


def read_table(path: Path) -> Table:
    """Return a table in config/ as it is; an empty one without the file.

    Raises:
        ConfigurationError: the file can't be read.
    """
    name = f"config/{path.name}"
    if not path.exists():
        return Table(name, (), ())
    try:
        table = CsvTable(path, name).stream()
        return Table(name, table.header, [*table.rows])
    except InputError as error:
        raise ConfigurationError(str(error)) from None


def _named_cells(table: Table, names: Sequence[str], required: int) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and the stripped cells of each row of a table, of which the first columns are `required`.

    Raises:
        ConfigurationError: a required column is missing.
    """
    columns = {name: find_named(table.header, name) for name in names}
    for name in names[:required] if table.header else ():
        if columns[name] is None:
            raise ConfigurationError(lacks(table, name))
    for number, row in table.rows:
        yield (
            number,
            {
                name: row[at].strip() if at is not None and at < len(row) else ""
                for name, at in columns.items()
            },
        )


def _refuse(table: Table, wrong: Sequence[str]) -> None:
    """Raise an error that names the first wrong rows of a table in config/, if there are any."""
    if wrong:
        more = f" {len(wrong) - _NAMED} more rows are wrong." if len(wrong) > _NAMED else ""
        raise ConfigurationError(f"{table.name}, {' '.join(wrong[:_NAMED])}{more}")


def _mode(cells: dict[str, str]) -> Mode:
    found: Mode = next((mode for mode in get_args(Mode) if mode == cells["Mode"].casefold()), "never")
    return found


def _problem(cells: dict[str, str]) -> str:
    """Return what is wrong with a row and what to write instead; "" if nothing is."""
    mode, most = cells["Mode"].casefold(), cells["Max pages"]
    if not cells["Phrase"]:
        return "Phrase is empty. Write the words of the link."
    if mode not in get_args(Mode):
        return f"Mode is '{shortened(cells['Mode'])}'. Write always, never or prefer."
    if mode != "never" and not cells["URL"]:
        return f"URL is empty. Write the page that '{shortened(cells['Phrase'])}' links to; only never needs none."
    if most and mode != "always":
        return f"Max pages is '{shortened(most)}', but only always has a limit. Empty the cell."
    if most and not (_is_number(most) and int(most)):
        return f"Max pages is '{shortened(most)}'. Write a whole number from 1, or nothing for all pages."
    return ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
