"""Features of pairs of pages from their places on the site: folders of their URLs, and links between sections."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy

import numpy as np

from internal_linker.model.arrays import Ints, Pairs, Vectors
from internal_linker.rank.link_features import LinkGraph

PLACE_FEATURES = ("shared folders", "share of folders", "same folder", "parent", "child", "depth")
LIFT_FEATURES = ("section lift", "folder lift")
# Parts of a path that are compared; no site nests its pages deeper.
_DEPTH = 12
# Slashes of "https://a.test/page/".
_AT_ROOT = 4
_INDEX_PAGES = frozenset({"", "index", "_index", "readme"})
# Links added to observed and expected counts, so that a few links between small sections prove little.
_PRIOR = 0.5


class PagePositions:
    """Where the n pages of a site are; 60 bytes a page.

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

    def with_guests(self, keys: Sequence[str], pages: Sequence[str]) -> "PagePositions":
        """Return the places of the same pages and of guests; without a URL (""), a guest has that of the home page."""
        other, places = copy(self), [self._place(_path(key), pages) for key in keys]
        other._depths = np.append(self._depths, [len(_path(key)) for key in keys])
        other._paths = np.concatenate([self._paths, np.array([path for path, *_ in places], np.int32)])
        other.sections = np.append(self.sections, [section for _, section, _ in places])
        other.folders = np.append(self.folders, [folder for *_, folder in places])
        return other

    def _place(self, path: Sequence[str], pages: Sequence[str]) -> tuple[Ints, int, int]:
        """Return the numbers of a guest's path, section and folder: those of pages that have them, too, or new ones."""
        ours: Ints = np.full(_DEPTH, -1, np.int32)
        section, folder = int(self.sections.max(initial=-1)) + 1, int(self.folders.max(initial=-1)) + 1
        for row in _near(path, pages):
            theirs = _path(pages[row])
            shared = 0
            while shared < min(len(path), len(theirs), _DEPTH) and path[shared] == theirs[shared]:
                ours[shared] = self._paths[row, shared]
                shared += 1
            section = int(self.sections[row]) if theirs[:-1][:1] == path[:-1][:1] else section
            if theirs[:-1] == path[:-1]:
                folder = int(self.folders[row])
                if not path:
                    break
        return ours, section, folder

    def compare_pages(self, own: Ints, others: Ints) -> Mapping[str, Vectors]:
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

    `sections` has the number of each page's section, and of each guest's after them.
    """

    def __init__(self, sections: Ints, links: Pairs, pages: int | None = None) -> None:
        self._sections, self._count = sections, int(sections.max(initial=0)) + 1
        linked = Pairs(sections[links.of], sections[links.rows]).keys(self._count)
        self._keys, self._times = np.unique(linked, return_counts=True)
        self._out = np.bincount(sections[links.of], minlength=self._count)
        of_pages = sections[:pages]
        self._share = np.bincount(of_pages, minlength=self._count) / max(1, len(of_pages))

    def with_guests(self, sections: Ints) -> "Lift":
        """Return the lift for the same pages and guests, who have no links; a guest's section may be a new one."""
        other, new = copy(self), max(0, int(sections.max(initial=0)) + 1 - self._count)
        other._sections, other._count = sections, self._count + new
        of, rows = np.divmod(self._keys, self._count)
        other._keys = Pairs(of, rows).keys(other._count)
        other._out = np.append(self._out, np.zeros(new, self._out.dtype))
        other._share = np.append(self._share, np.zeros(new))
        return other

    def compute_lift(self, own: Ints, others: Ints) -> Vectors:
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


def lifts(places: PagePositions, graph: LinkGraph, pages: int | None = None) -> tuple[Lift, Lift]:
    """Return the lifts of `LIFT_FEATURES`, of sections and of folders, for so many pages and for guests."""
    return Lift(places.sections, graph.pairs, pages), Lift(places.folders, graph.pairs, pages)


def _path(key: str) -> tuple[str, ...]:
    """Return the parts of a key's path, without the ending of the last one and the name of an index page."""
    parts = key.partition("://")[2].split("?")[0].split("/")[1:]
    if parts:
        parts[-1] = parts[-1].split(".")[0]
        if parts[-1].lower() in _INDEX_PAGES:
            parts.pop()
    return tuple(parts)


def _near(path: Sequence[str], keys: Sequence[str]) -> Iterator[int]:
    """Yield the rows of all keys that may share a folder with a path, and of some others."""
    part, at_root = f"/{path[0]}" if path else "", len(path) < 2
    for row, key in enumerate(keys):
        if (part and part in key) or (at_root and key.count("/") <= _AT_ROOT):
            yield row


def _numbered(names: Sequence[tuple[str, ...]]) -> Ints:
    numbers: dict[tuple[str, ...], int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
