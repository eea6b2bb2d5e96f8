"""The records of links that were written into a site: one record a written text, with what takes it back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Literal

# "begun": stored before the text was written; whether it was, the text tells.
WriteStatus = Literal["begun", "applied", "undone"]
# What became of a link that editors accepted, beyond its status in the link graph.
LinkState = Literal["applied", "live", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWrite:
    """A text that was written with links in it; the store keeps the former text beside it."""

    application: str  # the id of the `apply` that wrote it
    number: int = 0  # its place among the writes of the site, from 1; 0: it is not stored yet
    page: str  # the key of the page that the text belongs to
    page_url: str  # the page's URL as the user writes it
    home: str  # where the text is: the folder of source files, or the address of a content management system
    place: str  # the text in it: a path below the folder with `/` between folders, or a post's id
    links: Sequence[str]  # the ids of the links that were put into it
    # hash_before, hash_after: `content_hash` of the text before and after
    hash_before: str
    hash_after: str
    by: str  # who wrote it
    at: datetime  # when
    status: WriteStatus = "begun"  # what became of it


def content_hash(content: bytes) -> str:
    """Return 32 hex digits that tell whether a text is still the same, byte by byte."""
    return blake2b(content, digest_size=16).hexdigest()


def link_states(writes: Iterable[PageWrite], live: Iterable[str]) -> Mapping[str, LinkState]:
    """Return the state of each link that was ever written, by its id.

    The writes are sorted, the oldest first; `live` has the ids of the links that a run found on the site.
    """
    states: dict[str, LinkState] = {}
    for write in writes:
        if write.status != "begun":
            # The latest counts: a link that was undone may have been applied again.
            states.update(dict.fromkeys(write.links, write.status))
    return states | dict.fromkeys(states.keys() & set(live), "live")
