"""Plan experiments: draw targets at random whose accepted links are held back, and let them go again."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

import numpy as np

from internal_linker.insight.impact.analysis import FEWEST_HELD, contamination, treated_pages
from internal_linker.insight.impact.matching import BLOCK, drawn_at_random
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.edges import Edge
from internal_linker.model.experiments import DrawnTarget, held_targets
from internal_linker.model.results import Column, Columns, Result, columns_of
from internal_linker.model.sections import section_of
from internal_linker.model.sequences import counted
from internal_linker.project.apply import accepted_links
from internal_linker.project.capabilities import capability
from internal_linker.project.impact import clicks_by_page, experiment_of, last_drawn, new_links
from internal_linker.project.log import new_run_id
from internal_linker.project.project import Project

# Four weeks: what a link does to its target needs two to four to be seen in clicks.
HELD_DAYS = 28
FEWEST_TARGETS = BLOCK * FEWEST_HELD
"""With fewer targets, too few are held back to measure anything."""
ENDS = Column("source", "Source"), Column("target", "Target")
_UNREAD = "Decisions in review.xlsx or the Sheet count after the next run."


class PlanStatus(StrEnum):
    """What came of planning or ending an experiment."""

    BEGUN = "begun"
    RUNNING = "running"
    """One was running already, and nothing was changed."""
    REFUSED = "refused"
    """There are too few accepted links, and nothing is held back."""
    ENDED = "ended"


@dataclass(frozen=True, repr=False)
class PlanResult(Result):
    """An experiment that was planned or ended."""

    status: PlanStatus  # what came of it
    sentence: str  # the same for people
    drawn: Sequence[DrawnTarget] = ()  # the targets that were drawn, those to hold back first
    links: Sequence[tuple[str, str]] = ()  # the accepted links that wait for the end, as source and target
    # the accepted links to put live, to the other targets, as source and target
    released: Sequence[tuple[str, str]] = ()

    def tables(self) -> dict[str, Columns]:
        """Return `held_back`, the links that wait, `put_live`, the others, and `targets`, all that were drawn."""
        return {
            "held_back": to_end_columns(self.links),
            "put_live": to_end_columns(self.released),
            "targets": columns_of(self.drawn, "target", "held", "links", "first", "until"),
        }


@dataclass(frozen=True, slots=True)
class ExperimentStanding:
    """The last experiment."""

    drawn: Sequence[DrawnTarget]  # the targets that were drawn, those to hold back first
    until: date  # the day from which the links that it holds back may go live
    running: bool  # whether it holds links back today
    waiting: Sequence[tuple[str, str]]  # the accepted links that wait today, as source and target
    waiting_pages: int  # how many pages these lead to
    # the accepted links to its other targets that are not live yet, as source and target
    released: Sequence[tuple[str, str]]
    contaminated: int  # how many targets got a new link although links to them were held back

    @property
    def first(self) -> date:
        """The day on which it was planned."""
        return self.drawn[0].first

    @property
    def held(self) -> int:
        """How many targets were drawn to wait."""
        return sum(one.held for one in self.drawn)

    @property
    def remark(self) -> str:
        """What a person should know of contamination, as a sentence; "" without any."""
        return f"{contamination(self.contaminated, self.held).capitalize()}." if self.contaminated else ""


def last_experiment(project: Project) -> ExperimentStanding | None:
    """Return how the last experiment stands; None if none was planned."""
    today = datetime.now(UTC).date()
    with project.applications() as (edges, _), project.experiments() as store:
        every = store.drawn()
        if not every:
            return None
        drawn, held = last_drawn(every), held_targets(every, today)
        links = accepted_links(edges) if held else []
    # The link graph and the drawn targets have the same keys, whatever the site's hosts are today.
    hosts = CanonicalHosts()
    experiment = experiment_of(drawn, hosts)
    live = treated_pages(new_links(project, hosts), HELD_DAYS, experiment.first)
    waiting = _to(links, held)
    return ExperimentStanding(
        drawn,
        max(held.values(), default=drawn[0].until),
        bool(held),
        waiting,
        len({edge.target for edge in links if edge.target in held}),
        _to(links, experiment.released),
        experiment.contaminated(live),
    )


@capability()
def plan_experiment(
    project: Project,
    rng: np.random.Generator | None = None,  # draws the targets; None: a new, unseeded one
    *,
    fewest: int = FEWEST_TARGETS,  # targets that are needed, at least 2
) -> PlanResult:
    """Hold back the accepted links to one in five of their targets, at random, as `impact --plan` does.

    It lasts four weeks. Nothing is held back while an experiment is running, or if the links lead to too few targets.

    Returns:
        `.status`, `.sentence`, `.drawn`, `.links`, which are held back, and `.released`, to put live; the frames
        `held_back`, `put_live` and `targets`.

    Raises:
        RunActive: a run holds the project folder.
    """
    today = datetime.now(UTC).date()
    with project.lock():
        if (one := last_experiment(project)) and one.running:
            return PlanResult(PlanStatus.RUNNING, _running(one), one.drawn, one.waiting, one.released)
        with project.applications() as (edges, _):
            links = accepted_links(edges)
        counts = Counter(edge.target for edge in links)
        if len(counts) < fewest:
            return PlanResult(PlanStatus.REFUSED, _too_few(len(counts), fewest))
        levels = _levels(project, counts)
        held = drawn_at_random(
            levels, {page: section_of(page) for page in counts}, rng or np.random.default_rng()
        )
        until, name, chosen = today + timedelta(days=HELD_DAYS), new_run_id(), frozenset(held)
        drawn = [
            DrawnTarget(
                experiment=name, target=page, links=count, held=page in chosen, first=today, until=until
            )
            for page, count in sorted(counts.items(), key=lambda item: (item[0] not in chosen, item[0]))
        ]
        with project.experiments(read_only=False) as store:
            store.put(drawn)
    waiting, free = _to(links, chosen), _to(links, counts.keys() - chosen)
    sentence = (
        f"{counted(len(waiting), 'link')} to {counted(len(chosen), 'page')} held back until {until}; "
        f"{counted(len(free), 'link')} to {counted(len(counts) - len(chosen), 'page')} may go live. "
        "Put these live within a week, and none of the others."
    )
    return PlanResult(PlanStatus.BEGUN, sentence, drawn, waiting, free)


@capability()
def end_experiment(project: Project) -> PlanResult:
    """Let the links go live that are held back, as `impact --release` does; what was measured until today stays usable.

    Returns:
        `.sentence`.

    Raises:
        RunActive: a run holds the project folder.
    """
    today = datetime.now(UTC).date()
    with project.lock(), project.experiments(read_only=False) as store:
        held = held_targets(store.drawn(), today)
        store.release(today)
    if not held:
        return PlanResult(PlanStatus.ENDED, "No links are held back.")
    told = f"Links to {counted(len(held), 'page')} are no longer held back."
    return PlanResult(PlanStatus.ENDED, told)


def _to(links: Iterable[Edge], targets: Collection[str]) -> list[tuple[str, str]]:
    return [(edge.source_url, edge.target_url) for edge in links if edge.target in targets]


def to_end_columns(links: Sequence[tuple[str, str]]) -> Columns:
    """Return sources and targets of links as columns."""
    return {"source": [source for source, _ in links], "target": [target for _, target in links]}


def _running(one: ExperimentStanding) -> str:
    return (
        f"An experiment is running: {counted(len(one.waiting), 'link')} to {counted(one.waiting_pages, 'page')} held "
        f"back until {one.until}; {counted(len(one.released), 'link')} may go live. {one.remark}"
    ).rstrip()


def _too_few(targets: int, fewest: int) -> str:
    """Say that too few targets are there for an experiment, and what would be enough."""
    if not targets:
        return (
            f"Nothing is held back: no accepted link waits. Accept links to at least {fewest} pages in the review "
            f"first. {_UNREAD}"
        )
    return (
        f"Nothing is held back: accepted links to {counted(targets, 'page')} are too few to measure anything, and "
        f"{fewest} pages are needed. Accept links to {fewest - targets} more in the review first. {_UNREAD}"
    )


def _levels(project: Project, counts: Counter[str]) -> dict[str, float]:
    """Return the clicks of the targets in the stored search data; 0 without any."""
    clicks = clicks_by_page(project, counts, CanonicalHosts())
    return {page: clicks.get(page, 0.0) for page in counts}
