"""The records of the link graph: proposed links as edges with a memory, and what editors say of them."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["proposed", "accepted", "rejected", "edited", "live", "withdrawn"]
Tier = Literal["inline", "sidebar", "review"]
EdgeKind = Literal["contextual", "recommendation", "duplicate", "canonical", "taxonomy"]

# What editors may say; the other statuses are the tool's own.
VERDICTS: tuple[Status, ...] = ("accepted", "rejected", "edited")


@dataclass(frozen=True, slots=True)
class Anchor:
    """Text for a link, and where it stands.

    Attributes:
        text: the anchor.
        sentence: the sentence that it stands in, or the paragraph in which the link fits best; "" for none.
        start: its first character's place in the page's plain main content, from 0; of an anchor that is
            not `verbatim`, the paragraph's.
        verbatim: it stands in the page as it is; otherwise it is made from the target's title.
    """

    text: str
    sentence: str = ""
    start: int = 0
    verbatim: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an editor wrote beside a link, as it was found.

    Attributes:
        id: the link's.
        status: one of the statuses; "" where the cell is empty or holds something else.
        anchor: the cell's text.
        notes: the cell's text.
        by: who said so, as far as the place tells: "Review tab", "review.xlsx", a name.
    """

    id: str
    status: Status | Literal[""]
    anchor: str = ""
    notes: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A proposed link as an editor sees it.

    `score` is 0 to 1, NaN where there is none; `source` and `target` are the user's own URLs (or the query).
    """

    id: str
    status: Status
    anchor: str
    sentence: str
    source: str
    target: str
    score: float
    tier: Tier
    why: str
    notes: str = ""
