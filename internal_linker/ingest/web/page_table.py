"""Pages as they are read -> the table of pages and, once that was gone through, the table of their links."""

import csv
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from internal_linker.adapters.tables.columns import Kind
from internal_linker.core.errors import OutputError
from internal_linker.core.records import Asides, TableStream
from internal_linker.ingest.crawler_vocabulary import HYPERLINK, NOT_INDEXABLE
from internal_linker.ingest.web.html_page import PageLink, WebPage

_PAGE = (
    *(Kind.URL, Kind.TITLE, Kind.H1, Kind.CONTENT, Kind.LANG, Kind.INDEXABILITY, Kind.STATUS, Kind.CANONICAL),
    *(Kind.REDIRECT, Kind.CONTENT_TYPE),
)
_LINK = (Kind.SOURCE, Kind.DESTINATION, Kind.ANCHOR, Kind.LINK_POSITION, Kind.LINK_TYPE)
# Bytes of links that stay in memory; the rest lies in a temporary file until all pages were read.
_IN_MEMORY = 20_000_000
# Characters: what is longer is a picture or the like in the address itself.
_LONGEST_TARGET = 10_000
_UNRECOGNISED = "Pages whose main text was not recognised: all but menus is taken"
_EMPTY = "Pages without a text (scripts may write theirs)"

Row = tuple[int, Sequence[str]]


class LinkSpool:
    """The links of pages that were read, in their order; nothing of them is left when its block ends.

    Args:
        folder: where the temporary file is made, once one is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed by __exit__
            _IN_MEMORY, "w+", encoding="utf-8", errors="replace", newline="", dir=str(folder)
        )
        self._writer = csv.writer(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # What is still to be written is not needed any more: a full disk is no error now.
        with suppress(OSError):
            self._file.close()

    def put(self, source: str, links: Sequence[PageLink]) -> None:
        """Keep a page's links.

        Raises:
            OutputError: the disk is full, or the folder read-only.
        """
        with self._usable():
            self._writer.writerows(
                (source, link.target[:_LONGEST_TARGET], link.anchor, link.position, HYPERLINK)
                for link in links
            )

    def rows(self) -> Iterator[Row]:
        """All of them, numbered from 1.

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
                f"The pages' links take a temporary file in {self._folder}, and it can't be used "
                f"({error.strerror or error}). Free some disk space or mend the folder's rights, and run again."
            ) from error


class PageTable:
    """A StreamSource of pages.

    Args:
        name: what rejects call it.
        size: how many rows there are at the most.
        rows: reads the pages: cells as of `cells_of_page`, their links into the spool, and what is no row.
        links: where the links go.
        asides: what is known before the first row.
    """

    def __init__(
        self,
        name: str,
        size: int,
        rows: Callable[[LinkSpool, Asides], Iterator[Row]],
        links: LinkSpool,
        asides: Asides | None = None,
    ) -> None:
        self.name, self._size, self._rows, self._links = name, size, rows, links
        self._asides = asides or Asides()
        self.remarks: tuple[str, ...] = ()

    def stream(self) -> TableStream:
        """The header and, while they are gone through, the rows."""
        rows = self._rows(self._links, self._asides)
        return TableStream(self.name, tuple(map(str, _PAGE)), rows, self._asides, made=True, size=self._size)


class LinkTable:
    """A StreamSource of the links of a `PageTable`; its rows come after those.

    Args:
        name: what rejects call it.
        links: where the links are.
    """

    def __init__(self, name: str, links: LinkSpool) -> None:
        self.name, self._links = name, links
        self.remarks: tuple[str, ...] = ()

    def stream(self) -> TableStream:
        """The header and, once all pages were read, the rows."""
        return TableStream(self.name, tuple(map(str, _LINK)), self._links.rows(), made=True)


def cells_of_page(page: WebPage, asides: Asides, status: str = "") -> Sequence[str]:
    """The row of a page that was read."""
    if page.whole:
        asides.facts[_UNRECOGNISED if page.content else _EMPTY] += 1
    return (
        *(page.url, page.title, page.h1, page.content, page.lang, page.indexability, status, page.canonical),
        *("", "text/html"),
    )


def cells_of_answer(url: str, status: int, redirect: str = "") -> Sequence[str]:
    """The row of a page that its server did not give."""
    return url, "", "", "", "", NOT_INDEXABLE, str(status), "", redirect, "text/html"
