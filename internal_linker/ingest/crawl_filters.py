"""Filters of an import: which pages it takes, with their roles, and how many it leaves out and why."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from internal_linker.adapters.tables.columns import Kind
from internal_linker.core.records import SOURCE, TARGET, role_of
from internal_linker.core.sections import SectionFilter
from internal_linker.core.urls import other_page
from internal_linker.ingest.crawl import AT, Row, bad_status, cell
from internal_linker.ingest.crawler_vocabulary import NOT_INDEXABLE
from internal_linker.text.html import is_html, read_html

# /blog/page/2, /seite-3, ?page=2; not ?p=2, which is an article's id in WordPress.
_PAGINATION = re.compile(
    r"/(page|seite|pagina|página)[/-]?\d+(?=[/?]|$)|[?&](page|paged|pg|seite|pagina)=\d+", re.IGNORECASE
)
_NEITHER = "neither source nor target"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which pages to leave out; missing information about a page is never a reason.

    Attributes:
        no_pagination: leave out further pages of lists.
        no_parameters: leave out URLs with parameters.
        only_indexable: leave out pages that are not indexable.
        only_200: leave out pages with another status than 200.
        no_canonicalised: leave out pages with another page as canonical.
        no_duplicates: take only the first of pages with the same text.
        pages: the sections to take.
        sources: the sections that need links.
        targets: the sections that links may lead to.
        noted: takes note of the key of each page that a filter sees, to find sections without a page.
        min_words: minimum of words of the content, or of the crawler's count if the content is missing.
        limit: maximum of pages to take; 0: all.
    """

    no_pagination: bool = False
    no_parameters: bool = False
    only_indexable: bool = False
    only_200: bool = False
    no_canonicalised: bool = False
    no_duplicates: bool = False
    pages: SectionFilter = field(default_factory=SectionFilter)
    sources: SectionFilter = field(default_factory=SectionFilter)
    targets: SectionFilter = field(default_factory=SectionFilter)
    noted: Callable[[str], None] = lambda _: None
    min_words: int = 0
    limit: int = 0

    @property
    def give_roles(self) -> bool:
        """Whether the filters give pages the role of a source or a target."""
        return bool(self.sources or self.targets)


def page_rows(
    pages: Mapping[str, Row], filters: Filters, of: Callable[[str], str] = str
) -> tuple[dict[str, Row], Counter[str]]:
    """Return the pages to take, by key, and the count of pages left out, by reason.

    If `filters.give_roles`, the pages have their roles.

    Args:
        pages: the pages by key.
        filters: which pages to leave out.
        of: returns the form in which the site writes a normal form.
    """
    kept, left_out, texts = dict[str, Row](), Counter[str](), set[bytes]()
    for key, row in pages.items():
        filters.noted(key)
        role = _role(key, cell(row, Kind.ROLE), filters)
        reason = _reason(key, row, filters, of) or (_NEITHER if role is None else "")
        if not reason and filters.no_duplicates and (digest := _digest(row)):
            reason = "the same text as an earlier page" if digest in texts else ""
            texts.add(digest)
        if not reason and filters.limit and len(kept) >= filters.limit:
            reason = "beyond --limit"
        if reason:
            left_out[reason] += 1
            continue
        kept[key] = [*row]
        if filters.give_roles:
            kept[key][AT[Kind.ROLE]] = role or ""
    return kept, left_out


def address_reason(key: str, filters: Filters) -> str:
    """Return why the filters leave out a page by its URL, a normal form; "" if they don't."""
    filters.noted(key)
    if filters.no_pagination and _PAGINATION.search(key):
        return "pagination"
    if filters.no_parameters and "?" in key:
        return "URL with parameters"
    if filters.pages.include and not filters.pages.include.hold(key):
        return "not in --include"
    if filters.pages.exclude.hold(key):
        return "in --exclude"
    return "" if filters.sources.hold(key) or filters.targets.hold(key) else _NEITHER


def _reason(key: str, row: Row, filters: Filters, of: Callable[[str], str]) -> str:
    """Return why the filters leave out a page; "" if they don't."""
    if filters.only_200 and bad_status(row):
        return "status is not 200"
    if filters.no_canonicalised and other_page(key, cell(row, Kind.URL), cell(row, Kind.CANONICAL), of):
        return "canonicalised to another page"
    if filters.only_indexable and cell(row, Kind.INDEXABILITY) == NOT_INDEXABLE:
        return "not indexable"
    if reason := address_reason(key, filters):
        return reason
    return (
        f"fewer than {filters.min_words} words"
        if filters.min_words and _length(row) < filters.min_words
        else ""
    )


def _role(key: str, written: str, filters: Filters) -> str | None:
    """Return a page's role by its table and the filters, "" for both; None: neither source nor target."""
    try:
        own = role_of(written)
    except ValueError:  # a run reports an unknown role
        own = ""
    source = own != TARGET and filters.sources.hold(key)
    target = own != SOURCE and filters.targets.hold(key)
    if source and target:
        return ""
    return SOURCE if source else TARGET if target else None


def _text(row: Row) -> str:
    content = cell(row, Kind.CONTENT)
    return read_html(content).text if is_html(content) else content


def _length(row: Row) -> float:
    """Return the page's count of words; infinity if unknown."""
    if row[AT[Kind.CONTENT]]:
        return len(_text(row).split())
    digits = re.sub(r"[\s.,']", "", cell(row, Kind.WORDS))
    return int(digits) if re.fullmatch(r"[0-9]{1,9}", digits) else float("inf")


def _digest(row: Row) -> bytes:
    """Return a hash of the page's words, equal for pages with the same words; empty if it has none."""
    words = " ".join(_text(row).split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest() if words else b""
