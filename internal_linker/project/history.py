"""Earlier runs of a project: list them, compare two of them, put the links of one back."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from internal_linker.model.canonical_hosts import CanonicalHosts, hosts_of
from internal_linker.model.columns import DIFFERENCES
from internal_linker.model.count_breakdown import CountBreakdown
from internal_linker.model.edges import edge_id, with_hosts
from internal_linker.model.errors import InputError, OutputError, ServiceError
from internal_linker.model.ports import Progress
from internal_linker.model.records import Recommendation, Targets
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.model.runs import Change, Difference, Version, VersionRow, overlaid, rows_with
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.log import LOGGER, new_run_id, run_log
from internal_linker.project.options.decisions import DiffOptions, RollbackOptions
from internal_linker.project.pipeline.deliver import deliver
from internal_linker.project.pipeline.diff import differences
from internal_linker.project.project import Project
from internal_linker.project.sections import chosen_sections
from internal_linker.review.former_links import todays
from internal_linker.review.link_memory import Memory
from internal_linker.review.transitions import decided
from internal_linker.sources.tables.lists_csv import ListCsv
from internal_linker.store.runs import RunStore


@dataclass(frozen=True, repr=False)
class HistoryResult(Result):
    """The runs whose links are kept."""

    # The runs, the oldest first.
    versions: Sequence[Version]

    def tables(self) -> dict[str, Columns]:
        """Return `runs`: the runs, the oldest first; `at` is ISO 8601 in UTC."""
        columns = ("at", "what", "rows", "links", "published", "encoder")
        named = {"run": [version.run for version in self.versions], "name": names(self.versions)}
        return {"runs": {**named, **columns_of(self.versions, *columns)}}


@dataclass(frozen=True, repr=False)
class DiffResult(Result):
    """How the links of two runs differ."""

    # The links that the runs do not both have at the same place.
    differences: Sequence[Difference]
    # How the number of links of the later run follows from that of the earlier one.
    links: CountBreakdown
    # The files of files/ that were written.
    files: tuple[str, ...] = ()
    # What was unusual about the writing, one sentence each.
    remarks: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[tuple[Change, str], int]:
        """How many differences there are of each change and reason, by their names."""
        found = Counter((each.change, str(each.why)) for each in self.differences)
        return dict(sorted(found.items()))

    def tables(self) -> dict[str, Columns]:
        """Return `differences`, a place being 0 for none, and `counts`, by change and reason."""
        counts = self.counts
        return {
            "differences": columns_of(self.differences, *Difference.__dataclass_fields__),
            "counts": {
                "change": [change for change, _ in counts],
                "why": [why for _, why in counts],
                "links": list(counts.values()),
            },
        }


@dataclass(frozen=True, repr=False)
class RollbackResult(Result):
    """An earlier run whose links were put back."""

    # The earlier run.
    run: str
    # The name of this rollback among the runs.
    run_id: str
    # The rows that were put back, with their links.
    recommendations: Sequence[Recommendation]
    # How many links were left out, since an editor rejected them after the run.
    rejected: int
    # How many links have no anchor, since the store has none for them.
    without_anchors: int
    # What could not be done, one sentence each.
    gaps: tuple[str, ...]
    # Why the first place that took no links failed; None: all took them.
    failure: ServiceError | OutputError | None
    # The run before it, if it was the newest, so that nothing changed; else "".
    earlier: str = ""

    @property
    def links(self) -> int:
        """How many links were put back."""
        return sum(len(item.links) for item in self.recommendations)

    @property
    def summary(self) -> str:
        """What was done, in a sentence."""
        rejected = f"; {counted(self.rejected, 'link')} rejected since then left out" if self.rejected else ""
        lost = (
            f" The store has no anchors for {self.without_anchors} of them; the next run looks for new ones."
            if self.without_anchors
            else ""
        )
        rows = counted(len(self.recommendations), "row")
        restored = f"Restored {counted(self.links, 'link')} in {rows} from run {self.run}"
        return f"{restored}{rejected}.{lost}"

    def tables(self) -> dict[str, Columns]:
        """Return `links`: each link that was put back, `rank` counting from 1 within its row."""
        found = [(item.source, link) for item in self.recommendations for link in item.links]
        return {
            "links": {
                "source": [source.url for source, _ in found],
                "query": [source.query for source, _ in found],
                "target": [link.target.url for _, link in found],
                "rank": [link.rank for _, link in found],
                "origin": [link.origin for _, link in found],
            }
        }


@dataclass(frozen=True, repr=False)
class RollbackPreview(Result):
    """What a rollback would change by the decisions in the store; it reads those in Sheet and review.xlsx, too."""

    # The earlier run.
    run: str
    # The rows that would be put back.
    rows: int
    # The links in them.
    links: int
    # Links that would be left out, since an editor rejected them after the run.
    rejected: int
    # How the links of all rows would differ from those of the newest run.
    differences: Sequence[Difference]
    # How the number of links of all rows would follow from that of the newest run.
    balance: CountBreakdown

    def tables(self) -> dict[str, Columns]:
        """Return `differences`, a place being 0 for none."""
        return {"differences": columns_of(self.differences, *Difference.__dataclass_fields__)}


@capability()
def history(project: Project) -> HistoryResult:
    """Return the runs whose links are kept, the oldest first, as the command `history` does.

    Returns:
        `.versions` and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: the settings or the link graph can't be read.
    """
    with project.graph() as (_, runs):
        return HistoryResult(runs.versions())


def names(versions: Sequence[Version]) -> list[str]:
    """Return a name for each run, the oldest first: last for the newest, last-1 for the one before it, and so on."""
    return [f"last-{at}" if at else "last" for at in reversed(range(len(versions)))]


@capability()
def diff(project: Project, options: DiffOptions, *, write: bool = True) -> DiffResult:
    """Compare the links of two runs, as the command `diff` does.

    Args:
        write: write all differences to files/diff.csv.

    Returns:
        `.differences` and `.counts`, and the DataFrame `.to_frame()`.

    Raises:
        ConfigurationError: neither run has a row in one of the sections.
        InputError: one of the runs is not kept.
        OutputError: the file can't be written; it stays as it was.
    """
    with project.graph() as (edges, runs):
        older, newer = _version(runs, options.before), _version(runs, options.after)
        hosts = _hosts(runs)
        before, after = ([*rows_with(hosts, runs.rows(version.run))] for version in (older, newer))
        sections = chosen_sections(options.sections, {row.end for row in (*before, *after)})
        before, after = ([row for row in rows if sections.hold(row.end)] for rows in (before, after))
        judged = edges.each("accepted", "rejected", "edited", "live")
        statuses = {with_hosts(edge, hosts).id: edge.status for edge in judged}
        found = list(differences(older, newer, before, after, lambda *ends: statuses.get(edge_id(*ends))))
    links = _links_between(older, newer, before, found)
    if not write:
        return DiffResult(found, links)
    place = ListCsv(project.file("diff.csv"), DIFFERENCES)
    return DiffResult(found, links, (place.name,), tuple(place.write(found)))


def _links_between(
    older: Version, newer: Version, before: Sequence[VersionRow], found: Sequence[Difference]
) -> CountBreakdown:
    """Return the number of links of the later run; of a row's links to one target, one counts."""
    links = sum(len({link.target.key for link in row.recommendation.links}) for row in before)
    changes = Counter(one.change for one in found)
    return CountBreakdown(
        [
            (links, f"links in the rows of run {older.run}"),
            (-changes["gone"], "gone"),
            (changes["new"], f"new in run {newer.run}"),
        ]
    )


def preview_rollback(project: Project, options: RollbackOptions) -> RollbackPreview:
    """Find what a rollback would change; nothing is written, and no service is contacted.

    Raises:
        ConfigurationError: the run has no row in one of the sections.
        InputError: the run is not kept.
    """
    with project.graph() as (edges, runs):
        version, hosts = _version(runs, options.run), _hosts(runs)
        newest = runs.versions()[-1]
        rows = [*rows_with(hosts, runs.rows(version.run))]
        present = [*rows_with(hosts, runs.rows(newest.run))]
        rejected = decided(todays(edges.each(judged=True), hosts)).rejected
        known = edges.each("accepted", "rejected", "edited", "live")
        statuses = {with_hosts(edge, hosts).id: edge.status for edge in known}
    sections = chosen_sections(options.sections, {row.end for row in rows})
    rows = [row for row in rows if sections.hold(row.end)]
    allowed = [_allowed(row, rejected) for row in rows]
    after = [*overlaid(present, allowed)] if sections else allowed
    found = list(differences(newest, version, present, after, lambda *ends: statuses.get(edge_id(*ends))))
    links = sum(len(row.recommendation.links) for row in allowed)
    before = sum(len(row.recommendation.links) for row in rows)
    return RollbackPreview(
        version.run, len(rows), links, before - links, found, _links_between(newest, version, present, found)
    )


@capability()
def rollback(project: Project, options: RollbackOptions, progress: Progress) -> RollbackResult:
    """Put the links of an earlier run back, as the command `rollback` does.

    What an editor rejected since stays out. The rollback is kept as a run of its own.

    Returns:
        The links that were put back; `.rejected` counts those that stay out, `.gaps` says what is missing. A place that
        did not take its links is in `.failure`, which Python's function raises.

    Raises:
        ConfigurationError: the run has no row in one of the sections.
        InputError: the run is not kept.
        RunActive: another run holds the project folder.
        ServiceError: the Sheet could not be read.
    """
    run_id = new_run_id()
    with project.lock(), run_log(project.root, run_id, project.settings.secrets):
        result = _put_back(project, options, run_id, progress)
        for gap in result.gaps:
            progress.warn(gap)
        LOGGER.info("%s", result.summary)
    return result


def _put_back(project: Project, options: RollbackOptions, run_id: str, progress: Progress) -> RollbackResult:
    with project.graph() as (_, runs):
        version, hosts = _version(runs, options.run), _hosts(runs)
        rows = [*rows_with(hosts, runs.rows(version.run))]
    sections = chosen_sections(options.sections, {row.end for row in rows})
    rows = [row for row in rows if sections.hold(row.end)]
    keeps = (lambda key: not sections.hold(key)) if sections else None
    model = version.encoder.partition(", recipe ")[0]
    with (
        project.context(progress, serp=False, keeps=keeps, model=model) as context,
        project.graph(read_only=False) as (edges, runs),
    ):
        memory = Memory(edges, project.rules().edges, run_id, version.encoder, hosts=hosts)
        gaps = memory.recall(context.desk, progress)
        allowed = [_allowed(row, memory.decided.rejected) for row in rows]
        items = [row.recommendation for row in allowed]
        memory.hashes = {row.end: row.text_hash for row in rows}
        live: dict[str, dict[str, None]] = {}
        for edge in (with_hosts(edge, hosts) for edge in edges.each("live")):
            live.setdefault(edge.source, {})[edge.target] = None
        targets = Targets({}, {}, linked=live)
        memory.keep(items, targets, None, (), progress, gone=sections.hold)
        desks = [(context.desk, memory.review_rows())] if context.desk and memory.heard else []
        sinks = [*context.sinks, *filter(None, [context.sheet])]
        more, failure = deliver(items, sinks, desks, run_id, progress, view_of=memory.view_of)
        rejected = sum(len(row.recommendation.links) for row in rows) - sum(len(item.links) for item in items)
        gaps += more
        if rows and not any(item.links for item in items):
            gaps.append(
                f"No links were restored: run {options.run} has none that an editor did not reject since."
            )
        lost = memory.without_anchors
        *_, before, last = "", "", *(each.run for each in runs.versions())
        earlier = before if version.run == last else ""
        result = RollbackResult(version.run, run_id, items, rejected, lost, tuple(gaps), failure, earlier)
        kept = overlaid(rows_with(hosts, runs.rows(last)), allowed) if sections else iter(allowed)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        what = f"rollback to {version.run}" + (" in part" if sections else "")
        rolled_back = replace(version, run=run_id, at=now, what=what, rows=len(items), links=result.links)
        runs.put(rolled_back, kept, runs.duplicates())
    return result


def _version(runs: RunStore, run: str) -> Version:
    """Return the version of a run, by its id or its name, or raise `InputError` if it is not kept."""
    versions = runs.versions()
    for version, name in zip(versions, names(versions), strict=True):
        if run in (version.run, name):
            return version
    latest = ", ".join(version.run for version in versions[-5:])
    known = f"The latest runs are: {latest}, the newest of them `last`. `history` lists all stored runs."
    raise InputError(f"Run {run} not found. {known if latest else 'No runs are stored yet.'}")


def _hosts(runs: RunStore) -> CanonicalHosts:
    """Return the form in which the site writes its hosts, as the last run learned it."""
    if not (versions := runs.versions()):
        return CanonicalHosts()
    return hosts_of(row.recommendation.source.key for row in runs.rows(versions[-1].run))


def _allowed(row: VersionRow, rejected: Mapping[str, Collection[str]]) -> VersionRow:
    """Return the row without what an editor rejected (targets by source), its ranks without a gap."""
    item, refused = row.recommendation, rejected.get(row.end, ())
    links = [link for link in item.links if link.target.key not in refused]
    ranked = tuple(replace(link, rank=rank) for rank, link in enumerate(links, 1))
    # Without a basis: the next run proposes its own links again.
    return replace(row, recommendation=Recommendation(item.source, ranked, item.note), basis="")
