"""Patterns of paths, as in "/blog" -> whether a page lies in one of these parts of the site."""

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
        """Whether a page is in one of them: its normal form; a query is in none."""
        host, _, path = key.partition("://")[2].partition("/")
        path = "/" + path.partition("?")[0]
        return bool(host) and any(_fits(path, pattern) for pattern in self._patterns)


def section_of(key: str) -> str:
    """The first folder of a page's path, as in "/blog"; "/" for a page at the root, "" for a query."""
    host, _, path = key.partition("://")[2].partition("?")[0].partition("/")
    folder, below, _ = path.partition("/")
    return ("/" + folder if below else "/") if host else ""


def _fits(path: str, pattern: str) -> bool:
    if "*" in pattern:
        return fnmatchcase(path, pattern)
    return path == pattern or path.startswith(pattern.rstrip("/") + "/")


ROOT = "/"
OTHER = "other"
# A heatmap of more can't be read.
MOST_SECTIONS = 25


def sections_of(keys: Sequence[str]) -> list[str]:
    """(n) the first part of each path ("/blog"), or "/" for the home page and pages with nothing beneath them."""
    parts = [key.split("/", 4)[3:] for key in keys]
    below = {part[0] for part in parts if len(part) > 1}
    return [f"/{name}" if (name := part[0].partition("?")[0]) in below else ROOT for part in parts]


def grouped(sections: Sequence[str]) -> tuple[list[str], Ints]:
    """The sections of most pages, largest first, the rest as "other"; and (n,) each page's place among them."""
    names = [name for name, _ in sorted(Counter(sections).items(), key=lambda item: (-item[1], item[0]))]
    if len(names) > MOST_SECTIONS:
        names = [*names[: MOST_SECTIONS - 1], OTHER]
    place = {name: at for at, name in enumerate(names)}
    return names, np.array([place.get(section, len(names) - 1) for section in sections], np.int64)
