"""Take applied links back: each text that is still as an application left it gets its former content, byte by byte."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from internal_linker.model.applied_links import PageWrite, link_states
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import Progress
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.log import LOGGER, new_run_id, run_log
from internal_linker.project.options.decisions import UndoOptions
from internal_linker.project.post_texts import PostHome
from internal_linker.project.project import Project
from internal_linker.project.source_folder import FolderHome
from internal_linker.project.targets import PublishTarget, UndoSkipReason, pages_meant
from internal_linker.project.wordpress import editing_client, has_account
from internal_linker.store.applied_links import AppliedLinks

_LAST = "last"
# Texts whose rows are marked in one transaction, which takes longer than to write a text.
_BLOCK = 100


@dataclass(frozen=True, slots=True)
class UndoneText:
    """A text with links, and what became of it."""

    application: str  # the application that put them in
    page: str  # the page's URL
    file: str  # the file's path, or the route of the post, such as wp/v2/posts/12
    links: int  # how many links were put in
    reason: UndoSkipReason | None = None  # why it was left as it is; None: it is again as it was before
    noun: str = "file"  # what it is: "file" or "post"


@dataclass(frozen=True, repr=False)
class UndoResult(Result):
    """What was taken back."""

    texts: Sequence[UndoneText]  # the texts, the last written first

    @property
    def restored(self) -> Sequence[UndoneText]:
        """The texts that are as they were before."""
        return [text for text in self.texts if text.reason is None]

    @property
    def kept(self) -> Sequence[UndoneText]:
        """The texts that were left as they are."""
        return [text for text in self.texts if text.reason is not None]

    @property
    def summary(self) -> str:
        """How many texts and links were taken back, in a sentence."""
        nouns = Counter(text.noun for text in self.restored) or {"text": 0}
        texts = " and ".join(counted(count, noun) for noun, count in nouns.items())
        return f"{texts} restored, {counted(sum(text.links for text in self.restored), 'link')} taken back."

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
        home: the folder of the source files, or the address of the site.
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


@capability()
def applications(project: Project) -> ApplicationsResult:
    """List the applications of links and how many of their links are live, as `undo` does without an argument.

    Returns:
        `.applications`, the oldest first.

    Raises:
        InternalLinkerError: the store can't be read.
    """
    with project.applications() as (edges, applied):
        writes = applied.writes()
        live = [edge.id for edge in edges.each("live")] if writes else []
    states = link_states(writes, live)
    by_application: dict[str, list[PageWrite]] = {}
    for write in writes:
        by_application.setdefault(write.application, []).append(write)
    return ApplicationsResult([_application(some, states) for some in by_application.values()])


@capability(positional=("what",))
def undo(project: Project, options: UndoOptions, progress: Progress) -> UndoResult:
    """Take applied links back, as the command `undo` does.

    Returns:
        `.restored` and `.kept`: the texts that are as they were, and those that changed since.

    Raises:
        ConfigurationError: nothing is named, or the folder must be.
        InputError: there is nothing to take back, or no such application or page.
        RunActive: a run holds the project folder.
        ServiceError: the site doesn't answer, or refuses the account.
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
        with _homes(project, options, writes, progress) as homes:
            progress.start("Undo", len(writes), "texts")
            result = UndoResult(_restore_all(writes, homes, applied, progress))
            progress.finish(f"{counted(len(result.restored), 'text')} restored")
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
    """Return the writes that a person names."""
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
    writes: Sequence[PageWrite],
    homes: Mapping[str, PublishTarget | UndoSkipReason],
    applied: AppliedLinks,
    progress: Progress,
) -> list[UndoneText]:
    """Put former contents back, the newest write first: a text that was written twice goes back step by step."""
    texts, undone = list[UndoneText](), dict[tuple[str, str], PageWrite]()
    for write in reversed(writes):
        # Stored in blocks, but never after a second step on a text: its state would then fit none of its rows.
        if len(undone) == _BLOCK or (write.home, write.place) in undone:
            applied.mark([*undone.values()], "undone")
            undone.clear()
        texts.append(text := _restored(write, homes[write.home], applied))
        if text.reason is None:
            undone[write.home, write.place] = write
        progress.advance()
    applied.mark([*undone.values()], "undone")
    return texts


def _restored(write: PageWrite, home: PublishTarget | UndoSkipReason, applied: AppliedLinks) -> UndoneText:
    """Put a text's former content in its place if it is still as the application left it."""
    file = str(Path(home.address) / write.place) if isinstance(home, FolderHome) else write.place
    noun = "post" if _is_site(write.home) else "file"
    text = UndoneText(write.application, write.page_url, file, len(write.links), noun=noun)
    if isinstance(home, UndoSkipReason):
        return replace(text, reason=home)
    try:
        return replace(text, reason=home.restore(write, applied.former(write)))
    except ConfigurationError as error:
        LOGGER.warning("%s", error)
        return replace(text, reason=UndoSkipReason.DAMAGED)


@contextmanager
def _homes(
    project: Project, options: UndoOptions, writes: Sequence[PageWrite], progress: Progress
) -> Iterator[dict[str, PublishTarget | UndoSkipReason]]:
    """Yield where the texts of writes are, by the addresses that the store has.

    Others may write a store outside the project folder: its rows choose neither the folder nor the site.

    Raises:
        ConfigurationError: the store is outside the project folder, and no option names the folder of the files.
        ServiceError: the site doesn't answer, or refuses the account.
    """
    homes = dict[str, PublishTarget | UndoSkipReason]()
    with ExitStack() as stack:
        for address in dict.fromkeys(write.home for write in writes):
            if not _is_site(address):
                if options.files is None and not _is_own(project):
                    raise ConfigurationError(
                        "The cache is outside the project folder, where others may write: name the folder of the "
                        f"source files with --files. The links were applied in {address}."
                    )
                homes[address] = FolderHome((options.files or Path(address)).resolve())
            elif has_account(project, address):
                client = stack.enter_context(editing_client(project, address, progress, delay=options.delay))
                homes[address] = PostHome(client)
            else:
                homes[address] = UndoSkipReason.OTHER_SITE
        yield homes


def _is_own(project: Project) -> bool:
    file = project.databases.file
    return file is not None and file.resolve().is_relative_to(project.root.resolve())


def _is_site(address: str) -> bool:
    return address.startswith(("http://", "https://"))
