"""What is asked of a text, one more link, and the two answers: the new text, or why it stays as it is."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

TextFormat = Literal["markdown", "mdx", "html"]


@dataclass(frozen=True)
class Placement:
    """An accepted link on its way into a text."""

    target: str  # the target's full URL
    # How the text writes the link to the target: a URL, a path, or a template such as `{{< ref "a.md" >}}`
    href: str
    anchor: str  # the accepted anchor, as readers see it
    sentence: str  # the sentence in which the anchor was accepted, as readers see it; empty if none is known
    leads_to_target: Callable[[str], bool]  # whether an `href` of the same text leads to the target


class Refusal(StrEnum):
    """Why a text stays as it is; the value is the sentence that people read."""

    LINKED = "the page already links to the target"
    NO_ANCHOR = "the anchor is not in the text"
    NOT_BODY = "the anchor is only in links, headings, code, captions or templates"
    NO_OWN_TEXT = "the link has no anchor in the text"
    UNSAFE = "the result could not be verified, so nothing was changed"
    UNREADABLE = "the text could not be read as its format"


@dataclass(frozen=True)
class Inserted:
    """A text with one more link."""

    text: str  # the new text
    start: int  # the first character of the link's markup in the new text
    end: int  # the character after it
    # Whether the anchor stands in the accepted sentence; otherwise it stands elsewhere in the text
    in_sentence: bool


@dataclass(frozen=True)
class Refused:
    """A text that stays as it is."""

    reason: Refusal
