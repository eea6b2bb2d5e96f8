"""Acceptance rates of proposed links, and a warning if editors reject more than before."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from internal_linker.model.edges import Edge, Status
from internal_linker.model.sections import section_of

# An editor who edits a link's anchor, or puts the link on the page, accepts the link.
_WANTED: tuple[Status, ...] = ("accepted", "edited", "live")
# Fewer decisions show nothing: of 20 decisions at a rejection rate of one in five, 1 to 8 are rejections by chance.
LEAST_DECISIONS = 20
# A smaller rise needs no action, however significant.
LEAST_RISE = 0.1
# Significance level: in one week of a hundred, chance alone raises the warning.
_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Editors' decisions on a group of links."""

    # The kind of group, "all", "tier", "origin" or "section".
    by: str
    # The group's tier, origin or section; "" for all.
    name: str
    # The count of links that editors accepted or edited, or that are live.
    accepted: int
    # The count of rejected links.
    rejected: int
    # The count of links without a decision.
    waiting: int

    @property
    def decided(self) -> int:
        """The count of links with a decision."""
        return self.accepted + self.rejected

    @property
    def rate(self) -> float:
        """The share of decided links that were accepted, 0 to 1; NaN if none was decided."""
        return self.accepted / self.decided if self.decided else float("nan")


def acceptance(edges: Iterable[Edge]) -> list[Acceptance]:
    """Return the rates of all links, then by tier, origin and section, those with most decisions first.

    Withdrawn links without a decision don't count.
    """
    groups: defaultdict[tuple[str, str], Counter[Status]] = defaultdict(Counter)
    for edge in edges:
        section = section_of(edge.source)
        for group in (("all", ""), ("tier", edge.tier), ("origin", edge.origin), ("section", section)):
            groups[group][edge.verdict or edge.status] += 1
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
    """Return a warning if editors reject a significantly larger share than before; otherwise "".

    `verdicts` are the statuses of decided links in the order of their time, of which `recent` are new since the last
    run; at least `LEAST_DECISIONS` are compared.
    """
    recent = max(recent, LEAST_DECISIONS)
    earlier, later = verdicts[:-recent], verdicts[-recent:]
    if len(earlier) < LEAST_DECISIONS or len(later) < LEAST_DECISIONS:
        return ""
    was, is_ = (part.count("rejected") / len(part) for part in (earlier, later))
    # One-sided test of two proportions with the pooled share.
    share = verdicts.count("rejected") / len(verdicts)
    error = sqrt(share * (1 - share) * (1 / len(earlier) + 1 / len(later)))
    # It takes a tenth of a second to import, and most commands end without it.
    from scipy.special import ndtri

    if is_ - was < LEAST_RISE or is_ - was <= -float(ndtri(_CHANCE)) * error:
        return ""
    return (
        f"Editors rejected {is_:.0%} of the last {len(later)} links that they decided on, {was:.0%} of the "
        f"{len(earlier)} before. See their Notes for reasons, or raise the thresholds (calibrate proposes some)."
    )
