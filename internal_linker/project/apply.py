"""Put accepted links into the texts of the site's pages: show what would change, or change it."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from internal_linker.model.applied_links import PageWrite, content_hash, link_states
from internal_linker.model.edges import Edge, is_link
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.experiments import held_targets
from internal_linker.model.ports import Progress
from internal_linker.model.records import Collected
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.model.sections import section_of
from internal_linker.model.sequences import batched, counted
from internal_linker.model.source_files import StoredSource
from internal_linker.project.capabilities import capability
from internal_linker.project.log import LOGGER, new_run_id, run_log
from internal_linker.project.options.decisions import ApplyOptions
from internal_linker.project.post_texts import read_page_posts
from internal_linker.project.project import Project
from internal_linker.project.review import login, tier_named
from internal_linker.project.sections import chosen_sections
from internal_linker.project.site_texts import imported_site
from internal_linker.project.source_folder import (
    SourceFolder,
    open_source_folder,
    source_folder,
    source_pages_csv,
)
from internal_linker.project.targets import (
    GAPS,
    PublishTarget,
    SkipReason,
    SourceTexts,
    TextState,
    pages_meant,
)
from internal_linker.project.wordpress import editing_client
from internal_linker.publish.insertion import HoldReason, PlacedLink, Placement, Refusal, place_links
from internal_linker.store.applied_links import AppliedLinks
from internal_linker.store.edges import EdgeStore
from internal_linker.store.files.atomic import replace_whole, require_in_place
from internal_linker.store.files.git import Change, Commit, patch_of, write_patch
from internal_linker.store.files.text_spool import TextSpool
from internal_linker.text.blocks import is_marked


class ApplyOutcome(StrEnum):
    """What became of an accepted link; the value is what people read."""

    PLANNED = "would be applied"
    APPLIED = "applied"
    IN_PATCH = "in the patch"
    IN_BRANCH = "in the branch"
    IN_BOX = "in the file of related links"
    FOR_BOX = "for a related box"
    IN_PLACE = "in the text already"
    HELD_BACK = "held back"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedLink:
    """An accepted link, and what became of it.

    Attributes:
        link_id: its id.
        page, target: URLs.
        anchor: its text.
        tier: as in links.csv.
        file: the page's source file, or the route of its post, such as wp/v2/posts/12; "" if there is none.
        line: the line of the changed text on which it begins, from 1; 0 if it was not put into it.
        outcome: what became of it.
        reason: why it was refused; None if it wasn't.
        until: the day until which it is held back; "" if it isn't.
    """

    link_id: str
    page: str
    target: str
    anchor: str
    tier: str
    file: str = ""
    line: int = 0
    outcome: ApplyOutcome = ApplyOutcome.REFUSED
    reason: Refusal | HoldReason | SkipReason | None = None
    until: str = ""

    @property
    def result(self) -> str:
        """The outcome, with the reason of a refusal."""
        if self.outcome is ApplyOutcome.HELD_BACK:
            return f"{self.outcome} until {self.until} {self.reason}"
        return f"{self.outcome}: {self.reason}" if self.reason else str(self.outcome)


@dataclass(frozen=True, repr=False)
class ApplyResult(Result):
    """What was done with accepted links, or would be: `links` has each that the options take, page by page."""

    links: Sequence[AppliedLink]
    diff: str  # unified
    mapping: str  # how many pages have a source file or a post, in a sentence
    # Pages of which several files may be the source, with why; only while this is new.
    unsure: Sequence[tuple[str, str]] = ()
    application: str = ""  # the id by which `undo` takes the changes back; "" if nothing was written
    files: int = 0  # files or posts that have new links, or would have
    remarks: Sequence[str] = ()  # what was unusual, one sentence each
    gaps: Sequence[str] = ()  # what should have been done and was not, one sentence each
    noun: str = "file"  # or "post"

    @property
    def counts(self) -> Mapping[str, int]:
        """How many links have each result, the most frequent first."""
        return dict(Counter(link.result for link in self.links).most_common())

    def tables(self) -> dict[str, Columns]:
        """Return `links` and `counts`."""
        counts, names = self.counts, [*AppliedLink.__dataclass_fields__]
        columns = columns_of(self.links, *names, "result")
        columns |= {name: [str(value or "") for value in columns[name]] for name in ("outcome", "reason")}
        return {"links": columns, "counts": {"result": [*counts], "links": [*counts.values()]}}


@dataclass(frozen=True)
class PageChange:
    """The text of a page with its new version, and the links that are new in it."""

    page: str
    page_url: str
    text: StoredSource
    new: str
    links: Sequence[AppliedLink]


class ChangesDiffer(InputError):
    """The changes are not those that a person saw, so nothing was written."""

    def __init__(self) -> None:
        super().__init__(
            "A text, a decision or a setting has changed since these changes were shown, so nothing was written: show "
            "the changes again."
        )


@capability(positional=("files",))
def apply(
    project: Project,
    options: ApplyOptions,
    progress: Progress,
    *,
    seen: str | None = None,  # the diff that a person saw; None: nobody did
    by: str = "",  # who applies them; "": the user of this computer
) -> ApplyResult:
    """Put accepted links into the site's source files or posts, as the command `apply` does.

    Without `write`, `patch` or `branch` nothing changes.

    Returns:
        `.links`, what became of each, `.diff`, `.counts` and `.application`, which `undo` takes.

    Raises:
        ChangesDiffer: the changes are others than those that were seen.
        ConfigurationError: the options don't go together, name a section without a page, or name a site that
            config/wordpress.txt has no account for.
        InputError: the folder, the pages or a table can't be read, or an option names an unknown page or link.
        OutputError: the patch, the branch or a table can't be written.
        RunActive: a run holds the project folder.
        ServiceError: the site doesn't answer, or refuses the account.
    """
    if options.files is None and not options.wordpress:
        options = replace(options, files=source_folder(project))
    _check(options)
    if not options.write:
        return _apply(project, options, progress, seen=seen)
    run_id = new_run_id()
    with project.lock(), run_log(project.root, run_id, project.settings.secrets):
        result = _apply(project, options, progress, seen=seen, run_id=run_id, by=by or login())
        counts = ", ".join(f"{count} {name}" for name, count in result.counts.items())
        LOGGER.info("Apply: %s; %s written", counts or "no links", counted(result.files, result.noun))
    return result


def accepted_links(edges: EdgeStore) -> list[Edge]:
    """Return the links that editors accepted or edited and that no run has found on the site, page by page."""
    found = [edge for edge in edges.each("accepted", "edited") if is_link(edge)]
    return sorted(found, key=lambda edge: (edge.source_url, edge.rank == 0, edge.rank, edge.id))


def _check(options: ApplyOptions) -> None:
    ways = {"--write": options.write, "--patch": options.patch, "--branch": options.branch}
    given = [name for name, value in ways.items() if value]
    if options.files is not None and options.wordpress:
        raise ConfigurationError("--files and --wordpress can't be used together: choose one of them.")
    if options.wordpress and (options.patch or options.branch):
        raise ConfigurationError(f"{given[-1]} is for source files: use --write for a WordPress site.")
    if len(given) > 1:
        raise ConfigurationError(f"{' and '.join(given)} can't be used together: choose one of them.")


@dataclass(frozen=True)
class _Planner:
    """Puts accepted links into texts, in memory."""

    site: Collected
    texts: SourceTexts
    most: int  # new links of a page
    waiting: Collection[str]  # ids of links that were applied earlier and are not live yet

    def plan(self, links: Sequence[Edge], progress: Progress) -> tuple[list[PageChange], list[AppliedLink]]:
        """Return the changes of texts, and the links that change none, with what became of them."""
        changes, others, by_page = list[PageChange](), list[AppliedLink](), defaultdict[str, list[Edge]](list)
        for edge in links:
            by_page[edge.source].append(edge)
        progress.start("Placing", len(by_page), "pages")
        for source, edges in by_page.items():
            change, rest = self._page(source, edges)
            changes += [change] if change else []
            others += rest
            progress.advance()
        placed = sum(len(one.links) for one in changes)
        progress.finish(f"{placed} of {counted(len(links), 'link')}")
        return changes, others

    def url(self, key: str, written: str) -> str:
        """Return a page's URL as the table of pages has it; `written` if the table has no such page."""
        page = self.site.find(self.site.hosts.restored(key))
        return page.url if page else written

    def _page(self, source: str, edges: Sequence[Edge]) -> tuple[PageChange | None, list[AppliedLink]]:
        url = self.url(source, edges[0].source_url)
        inside = [edge for edge in edges if not _is_for_box(edge)]
        text = self.texts.find(url) if inside else SkipReason.NO_FILE
        named = {
            edge.id: self._named(edge, url, "" if isinstance(text, SkipReason) else text.path)
            for edge in edges
        }
        others = [
            replace(named[edge.id], outcome=ApplyOutcome.FOR_BOX) for edge in edges if _is_for_box(edge)
        ]
        if isinstance(text, SkipReason):
            return None, [*others, *(replace(named[edge.id], reason=text) for edge in inside)]
        reworded = [edge for edge in inside if edge.wording not in ("", edge.chosen.wording)]
        others += [replace(named[edge.id], reason=Refusal.REWORDED) for edge in reworded]
        wanted = [(edge.id, self._placement(edge, text)) for edge in inside if edge not in reworded]
        placed = place_links(text.text, text.text_format, wanted, most=self.most, applied=self.waiting)
        answers = placed.links
        if any(one.refusal is Refusal.NOT_BODY for one in answers) and not self._has_markup(source):
            answers = [
                replace(one, refusal=Refusal.UNCERTAIN) if one.refusal is Refusal.NOT_BODY else one
                for one in answers
            ]
        found = [_with_answer(named[one.id], one, self.waiting) for one in answers]
        new = [link for link in found if link.outcome is ApplyOutcome.PLANNED]
        others += [link for link in found if link.outcome is not ApplyOutcome.PLANNED]
        if new and (why := self.texts.held(text, placed.text)):
            return None, [*others, *_refused(new, why)]
        return (PageChange(source, url, text, placed.text, new) if new else None), others

    def _has_markup(self, source: str) -> bool:
        """Return whether the import knew what of a page's text are headings, links and code."""
        page = self.site.find(self.site.hosts.restored(source))
        return bool(page and (page.headings or page.closed or page.taken or is_marked(str(page.content))))

    def _named(self, edge: Edge, url: str, path: str) -> AppliedLink:
        return AppliedLink(
            link_id=edge.id,
            page=url,
            target=self.url(edge.target, edge.target_url),
            anchor=edge.chosen.text,
            tier=edge.tier,
            file=path,
        )

    def _placement(self, edge: Edge, text: StoredSource) -> Placement:
        chosen, target = edge.chosen, self.url(edge.target, edge.target_url)
        return Placement(
            target,
            self.texts.href(text, target),
            chosen.text if chosen.verbatim or edge.wording else "",
            chosen.sentence,
            self._leads_to(text, target),
            edge.wording,
        )

    def _leads_to(self, text: StoredSource, target: str) -> Callable[[str], bool]:
        key = self.texts.leads_to(text, target)
        return lambda href: self.texts.leads_to(text, href) == key


def _apply(
    project: Project,
    options: ApplyOptions,
    progress: Progress,
    *,
    seen: str | None,
    run_id: str = "",
    by: str = "",
) -> ApplyResult:
    """Apply links under an id; without one, nothing in the site is written."""
    spool = TextSpool(project.root / "files")
    try:
        site = imported_site(project, spool, progress)
        with project.applications() as (edges, _):
            links = _chosen(accepted_links(edges), options, site)
        with (
            _texts(project, options, site, links, progress) as texts,
            project.applications(read_only=not run_id) as (_, applied),
        ):
            remarks = _settle(applied, texts.home) if run_id else []
            states = link_states(applied.writes(), ()).items()
            waiting = {link for link, state in states if state == "applied"}
            changes, others = _plan(
                project, options, _Planner(site, texts, options.max_per_page, waiting), links, progress
            )
            if seen is not None and _diff(changes) != seen:
                raise ChangesDiffer
            if run_id:
                done, failed, problems = _write(changes, texts.home, applied, (run_id, by), progress)
                others, remarks = [*others, *failed], [*remarks, *dict.fromkeys(problems)]
            else:
                done = _put_elsewhere(changes, options, texts)
    finally:
        spool.close()
    order = {edge.id: at for at, edge in enumerate(links)}
    named = [*chain.from_iterable(one.links for one in done), *others]
    is_final = bool(run_id or options.patch or options.branch)
    gaps = Counter(link.reason for link in named if link.reason in GAPS) if is_final else {}
    return ApplyResult(
        sorted(named, key=lambda link: order[link.link_id]),
        _diff(done),
        texts.summary,
        [*texts.unsure.items()] if isinstance(texts, SourceFolder) and texts.is_new else (),
        run_id if done else "",
        len(done),
        [*remarks, *texts.remarks],
        [f"{counted(count, 'link')} not applied: {reason}." for reason, count in gaps.items()],
        texts.home.noun,
    )


def _plan(
    project: Project, options: ApplyOptions, planner: _Planner, links: Sequence[Edge], progress: Progress
) -> tuple[list[PageChange], list[AppliedLink]]:
    """Return the changes to be made, and the links that change nothing; write those for related boxes if wanted."""
    free, held = _exclude_holdout_targets(project, links)
    changes, others = planner.plan(free, progress)
    others += held
    if options.links_json:
        _write_link_box(options.links_json, [edge for edge in free if _is_for_box(edge)], planner)
        others = [
            replace(one, outcome=ApplyOutcome.IN_BOX) if one.outcome is ApplyOutcome.FOR_BOX else one
            for one in others
        ]
    if options.wordpress:
        changes, later = changes[: options.max_writes], changes[options.max_writes :]
        others += chain.from_iterable(_refused(one.links, SkipReason.LATER) for one in later)
    return changes, others


@contextmanager
def _texts(
    project: Project, options: ApplyOptions, site: Collected, links: Sequence[Edge], progress: Progress
) -> Iterator[SourceTexts]:
    """Yield the texts of the site's pages; from a WordPress site only those that links go into."""
    if not options.wordpress:
        yield _folder(project, options, site, progress)
        return
    keys = dict.fromkeys(site.hosts.restored(edge.source) for edge in links if not _is_for_box(edge))
    urls = [page.url if (page := site.find(key)) else key for key in keys]
    with editing_client(project, options.wordpress, progress, delay=options.delay) as client:
        yield read_page_posts(client, site.hosts, urls, progress)


def _folder(project: Project, options: ApplyOptions, site: Collected, progress: Progress) -> SourceFolder:
    assert options.files is not None
    progress.start("Source files", 0, "files")
    folder = open_source_folder(project, options.files, site)
    if options.branch and folder.work_tree is None:
        raise InputError(
            f"{options.files} is in no git work tree, so there can be no branch: use --write or --patch."
        )
    for remark in source_pages_csv(project).write(folder.rows) if folder.is_new else ():
        progress.warn(remark)
    progress.finish(counted(len(folder.tree.files), "file"))
    return folder


def _chosen(links: Sequence[Edge], options: ApplyOptions, site: Collected) -> list[Edge]:
    keys, ids = {edge.source for edge in links}, {edge.id for edge in links}
    sections = chosen_sections(options.sections, {page.key for page in site.pages} | keys)
    tier, wanted = tier_named(options.tier), set[str]()
    for each in options.only:
        found = [each] if each in ids else pages_meant(each, keys, site.hosts.key)
        if not found:
            raise InputError(
                f"--only {each[:200]}: no accepted link has this id or starts at this page. Check it in the review."
            )
        wanted.update(found)
    return [
        edge
        for edge in links
        if sections.hold(edge.source)
        and tier in ("", edge.tier)
        and (not wanted or not wanted.isdisjoint((edge.id, edge.source)))
    ]


def _write(
    changes: Sequence[PageChange],
    home: PublishTarget,
    applied: AppliedLinks,
    who: tuple[str, str],
    progress: Progress,
) -> tuple[list[PageChange], list[AppliedLink], list[str]]:
    """Write texts, each after its former content is stored.

    Return what was written, the links that were not, and what a person should know of these.
    """
    done, failed, problems = list[PageChange](), list[AppliedLink](), list[str]()
    progress.start("Writing", len(changes), f"{home.noun}s")
    for some in batched(changes, home.block):
        begun = applied.begin([(_begun(one, home, *who), one.text.encoded()) for one in some])
        written, left = list[PageWrite](), list[PageWrite]()
        for one, write in zip(some, begun, strict=True):
            if why := home.write(one.text, one.new):
                failed += _refused(one.links, why.reason)
                problems += [why.problem] if why.problem else []
                # What became of a doubtful one, the next application finds out.
                left += [] if why.is_doubtful else [write]
            else:
                done.append(_with_outcome(one, ApplyOutcome.APPLIED))
                written.append(write)
            progress.advance()
        applied.mark(written, "applied")
        applied.forget(left)
    progress.finish(counted(len(done), home.noun))
    return done, failed, problems


def _begun(one: PageChange, home: PublishTarget, application: str, by: str) -> PageWrite:
    return PageWrite(
        application=application,
        page=one.page,
        page_url=one.page_url,
        home=home.address,
        place=one.text.path,
        links=tuple(link.link_id for link in one.links),
        hash_before=content_hash(one.text.encoded()),
        hash_after=content_hash(one.text.encoded(one.new)),
        by=by,
        at=datetime.now(UTC),
    )


def _put_elsewhere(
    changes: Sequence[PageChange], options: ApplyOptions, texts: SourceTexts
) -> list[PageChange]:
    if not isinstance(texts, SourceFolder):
        return [*changes]
    if options.patch:
        prefix = texts.work_tree.prefix if texts.work_tree else ""
        write_patch(options.patch, [Change(one.text, one.new) for one in changes], prefix)
        return [_with_outcome(one, ApplyOutcome.IN_PATCH) for one in changes]
    if options.branch and texts.work_tree and changes:
        texts.work_tree.write_branch(options.branch, _commits(changes))
        return [_with_outcome(one, ApplyOutcome.IN_BRANCH) for one in changes]
    return [*changes]


def _commits(changes: Sequence[PageChange]) -> list[Commit]:
    sections = defaultdict[str, list[PageChange]](list)
    for one in changes:
        sections[section_of(one.page)].append(one)
    commits = []
    for section, some in sorted(sections.items()):
        count = counted(sum(len(one.links) for one in some), "internal link")
        lines = [f"Add {count} in {section}", ""]
        for one in some:
            lines += [one.page_url, *(f'- "{link.anchor}" -> {link.target}' for link in one.links), ""]
        commits.append(Commit("\n".join(lines), [Change(one.text, one.new) for one in some]))
    return commits


def _diff(changes: Sequence[PageChange]) -> str:
    return "".join(patch_of(one.text, one.new) for one in changes)


def _with_outcome(one: PageChange, outcome: ApplyOutcome) -> PageChange:
    return replace(one, links=[replace(link, outcome=outcome) for link in one.links])


def _refused(links: Sequence[AppliedLink], why: SkipReason) -> list[AppliedLink]:
    return [replace(link, outcome=ApplyOutcome.REFUSED, line=0, reason=why) for link in links]


def _is_for_box(edge: Edge) -> bool:
    """Return whether a link belongs in a related box: its tier says so, and its anchor is not for the text."""
    in_text = edge.anchor or edge.wording or (edge.chosen.text and edge.chosen.verbatim)
    return edge.tier == "sidebar" and not in_text


def _with_answer(link: AppliedLink, placed: PlacedLink, waiting: Collection[str]) -> AppliedLink:
    if placed.refusal is None:
        return replace(link, outcome=ApplyOutcome.PLANNED, line=placed.line)
    if placed.refusal is Refusal.LINKED and link.link_id in waiting:
        return replace(link, outcome=ApplyOutcome.IN_PLACE)
    return replace(link, reason=placed.refusal)


def _settle(applied: AppliedLinks, home: PublishTarget) -> list[str]:
    """Find out what a killed application has written in a home; return what a person should know."""
    begun = [write for write in applied.writes() if write.status == "begun" and write.home == home.address]
    if not begun:
        return []
    now = {write.number: home.state(write) for write in begun}
    never = [write for write in begun if now[write.number] is TextState.BEFORE]
    unknown = [write for write in begun if now[write.number] is TextState.UNKNOWN]
    # The former text of a text that somebody changed since is kept, whether or not it was written.
    written = [write for write in begun if write not in never and write not in unknown]
    applied.forget(never)
    applied.mark(written, "applied")
    found = sum(now[write.number] is TextState.AFTER for write in written)
    changed = len(written) - found
    open_ = f" {changed} changed since: look at them." if changed else ""
    open_ += f" {len(unknown)} can't be read now." if unknown else ""
    names = ", ".join(sorted({write.application for write in begun}))
    texts = counted(len(begun), home.noun)
    return [f"Application {names} was interrupted: it wrote {found} of {texts} that it had begun.{open_}"]


def _exclude_holdout_targets(project: Project, links: Sequence[Edge]) -> tuple[list[Edge], list[AppliedLink]]:
    """Return the links that may go live today, and those that an experiment holds back, with the reason."""
    with project.experiments() as store:
        held = held_targets(store.drawn(), datetime.now(UTC).date())
    free = [edge for edge in links if edge.target not in held]
    return free, [_held(edge, held[edge.target]) for edge in links if edge.target in held]


def _held(edge: Edge, until: date) -> AppliedLink:
    return AppliedLink(
        link_id=edge.id,
        page=edge.source_url,
        target=edge.target_url,
        anchor=edge.chosen.text,
        tier=edge.tier,
        outcome=ApplyOutcome.HELD_BACK,
        reason=SkipReason.HELD_BACK,
        until=until.isoformat(),
    )


def _write_link_box(path: Path, links: Sequence[Edge], planner: _Planner) -> None:
    """Write links by the page that they start at: of each its URL, title and, if it is another text, anchor.

    A page is named by its path, such as "/blog/green/", which templates know; one on another host than most pages is
    named by its URL.

    Raises:
        OutputError: the file can't be written; an earlier one stays as it was.
    """
    urls = {edge.id: planner.url(edge.source, edge.source_url) for edge in links}
    hosts = Counter(urlsplit(url).netloc for url in urls.values())
    main = hosts.most_common(1)[0][0] if hosts else ""
    box: dict[str, list[dict[str, str]]] = {}
    for edge in links:
        url = urls[edge.id]
        page = urlsplit(url)._replace(scheme="", netloc="").geturl() if urlsplit(url).netloc == main else url
        target = planner.url(edge.target, edge.target_url)
        title = planner.site.title(planner.site.hosts.restored(edge.target)) or edge.chosen.text or target
        entry = {"url": target, "title": title}
        if edge.chosen.text and edge.chosen.text != title:
            entry["anchor"] = edge.chosen.text
        box.setdefault(page or "/", []).append(entry)

    def body(file: TextIO) -> None:
        json.dump(box, file, ensure_ascii=False, indent=2)
        file.write("\n")

    require_in_place(path, replace_whole(path, body))
