"""Apply links in the steps of a page: show the changes, write exactly those that were shown, take them back."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from internal_linker.model.applied_links import content_hash
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Stop, Tracker
from internal_linker.project.apply import (
    AppliedLink,
    ApplyOutcome,
    ApplyResult,
    ChangesDiffer,
    accepted_links,
    apply,
)
from internal_linker.project.options.decisions import ApplyOptions, UndoOptions
from internal_linker.project.project import Project
from internal_linker.project.settings.accounts import wordpress_account
from internal_linker.project.source_folder import source_folder
from internal_linker.project.undo_links import UndoResult, undo

# Where links go: into the folder of the settings, or the site in config/wordpress.txt.
Destination = Literal["files", "wordpress"]
_CANCELLED = "Cancelled; nothing was changed."


@dataclass(frozen=True, slots=True)
class PageDiff:
    """The changes of a page's text.

    Attributes:
        page: the page's URL.
        file: where its text is.
        links: how many links are new in it.
        diff: the changes as a unified diff, without its header.
    """

    page: str
    file: str
    links: int
    diff: str


@dataclass(frozen=True)
class ShownChanges:
    """What applying links would change, as it was shown to a person."""

    id: str  # changes whenever the folder or a change does
    to: Destination  # where the links go
    options: ApplyOptions  # the same with its address, and which links
    result: ApplyResult  # what would become of each link
    pages: Sequence[PageDiff]  # the changes of each page

    @property
    def home(self) -> str:
        """The folder of source files, or the address of the site."""
        return self.options.wordpress or str(self.options.files)

    @property
    def planned(self) -> Sequence[AppliedLink]:
        """The links that would be applied."""
        return [link for link in self.result.links if link.outcome is ApplyOutcome.PLANNED]


def wordpress_site(project: Project) -> str:
    """Return the address of the site in config/wordpress.txt; "" without an account.

    Raises:
        ConfigurationError: the file is wrong.
    """
    account = wordpress_account(project.settings.wordpress.get_secret_value())
    return account.site if account else ""


def destined(project: Project, to: Destination, options: ApplyOptions) -> ApplyOptions:
    """Return options with where the links go, which the settings alone say.

    Raises:
        ConfigurationError: the settings don't say it, or what they say can't be used.
        InputError: there is no such folder.
    """
    if to == "files":
        return replace(options, files=source_folder(project), wordpress="")
    if not (site := wordpress_site(project)):
        raise ConfigurationError(
            "There is no WordPress account: set it on the page Settings, under Keys and passwords."
        )
    return replace(options, files=None, wordpress=site)


def show_changes(
    project: Project,
    to: Destination,
    options: ApplyOptions,
    progress: Progress,
    should_stop: Stop = lambda: False,
) -> ShownChanges:
    """Find out what applying links would change; only the table of source files is written.

    Raises:
        InternalLinkerError: no folder is chosen, or it, the pages or a table can't be read.
        Interrupted: the work was stopped.
    """
    wanted = destined(project, to, options)
    result = apply(project, wanted, Tracker(progress, should_stop=should_stop, cancelled=_CANCELLED))
    seen = f"{wanted.wordpress or wanted.files}\n{result.diff}".encode("utf-8", "surrogatepass")
    return ShownChanges(content_hash(seen), to, wanted, result, [*_pages(result)])


def apply_shown(project: Project, shown: ShownChanges, progress: Progress, *, by: str = "") -> ApplyResult:
    """Apply the links that were shown, and no others.

    Raises:
        ChangesDiffer: something has changed since; nothing was written.
        InternalLinkerError: the folder, the pages or a table can't be read.
        RunActive: a run holds the project folder.
    """
    planned = [link.link_id for link in shown.planned]
    with project.applications() as (edges, _):
        accepted = {edge.id for edge in accepted_links(edges)}
    destination = destined(project, shown.to, shown.options)
    if not planned or destination != shown.options or not accepted.issuperset(planned):
        raise ChangesDiffer
    options = replace(shown.options, write=True, only=planned, sections=(), tier="")
    return apply(project, options, progress, seen=shown.result.diff, by=by)


def undo_application(project: Project, application: str, progress: Progress) -> UndoResult:
    """Take an application back, in the folder of the settings or the site in config/wordpress.txt; see `undo`.

    Raises:
        ConfigurationError: the links were applied in another folder, which is still there.
        InputError: there is no such application, or it was taken back.
        RunActive: a run holds the project folder.
    """
    with project.applications() as (_, applied):
        writes = applied.writes(application=application)
    if not writes:
        raise InputError(f"Application {application[:100]} not found: reload the page.")
    # What is stored never decides alone where this writes.
    folder = None
    if homes := {write.home for write in writes if not write.home.startswith(("http://", "https://"))}:
        folder = source_folder(project)
        if other := next((home for home in homes if Path(home) != folder and Path(home).is_dir()), ""):
            raise ConfigurationError(
                f"These links were applied in {other}: choose that folder, then take them back."
            )
    return undo(project, UndoOptions(what=application, files=folder), progress)


def _pages(result: ApplyResult) -> Iterator[PageDiff]:
    """Yield the diff of each page; both are in the order of the links."""
    by_file: dict[str, list[AppliedLink]] = {}
    for link in result.links:
        if link.outcome is ApplyOutcome.PLANNED:
            by_file.setdefault(link.file, []).append(link)
    for (file, links), diff in zip(by_file.items(), file_diffs(result.diff), strict=True):
        yield PageDiff(links[0].page, file, len(links), diff)


def file_diffs(patch: str) -> Iterator[str]:
    """Yield the hunks of each file of a patch, without the header; a text may have lines that look like one."""
    hunks, old, new = list[str](), 0, 0
    for line in patch.removesuffix("\n").split("\n") if patch else ():
        if old > 0 or new > 0 or line.startswith("\\"):
            hunks.append(line)
            old -= line[:1] in " -"
            new -= line[:1] in " +"
        elif line.startswith("@@ "):
            hunks.append(line)
            old, new = (int(part.partition(",")[2]) for part in line.split()[1:3])
        elif line.startswith("diff ") and hunks:
            yield "\n".join(hunks)
            hunks = []
    if hunks:
        yield "\n".join(hunks)


def reasons(links: Sequence[AppliedLink]) -> list[tuple[tuple[str, str], int]]:
    """Return how many links have each outcome and reason, the most frequent first."""
    return Counter((str(link.outcome), str(link.reason or "")) for link in links).most_common()
