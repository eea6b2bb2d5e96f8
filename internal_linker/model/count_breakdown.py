"""Numbers of links that say what was counted and what was subtracted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from internal_linker.model.edges import Status


@dataclass(frozen=True, slots=True)
class CountBreakdown:
    """A number as a sum."""

    # numbers with their names; the first is the whole, and each number below 0 is subtracted from it
    parts: Sequence[tuple[int, str]]

    @property
    def total(self) -> int:
        """What remains."""
        return sum(count for count, _ in self.parts)

    def __str__(self) -> str:
        (whole, name), *rest = self.parts
        signed = [f" {'-' if count < 0 else '+'} {abs(count):,} {what}" for count, what in rest if count]
        return f"{self.total:,} = {whole:,} {name}{''.join(signed)}" if signed else f"{whole:,} {name}"


def count_waiting(statuses: Mapping[Status, int]) -> CountBreakdown:
    """Return how many links wait for a decision, of all links in the link graph, by status."""
    others = sorted((name, count) for name, count in statuses.items() if name != "proposed")
    return CountBreakdown(
        [(sum(statuses.values()), "links of all runs"), *((-count, name) for name, count in others)]
    )
