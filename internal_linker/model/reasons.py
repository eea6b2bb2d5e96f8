"""Reasons: an enum member that programs compare and count, with the message that people read."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Self, TypeVar


class MessageEnum(Enum):
    """An enum whose members are defined by their messages; a reason's detail replaces `{}` in a message."""

    _value_: int
    message: str

    def __new__(cls, message: str) -> Self:
        """Create a member with a number as its value, since two members may have the same message."""
        member = object.__new__(cls)
        member._value_ = len(cls.__members__)
        member.message = message
        return member


Kind_co = TypeVar("Kind_co", bound=MessageEnum, covariant=True)


@dataclass(frozen=True, slots=True)
class Reason(Generic[Kind_co]):
    """A member of an enum of reasons, with the detail for its message; `str()` returns the message."""

    kind: Kind_co
    detail: str = ""

    def __str__(self) -> str:
        return self.kind.message.format(self.detail)

    def __lt__(self, other: "Reason[Any]") -> bool:
        return str(self) < str(other)


class NoTarget(MessageEnum):
    """Why no link may lead to a page, from any source or from one."""

    ERROR_STATUS = "status {}"
    REDIRECT_STATUS = "status {}"
    REDIRECT = "redirects to another page"
    BAD_REDIRECT = "its redirect is not a URL"
    CANONICALISED = "canonicalised to another page"
    BAD_CANONICAL = "its canonical is not a URL"
    NOINDEX = "not indexable"
    SOURCE_ONLY = "its Role is source"
    EXCLUDED = "excluded by {}"
    OTHER_SECTION = "outside the sections that links may lead to"
    OTHER_LANGUAGE = "in {0}: only for pages in {0}"
    ALREADY_LINKED = "already linked"
    REJECTED = "rejected by an editor"


# Reasons that apply to pages which exist and have content of their own.
VISITED = frozenset({NoTarget.NOINDEX, NoTarget.SOURCE_ONLY})


class NoSource(MessageEnum):
    """Why a page gets no links, besides the reasons why no link may lead to it."""

    TARGET_ONLY = "its Role is target"
    OTHER_SECTION = "outside the sections whose pages get links"


class FewLinks(MessageEnum):
    """Why a page or query has fewer links than wanted."""

    NO_SOURCE = "the page gets none ({})"
    WAITING = "{} waiting for approval"
    TOO_WEAK = "{} weaker than min_strength"
    NOTHING_KNOWN = "neither content nor a main query is known"
    NO_CONTENT = "the page has no content"
    TARGETS_FULL = "the other possible targets get all the links that they may get in a run"
    REST_LINKED = "all other possible targets are already linked"
    NO_TARGET = "no other page is a possible target"


class Cause(MessageEnum):
    """Why a link doesn't have the same rank in two runs."""

    NEW_ROW = "a new row"
    ROW_GONE = "the row is no longer in the input"
    ACCEPTED = "accepted by an editor"
    REJECTED = NoTarget.REJECTED.message
    LINKED_NOW = "the page links there now"
    NEW_TARGET = "the target is a new page"
    TARGET_GONE = "the target is no longer in the input"
    MODEL_CHANGED = "the model changed to {}"
    TEXT_CHANGED = "the page's text changed"
    TARGET_CHANGED = "the target's text changed"
    SEARCH_CHANGED = "the search results changed"
    IN_LINKS = "its target lost another page's link"
    OTHER_RANKING = "the ranking of other links changed"
