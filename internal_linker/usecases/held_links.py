"""Accepted links that wait because an experiment holds them back."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

from internal_linker.core.edges import Edge
from internal_linker.core.experiments import held_targets
from internal_linker.usecases.apply_results import AppliedLink, Left, Outcome
from internal_linker.usecases.project import Project


def without_held(project: Project, links: Sequence[Edge]) -> tuple[list[Edge], list[AppliedLink]]:
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
        outcome=Outcome.HELD_BACK,
        reason=Left.HELD_BACK,
        until=until.isoformat(),
    )
