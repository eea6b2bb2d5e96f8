"""A page as its server gave it, and the small protocol of what keeps such pages from one import to the next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """An answer with a page.

    Attributes:
        url: what was asked for.
        headers: those that are looked at later, their names in lower case.
        body: the page's bytes.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes


class PageCache(Protocol):
    """Pages by their URL."""

    def get(self, url: str) -> FetchedPage | None:
        """The page as it was fetched last, if it is there and sound."""

    def put(self, page: FetchedPage) -> None:
        """Keep a page in the place of what was fetched before, durable when this returns."""
