"""The API of applying links: choose the folder, see what would change, write it, and take it back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Query
from pydantic import Field

from internal_linker.faces.web.context import (
    Body,
    Folder,
    LinksOfProject,
    OpenedProject,
    Shared,
    SharedState,
    require_own_computer,
)
from internal_linker.faces.web.routes.review import Name, required_name
from internal_linker.faces.web.tasks import TaskState
from internal_linker.model.errors import InternalLinkerError
from internal_linker.project.apply import AppliedLink, ApplyOutcome, ApplyResult
from internal_linker.project.apply_steps import (
    Destination,
    PageDiff,
    ShownChanges,
    apply_shown,
    destined,
    reasons,
    show_changes,
    undo_application,
    wordpress_site,
)
from internal_linker.project.link_lists import LinkFilter
from internal_linker.project.options.decisions import ApplyOptions
from internal_linker.project.project import Project, open_project
from internal_linker.project.source_folder import choose_source_folder, source_folder
from internal_linker.project.stored_links import StoredLinks
from internal_linker.project.undo_links import Application, UndoResult, applications

router = APIRouter(prefix="/projects/{key}", tags=["Apply"])
# Pages without a certain file, and files that were left as they are, that an answer lists.
MOST_SHOWN = 1_000
_From = Annotated[int, Query(alias="from", ge=0, le=100_000_000)]
_Outcome = Annotated[
    Literal["", "would be applied", "in the text already", "for a related box", "refused"], Query()
]


class SourceFolderChoice(Body):
    """The folder of the site's source files."""

    folder: Annotated[str, Field(min_length=1, max_length=4_000, description="The folder's whole path.")]


class ChangesWanted(Body):
    """Which accepted links to apply, as the options of the command `apply`."""

    to: Annotated[
        Destination, Field(description="The folder of the settings, or the site in config/wordpress.txt.")
    ] = "files"
    sections: Annotated[
        list[Annotated[str, Field(max_length=2_000)]],
        Field(max_length=100, description="Only links from pages below these paths."),
    ] = Field(default_factory=list)
    tier: Literal["", "inline", "sidebar", "review"] = ""
    max_per_page: Annotated[int, Field(ge=1, le=1_000, description="New links of a page.")] = 3

    def options(self) -> ApplyOptions:
        """Return the options as the use case takes them."""
        return ApplyOptions(sections=tuple(self.sections), tier=self.tier, max_per_page=self.max_per_page)


class ChangesSeen(Body):
    """The changes that a person saw and wants."""

    changes: Annotated[str, Field(max_length=100, description="The id of the changes.")]
    by: Name = ""


class ApplicationNamed(Body):
    """An application to take back."""

    application: Annotated[str, Field(min_length=1, max_length=100)]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where accepted links go, and how many are to be applied.

    Attributes:
        folder: the folder of source files; "": none was chosen.
        problem: why it can't be used; "": it can.
        site: the WordPress site in config/wordpress.txt; "": none.
        site_problem: why the account in it can't be used.
        chooses: whether another one can be chosen: only where nobody else reaches the app.
        missing: how many accepted links are not on the site yet.
    """

    folder: str
    problem: str
    site: str
    site_problem: str
    chooses: bool
    missing: int


@dataclass(frozen=True, slots=True)
class ReasonedOutcome:
    """How many links have a result, with the reason of a refusal."""

    outcome: str
    reason: str
    links: int


@dataclass(frozen=True, slots=True)
class UnsurePage:
    """A page of which several files may be the source."""

    page: str
    why: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What applying links would change; nothing was written.

    Attributes:
        id: names these changes when they are applied.
        to: where the links would go.
        home: the folder of source files, or the address of the site.
        mapping: how many pages have a source file or a post, in a sentence.
        unsure: pages of which several files may be the source, the first of them.
        unsure_pages: how many there are.
        remarks: what was unusual.
        links: how many links would be applied.
        pages: how many pages would change.
        results: all links by result.
    """

    id: str
    to: Destination
    home: str
    mapping: str
    unsure: Sequence[UnsurePage]
    unsure_pages: int
    remarks: Sequence[str]
    links: int
    pages: int
    results: Sequence[ReasonedOutcome]


@dataclass(frozen=True, slots=True)
class LinkRows:
    """Some links with what would become of them."""

    total: int
    rows: Sequence[AppliedLink]


@dataclass(frozen=True, slots=True)
class DiffRows:
    """The changes of some pages."""

    total: int
    rows: Sequence[PageDiff]


@dataclass(frozen=True, slots=True)
class Applied:
    """What was written.

    Attributes:
        application: the id by which it is taken back; "": nothing was written.
        links: how many links were applied.
        texts: how many files or posts have new links.
        left: what became of the others, by reason.
        remarks: what was unusual.
    """

    application: str
    links: int
    texts: int
    left: Sequence[ReasonedOutcome]
    remarks: Sequence[str]


@dataclass(frozen=True, slots=True)
class KeptText:
    """A file or post that was not taken back, and why."""

    file: str
    page: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back.

    Attributes:
        links: how many links.
        restored: how many files or posts are as they were before.
        kept: those that stay as they are, the first of them.
        kept_texts: how many there are.
    """

    links: int
    restored: int
    kept: Sequence[KeptText]
    kept_texts: int


@router.get("/apply")
def show_standing(project: OpenedProject, links: LinksOfProject, state: SharedState) -> Standing:
    """Show where accepted links go, and how many are not on the site yet."""
    return _standing(project, links, state)


@router.put("/apply/folder", dependencies=[Depends(require_own_computer)])
def choose_folder(
    given: SourceFolderChoice, project: OpenedProject, links: LinksOfProject, state: SharedState
) -> Standing:
    """Choose the folder of the site's source files, which becomes a setting; not where others can reach the app."""
    choose_source_folder(project, given.folder)
    return _standing(open_project(project.root), links, state)


@router.post("/apply/changes", status_code=202)
def start_changes(given: ChangesWanted, project: OpenedProject, state: SharedState) -> TaskState:
    """Start to find out what would change; the task `changes` shows how far it is."""
    destined(project, given.to, given.options())  # so that what is missing is said at once
    return state.tasks.start(
        project.root,
        "changes",
        lambda progress, stop: show_changes(project, given.to, given.options(), progress, stop),
        again=True,
    )


@router.get("/apply/changes")
def show_found_changes(folder: Folder, state: SharedState) -> Changes | None:
    """Show what would change, as it was found last; null: nobody has looked since the app's start."""
    found: ShownChanges | None = state.tasks.result(folder, "changes")
    if found is None:
        return None
    result = found.result
    return Changes(
        found.id,
        found.to,
        found.home,
        result.mapping,
        [UnsurePage(page, why) for page, why in result.unsure[:MOST_SHOWN]],
        len(result.unsure),
        result.remarks,
        len(found.planned),
        len(found.pages),
        _reasoned(result.links),
    )


@router.get("/apply/changes/links")
def list_links(
    folder: Folder,
    state: SharedState,
    *,
    outcome: _Outcome = "",
    first: _From = 0,
    rows: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> LinkRows:
    """List the links with what would become of them, page by page."""
    found = [link for link in _found(folder, state).result.links if outcome in ("", link.outcome)]
    return LinkRows(len(found), found[first : first + rows])


@router.get("/apply/changes/pages")
def list_pages(
    folder: Folder, state: SharedState, *, first: _From = 0, rows: Annotated[int, Query(ge=1, le=100)] = 20
) -> DiffRows:
    """List the pages that would change, each with a unified diff of its text."""
    found = _found(folder, state).pages
    return DiffRows(len(found), found[first : first + rows])


@router.post("/apply", status_code=202)
def start_apply(given: ChangesSeen, project: OpenedProject, state: SharedState) -> TaskState:
    """Start to write the changes that were seen; the task `apply` shows how far it is.

    Nothing is written if a file, a decision or the folder has changed since. Where several people use the app, `by` is
    required.
    """
    by = required_name(given.by, state)
    found = _found(project.root, state)
    if found.id != given.changes:
        raise HTTPException(
            409, "Other changes were shown since, perhaps in another tab: show the changes again"
        )
    return state.tasks.start(
        project.root, "apply", lambda progress, _: apply_shown(project, found, progress, by=by)
    )


@router.get("/apply/done")
def show_applied(folder: Folder, state: SharedState) -> Applied | None:
    """Show what was written last; null: nothing since the app's start."""
    done: ApplyResult | None = state.tasks.result(folder, "apply")
    if done is None:
        return None
    written = [link for link in done.links if link.outcome is ApplyOutcome.APPLIED]
    left = [link for link in done.links if link.outcome is not ApplyOutcome.APPLIED]
    return Applied(done.application, len(written), done.files, _reasoned(left), done.remarks)


@router.get("/applications")
def list_applications(project: OpenedProject) -> Sequence[Application]:
    """List the applications of links, the newest first."""
    return [*reversed(applications(project).applications)]


@router.post("/applications/undo", status_code=202)
def start_undo(given: ApplicationNamed, project: OpenedProject, state: SharedState) -> TaskState:
    """Start to take an application back; the task `undo` shows how far it is."""
    return state.tasks.start(
        project.root, "undo", lambda progress, _: undo_application(project, given.application, progress)
    )


@router.get("/applications/undo")
def show_undone(folder: Folder, state: SharedState) -> Undone | None:
    """Show what was taken back last; null: nothing since the app's start."""
    done: UndoResult | None = state.tasks.result(folder, "undo")
    if done is None:
        return None
    kept = [KeptText(text.file, text.page, str(text.reason)) for text in done.kept]
    links = sum(text.links for text in done.restored)
    return Undone(links, len(done.restored), kept[:MOST_SHOWN], len(kept))


def _standing(project: Project, links: StoredLinks, state: Shared) -> Standing:
    folder, site, problem, site_problem = project.settings.source_folder, "", "", ""
    try:
        folder = str(source_folder(project)) if folder else ""
    except InternalLinkerError as error:
        problem = str(error)
    try:
        site = wordpress_site(project)
    except InternalLinkerError as error:
        site_problem = str(error)
    missing = links.part(LinkFilter(on_site="missing"), limit=0).total
    return Standing(folder, problem, site, site_problem, state.access.local, missing)


def _found(folder: Folder, state: SharedState) -> ShownChanges:
    found: ShownChanges | None = state.tasks.result(folder, "changes")
    if found is None:
        raise HTTPException(409, "The changes have not been shown yet")
    return found


def _reasoned(links: Sequence[AppliedLink]) -> list[ReasonedOutcome]:
    return [ReasonedOutcome(outcome, reason, count) for (outcome, reason), count in reasons(links)]
