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
    IN_PLACE = "in the text already"
    HELD_BACK = "held back"
    REFUSED = "refused"


class Left(StrEnum):
    """Why a link was not put into a text, apart from the text itself; the value is the sentence that people read."""

    NO_FILE = "the page has no source file"
    UNSURE = "several source files may be the page: name one in files/source_pages.csv"
    DIRTY = "the file has changes that are in no git commit: commit them first"
    CHANGED = "the file changed while links were applied: run the command again"
    UNWRITABLE = "the file can't be written: check its permissions"
    HELD_BACK = "for the experiment"
    FOR_BOX = "it is for a related box: write these links with --links-json"


# What a person can do something about, so that a command that was to write all ends with a gap.
GAPS = frozenset({Left.DIRTY, Left.CHANGED, Left.UNWRITABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedLink:
    """An accepted link, and what became of it.

    Attributes:
        link_id: its id.
        page, target: URLs.
        anchor: its text.
        tier: as in links.csv.
        file: the page's source file, "" if there is none.
        line: the line of the changed file on which it begins, from 1; 0 if it was not put into it.
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
        mapping: how many pages have a source file, in a sentence.
        unsure: pages of which several files may be the source, with the reason; only while this is new.
        application: the id by which `undo` takes the changes back; "" if no file was written.
        files: how many files have new links, or would have.
        remarks: what was unusual, one sentence each.
        gaps: what should have been done and was not, one sentence each.
    """

    links: Sequence[AppliedLink]
    diff: str
    mapping: str
    unsure: Sequence[tuple[str, str]] = ()
    application: str = ""
    files: int = 0
    remarks: Sequence[str] = ()
    gaps: Sequence[str] = ()

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
