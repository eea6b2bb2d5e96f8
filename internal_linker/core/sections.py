"""Patterns of paths, as in "/blog" -> whether a page lies in one of these parts of the site."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


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
