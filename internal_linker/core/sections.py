"""Sections of a site: the first folders of its paths, and patterns of paths such as "/blog"."""

from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import numpy as np

from internal_linker.core.arrays import Ints


class Sections:
    """Parts of a site.

    Args:
        patterns: a folder, with all below it, as in "/blog"; or a pattern of the whole path in which `*`
            stands for anything, as in "/*/medical/*".
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple("/" + pattern.strip().strip("/") for pattern in patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def __str__(self) -> str:
        return ", ".join(self._patterns)

    def hold(self, key: str) -> bool:
        """Return whether the page with this key is in one of the sections; a query is in none."""
        host, _, path = key.partition("://")[2].partition("/")
        path = "/" + path.partition("?")[0]
        return bool(host) and any(_fits(path, pattern) for pattern in self._patterns)


def section_of(key: str) -> str:
    """Return the first folder of a page's path, such as "/blog"; "/" for a page at the root, "" for a query."""
    host, _, path = key.partition("://")[2].partition("?")[0].partition("/")
    folder, below, _ = path.partition("/")
    return ("/" + folder if below else "/") if host else ""


def _fits(path: str, pattern: str) -> bool:
    if "*" in pattern:
        return fnmatchcase(path, pattern)
    return path == pattern or path.startswith(pattern.rstrip("/") + "/")


ROOT = "/"
OTHER = "other"
# Nobody can read a heat map of more.
MOST_SECTIONS = 25


# A folder with more than this share of the pages says little about them: its sub-folders are the sections, unless they
# are tiny. On a site of a few pages, shares say nothing.
_MOST_SHARE, _LEAST_SHARE, _FEW_PAGES = 0.5, 0.02, 20


def sections_of(keys: Sequence[str]) -> list[str]:
    """Return n sections: the first folder of each path ("/blog"), or "/" for pages at the root without subpages.

    A folder with more than half of the pages is split into its sub-folders ("/blog/recipes"); pages of other
    sub-folders, and those directly in it, stay in it.
    """
    parts = [key.partition("?")[0].split("/")[3:] for key in keys]
    sections = [ROOT] * len(keys)
    whole = [*range(len(keys))]
    for name, inside in _folders(parts, whole, 0).items():
        _name(sections, parts, inside, f"/{name}")
    return sections


def _folders(parts: Sequence[Sequence[str]], rows: Sequence[int], depth: int) -> dict[str, list[int]]:
    """Return the rows of each folder at this depth of the paths, with the page of its own address."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if len(parts[row]) > depth:
            found.setdefault(parts[row][depth], []).append(row)
    return {
        name: inside for name, inside in found.items() if any(len(parts[row]) > depth + 1 for row in inside)
    }


def _name(sections: list[str], parts: Sequence[Sequence[str]], rows: Sequence[int], name: str) -> None:
    """Enter the section of the rows of a folder, or those of its sub-folders if it has most of the pages."""
    for row in rows:
        sections[row] = name
    n = len(sections)
    if n < _FEW_PAGES or len(rows) <= _MOST_SHARE * n:
        return
    for folder, inside in _folders(parts, rows, name.count("/")).items():
        if len(inside) >= max(2, _LEAST_SHARE * n):
            _name(sections, parts, inside, f"{name}/{folder}")


def grouped(sections: Sequence[str]) -> tuple[list[str], Ints]:
    """Return the largest sections, the rest as "other", and (n,) the position of each page's section."""
    names = [name for name, _ in sorted(Counter(sections).items(), key=lambda item: (-item[1], item[0]))]
    if len(names) > MOST_SECTIONS:
        names = [*names[: MOST_SECTIONS - 1], OTHER]
    place = {name: at for at, name in enumerate(names)}
    return names, np.array([place.get(section, len(names) - 1) for section in sections], np.int64)
