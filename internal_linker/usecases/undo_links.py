"""Take applied links back: each text that is still as an application left it gets its former content, byte by byte."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import BinaryIO

from internal_linker.adapters.database.applied_links import AppliedLinks
from internal_linker.adapters.files.atomic import replace_binary, require_in_place
from internal_linker.core.applied_links import PageWrite, link_states
from internal_linker.core.errors import ConfigurationError, InputError, OutputError
from internal_linker.core.ports import Progress
from internal_linker.core.results import Columns, Result, columns_of
from internal_linker.core.sequences import counted
from internal_linker.usecases.applications import Text, pages_meant, text_now
from internal_linker.usecases.log import LOGGER, new_run_id, run_log
from internal_linker.usecases.options.applying import UndoOptions
from internal_linker.usecases.project import Project

_LAST = "last"
# Texts whose rows are marked in one transaction, which takes longer than to write a text.
_BLOCK = 100


class Kept(StrEnum):
    """Why a text was not taken back; the value is the sentence that people read."""

    CHANGED = "it changed since links were applied: remove the links by hand"
    GONE = "the file is gone"
    NO_FOLDER = "the folder is gone: say where it is with --files"
    UNWRITABLE = "the file can't be written: check its permissions"
    DAMAGED = "its former text is damaged in the store: restore it with cache verify --repair"


@dataclass(frozen=True, slots=True)
class UndoneText:
    """A text with links, and what became of it.

    Attributes:
        application: the application that put them in.
        page: the page's URL.
        file: where the text is.
        links: how many links were put in.
        reason: why it was left as it is; None: it is again as it was before.
    """

    application: str
    page: str
    file: str
    links: int
    reason: Kept | None = None


@dataclass(frozen=True, repr=False)
class UndoResult(Result):
    """What was taken back.

    Attributes:
        texts: the texts, the last written first.
    """

    texts: Sequence[UndoneText]

    @property
    def restored(self) -> Sequence[UndoneText]:
        """The texts that are as they were before."""
        return [text for text in self.texts if text.reason is None]

    @property
    def kept(self) -> Sequence[UndoneText]:
        """The texts that were left as they are."""
        return [text for text in self.texts if text.reason is not None]

    def tables(self) -> dict[str, Columns]:
        """Return `texts`; `reason` is "" for a text that is as it was before."""
        columns = columns_of(self.texts, *UndoneText.__dataclass_fields__)
        return {"texts": {**columns, "reason": [str(text.reason or "") for text in self.texts]}}


@dataclass(frozen=True, slots=True)
class Application:
    """An application of links.

    Attributes:
        application: its id.
        at: when it began, ISO 8601, UTC.
        by: who applied the links.
        home: the folder of the source files.
        texts: how many texts it wrote.
        applied, live, undone: how many of its links are in each state: put into the texts, found on the site by a run,
            or taken back.
    """

    application: str
    at: str
    by: str
    home: str
    texts: int
    applied: int
    live: int
    undone: int


@dataclass(frozen=True, repr=False)
class ApplicationsResult(Result):
    """All applications of links, the oldest first."""

    applications: Sequence[Application]

    def tables(self) -> dict[str, Columns]:
        """Return `applications`."""
        return {"applications": columns_of(self.applications, *Application.__dataclass_fields__)}


def applications(project: Project) -> ApplicationsResult:
    """List the applications of links, and how many of their links are live."""
    with project.applications() as (edges, applied):
        writes = applied.writes()
        live = [edge.id for edge in edges.each("live")] if writes else []
    states = link_states(writes, live)
    by_application: dict[str, list[PageWrite]] = {}
    for write in writes:
        by_application.setdefault(write.application, []).append(write)
    return ApplicationsResult([_application(some, states) for some in by_application.values()])


def undo(project: Project, options: UndoOptions, progress: Progress) -> UndoResult:
    """Take applied links back; what changed since is listed and stays as it is.

    Args:
        project: whose links.
        options: which of them.
        progress: shows the texts.

    Raises:
        ConfigurationError: nothing is named.
        InputError: there is nothing to take back, or no such application or page.
        RunActive: a run holds the project folder.
    """
    if not options.what:
        raise ConfigurationError(
            "Name what to take back: LAST, the number of an application, or a page's URL."
        )
    with (
        project.lock(),
        run_log(project.root, new_run_id(), project.settings.secrets),
        project.applications(read_only=False) as (_, applied),
    ):
        writes = _meant(options.what, [one for one in applied.writes() if one.status != "undone"])
        progress.start("Undo", len(writes), "files")
        result = UndoResult(_restore_all(writes, options.files, applied, progress))
        progress.finish(f"{counted(len(result.restored), 'file')} restored")
        LOGGER.info("Undo: %s restored, %s left", len(result.restored), len(result.kept))
    return result


def _application(writes: Sequence[PageWrite], states: Mapping[str, str]) -> Application:
    first = writes[0]
    # A link that was undone and applied again by a later application is undone in this one.
    found = [
        "undone" if write.status == "undone" else states.get(link, "applied")
        for write in writes
        for link in write.links
    ]
    return Application(
        first.application,
        first.at.isoformat(timespec="seconds"),
        first.by,
        first.home,
        len(writes),
        *(found.count(state) for state in ("applied", "live", "undone")),
    )


def _meant(what: str, writes: Sequence[PageWrite]) -> list[PageWrite]:
    """Return the writes that a person names.

    Raises:
        InputError: there are none.
    """
    if not writes:
        raise InputError("There is nothing to undo: no applied links are stored, or all were taken back.")
    wanted = writes[-1].application if what.casefold() == _LAST else what
    if found := [write for write in writes if write.application == wanted]:
        return found
    keys = pages_meant(what, {write.page for write in writes})
    if found := [write for write in writes if write.page in keys]:
        return found
    raise InputError(
        f"{what[:200]} is neither an application nor a page with applied links. `undo` alone lists the applications."
    )


def _restore_all(
    writes: Sequence[PageWrite], elsewhere: Path | None, applied: AppliedLinks, progress: Progress
) -> list[UndoneText]:
    """Put former contents back, the newest write first: a text that was written twice goes back step by step."""
    texts, undone = list[UndoneText](), dict[tuple[str, str], PageWrite]()
    for write in reversed(writes):
        # Stored in blocks, but never after a second step on a text: its state would then fit none of its rows.
        if len(undone) == _BLOCK or (write.home, write.place) in undone:
            applied.mark([*undone.values()], "undone")
            undone.clear()
        texts.append(text := _restored(write, elsewhere, applied))
        if text.reason is None:
            undone[write.home, write.place] = write
        progress.advance()
    applied.mark([*undone.values()], "undone")
    return texts


def _restored(write: PageWrite, elsewhere: Path | None, applied: AppliedLinks) -> UndoneText:
    """Put a text's former content in its place if it is still as the application left it."""
    folder = elsewhere.resolve() if elsewhere else Path(write.home)
    path = folder / write.place
    text = partial(UndoneText, write.application, write.page_url, str(path), len(write.links))
    if not folder.is_dir():
        return text(Kept.NO_FOLDER)
    now = text_now(path, write)
    if now is Text.AFTER:
        try:
            _put_back(path, applied.former(write))
        except OutputError as error:
            LOGGER.warning("%s", error)
            return text(Kept.UNWRITABLE)
        except ConfigurationError as error:
            LOGGER.warning("%s", error)
            return text(Kept.DAMAGED)
    elif now is not Text.BEFORE:
        return text(Kept.GONE if now is Text.GONE else Kept.CHANGED)
    return text()


def _put_back(path: Path, former: bytes) -> None:
    def write(file: BinaryIO) -> None:
        file.write(former)

    require_in_place(path, replace_binary(path, write))
