"""Make a folder a project: write a commented configuration, ready to be filled in."""

import os
from dataclasses import dataclass
from pathlib import Path

from internal_linker.model.errors import ConfigurationError, OutputError
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.project.capabilities import capability
from internal_linker.project.options.stores import InitOptions
from internal_linker.project.project import open_project
from internal_linker.project.settings.settings import EXCLUSIONS_FILE, KEY_FILES, SETTINGS_FILE
from internal_linker.project.settings.template import render_settings
from internal_linker.sources.google_sheets.queries_tab import template_columns

_EXCLUSIONS = """\
# Pages that no link should lead to: one regular expression (RE2) per line, matched anywhere in the URL;
# case-sensitive. Lines that begin with # are comments. Examples, without the #:
# /category/
# /tag/
# \\?page=\\d+
"""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file of the configuration: its path within the project, and whether it was written or there already."""

    name: str
    written: bool


@dataclass(frozen=True, repr=False)
class InitResult(Result):
    """A project folder with its configuration."""

    folder: Path  # the project folder
    files: tuple[ConfigFile, ...]  # the files of the configuration
    # the tab of the Google Sheet, and whether its column names were written or it was not empty; "": nobody
    # asked for it
    sheet: str = ""

    def tables(self) -> dict[str, Columns]:
        """Return `files`: each file, and whether it was written or there already."""
        return {"files": columns_of(self.files, "name", "written")}


@capability()
def init(folder: Path, options: InitOptions | None = None) -> InitResult:
    """Write a commented configuration into a folder, as the command `init` does; existing files stay.

    The folder is made if it doesn't exist.

    Raises:
        ConfigurationError: the settings name no Sheet or lack its key.
        InputError: there is no such spreadsheet or tab.
        OutputError: the folder can't be written.
        ServiceError: Google refused or failed.
    """
    # Only the owner may read what will hold a key.
    keys = [(path, "", 0o600) for path, _ in KEY_FILES.values()]
    texts = [(SETTINGS_FILE, render_settings(), 0o644), (EXCLUSIONS_FILE, _EXCLUSIONS, 0o644), *keys]
    try:
        (folder / "config").mkdir(parents=True, exist_ok=True)
        (folder / "files").mkdir(exist_ok=True)
        written = [_write(folder / name, text, mode) for name, text, mode in texts]
    except OSError as error:
        raise OutputError(
            f"{error.filename or folder} can't be written ({error.strerror}). Check the path and its permissions."
        ) from None
    names = [name.as_posix() for name, _, _ in texts]
    sheet = _head_sheet(folder) if options and options.sheet else ""
    return InitResult(folder, tuple(map(ConfigFile, names, written)), sheet)


def _head_sheet(folder: Path) -> str:
    """Write the column names into the tab of the queries if it is empty; return what was done."""
    project = open_project(folder)
    sheet = project.clients.sheet([])
    if sheet is None:
        raise ConfigurationError(
            "init --sheet needs google_sheet_id in config/settings.toml and a key in config/service_account.txt, and "
            'query_source must not be "csv". Fill them in and run it again.'
        )
    try:
        written = sheet.write_header()
    finally:
        sheet.close()
    columns = ", ".join(template_columns(project.settings.links_per_page))
    return f"{sheet.name}: " + (
        f"the columns {columns} were written into row 1." if written else "not empty, so nothing was written."
    )


def _write(path: Path, text: str, mode: int) -> bool:
    """Write a file unless it is there; return whether it was written."""
    if path.exists():
        return False
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return True
