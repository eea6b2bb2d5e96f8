"""Where the texts of a site's pages are, a folder or a content management system, as `apply` and `undo` see it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Protocol

from internal_linker.model.applied_links import PageWrite, content_hash
from internal_linker.model.source_files import StoredSource
from internal_linker.model.urls import keys_meant, normal_form


class SkipReason(StrEnum):
    """Why a link was not put into a text, apart from the text itself; the value is the sentence that people read."""

    NO_FILE = "the page has no source file"
    UNSURE = "several source files may be the page: name one in files/source_pages.csv"
    DIRTY = "the file has changes that are in no git commit: commit them first"
    CHANGED = "the text changed while links were applied: run the command again"
    UNWRITABLE = "the file can't be written: check its permissions"
    NO_POST = "the page is no published post of the site"
    BUILDER = "the post was made with a page builder: insert the link there"
    CLOSED = "the user in config/wordpress.txt may not edit the post"
    FILTERED = "WordPress would remove HTML from the post: use the password of an editor or administrator"
    ALTERED = "the site changed the content while saving it, so the post has its former content again"
    STAYS_ALTERED = "the site changed the content while saving it: look at the post"
    NOT_SAVED = "the site did not save the post: see the message"
    UNKNOWN = "the site stopped answering, so nobody knows whether it saved the post: run the command again"
    STOPPED = "the site stopped answering, or refused the password: run the command again"
    LATER = "as many posts as --max-writes allows come first: run the command again"
    HELD_BACK = "for the experiment"


# What a person can do something about, so that a command that was to write all ends with a gap.
GAPS = frozenset(SkipReason) - {
    SkipReason.NO_FILE,
    SkipReason.UNSURE,
    SkipReason.NO_POST,
    SkipReason.BUILDER,
    SkipReason.HELD_BACK,
}


class UndoSkipReason(StrEnum):
    """Why a text was not taken back; the value is the sentence that people read."""

    CHANGED = "it changed since links were applied: remove the links by hand"
    GONE = "the file is gone"
    NO_FOLDER = "the folder is gone: say where it is with --files"
    OUTSIDE = "its path leads out of the folder"
    UNWRITABLE = "the file can't be written: check its permissions"
    DAMAGED = "its former text is damaged in the store: put back a backup with store restore"
    POST_GONE = "the post is gone"
    OTHER_SITE = "config/wordpress.txt has no account for its site"
    CLOSED = "the user in config/wordpress.txt may not edit the post"
    ALTERED = "the site changed the former content while saving it"
    NOT_SAVED = "the site did not save the post: see the message"
    STOPPED = "the site stopped answering, or refused the password: run undo again"


class TextState(Enum):
    """How a text is now, compared with a write of it."""

    BEFORE = "as it was before the write"
    AFTER = "as the write left it"
    OTHER = "changed since"
    GONE = "gone"
    UNKNOWN = "can't be read"


@dataclass(frozen=True, slots=True)
class WriteFailure:
    """Why a text was not written."""

    reason: SkipReason
    problem: str = ""  # what a person should know besides, a sentence
    is_doubtful: bool = False  # the text may have changed all the same, so its former content must be kept


class PublishTarget(Protocol):
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

    def write(self, text: StoredSource, new: str) -> WriteFailure | None:
        """Replace a text that is still as it was read; return why it was not replaced, None if it was."""

    def restore(self, write: PageWrite, former: bytes) -> UndoSkipReason | None:
        """Replace a text that is still as a write left it by its former content; return why not, None if it was."""


class SourceTexts(Protocol):
    """The texts of a site's pages, as they were read from their home."""

    @property
    def home(self) -> PublishTarget:
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

    def find(self, url: str) -> StoredSource | SkipReason:
        """Return the text of a page, or why it has none that links can be put into."""

    def href(self, text: StoredSource, target: str) -> str:
        """Return how a text writes a link to a page, given by its URL."""

    def leads_to(self, text: StoredSource, href: str) -> str | None:
        """Return the key of the page that a link in a text leads to; None if that can't be known."""

    def held(self, text: StoredSource, new: str) -> SkipReason | None:
        """Return why a text must not be replaced by a new one; None if it may."""


def compared(content: bytes, write: PageWrite) -> TextState:
    """Return how a content is, compared with a write of its text."""
    found = content_hash(content)
    if found == write.hash_after:
        return TextState.AFTER
    return TextState.BEFORE if found == write.hash_before else TextState.OTHER


def pages_meant(
    address: str, known: Collection[str], key_of: Callable[[str], str] = normal_form
) -> list[str]:
    """Return the keys of known pages that an address stands for: a URL, one without https://, or a path."""
    with suppress(ValueError):
        return [key for key in keys_meant(address, known, key_of) if key in known]
    return []
