"""The record of a target that was drawn for an experiment: its new links are held back, or not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTarget:
    """A page that accepted links lead to, and what was drawn for it."""

    experiment: str  # the id of the experiment
    target: str  # the page's key
    links: int  # how many accepted links led to it when it was drawn
    held: bool  # whether links to it are held back; otherwise they may go live at once
    first: date  # the day on which it was drawn
    until: date  # the day from which its links may go live, too


def held_targets(drawn: Iterable[DrawnTarget], today: date) -> Mapping[str, date]:
    """Return the targets whose links are held back today, each with the day from which they may go live."""
    return {one.target: one.until for one in drawn if one.held and one.first <= today < one.until}
