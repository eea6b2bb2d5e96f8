"""Varied anchors: over a whole site, no wording is used too often for a target, and none stands for two."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isnan

from internal_linker.model.edges import Anchor
from internal_linker.model.ports import Wanted
from internal_linker.model.records import fold_query

ProposeEach = Callable[[Iterable[Wanted]], Iterator[Sequence[tuple[Anchor, ...]]]]


@dataclass(frozen=True)
class Variety:
    """Implements `ports.Anchors` with varied anchors."""

    propose_each: ProposeEach  # see `ports.Anchors`
    placed: Callable[[str, str], Anchor]  # see `Anchoring.placed`
    title: Callable[[str], str]  # see `Anchoring.title`
    quality: Callable[[str, str, Anchor], float]  # see `Anchoring.quality`
    known: Callable[[str], Iterable[str]]  # returns the anchors of the existing links to a page
    obeys: Callable[[str, str, Sequence[Anchor]], bool]  # see `Anchoring.obeys`
    # links to one page with one wording, over the whole site, as long as the text has another wording
    most_same: int
    # count of links by target and wording, of the targets seen so far; `varied` and `count` add to it
    used: dict[str, Counter[str]] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)  # the target of each wording that a link has

    def settled(self, source: str, target: str, anchors: tuple[Anchor, ...]) -> bool:
        """Return whether the anchors were judged, and may stay: see `obeys`. Earlier versions judged none."""
        return not any(isnan(one.quality) for one in anchors) and self.obeys(source, target, anchors)

    def varied(self, target: str, anchors: tuple[Anchor, ...], own: str = "") -> tuple[Anchor, ...]:
        """Return the anchors with one first that is not overused, if any; count it, or the editor's `own` anchor.

        No wording stands for two targets: those of other targets come last, behind the target's title, which is not in
        the text, if there are no others.
        """
        used = self._used(target)
        foreign = [one for one in anchors if self.owners.get(fold_query(one.text), target) != target]
        ours = [one for one in anchors if one not in foreign]
        if foreign and not ours and not own:
            first = foreign[0]
            title = self.title(target) or first.text
            ours = [Anchor(title, first.sentence, first.start, verbatim=False, quality=0.0)]
        fresh = [at for at, one in enumerate(ours) if used[fold_query(one.text)] < self.most_same]
        if fresh:
            ours = [ours[fresh[0]], *ours[: fresh[0]], *ours[fresh[0] + 1 :]]
        if said := own or (ours[0].text if ours else ""):
            self.count(target, said)
        return (*ours, *foreign)

    def count(self, target: str, text: str) -> None:
        """Count an anchor that a link to this target keeps."""
        said = fold_query(text)
        self._used(target)[said] += 1
        self.owners.setdefault(said, target)

    def _used(self, target: str) -> Counter[str]:
        if target not in self.used:
            self.used[target] = Counter(map(fold_query, self.known(target)))
        return self.used[target]
