"""Put accepted links into the texts of the site's pages: show what would change, or change it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain

from internal_linker.adapters.database.applied_links import AppliedLinks
from internal_linker.adapters.files.git import Change, Commit, patch_of, write_patch
from internal_linker.adapters.files.text_spool import TextSpool
from internal_linker.core.applied_links import PageWrite, content_hash, link_states
from internal_linker.core.edges import Edge, is_link
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import EdgeStore, Progress
from internal_linker.core.records import Collected
from internal_linker.core.sections import section_of
from internal_linker.core.sequences import batched, counted
from internal_linker.usecases.applications import pages_meant, settle
from internal_linker.usecases.apply_results import GAPS, AppliedLink, ApplyResult, Left, Outcome
from internal_linker.usecases.folder_choice import source_folder
from internal_linker.usecases.held_links import without_held
from internal_linker.usecases.homes import Home, PageTexts
from internal_linker.usecases.import_wordpress import editing_client
from internal_linker.usecases.link_box import write_link_box
from internal_linker.usecases.log import LOGGER, new_run_id, run_log
from internal_linker.usecases.options.applying import ApplyOptions
from internal_linker.usecases.page_changes import PageChange, Planner, is_for_box, refused
from internal_linker.usecases.post_texts import read_page_posts
from internal_linker.usecases.project import Project
from internal_linker.usecases.review import login, tier_named
from internal_linker.usecases.sections import chosen_sections
from internal_linker.usecases.site_texts import imported_site
from internal_linker.usecases.source_folder import SourceFolder, open_source_folder, source_pages_csv


class ChangesDiffer(InputError):
    """The changes are not those that a person saw, so nothing was written."""

    def __init__(self) -> None:
        super().__init__(
            "A text, a decision or a setting has changed since these changes were shown, so nothing was written: show "
            "the changes again."
        )


def apply(
    project: Project, options: ApplyOptions, progress: Progress, *, seen: str | None = None, by: str = ""
) -> ApplyResult:
    """Put accepted links into source files or posts, into a patch or a branch, or only find what would change.

    Args:
        project: whose links.
        options: which links, and where they go.
        progress: shows the steps.
        seen: the diff that a person saw; None: nobody did.
        by: who applies them; "": the user of this computer.

    Raises:
        ChangesDiffer: the changes are others than those in `seen`.
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
        return _apply(project, options, _Application(seen=seen), progress)
    run_id = new_run_id()
    with project.lock(), run_log(project.root, run_id, project.settings.secrets):
        result = _apply(project, options, _Application(run_id, by or login(), seen), progress)
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


@dataclass(frozen=True, slots=True)
class _Application:
    """An application: its id, "" if nothing is written; who applies links; and the diff that a person saw, if any."""

    id: str = ""
    by: str = ""
    seen: str | None = None


def _apply(project: Project, options: ApplyOptions, asked: _Application, progress: Progress) -> ApplyResult:
    spool = TextSpool(project.root / "files")
    try:
        site = imported_site(project, spool, progress)
        with project.applications() as (edges, _):
            links = _chosen(accepted_links(edges), options, site)
        with _texts(project, options, site, links, progress) as texts:
            return _put(project, options, asked, _Work(site, links, texts), progress)
    finally:
        spool.close()


@dataclass(frozen=True, slots=True)
class _Work:
    """The links that the options take, and the pages and texts that they go to."""

    site: Collected
    links: Sequence[Edge]
    texts: PageTexts


def _put(
    project: Project, options: ApplyOptions, asked: _Application, work: _Work, progress: Progress
) -> ApplyResult:
    texts = work.texts
    with project.applications(read_only=not asked.id) as (_, applied):
        remarks = settle(applied, texts.home) if asked.id else []
        states = link_states(applied.writes(), ()).items()
        waiting = {link for link, state in states if state == "applied"}
        planner = Planner(work.site, texts, options.max_per_page, waiting)
        free, held = without_held(project, work.links)
        changes, others = planner.plan(free, progress)
        others = [*others, *held]
        if options.links_json:
            write_link_box(options.links_json, [edge for edge in free if is_for_box(edge)], planner)
            others = [_in_box(link) for link in others]
        if options.wordpress:
            changes, later = changes[: options.max_writes], changes[options.max_writes :]
            others += chain.from_iterable(refused(one.links, Left.LATER) for one in later)
        if asked.seen is not None and _diff(changes) != asked.seen:
            raise ChangesDiffer
        if asked.id:
            writing = _Writing(texts.home, applied, asked)
            done, failed = writing.write(changes, progress)
            remarks += dict.fromkeys(writing.problems)
        else:
            done, failed = _put_elsewhere(changes, options, texts), []
    order = {edge.id: at for at, edge in enumerate(work.links)}
    named = [*chain.from_iterable(one.links for one in done), *others, *failed]
    is_final = bool(asked.id or options.patch or options.branch)
    gaps = Counter(link.reason for link in named if link.reason in GAPS) if is_final else {}
    return ApplyResult(
        sorted(named, key=lambda link: order[link.link_id]),
        _diff(done),
        texts.summary,
        [*texts.unsure.items()] if isinstance(texts, SourceFolder) and texts.is_new else (),
        asked.id if done else "",
        len(done),
        [*remarks, *texts.remarks],
        [f"{counted(count, 'link')} not applied: {reason}." for reason, count in gaps.items()],
        texts.home.noun,
    )


@contextmanager
def _texts(
    project: Project, options: ApplyOptions, site: Collected, links: Sequence[Edge], progress: Progress
) -> Iterator[PageTexts]:
    """Yield the texts of the site's pages; from a WordPress site only those that links go into."""
    if not options.wordpress:
        yield _folder(project, options, site, progress)
        return
    keys = dict.fromkeys(site.hosts.restored(edge.source) for edge in links if not is_for_box(edge))
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
    """Return the links that the options take.

    Raises:
        ConfigurationError: a section has no page.
        InputError: `only` names a page or a link without an accepted link.
    """
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


def _in_box(link: AppliedLink) -> AppliedLink:
    return replace(link, outcome=Outcome.IN_BOX) if link.outcome is Outcome.FOR_BOX else link


class _Writing:
    """Writes texts, each after its former content is stored.

    Args:
        home: where the texts are.
        applied: the store.
        asked: the application.
    """

    def __init__(self, home: Home, applied: AppliedLinks, asked: _Application) -> None:
        self._home, self._applied, self._asked = home, applied, asked
        self.problems: list[str] = []
        """What a person should know of texts that were not written."""

    def write(
        self, changes: Sequence[PageChange], progress: Progress
    ) -> tuple[list[PageChange], list[AppliedLink]]:
        """Return what was written, and the links that were not."""
        done, failed = list[PageChange](), list[AppliedLink]()
        progress.start("Writing", len(changes), f"{self._home.noun}s")
        for some in batched(changes, self._home.block):
            begun = self._applied.begin([(self._begun(one), one.text.encoded()) for one in some])
            written, left = list[PageWrite](), list[PageWrite]()
            for one, write in zip(some, begun, strict=True):
                if why := self._home.write(one.text, one.new):
                    failed += refused(one.links, why.reason)
                    self.problems += [why.problem] if why.problem else []
                    # What became of a doubtful one, the next application finds out.
                    left += [] if why.is_doubtful else [write]
                else:
                    done.append(_with_outcome(one, Outcome.APPLIED))
                    written.append(write)
                progress.advance()
            self._applied.mark(written, "applied")
            self._applied.forget(left)
        progress.finish(counted(len(done), self._home.noun))
        return done, failed

    def _begun(self, one: PageChange) -> PageWrite:
        return PageWrite(
            application=self._asked.id,
            page=one.page,
            page_url=one.page_url,
            home=self._home.address,
            place=one.text.path,
            links=tuple(link.link_id for link in one.links),
            hash_before=content_hash(one.text.encoded()),
            hash_after=content_hash(one.text.encoded(one.new)),
            by=self._asked.by,
            at=datetime.now(UTC),
        )


def _put_elsewhere(
    changes: Sequence[PageChange], options: ApplyOptions, texts: PageTexts
) -> list[PageChange]:
    """Write the changes into a patch or a branch, if one is wanted."""
    if not isinstance(texts, SourceFolder):
        return [*changes]
    if options.patch:
        prefix = texts.work_tree.prefix if texts.work_tree else ""
        write_patch(options.patch, [Change(one.text, one.new) for one in changes], prefix)
        return [_with_outcome(one, Outcome.IN_PATCH) for one in changes]
    if options.branch and texts.work_tree and changes:
        texts.work_tree.write_branch(options.branch, _commits(changes))
        return [_with_outcome(one, Outcome.IN_BRANCH) for one in changes]
    return [*changes]


def _commits(changes: Sequence[PageChange]) -> list[Commit]:
    """Return a commit for each section of the site, whose message lists the links."""
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


def _with_outcome(one: PageChange, outcome: Outcome) -> PageChange:
    return replace(one, links=[replace(link, outcome=outcome) for link in one.links])
