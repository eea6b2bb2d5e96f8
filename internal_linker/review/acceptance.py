"""Proposed links and what editors said of them -> how many are accepted, and whether rejections rise."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from scipy.special import ndtri

from internal_linker.core.edges import Status, Tier
from internal_linker.core.records import Origin

# Who edits a link's anchor wants the link, and so does who put it on the page.
_WANTED: tuple[Status, ...] = ("accepted", "edited", "live")
# Fewer decisions tell nothing: of 20 with one in five rejected, 1 to 8 are by chance.
LEAST_DECISIONS = 20
# A rise below it is nothing to act upon, however sure.
LEAST_RISE = 0.1
# One week in a hundred chance alone would warn.
_CHANCE = 0.01


class Decision(NamedTuple):
    """A proposed link: its tier, where it came from, its source's section ("" for a query), and its status."""

    tier: Tier
    origin: Origin
    section: str
    status: Status


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What editors said of some links.

    Attributes:
        by: "all", "tier", "origin" or "section".
        name: which of them.
        accepted: links that were accepted, edited or found live.
        rejected: links that were rejected.
        waiting: links that nobody said anything of.
    """

    by: str
    name: str
    accepted: int
    rejected: int
    waiting: int

    @property
    def decided(self) -> int:
        """Links that somebody decided on."""
        return self.accepted + self.rejected

    @property
    def rate(self) -> float:
        """Share of the decided links that were accepted, 0 to 1; NaN where none was decided."""
        return self.accepted / self.decided if self.decided else float("nan")


def acceptance(decisions: Iterable[Decision]) -> list[Acceptance]:
    """The rates of all links, then by tier, origin and section, those with most decisions first.

    Links that were withdrawn without a word of an editor don't count.
    """
    groups: defaultdict[tuple[str, str], Counter[Status]] = defaultdict(Counter)
    for tier, origin, section, status in decisions:
        for group in (("all", ""), ("tier", tier), ("origin", origin), ("section", section)):
            groups[group][status] += 1
    found = [
        Acceptance(
            by,
            name,
            accepted=sum(counts[each] for each in _WANTED),
            rejected=counts["rejected"],
            waiting=counts["proposed"],
        )
        for (by, name), counts in groups.items()
    ]
    order = ("all", "tier", "origin", "section")
    return sorted(found, key=lambda each: (order.index(each.by), -each.decided, each.name))


def rising_rejections(verdicts: Sequence[Status], recent: int) -> str:
    """A sentence where editors reject a surely larger share than they did, else "".

    Args:
        verdicts: of decided links, in the order of their time.
        recent: how many of them are new since the last run; `LEAST_DECISIONS` count at the least.
    """
    recent = max(recent, LEAST_DECISIONS)
    earlier, later = verdicts[:-recent], verdicts[-recent:]
    if len(earlier) < LEAST_DECISIONS or len(later) < LEAST_DECISIONS:
        return ""
    was, is_ = (part.count("rejected") / len(part) for part in (earlier, later))
    # Two proportions, one-sided, under the share of both together.
    share = verdicts.count("rejected") / len(verdicts)
    error = sqrt(share * (1 - share) * (1 / len(earlier) + 1 / len(later)))
    if is_ - was < LEAST_RISE or is_ - was <= -float(ndtri(_CHANCE)) * error:
        return ""
    return (
        f"Editors rejected {is_:.0%} of the last {len(later)} links that they decided on, {was:.0%} of the "
        f"{len(earlier)} before: see why in the Notes, or raise the thresholds (internal-linker calibrate)."
    )
