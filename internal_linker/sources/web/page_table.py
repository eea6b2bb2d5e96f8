"""Tables of pages and of their links; reading the first fills the second."""

import csv
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from internal_linker.model.errors import OutputError
from internal_linker.model.ports import StreamSource
from internal_linker.model.records import ReadReport, TableStream
from internal_linker.sources.crawler_vocabulary import HYPERLINK, NOT_INDEXABLE
from internal_linker.sources.sites import SitePost
from internal_linker.sources.tables.columns import Kind
from internal_linker.sources.web.html_page import HtmlLink, WebPage, read_fragment

_PAGE = (
    *(Kind.URL, Kind.TITLE, Kind.H1, Kind.CONTENT, Kind.LANG, Kind.INDEXABILITY, Kind.STATUS, Kind.CANONICAL),
    *(Kind.REDIRECT, Kind.CONTENT_TYPE),
)
_LINK = (Kind.SOURCE, Kind.DESTINATION, Kind.ANCHOR, Kind.LINK_POSITION, Kind.LINK_TYPE, Kind.REL)
# Bytes of links to keep in memory; more links go to a temporary file until all pages were read.
_IN_MEMORY = 20_000_000
# Maximum characters of a target: longer ones embed an image or other data.
_LONGEST_TARGET = 10_000
_UNRECOGNISED = "Pages whose main text was not recognised: everything except menus is used"
_EMPTY = "Pages without text (scripts may generate it)"

Row = tuple[int, Sequence[str]]


class LinkSpool:
    """Stores the links of pages in order; a context manager that deletes its temporary file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed by __exit__
            _IN_MEMORY, "w+", encoding="utf-8", errors="replace", newline="", dir=str(folder)
        )
        self._writer = csv.writer(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Closing may flush links that are no longer needed, so a full disk is not an error here.
        with suppress(OSError):
            self._file.close()

    def put(self, source: str, links: Sequence[HtmlLink]) -> None:
        """Store a page's links.

        Raises:
            OutputError: the disk is full or the folder is read-only.
        """
        with self._usable():
            self._writer.writerows(
                (source, link.target[:_LONGEST_TARGET], link.anchor, link.position, HYPERLINK, link.rel)
                for link in links
            )

    def rows(self) -> Iterator[Row]:
        """Yield all links, numbered from 1.

        Raises:
            OutputError: the file can't be read.
        """
        with self._usable():
            self._file.seek(0)
            yield from enumerate(csv.reader(self._file), 1)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"The temporary file for the pages' links in {self._folder} can't be used "
                f"({error.strerror or error}). Free some disk space or correct the folder's permissions, and run again."
            ) from error


class PageTable:
    """Implements `ports.StreamSource` for at most `size` pages.

    Args:
        rows: reads the pages: yields cells as of `cells_of_page`, then `more`, and puts links and rejects into its
            arguments.
        asides: rejects and counts from before the first row.
        more: columns beyond those of any page.
    """

    def __init__(
        self,
        name: str,
        size: int,
        rows: Callable[[LinkSpool, ReadReport], Iterator[Row]],
        links: LinkSpool,
        asides: ReadReport | None = None,
        *,
        more: Sequence[Kind] = (),
    ) -> None:
        self.name, self._size, self._rows, self._links = name, size, rows, links
        self._asides = asides or ReadReport()
        self._more = more
        self.remarks: tuple[str, ...] = ()

    def stream(self) -> TableStream:
        """Return the header and an iterator that reads the pages."""
        rows = self._rows(self._links, self._asides)
        header = tuple(map(str, (*_PAGE, *self._more)))
        return TableStream(self.name, header, rows, self._asides, made=True, size=self._size)


class LinkTable:
    """Implements `ports.StreamSource` for the links of a `PageTable`; read that table first."""

    def __init__(self, name: str, links: LinkSpool) -> None:
        self.name, self._links = name, links
        self.remarks: tuple[str, ...] = ()

    def stream(self) -> TableStream:
        """Return the header and an iterator over the links, which are complete once all pages were read."""
        return TableStream(self.name, tuple(map(str, _LINK)), self._links.rows(), made=True)


def cells_of_page(page: WebPage, asides: ReadReport, status: str = "") -> Sequence[str]:
    """Return the row of a page, and count a page without a recognised text."""
    if page.whole:
        asides.facts[_UNRECOGNISED if page.content else _EMPTY] += 1
    return (
        *(page.url, page.title, page.h1, page.content, page.lang, page.indexability, status, page.canonical),
        *("", "text/html"),
    )


def post_tables(
    name: str,
    posts: Callable[[ReadReport], Iterable[tuple[int, SitePost]]],
    links: LinkSpool,
    asides: ReadReport,
    *,
    size: int,
) -> list[StreamSource]:
    """Return the table of the posts of a site, given with their numbers, and that of the links in them.

    Args:
        name: the tables' name in rejects.
        posts: reads the posts, and notes what else there is.
        links: gets the posts' links.
        asides: rejects and counts from before the first post.
        size: maximum count of posts.
    """

    def rows(links: LinkSpool, asides: ReadReport) -> Iterator[Row]:
        for number, post in posts(asides):
            content, found = read_fragment(post.html, post.url)
            links.put(post.url, found)
            page = WebPage(
                url=post.url,
                title=post.title,
                h1=post.title,  # themes show the title as the first heading
                content=content,
                whole=not content,
                lang=post.lang,
                indexability="Indexable" if post.indexable else NOT_INDEXABLE,
                canonical=post.canonical,
                links=found,
            )
            yield number, (*cells_of_page(page, asides, "200"), ", ".join(post.categories))

    pages = PageTable(name, size, rows, links, asides, more=(Kind.CATEGORIES,))
    return [pages, LinkTable(name, links)]


def cells_of_answer(url: str, status: int, redirect: str = "") -> Sequence[str]:
    """Return the row of a URL whose answer is not a page."""
    return url, "", "", "", "", NOT_INDEXABLE, str(status), "", redirect, "text/html"
