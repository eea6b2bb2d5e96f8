"""Put accepted links into the texts of the site's pages: show what would change, or change it."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from internal_linker.adapters.database.applied_links import AppliedLinks
from internal_linker.adapters.files.git import Commit, patch_of, write_patch
from internal_linker.adapters.files.source_tree import write_file
from internal_linker.adapters.files.text_spool import TextSpool
from internal_linker.core.applied_links import PageWrite, content_hash, link_states
from internal_linker.core.edges import Edge, is_link
from internal_linker.core.errors import ConfigurationError, InputError, OutputError
from internal_linker.core.ports import EdgeStore, Progress
from internal_linker.core.records import Collected
from internal_linker.core.sections import section_of
from internal_linker.core.sequences import batched, counted
from internal_linker.usecases.applications import pages_meant, settle
from internal_linker.usecases.apply_results import GAPS, AppliedLink, ApplyResult, Left, Outcome
from internal_linker.usecases.held_links import without_held
from internal_linker.usecases.link_box import write_link_box
from internal_linker.usecases.log import LOGGER, new_run_id, run_log
from internal_linker.usecases.options.applying import ApplyOptions
from internal_linker.usecases.page_changes import PageChange, Planner, is_for_box
from internal_linker.usecases.project import Project
from internal_linker.usecases.review import login, tier_named
from internal_linker.usecases.sections import chosen_sections
from internal_linker.usecases.site_texts import site_of
from internal_linker.usecases.source_folder import SourceFolder, open_source_folder, source_pages_csv

# Files whose former texts are stored in one transaction, before the first of them is written.
_BLOCK = 100
# Files of a kind that are named in a remark.
_MOST_NAMED = 3


def apply(project: Project, options: ApplyOptions, progress: Progress) -> ApplyResult:
    """Put accepted links into source files, into a patch or a branch, or only find what would change.

    Args:
        project: whose links.
        options: which links, and where they go.
        progress: shows the steps.

    Raises:
        ConfigurationError: the options don't go together, or name a section without a page.
        InputError: the folder, the pages or a table can't be read, or an option names an unknown page or link.
        OutputError: the patch, the branch or a table can't be written.
        RunActive: a run holds the project folder.
    """
    if options.files is None:
        raise ConfigurationError("Name the folder of the site's source files: --files DIR.")
    ways = {"--write": options.write, "--patch": options.patch, "--branch": options.branch}
    if len(given := [name for name, value in ways.items() if value]) > 1:
        raise ConfigurationError(f"{' and '.join(given)} can't be used together: choose one of them.")
    if not options.write:
        return _apply(project, options, "", progress)
    run_id = new_run_id()
    with project.lock(), run_log(project.root, run_id, project.settings.secrets):
        result = _apply(project, options, run_id, progress)
        counts = ", ".join(f"{count} {name}" for name, count in result.counts.items())
        LOGGER.info("Apply: %s; %s written", counts or "no links", counted(result.files, "file"))
    return result


def accepted_links(edges: EdgeStore) -> list[Edge]:
    """Return the links that editors accepted or edited and that no run has found on the site, page by page."""
    found = [edge for edge in edges.each("accepted", "edited") if is_link(edge)]
    return sorted(found, key=lambda edge: (edge.source_url, edge.rank == 0, edge.rank, edge.id))


def _apply(project: Project, options: ApplyOptions, run_id: str, progress: Progress) -> ApplyResult:
    spool = TextSpool(project.root / "files")
    try:
        site = _site(project, spool, progress)
        folder = _folder(project, options, site, progress)
    finally:
        spool.close()
    with project.applications(read_only=not run_id) as (edges, applied):
        remarks = settle(applied, folder.folder) if run_id else []
        states = link_states(applied.writes(), ()).items()
        waiting = {link for link, state in states if state == "applied"}
        links = _chosen(accepted_links(edges), options, site)
        planner = Planner(site, folder, options.max_per_page, waiting)
        free, kept = without_held(project, links)
        changes, others = planner.plan(free, progress)
        others = [*others, *kept]
        if options.links_json:
            write_link_box(options.links_json, [edge for edge in free if is_for_box(edge)], planner)
            others = [_in_box(link) for link in others]
        if run_id:
            done, failed = _write(changes, folder, run_id, applied, progress)
        else:
            done, failed = _put_elsewhere(changes, options, folder), []
    order = {edge.id: at for at, edge in enumerate(links)}
    named = [*chain.from_iterable(one.links for one in done), *others, *failed]
    is_final = bool(run_id or options.patch or options.branch)
    gaps = Counter(link.reason for link in named if link.reason in GAPS) if is_final else {}
    return ApplyResult(
        sorted(named, key=lambda link: order[link.link_id]),
        "".join(patch_of(one.change.file, one.change.text) for one in done),
        folder.summary,
        [*folder.unsure.items()] if folder.is_new else (),
        run_id if done else "",
        len(done),
        [*remarks, *folder.pages.problems, *_left_out(folder)],
        [f"{counted(count, 'link')} not applied: {reason}." for reason, count in gaps.items()],
    )


def _site(project: Project, spool: TextSpool, progress: Progress) -> Collected:
    pages = project.table("urls_rawdata.csv", [])
    if pages is None:
        raise InputError(
            "files/urls_rawdata.csv not found: it says which pages the site has. Import a crawl first."
        )
    progress.start("Input", 0, "rows")
    site = site_of(project, pages, spool, progress)
    progress.finish(counted(len(site.pages), "page"))
    return site


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
    return replace(link, outcome=Outcome.IN_BOX, reason=None) if link.reason is Left.FOR_BOX else link


def _write(
    changes: Sequence[PageChange],
    folder: SourceFolder,
    run_id: str,
    applied: AppliedLinks,
    progress: Progress,
) -> tuple[list[PageChange], list[AppliedLink]]:
    """Write the files, each after its former text is stored; return what was written, and the links that were not."""
    done, failed, by = list[PageChange](), list[AppliedLink](), login()
    progress.start("Writing", len(changes), "files")
    for some in batched(changes, _BLOCK):
        begun = applied.begin([(_begun(one, folder, run_id, by), one.change.file.encoded()) for one in some])
        written, left = list[PageWrite](), list[PageWrite]()
        for one, write in zip(some, begun, strict=True):
            try:
                write_file(folder.folder, one.change.file, one.change.text)
            except (InputError, OutputError) as error:
                LOGGER.warning("%s", error)
                why = Left.CHANGED if isinstance(error, InputError) else Left.UNWRITABLE
                failed += [replace(link, outcome=Outcome.REFUSED, line=0, reason=why) for link in one.links]
                left.append(write)
            else:
                done.append(_with_outcome(one, Outcome.APPLIED))
                written.append(write)
            progress.advance()
        applied.mark(written, "applied")
        applied.forget(left)
    progress.finish(counted(len(done), "file"))
    return done, failed


def _begun(one: PageChange, folder: SourceFolder, run_id: str, by: str) -> PageWrite:
    file = one.change.file
    return PageWrite(
        application=run_id,
        page=one.page,
        page_url=one.page_url,
        home=str(folder.folder),
        place=file.path,
        links=tuple(link.link_id for link in one.links),
        hash_before=content_hash(file.encoded()),
        hash_after=content_hash(file.encoded(one.change.text)),
        by=by,
        at=datetime.now(UTC),
    )


def _put_elsewhere(
    changes: Sequence[PageChange], options: ApplyOptions, folder: SourceFolder
) -> list[PageChange]:
    """Write the changes into a patch or a branch, if one is wanted."""
    if options.patch:
        prefix = folder.work_tree.prefix if folder.work_tree else ""
        write_patch(options.patch, [one.change for one in changes], prefix)
        return [_with_outcome(one, Outcome.IN_PATCH) for one in changes]
    if options.branch and folder.work_tree and changes:
        folder.work_tree.write_branch(options.branch, _commits(changes))
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
        commits.append(Commit("\n".join(lines), [one.change for one in some]))
    return commits


def _with_outcome(one: PageChange, outcome: Outcome) -> PageChange:
    return replace(one, links=[replace(link, outcome=outcome) for link in one.links])


def _left_out(folder: SourceFolder) -> list[str]:
    """Return what of the folder was not read, one sentence for each reason."""
    by_reason = defaultdict[str, list[str]](list)
    for one in folder.tree.left_out:
        by_reason[one.reason].append(one.path)
    remarks = []
    for reason, paths in by_reason.items():
        more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
        remarks.append(f"Not read: {', '.join(paths[:_MOST_NAMED])}{more} ({reason}).")
    for suffix, count in folder.tree.unsupported.items():
        remarks.append(
            f"{counted(count, 'file')} of type {suffix} left alone: only Markdown, MDX and HTML are supported."
        )
    return remarks
