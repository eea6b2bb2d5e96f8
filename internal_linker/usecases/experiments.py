"""Plan experiments: draw targets at random whose accepted links are held back, and let them go again."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np

from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.core.experiments import DrawnTarget, held_targets
from internal_linker.core.results import Columns, Result, columns_of
from internal_linker.core.sections import section_of
from internal_linker.core.sequences import counted
from internal_linker.performance.impact.analysis import FEWEST_HELD, FEWEST_PAGES
from internal_linker.performance.impact.draw import drawn_at_random
from internal_linker.usecases.apply import accepted_links
from internal_linker.usecases.impact import clicks_by_page
from internal_linker.usecases.log import new_run_id
from internal_linker.usecases.project import Project

# Four weeks: what a link does to its target needs two to four to be seen in clicks.
HELD_DAYS = 28


@dataclass(frozen=True, repr=False)
class PlanResult(Result):
    """An experiment that was planned or ended.

    Attributes:
        sentence: what was done.
        drawn: the targets that were drawn, those to hold back first.
        links: the accepted links that wait for the end, as source and target.
    """

    sentence: str
    drawn: Sequence[DrawnTarget] = ()
    links: Sequence[tuple[str, str]] = ()

    def tables(self) -> dict[str, Columns]:
        """Return `held_back`, the links that wait, and `targets`, all that were drawn."""
        held = {
            "source": [source for source, _ in self.links],
            "target": [target for _, target in self.links],
        }
        return {
            "held_back": held,
            "targets": columns_of(self.drawn, "target", "held", "links", "first", "until"),
        }


@dataclass(frozen=True, slots=True)
class ExperimentStanding:
    """The last experiment.

    Attributes:
        first: the day on which it was planned.
        until: the day from which the links that it holds back may go live.
        running: whether it holds links back today.
        held: how many targets were drawn to wait.
        released: how many were drawn to get their links at once.
        waiting: the accepted links that wait today, as source and target.
    """

    first: date
    until: date
    running: bool
    held: int
    released: int
    waiting: Sequence[tuple[str, str]]


def last_experiment(project: Project) -> ExperimentStanding | None:
    """Return how the last experiment stands; None if none was planned."""
    today = datetime.now(UTC).date()
    with project.applications() as (edges, _), project.experiments() as store:
        drawn = store.drawn()
        held = held_targets(drawn, today)
        waiting = [
            (edge.source_url, edge.target_url)
            for edge in (accepted_links(edges) if held else ())
            if edge.target in held
        ]
    if not drawn:
        return None
    some = [one for one in drawn if one.experiment == drawn[-1].experiment]
    count = sum(one.held for one in some)
    return ExperimentStanding(
        some[0].first,
        max(held.values(), default=some[0].until),
        bool(held),
        count,
        len(some) - count,
        waiting,
    )


def plan_experiment(project: Project, rng: np.random.Generator | None = None) -> PlanResult:
    """Hold back the accepted links to one in five of their targets, drawn at random, for four weeks.

    Args:
        project: whose accepted links.
        rng: the random generator for the draw; None: a new, unseeded one.

    Raises:
        RunActive: a run holds the project folder.
    """
    today = datetime.now(UTC).date()
    with project.lock(), project.applications() as (edges, _), project.experiments(read_only=False) as store:
        running = {one.target for one in store.drawn() if one.until > today}
        links = [edge for edge in accepted_links(edges) if edge.target not in running]
        counts = Counter(edge.target for edge in links)
        if len(counts) < 2:
            return PlanResult(_nothing_to_draw(len(counts), len(running)))
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
        store.put(drawn)
    waiting = [(edge.source_url, edge.target_url) for edge in links if edge.target in chosen]
    sentence = (
        f"{counted(len(waiting), 'link')} to {counted(len(chosen), 'page')} held back until {until}; "
        f"{counted(len(links) - len(waiting), 'link')} to {counted(len(counts) - len(chosen), 'page')} may go live. "
        f"Put these live within a week, and none of the others.{_too_few(len(chosen), len(counts))}"
    )
    return PlanResult(sentence, drawn, waiting)


def end_experiment(project: Project) -> PlanResult:
    """Let all links go live that are held back; what was measured until today stays usable.

    Raises:
        RunActive: a run holds the project folder.
    """
    today = datetime.now(UTC).date()
    with project.lock(), project.experiments(read_only=False) as store:
        held = held_targets(store.drawn(), today)
        store.release(today)
    if not held:
        return PlanResult("No links are held back.")
    return PlanResult(f"Links to {counted(len(held), 'page')} are no longer held back.")


def _too_few(held: int, targets: int) -> str:
    """Return what an experiment lacks to be measured; "" if it has enough targets."""
    if held >= FEWEST_HELD and targets - held >= FEWEST_PAGES:
        return ""
    return (
        f" This is too little to be measured: {FEWEST_HELD} pages that are held back are needed, and accepted links to "
        f"about {FEWEST_HELD * 5} pages. Accept more links before you begin."
    )


def _nothing_to_draw(targets: int, running: int) -> str:
    if running:
        return f"An experiment with {counted(running, 'page')} is running, and there are no other accepted links."
    few = "No accepted link waits" if not targets else "All accepted links lead to one page"
    return f"{few}: accept links to several pages in the review first."


def _levels(project: Project, counts: Counter[str]) -> dict[str, float]:
    """Return the clicks of the targets in the stored search data; 0 without any."""
    clicks = clicks_by_page(project, counts, CanonicalHosts())
    return {page: clicks.get(page, 0.0) for page in counts}
