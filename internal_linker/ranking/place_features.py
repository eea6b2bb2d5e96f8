"""Features of pairs of pages from their places on the site: folders of their URLs, and links between sections."""

from collections.abc import Mapping, Sequence

import numpy as np

from internal_linker.core.arrays import Ints, Pairs, Vectors
from internal_linker.ranking.link_features import LinkGraph

PLACE_FEATURES = ("shared folders", "share of folders", "same folder", "parent", "child", "depth")
LIFT_FEATURES = ("section lift", "folder lift")
# Parts of a path that are compared; no site nests its pages deeper.
_DEPTH = 12
_INDEX_PAGES = frozenset({"", "index", "_index", "readme"})
# Links added to observed and expected counts, so that a few links between small sections prove little.
_PRIOR = 0.5


class Places:
    """Where the n pages of a site are; 60 bytes a page.

    Args:
        keys: the normal form of each page's URL.

    Attributes:
        sections, folders: (n,) a number for each page's first folder, and for its whole folder.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        paths = [_path(key) for key in keys]
        self._depths: Ints = np.array([len(path) for path in paths], np.int64)
        numbers: dict[tuple[str, ...], int] = {}
        # The number of the path up to each part; -1 past its end.
        self._paths: Ints = np.full((len(paths), _DEPTH), -1, np.int32)
        for row, path in enumerate(paths):
            for depth in range(min(len(path), _DEPTH)):
                self._paths[row, depth] = numbers.setdefault(path[: depth + 1], len(numbers))
        self.sections = _numbered([path[:-1][:1] for path in paths])
        self.folders = _numbered([path[:-1] for path in paths])

    def of(self, own: Ints, others: Ints) -> Mapping[str, Vectors]:
        """Return (p,) values of `PLACE_FEATURES` for the pages `own` and `others`, rows of p pages each.

        "parent": the other page's path begins the own one, "child": the own path begins the other one.
        """
        ours, theirs = self._paths[own], self._paths[others]
        shared = ((ours == theirs) & (ours >= 0)).sum(axis=1)
        deepest = np.maximum(self._depths[own], self._depths[others])
        values = (
            shared,
            shared / np.maximum(1, deepest - 1),
            self.folders[own] == self.folders[others],
            shared == self._depths[others],
            shared == self._depths[own],
            self._depths[others],
        )
        return {name: value.astype(np.float32) for name, value in zip(PLACE_FEATURES, values, strict=True)}


class Lift:
    """How much more often pages of one section link to those of another than to any page.

    Args:
        sections: (n,) the number of each page's section.
        links: all linked pairs of pages.
    """

    def __init__(self, sections: Ints, links: Pairs) -> None:
        self._sections, self._count = sections, int(sections.max(initial=0)) + 1
        linked = Pairs(sections[links.of], sections[links.rows]).keys(self._count)
        self._keys, self._times = np.unique(linked, return_counts=True)
        self._out = np.bincount(sections[links.of], minlength=self._count)
        self._share = np.bincount(sections, minlength=self._count) / max(1, len(sections))

    def of(self, own: Ints, others: Ints) -> Vectors:
        """Return (p,) float32 ln(observed / expected links) between the pages' sections; 0 for one without links."""
        ours, theirs = self._sections[own], self._sections[others]
        wanted = Pairs(ours, theirs).keys(self._count)
        times = np.zeros(len(wanted))
        if len(self._keys):
            at = np.searchsorted(self._keys, wanted).clip(max=len(self._keys) - 1)
            times = np.where(self._keys[at] == wanted, self._times[at], 0)
        expected = self._out[ours] * self._share[theirs]
        lift = np.log((times + _PRIOR) / (expected + _PRIOR)) * (self._out[ours] > 0)
        return lift.astype(np.float32)


def lifts(places: Places, graph: LinkGraph) -> tuple[Lift, Lift]:
    """Return the lifts of `LIFT_FEATURES`: of sections and of folders."""
    return Lift(places.sections, graph.pairs), Lift(places.folders, graph.pairs)


def _path(key: str) -> tuple[str, ...]:
    """Return the parts of a key's path, without the ending of the last one and the name of an index page."""
    parts = key.partition("://")[2].split("?")[0].split("/")[1:]
    if parts:
        parts[-1] = parts[-1].split(".")[0]
        if parts[-1].lower() in _INDEX_PAGES:
            parts.pop()
    return tuple(parts)


def _numbered(names: Sequence[tuple[str, ...]]) -> Ints:
    """Return (n,) equal numbers for equal names."""
    numbers: dict[tuple[str, ...], int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
