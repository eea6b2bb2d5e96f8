"""The records of applying links: what became of each accepted link, and of a whole application."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from internal_linker.cms.page_links import Held
from internal_linker.cms.placement import Refusal
from internal_linker.core.results import Columns, Result, columns_of


class Outcome(StrEnum):
    """What became of an accepted link; the value is what people read."""

    PLANNED = "would be applied"
    APPLIED = "applied"
    IN_PATCH = "in the patch"
    IN_BRANCH = "in the branch"
    IN_BOX = "in the file of related links"
    FOR_BOX = "for a related box"
    IN_PLACE = "in the text already"
    HELD_BACK = "held back"
    REFUSED = "refused"


class Left(StrEnum):
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
GAPS = frozenset(Left) - {Left.NO_FILE, Left.UNSURE, Left.NO_POST, Left.BUILDER, Left.HELD_BACK}


class Kept(StrEnum):
    """Why a text was not taken back; the value is the sentence that people read."""

    CHANGED = "it changed since links were applied: remove the links by hand"
    GONE = "the file is gone"
    NO_FOLDER = "the folder is gone: say where it is with --files"
    OUTSIDE = "its path leads out of the folder"
    UNWRITABLE = "the file can't be written: check its permissions"
    DAMAGED = "its former text is damaged in the store: restore it with cache verify --repair"
    POST_GONE = "the post is gone"
    OTHER_SITE = "config/wordpress.txt has no account for its site"
    CLOSED = "the user in config/wordpress.txt may not edit the post"
    ALTERED = "the site changed the former content while saving it"
    NOT_SAVED = "the site did not save the post: see the message"
    STOPPED = "the site stopped answering, or refused the password: run undo again"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedLink:
    """An accepted link, and what became of it.

    Attributes:
        link_id: its id.
        page, target: URLs.
        anchor: its text.
        tier: as in links.csv.
        file: the page's source file, or the route of its post, such as wp/v2/posts/12; "" if there is none.
        line: the line of the changed text on which it begins, from 1; 0 if it was not put into it.
        outcome: what became of it.
        reason: why it was refused; None if it wasn't.
        until: the day until which it is held back; "" if it isn't.
    """

    link_id: str
    page: str
    target: str
    anchor: str
    tier: str
    file: str = ""
    line: int = 0
    outcome: Outcome = Outcome.REFUSED
    reason: Refusal | Held | Left | None = None
    until: str = ""

    @property
    def result(self) -> str:
        """The outcome, with the reason of a refusal."""
        if self.outcome is Outcome.HELD_BACK:
            return f"{self.outcome} until {self.until} {self.reason}"
        return f"{self.outcome}: {self.reason}" if self.reason else str(self.outcome)


@dataclass(frozen=True, repr=False)
class ApplyResult(Result):
    """What was done with accepted links, or would be.

    Attributes:
        links: each accepted link that the options take, page by page.
        diff: the changes as a unified diff.
        mapping: how many pages have a source file or a post, in a sentence.
        unsure: pages of which several files may be the source, with the reason; only while this is new.
        application: the id by which `undo` takes the changes back; "" if nothing was written.
        files: how many files or posts have new links, or would have.
        remarks: what was unusual, one sentence each.
        gaps: what should have been done and was not, one sentence each.
        noun: what a text is called: "file" or "post".
    """

    links: Sequence[AppliedLink]
    diff: str
    mapping: str
    unsure: Sequence[tuple[str, str]] = ()
    application: str = ""
    files: int = 0
    remarks: Sequence[str] = ()
    gaps: Sequence[str] = ()
    noun: str = "file"

    @property
    def counts(self) -> Mapping[str, int]:
        """How many links have each result, the most frequent first."""
        return dict(Counter(link.result for link in self.links).most_common())

    def tables(self) -> dict[str, Columns]:
        """Return `links` and `counts`."""
        counts, names = self.counts, [*AppliedLink.__dataclass_fields__]
        columns = columns_of(self.links, *names, "result")
        columns |= {name: [str(value or "") for value in columns[name]] for name in ("outcome", "reason")}
        return {"links": columns, "counts": {"result": [*counts], "links": [*counts.values()]}}
