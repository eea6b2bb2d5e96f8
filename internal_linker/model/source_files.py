"""The texts that a site's pages are made of, such as the source files of a folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

Markup = Literal["markdown", "mdx", "html"]
_FORMATS: dict[str, Markup] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "mdx",
    ".html": "html",
    ".htm": "html",
}
SUFFIXES = tuple(_FORMATS)


class StoredSource(Protocol):
    """The text of a page as its site stores it: a source file, or a post of a content management system."""

    @property
    def path(self) -> str:
        """Where it is: below the folder, or in the site's API."""

    @property
    def text(self) -> str:
        """The whole text, with its own line endings."""

    @property
    def bom(self) -> bool:
        """Whether a byte order mark comes before the text."""

    @property
    def text_format(self) -> Markup:
        """The markup of the text."""

    def encoded(self, text: str | None = None) -> bytes:
        """Return the bytes of the text, or those that it would have with another one."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source tree."""

    path: str  # its path below the tree's folder, with `/` between folders
    text: str  # its whole text, with the line endings of the file, without a byte order mark
    bom: bool = False  # whether the file begins with a byte order mark

    @property
    def text_format(self) -> Markup:
        """The markup of the text, which the file's name tells."""
        return _FORMATS[suffix_of(self.path)]

    def encoded(self, text: str | None = None) -> bytes:
        """Return the bytes of the file, or those that it would have with another text."""
        whole = self.text if text is None else text
        return (b"\xef\xbb\xbf" if self.bom else b"") + whole.encode()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder of a source tree that was not read."""

    path: str  # its path below the tree's folder
    reason: str  # why, for people: "a build output"


@dataclass(frozen=True)
class SourceTree:
    """A folder of source files."""

    folder: str  # the folder's path, for messages
    files: Mapping[str, SourceFile]  # the files by path, in the order of their paths
    # the texts of the generators' configuration files by path
    settings: Mapping[str, str] = field(default_factory=dict)
    # what was not read, with reasons; hidden folders and node_modules are not listed
    left_out: tuple[LeftOut, ...] = ()
    # the number of files by suffix that hold texts in other markup, such as `.rst`
    unsupported: Mapping[str, int] = field(default_factory=dict)


def suffix_of(path: str) -> str:
    """Return the suffix of a path in lower case, such as ".md"; "" if it has none."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def without_suffix(path: str) -> str:
    """Return a path without its suffix."""
    return path[: len(path) - len(suffix_of(path))]
