"""The project folders that the app knows: created in it or opened with it, the latest first."""

import json
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path

from internal_linker.model.cli_commands import CHECKOUT
from internal_linker.model.errors import InputError, OutputError
from internal_linker.project.init import init
from internal_linker.project.settings.settings import SETTINGS_FILE
from internal_linker.store.files.atomic import replace_whole

# More than anybody looks through.
MOST_KNOWN = 50
# The input of the sample site.
_SAMPLE = ("urls_rawdata.csv", "existing_links.csv", "main_queries.csv")
_PAGES, _QUERIES, _LINKS = "files/urls_rawdata.csv", "files/main_queries.csv", "files/links.csv"


@dataclass(frozen=True, slots=True)
class KnownProject:
    """A project folder in the list.

    Attributes:
        key: 10 hex digits that stand for the folder in addresses.
        folder: its path.
        name: the last part of the path.
        opened_at: when it was last opened, ISO 8601, UTC.
        there: whether the folder still exists.
        has_pages: whether it has a table of pages.
        has_links: whether a run has written links.
    """

    key: str
    folder: str
    name: str
    opened_at: str
    there: bool
    has_pages: bool
    has_links: bool


class ProjectNotFound(InputError):
    """No project of the list has this key."""


class KnownProjects:
    """The list of known projects; may be used by several threads.

    It is a file of the user, outside of all projects, and holds paths and times only.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or user_data_path("internal-linker", appauthor=False) / "projects.json"
        self._lock = threading.Lock()

    def all(self) -> Sequence[KnownProject]:
        """Return the projects, the one that was opened last first."""
        return [_known(Path(folder), at) for folder, at in self._read().items()]

    def folder(self, key: str) -> Path:
        """Return a project's folder.

        Raises:
            ProjectNotFound: no known project has this key, or its folder is gone.
        """
        for folder in map(Path, self._read()):
            if project_key(folder) == key:
                if not folder.is_dir():
                    raise ProjectNotFound(f"Project folder {folder} not found: it was moved or deleted.")
                return folder
        raise ProjectNotFound("Project not found: open its folder on the page Projects.")

    def open(self, folder: Path) -> KnownProject:
        """Put a project folder at the head of the list.

        Raises:
            InputError: there is no such folder, or it is no project.
            OutputError: the list can't be written.
        """
        folder = _whole(folder)
        if not folder.is_dir():
            raise InputError(f"Folder {folder} not found: check the path.")
        if not (folder / SETTINGS_FILE).is_file():
            raise InputError(
                f"{folder} is not a project: it has no {SETTINGS_FILE.as_posix()}. Create a project in it instead."
            )
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._lock:
            kept = {name: at for name, at in self._read().items() if name != str(folder)}
            self._write(dict([(str(folder), now), *kept.items()][:MOST_KNOWN]))
        return _known(folder, now)

    def create(self, folder: Path, *, sample: bool = False) -> KnownProject:
        """Make a folder a project and open it; what is in it stays as it is.

        Args:
            sample: fill it with the sample site, for a tour.

        Raises:
            InputError: the folder has pages of its own, or this installation has no sample.
            OutputError: the folder or the list can't be written.
        """
        folder = _whole(folder)
        if sample:
            _require_sample(folder)
        init(folder)
        if sample:
            try:
                for name in _SAMPLE:
                    shutil.copyfile(CHECKOUT / "files" / name, folder / "files" / name)
            except OSError as error:
                raise OutputError(f"{folder}/files can't be written ({error.strerror}).") from None
        return self.open(folder)

    def forget(self, key: str) -> None:
        """Take a project off the list; its folder stays as it is.

        Raises:
            OutputError: the list can't be written.
        """
        with self._lock:
            self._write({name: at for name, at in self._read().items() if project_key(Path(name)) != key})

    def _read(self) -> dict[str, str]:
        """Return the time of each folder; a list that was damaged is an empty one."""
        try:
            known: Any = json.loads(self._file.read_text(encoding="utf-8"))
            return {str(folder): str(at) for folder, at in known.items()}
        except (OSError, ValueError, AttributeError):
            return {}

    def _write(self, known: dict[str, str]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self._file.parent} can't be created ({error.strerror}).") from None
        text = json.dumps(known, ensure_ascii=False, indent=1)
        replace_whole(self._file, lambda file: file.writelines([text]))


def project_key(folder: Path) -> str:
    """Return 10 hex digits for a project folder."""
    return blake2b(str(folder).encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


def next_step(folder: Path) -> Literal["import", "run", "review"]:
    """Return where the work on a project goes on: the review of links, a run over pages, or the import of some."""
    if (folder / _LINKS).is_file():
        return "review"
    return "run" if any((folder / name).is_file() for name in (_PAGES, _QUERIES)) else "import"


def sample_there() -> bool:
    """Return whether this installation has the sample site."""
    return all((CHECKOUT / "files" / name).is_file() for name in _SAMPLE)


def _whole(folder: Path) -> Path:
    """Return a folder's whole path.

    Raises:
        InputError: it is relative, so that it depends on where the server was started, or no path at all.
    """
    try:
        whole = folder.expanduser()
        if "\0" not in str(folder) and whole.is_absolute():
            # Raises if the system can't have such a name, for example a longer one than it takes.
            with suppress(FileNotFoundError, NotADirectoryError):
                whole.stat()
            return whole.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: the user in ~user is unknown
        reason = getattr(error, "strerror", None) or "there is no such user"
        raise InputError(f"'{folder}' can't be a folder here ({reason}): check the path.") from None
    raise InputError(
        f"'{folder}' is not a whole path: write it from the root, such as {Path.home() / 'shop'}."
    )


def _require_sample(folder: Path) -> None:
    if not sample_there():
        raise InputError("This installation has no sample site: only a checkout of the repository has it.")
    if any((folder / "files" / name).exists() for name in _SAMPLE):
        raise InputError(f"{folder} has pages already: name an empty folder for the sample.")


def _known(folder: Path, at: str) -> KnownProject:
    return KnownProject(
        project_key(folder),
        str(folder),
        folder.name or str(folder),
        at,
        (folder / SETTINGS_FILE).is_file(),
        (folder / _PAGES).is_file(),
        (folder / _LINKS).is_file(),
    )
