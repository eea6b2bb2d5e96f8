"""What a run tells the next one of the pages whose links stay as they are: that one need not read them."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

import numpy as np

from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.core.edges import Tier

_TIERS: tuple[Tier, ...] = ("inline", "sidebar", "review")
# Where text begins and ends in a file, in bytes.
Span = tuple[int, int]


class SteadyLink(NamedTuple):
    """A stored link that nobody decided on."""

    target: str  # its key
    strength: float  # 0 to 1; NaN unknown
    tier: Tier  # where it belongs
    waits: bool  # whether an editor must accept it first
    wording: str  # its anchor, if editors see the link; "" for none


@dataclass
class RowPlaces:
    """Where the rows of each page stand in links.csv."""

    run: str = ""  # the run that wrote the file
    digest: str = ""  # the digest of its content
    before: Mapping[str, Span] = field(default_factory=dict)  # the places of the pages' rows in it
    # whether the rows of a page stay, but for the name of the run
    stays: Callable[[str], bool] = lambda _: False
    now: dict[str, Span] = field(default_factory=dict)  # the places in the file that this run writes


@dataclass(frozen=True)
class SteadyPages:
    """The pages whose links would be stored as they are if they came again."""

    run: str  # the last run that proposed the links
    # when the stored edges were written, ISO 8601; what was written at another time is somebody else's
    times: frozenset[str]
    edges: int  # count of the stored edges
    bases: Mapping[str, bytes]  # a digest of all that the edges of a page follow from, by page
    starts: Ints  # (pages + 1,) where the links of each page begin, in the order of `bases`
    targets: Ints  # (links,) rows of `keys`
    # strengths, tiers, waits: (links,) as in `SteadyLink`, tiers as their places in `_TIERS`
    strengths: Vectors
    tiers: Ints
    waits: Bools
    wordings: Sequence[str]  # of each link
    keys: Sequence[str]  # the targets' keys
    # where the rows of these pages, and others, stand in links.csv, which has this `digest`
    rows: Mapping[str, Span] = field(default_factory=dict)
    digest: str = ""

    @classmethod
    def of(
        cls,
        pages: Iterable[tuple[str, bytes, Iterable[SteadyLink]]],
        *,
        run: str,
        times: Collection[str],
        edges: int,
        rows: Mapping[str, Span],
        digest: str,
    ) -> "SteadyPages":
        """Return the pages, given each with its basis and its links in the order of the run."""
        bases, keys = dict[str, bytes](), dict[str, int]()
        starts, targets, strengths = array("q", [0]), array("i"), array("d")
        tiers, waits, wordings = bytearray(), bytearray(), list[str]()
        for end, basis, links in pages:
            bases[end] = basis
            for link in links:
                targets.append(keys.setdefault(link.target, len(keys)))
                strengths.append(link.strength)
                tiers.append(_TIERS.index(link.tier))
                waits.append(link.waits)
                wordings.append(link.wording)
            starts.append(len(wordings))
        return cls(
            run,
            frozenset(times),
            edges,
            bases,
            np.frombuffer(starts, np.int64),
            np.frombuffer(targets, np.int32),
            np.frombuffer(strengths, np.float64),
            np.frombuffer(tiers, np.uint8),
            np.frombuffer(waits, np.bool_),
            wordings,
            [*keys],
            rows,
            digest,
        )

    def again(self, run: str, times: Mapping[datetime, int], places: RowPlaces, digest: str) -> "SteadyPages":
        """Return the same pages after a run that changed nothing but its name in the stored links.

        Args:
            times: when the stored edges were written.
            places: where the rows of the pages stand in links.csv, if it wrote the file.
            digest: that of links.csv.
        """
        # Where one name of a run replaces another of the same length, all rows stay where they are.
        rows = places.now or (self.rows if len(run) == len(self.run) else {})
        known = frozenset(at.isoformat() for at in times if at)
        return replace(self, run=run, times=known, edges=sum(times.values()), rows=rows, digest=digest)

    def links(self) -> Iterator[tuple[str, bytes, list[SteadyLink]]]:
        """Yield the pages with their bases and links."""
        starts = self.starts.tolist()
        each = map(
            SteadyLink,
            map(self.keys.__getitem__, self.targets.tolist()),
            self.strengths.tolist(),
            map(_TIERS.__getitem__, self.tiers.tolist()),
            self.waits.tolist(),
            self.wordings,
        )
        for (end, basis), first, last in zip(self.bases.items(), starts, starts[1:], strict=False):
            yield end, basis, [next(each) for _ in range(first, last)]
