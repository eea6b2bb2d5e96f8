"""An empty folder -> a project folder with commented configuration, ready to be filled in."""

import os
from collections.abc import Iterator
from pathlib import Path

from internal_linker.core.errors import OutputError
from internal_linker.usecases.settings.settings import EXCLUSIONS_FILE, KEY_FILES, SETTINGS_FILE
from internal_linker.usecases.settings.template import render_settings

_EXCLUSIONS = """\
# Pages that no link shall lead to: one regular expression a line (RE2), found anywhere in the URL,
# upper and lower case as written. Lines that begin with # are comments. Examples, without the #:
# /category/
# /tag/
# \\?page=\\d+
"""


def start_project(folder: Path) -> Iterator[str]:
    """Write what is missing of the configuration; yields one line for each file.

    Raises:
        OutputError: the folder can't be written.
    """
    try:
        (folder / "config").mkdir(parents=True, exist_ok=True)
        (folder / "files").mkdir(exist_ok=True)
        yield _write(folder, SETTINGS_FILE, render_settings())
        yield _write(folder, EXCLUSIONS_FILE, _EXCLUSIONS)
        for path, _ in KEY_FILES.values():
            # Only the owner may read what will hold a key.
            yield _write(folder, path, "", mode=0o600)
    except OSError as error:
        raise OutputError(f"{error.filename or folder} can't be written ({error.strerror}).") from None
    yield from _next_steps(folder)


def _next_steps(folder: Path) -> Iterator[str]:
    where = "" if folder == Path.cwd() else f' --project "{folder}"'
    yield ""
    yield "Next:"
    yield "1. Put your pages into files/urls_rawdata.csv (columns URL, Title, Main Content)."
    yield "2. Put your queries into files/main_queries.csv (URL, Main Query), or into a Google Sheet."
    yield "3. If you have a Serper or SerpApi key: write your host into search_query_template in config/settings.toml."
    yield f"4. internal-linker check{where}"


def _write(folder: Path, name: Path, text: str, mode: int = 0o644) -> str:
    path = folder / name
    if path.exists():
        return f"kept     {name.as_posix()}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return f"written  {name.as_posix()}"
