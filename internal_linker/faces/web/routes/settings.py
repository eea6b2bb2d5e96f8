"""The API of a project's settings, keys and exclusions, and of `check`."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import Field

from internal_linker.faces.web.context import Body, Folder, LinksOfProject, require_own_computer
from internal_linker.project.check import Fact, check
from internal_linker.project.edit_link_rules import (
    MOST_ROWS,
    EditedTable,
    TableChecked,
    TableName,
    change_table,
    check_table,
    show_table,
)
from internal_linker.project.edit_settings import (
    KeyRow,
    SettingsResult,
    change_exclusions,
    change_settings,
    list_settings,
    set_key,
)

router = APIRouter(prefix="/projects/{key}", tags=["Settings"])
# A colleague with the password could otherwise send the keys to an address of their own.
_OWN_COMPUTER = [Depends(require_own_computer)]


class SettingChanges(Body):
    """New values of settings."""

    changes: Annotated[dict[str, Any], Field(description="Values by name; null: the default.")]
    version: Annotated[
        str, Field(max_length=100, description="The version that they start from; empty: any.")
    ] = ""


class KeyText(Body):
    """A key or password, which no answer contains."""

    text: Annotated[str, Field(min_length=1, max_length=60_000)]


class ExclusionsText(Body):
    """The text of config/excluded_urls.txt."""

    text: Annotated[str, Field(max_length=900_000)]


_Cell = Annotated[str, Field(max_length=4_000)]


class TableCells(Body):
    """A table with its cells."""

    header: Annotated[list[_Cell], Field(min_length=1, max_length=100)]
    rows: Annotated[list[Annotated[list[_Cell], Field(max_length=100)]], Field(max_length=MOST_ROWS)]


class TableChanged(TableCells):
    """A table in place of the one that was shown."""

    version: Annotated[str, Field(max_length=100, description="The version that the change starts from.")]


@router.get("/settings")
def show_settings(folder: Folder) -> SettingsResult:
    """List all settings with their values, and which keys are set."""
    return list_settings(folder)


@router.patch("/settings", dependencies=_OWN_COMPUTER)
def save_settings(given: SettingChanges, folder: Folder) -> SettingsResult:
    """Change settings; nothing changes if a value is wrong."""
    return change_settings(folder, given.changes, given.version)


@router.put("/exclusions", dependencies=_OWN_COMPUTER)
def save_exclusions(given: ExclusionsText, folder: Folder) -> SettingsResult:
    """Replace the patterns of URLs that no link leads to."""
    return change_exclusions(folder, given.text)


@router.get("/tables/{name}")
def show_rules(name: TableName, folder: Folder, links: LinksOfProject) -> EditedTable:
    """Return the rules for links or the goals of pages, and what a run would say of them."""
    return show_table(folder, name, lambda: links.texts().site)


@router.post("/tables/{name}/check")
def check_rules(name: TableName, given: TableCells, links: LinksOfProject) -> TableChecked:
    """Tell what a run would say of rules that are not saved."""
    return check_table(name, given.header, given.rows, lambda: links.texts().site)


@router.put("/tables/{name}", dependencies=_OWN_COMPUTER)
def save_rules(name: TableName, given: TableChanged, folder: Folder, links: LinksOfProject) -> EditedTable:
    """Replace the rules for links or the goals of pages; nothing changes if a row is wrong."""
    change_table(folder, name, given.header, given.rows, given.version)
    return show_table(folder, name, lambda: links.texts().site)


@router.put("/keys/{name}", dependencies=_OWN_COMPUTER)
def save_key(name: str, given: KeyText, folder: Folder) -> KeyRow:
    """Store a key or password."""
    return set_key(folder, name, given.text)


@router.delete("/keys/{name}", dependencies=_OWN_COMPUTER)
def remove_key(name: str, folder: Folder) -> KeyRow:
    """Remove a key or password."""
    return set_key(folder, name, "")


@router.post("/check")
def run_check(folder: Folder) -> Sequence[Fact]:
    """Check settings, input and services; nothing is spent."""
    return check(folder).facts
