"""Sections of a site: the first folders of its paths, and patterns of paths such as "/blog"."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal
from urllib.parse import unquote

import numpy as np

from internal_linker.model.arrays import Ints
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.urls import encoded_path


class Sections:
    """Parts of a site.

    A pattern is a folder, with all below it, as in "/blog" or "blog"; or one of the whole path in which `*` stands for
    anything, as in "/*/medical/*".
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self.patterns = tuple(
            dict.fromkeys("/" + encoded_path(pattern.strip().strip("/")) for pattern in patterns)
        )

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def __str__(self) -> str:
        return shown(self.patterns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sections) and self.patterns == other.patterns

    def __hash__(self) -> int:
        return hash(self.patterns)

    def hold(self, key: str) -> bool:
        """Return whether the page with this key is in one of the sections; a query is in none."""
        if not self.patterns:
            return False
        path = _path(key)
        return bool(path) and any(_fits(path, pattern) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class SectionFilter:
    """Only some sections, all but some, or both."""

    include: Sections = field(default_factory=Sections)  # take only these sections; empty: all
    exclude: Sections = field(default_factory=Sections)  # leave out these sections

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude)

    def __str__(self) -> str:
        return " but ".join(filter(None, (str(self.include) or "all", str(self.exclude))))

    def hold(self, key: str) -> bool:
        """Return whether a page, by its key, is in the included sections and in no excluded one."""
        return (not self.include or self.include.hold(key)) and not self.exclude.hold(key)


def chosen(flags: Iterable[str]) -> SectionFilter:
    """Return the sections of flags such as "/blog" (only these) and "/blog=off" (all but these)."""
    include, exclude = list[str](), list[str]()
    for flag in flags:
        path = flag.removesuffix("=off")
        (include if path == flag else exclude).append(path)
    return SectionFilter(Sections(include), Sections(exclude))


@dataclass(frozen=True, slots=True)
class Scope:
    """Which pages get links, and where links may lead."""

    sources: SectionFilter = field(default_factory=SectionFilter)  # the pages that get links
    # those of them that get links without being in the main queries
    default_sources: SectionFilter = field(default_factory=SectionFilter)
    targets: SectionFilter = field(default_factory=SectionFilter)  # the pages that links may lead to

    def gives(self, key: str, *, queried: bool = False) -> bool:
        """Return whether a page gets links, as far as its section decides; `queried`: it is in the main queries."""
        return self.sources.hold(key) and (queried or self.default_sources.hold(key))


@dataclass(frozen=True, slots=True)
class NamedSections:
    """Sections with the name of the option or setting that they come from."""

    name: str  # the option's or setting's name, such as "--section"
    sections: Sections  # what it says
    # which of them must have a page: each (options), one (settings without which no link is left), or none
    least: Literal["each", "one", "none"] = "each"


class SectionUse:
    """Finds sections without a page, which are probably misspelled."""

    def __init__(self, named: Iterable[NamedSections]) -> None:
        self._named = [one for one in named if one.sections]
        self._unused = [dict.fromkeys(one.sections.patterns) for one in self._named]
        self._counts = Counter[str]()
        self._seen = set[str]()

    def note(self, key: str) -> None:
        """Take note of a page by its key."""
        path = _path(key)
        if not path or key in self._seen:
            return
        self._seen.add(key)
        self._counts[section_of(key)] += 1
        for patterns in self._unused:
            for pattern in [pattern for pattern in patterns if _fits(path, pattern)]:
                del patterns[pattern]

    def verify(self, warn: Callable[[str], None]) -> None:
        """Warn of sections without a page.

        Raises:
            ConfigurationError: a section without a page must have one.
        """
        if not self._counts:
            return
        for one, unused in zip(self._named, self._unused, strict=True):
            if not unused:
                continue
            sentence = f"{one.name}: no page is in {shown(unused)}. {self._largest()}"
            if one.least == "each" or (one.least == "one" and len(unused) == len(one.sections.patterns)):
                raise ConfigurationError(sentence)
            warn(sentence)

    def _largest(self) -> str:
        largest = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))[:_NAMED]
        return (
            f"The largest sections are {', '.join(f'{unquote(name)} ({count})' for name, count in largest)}."
        )


def verify(
    named: Iterable[NamedSections], keys: Collection[str], warn: Callable[[str], None] = lambda _: None
) -> None:
    """Check that the sections have pages; see `SectionUse`.

    Raises:
        ConfigurationError: a section without a page must have one.
    """
    use = SectionUse(named)
    for key in keys:
        use.note(key)
    use.verify(warn)


def shown(patterns: Iterable[str]) -> str:
    """Return paths as people write them, in one line."""
    return ", ".join(map(unquote, patterns))


# Sections that an error message names.
_NAMED = 5


def _path(key: str) -> str:
    host, _, path = key.partition("://")[2].partition("/")
    return "/" + path.partition("?")[0] if host else ""


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
