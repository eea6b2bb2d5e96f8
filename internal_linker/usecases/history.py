"""Kept runs of a project -> their list, how two of them differ, and an earlier one's links put back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from internal_linker.core.edges import edge_id
from internal_linker.core.errors import InputError, OutputError, ServiceError
from internal_linker.core.ports import Progress, RunStore
from internal_linker.core.records import Recommendation, Targets
from internal_linker.core.runs import Difference, Version, VersionRow, overlaid
from internal_linker.core.sections import Sections
from internal_linker.pipeline.context import Parts
from internal_linker.pipeline.deliver import deliver
from internal_linker.pipeline.diff import differences
from internal_linker.review.link_memory import Memory
from internal_linker.usecases.project import Project


@dataclass
class RolledBack:
    """What came of a rollback: its links, those left out as rejected, what went wrong."""

    rows: int
    links: int
    rejected: int
    gaps: list[str]
    failure: ServiceError | OutputError | None


def history(project: Project) -> Sequence[Version]:
    """The runs that are kept, the oldest first."""
    with project.graph() as (_, runs):
        return runs.versions()


def compared(project: Project, before: str, after: str, part: Sections) -> list[Difference]:
    """How the links of two runs differ, or of a part of the site if it names any.

    Raises:
        InputError: one of them is not kept.
    """
    with project.graph() as (edges, runs):
        older, newer = find(runs, before), find(runs, after)
        rows = [[row for row in runs.rows(run) if not part or part.hold(row.end)] for run in (before, after)]
        statuses = {edge.id: edge.status for edge in edges.each("accepted", "rejected", "edited", "live")}
        return list(differences(older, newer, rows[0], rows[1], lambda *ends: statuses.get(edge_id(*ends))))


def roll_back(project: Project, run: str, part: Sections, run_id: str, progress: Progress) -> RolledBack:
    """Put an earlier run's links back into Output.csv, links.csv and the Sheet; what was rejected since stays out.

    Args:
        project: whose.
        run: the earlier run.
        part: only the pages in it; all if it names none.
        run_id: what this rollback is called among the runs.
        progress: tells a person how far it is.

    Raises:
        InputError: the run is not kept.
        ServiceError: the Sheet could not be read.
    """
    with project.graph() as (_, runs):
        encoder = find(runs, run).encoder
    keeps = (lambda key: not part.hold(key)) if part else None
    model = encoder.partition(", recipe ")[0]
    with project.parts(progress, serp=False, keeps=keeps, model=model) as parts:
        return _roll_back(parts, project, run, part, run_id, progress)


def _roll_back(
    parts: Parts, project: Project, run: str, part: Sections, run_id: str, progress: Progress
) -> RolledBack:
    edges, runs = parts.edges, parts.runs
    assert edges and runs
    version = find(runs, run)
    memory = Memory(edges, project.rules().edges, run_id, version.encoder)
    gaps = memory.recall(parts.desk)
    rows = [row for row in runs.rows(run) if not part or part.hold(row.end)]
    allowed = [_allowed(row, memory) for row in rows]
    items = [row.recommendation for row in allowed]
    memory.hashes = {row.end: row.text_hash for row in rows}
    live: dict[str, dict[str, None]] = {}
    for edge in edges.each("live"):
        live.setdefault(edge.source, {})[edge.target] = None
    targets = Targets({}, {}, linked=live)
    memory.keep(items, targets, None, (), progress, gone=lambda end: not part or part.hold(end))
    desks = [(parts.desk, memory.review_rows())] if parts.desk and memory.heard else []
    sinks = [*parts.sinks, *filter(None, [parts.sheet])]
    delivered = deliver(items, sinks, desks, run_id, progress, memory.edge_of)
    links = sum(len(item.links) for item in items)
    last = runs.versions()[-1].run
    kept = overlaid(runs.rows(last), allowed) if part else iter(allowed)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    what = f"rollback to {run}" + (" in part" if part else "")
    rolled_back = replace(version, run=run_id, at=now, what=what, rows=len(items), links=links)
    runs.put(rolled_back, kept, runs.duplicates())
    left_out = sum(len(row.recommendation.links) for row in rows) - links
    return RolledBack(len(items), links, left_out, [*gaps, *delivered.gaps], delivered.failure)


def find(runs: RunStore, run: str) -> Version:
    """The version of this run.

    Raises:
        InputError: it is not kept.
    """
    versions = runs.versions()
    for version in versions:
        if version.run == run:
            return version
    names = ", ".join(version.run for version in versions[-5:]) or "none yet"
    raise InputError(f"There is no run {run}. The last ones are: {names}. `history` lists all that are kept.")


def _allowed(row: VersionRow, memory: Memory) -> VersionRow:
    """The row without what an editor rejected, its ranks without a gap."""
    item, rejected = row.recommendation, memory.decided.rejected.get(row.end, ())
    links = [link for link in item.links if link.target.key not in rejected]
    ranked = tuple(replace(link, rank=rank) for rank, link in enumerate(links, 1))
    return replace(row, recommendation=Recommendation(item.source, ranked, item.note))
