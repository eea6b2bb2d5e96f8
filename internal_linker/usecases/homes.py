"""Where the texts of a site's pages are, a folder or a content management system, as `apply` and `undo` see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from internal_linker.core.applied_links import PageWrite, content_hash
from internal_linker.core.source_files import SourceText
from internal_linker.usecases.apply_results import Kept, Left


class TextState(Enum):
    """How a text is now, compared with a write of it."""

    BEFORE = "as it was before the write"
    AFTER = "as the write left it"
    OTHER = "changed since"
    GONE = "gone"
    UNKNOWN = "can't be read"


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Why a text was not written.

    Attributes:
        reason: why.
        problem: what a person should know besides, a sentence; "": nothing.
        is_doubtful: whether the text may have changed all the same, so that its former content must be kept.
    """

    reason: Left
    problem: str = ""
    is_doubtful: bool = False


class Home(Protocol):
    """Holds texts, and replaces each of them as a whole, or not at all."""

    @property
    def address(self) -> str:
        """The path of the folder, or the address of the site."""

    @property
    def noun(self) -> str:
        """What a text is called: "file" or "post"."""

    @property
    def block(self) -> int:
        """How many former texts are stored in one transaction, before the first of these texts is written."""

    def state(self, write: PageWrite) -> TextState:
        """Return how a text is now, compared with a write of it."""

    def write(self, text: SourceText, new: str) -> Unwritten | None:
        """Replace a text that is still as it was read; return why it was not replaced, None if it was."""

    def restore(self, write: PageWrite, former: bytes) -> Kept | None:
        """Replace a text that is still as a write left it by its former content; return why not, None if it was."""


class PageTexts(Protocol):
    """The texts of a site's pages, as they were read from their home."""

    @property
    def home(self) -> Home:
        """Where they are."""

    @property
    def summary(self) -> str:
        """What was found, in a sentence."""

    @property
    def unsure(self) -> Mapping[str, str]:
        """The pages of which several texts may be the source, with these in words."""

    @property
    def remarks(self) -> Sequence[str]:
        """What was unusual, one sentence each."""

    def find(self, url: str) -> SourceText | Left:
        """Return the text of a page, or why it has none that links can be put into."""

    def href(self, text: SourceText, target: str) -> str:
        """Return how a text writes a link to a page, given by its URL."""

    def leads_to(self, text: SourceText, href: str) -> str | None:
        """Return the key of the page that a link in a text leads to; None if that can't be known."""

    def held(self, text: SourceText, new: str) -> Left | None:
        """Return why a text must not be replaced by a new one; None if it may."""


def compared(content: bytes, write: PageWrite) -> TextState:
    """Return how a content is, compared with a write of its text."""
    found = content_hash(content)
    if found == write.hash_after:
        return TextState.AFTER
    return TextState.BEFORE if found == write.hash_before else TextState.OTHER
