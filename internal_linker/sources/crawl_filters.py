"""Filters of an import: which pages it takes, with their roles, and how many it leaves out and why."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from internal_linker.model.records import SOURCE, TARGET, role_of
from internal_linker.model.sections import SectionFilter
from internal_linker.model.urls import other_page
from internal_linker.sources.crawl import AT, Row, bad_status, cell
from internal_linker.sources.crawler_vocabulary import NOT_INDEXABLE
from internal_linker.sources.tables.columns import Kind
from internal_linker.text.html import is_html, read_html

# /blog/page/2, /seite-3, ?page=2; not ?p=2, which is an article's id in WordPress.
_PAGINATION = re.compile(
    r"/(page|seite|pagina|página)[/-]?\d+(?=[/?]|$)|[?&](page|paged|pg|seite|pagina)=\d+", re.IGNORECASE
)
_NEITHER = "neither source nor target"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which pages to leave out; missing information about a page is never a reason."""

    no_pagination: bool = False  # leave out further pages of lists
    no_parameters: bool = False  # leave out URLs with parameters
    only_indexable: bool = False  # leave out pages that are not indexable
    only_200: bool = False  # leave out pages with another status than 200
    no_canonicalised: bool = False  # leave out pages with another page as canonical
    no_duplicates: bool = False  # take only the first of pages with the same text
    pages: SectionFilter = field(default_factory=SectionFilter)  # the sections to take
    sources: SectionFilter = field(default_factory=SectionFilter)  # the sections that need links
    targets: SectionFilter = field(default_factory=SectionFilter)  # the sections that links may lead to
    # Takes note of the key of each page that a filter sees, to find sections without a page
    noted: Callable[[str], None] = lambda _: None
    min_words: int = 0  # minimum of words of the content, or of the crawler's count if the content is missing
    limit: int = 0  # maximum of pages to take; 0: all

    @property
    def give_roles(self) -> bool:
        """Whether the filters give pages the role of a source or a target."""
        return bool(self.sources or self.targets)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the filters need to know of a page, beside its text."""

    key: str  # the page's key
    role: str = ""  # the role that its table gives it
    bad_status: bool = False  # whether it has another status than 200
    canonicalised: bool = False  # whether its canonical is another page
    not_indexable: bool = False  # whether it is not indexable


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What the filters need to know of a page's text."""

    words: float  # its count of words; infinity if unknown
    digest: bytes  # a hash of its words, equal for pages with the same words; empty if it has none


class PageFilter:
    """Decides page by page, in the order of the tables, which pages an import takes."""

    def __init__(self, filters: Filters) -> None:
        self._filters = filters
        self._texts = set[bytes]()
        self._kept = 0

    def reason(self, page: PageFacts, text: Callable[[], TextFacts]) -> str:
        """Return why the filters leave out the next page; "" if they take it.

        `text` is called only if a filter needs what the page's text decides.
        """
        filters = self._filters
        filters.noted(page.key)
        reason = self._of_page(page, text) or ("" if self.role(page) is not None else _NEITHER)
        if not reason and filters.no_duplicates and (digest := text().digest):
            reason = "the same text as an earlier page" if digest in self._texts else ""
            self._texts.add(digest)
        if not reason and filters.limit and self._kept >= filters.limit:
            reason = "beyond --limit"
        self._kept += not reason
        return reason

    def role(self, page: PageFacts) -> str | None:
        """Return a page's role by its table and the filters, "" for both; None: neither source nor target."""
        try:
            own = role_of(page.role)
        except ValueError:  # a run reports an unknown role
            own = ""
        source = own != TARGET and self._filters.sources.hold(page.key)
        target = own != SOURCE and self._filters.targets.hold(page.key)
        if source and target:
            return ""
        return SOURCE if source else TARGET if target else None

    def _of_page(self, page: PageFacts, text: Callable[[], TextFacts]) -> str:
        filters = self._filters
        if filters.only_200 and page.bad_status:
            return "status is not 200"
        if filters.no_canonicalised and page.canonicalised:
            return "canonicalised to another page"
        if filters.only_indexable and page.not_indexable:
            return "not indexable"
        if reason := address_reason(page.key, filters):
            return reason
        short = filters.min_words and text().words < filters.min_words
        return f"fewer than {filters.min_words} words" if short else ""


def page_rows(
    pages: Mapping[str, Row], filters: Filters, of: Callable[[str], str] = str
) -> tuple[dict[str, Row], Counter[str]]:
    """Return the pages to take, by key, with roles if `filters.give_roles`, and the count of others, by reason.

    `of` returns the form in which the site writes a normal form.
    """
    kept, left_out, chosen = dict[str, Row](), Counter[str](), PageFilter(filters)
    for key, row in pages.items():
        page = page_facts(key, row, of)
        if reason := chosen.reason(page, partial(text_facts, row)):
            left_out[reason] += 1
            continue
        kept[key] = [*row]
        if filters.give_roles:
            kept[key][AT[Kind.ROLE]] = chosen.role(page) or ""
    return kept, left_out


def page_facts(key: str, row: Row, of: Callable[[str], str] = str) -> PageFacts:
    """Return what the filters need to know of a page, beside its text; `of` as in `page_rows`."""
    return PageFacts(
        key,
        cell(row, Kind.ROLE),
        bad_status(row),
        bool(other_page(key, cell(row, Kind.URL), cell(row, Kind.CANONICAL), of)),
        cell(row, Kind.INDEXABILITY) == NOT_INDEXABLE,
    )


def text_facts(row: Row) -> TextFacts:
    """Return what the filters need to know of a page's text."""
    words = _text(row).split()
    digest = hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).digest() if words else b""
    return TextFacts(len(words) if row[AT[Kind.CONTENT]] else _counted_words(row), digest)


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


def _text(row: Row) -> str:
    content = cell(row, Kind.CONTENT)
    return read_html(content).text if is_html(content) else content


def _counted_words(row: Row) -> float:
    digits = re.sub(r"[\s.,']", "", cell(row, Kind.WORDS))
    return int(digits) if re.fullmatch(r"[0-9]{1,9}", digits) else float("inf")
