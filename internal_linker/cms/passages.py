"""A text as its readers see it: passages of visible characters, each with its place in the source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

Span = tuple[int, int]


class Unreadable(Exception):
    """A text that can't be read as its format."""


class Piece(NamedTuple):
    """Visible characters that follow each other in the source."""

    text: str  # what readers see
    start: int  # where it begins in the source
    # Where it ends. If that is as far as the text is long, the source has the same characters; otherwise the
    # text stands for the whole of it, as `é` for `&eacute;`.
    end: int
    is_open: bool  # whether a link may stand here


class Mark(NamedTuple):
    """Markup without visible characters."""

    start: int  # where it begins in the source
    end: int
    nesting: int  # 1 opens, -1 closes, 0 stands alone


@dataclass(frozen=True)
class Content:
    """The pieces of a passage and the markup between them, in the order of the source."""

    pieces: Sequence[Piece] = ()
    marks: Sequence[Mark] = ()


@dataclass(frozen=True)
class Passage:
    """A paragraph, an item of a list, or a cell of a table."""

    look: str  # its characters as a first look has them: markup may be among them, words may be cut by it
    is_open: bool  # whether a link may stand in it at all
    read: Callable[[], Content]

    @cached_property
    def content(self) -> Content:
        """The pieces and the markup."""
        return self.read()

    @cached_property
    def visible(self) -> str:
        """What readers see."""
        return "".join(piece.text for piece in self.content.pieces)


class Document(Protocol):
    """A text that was read as its format."""

    @property
    def source(self) -> str:
        """The text as it was given."""

    @property
    def passages(self) -> Sequence[Passage]:
        """All passages in order, also those where no link may stand."""

    @property
    def hrefs(self) -> Sequence[str]:
        """Where the links of the text lead, as the text writes it."""

    @property
    def closed(self) -> Sequence[Span]:
        """Places in the source where no link may stand, whatever passage they are in; sorted, apart from each other."""

    def link(self, href: str) -> tuple[str, str]:
        """Return what is written before and after an anchor to make it a link."""

    def written(self, href: str) -> str:
        """Return an href as the text has it once it is written: with what can't be written escaped."""

    def is_only_linked(self, text: str, start: int, href: str) -> bool:
        """Return whether a new text is this one with one more link in body text, and nothing else.

        The link begins at `start` in the new text.
        """


def joined(spans: Sequence[Span]) -> list[Span]:
    """Return spans sorted, with those that touch made one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
