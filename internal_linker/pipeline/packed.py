"""The input of a run as columns, which load in a tenth of the time that reading the tables takes."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.on_demand import MappingOnDemand, SequenceOnDemand
from internal_linker.core.reasons import VISITED, NoTarget
from internal_linker.core.records import Address, Collected, ExistingLink, Page, Source, StoredText, grouped

# As `TextSpool` writes texts: lone surrogates must survive, too.
_ENCODING, _ERRORS = "utf-8", "surrogatepass"


class _Content(StoredText):
    """The content of a page, within the bytes of all contents."""

    __slots__ = ("_end", "_start", "_texts")

    def __init__(self, texts: memoryview, start: int, end: int) -> None:
        self._texts, self._start, self._end = texts, start, end

    def __str__(self) -> str:
        return str(self._texts[self._start : self._end], _ENCODING, _ERRORS)


def packed(collected: Collected) -> dict[str, Any]:
    """Return the columns of pages, sources and links, and the rest of the input."""
    return {
        "rest": replace(collected, pages=(), sources=(), links=()),
        "pages": _packed_pages(collected.pages),
        "sources": _packed_sources(collected),
        "links": _packed_links(collected.links),
    }


def unpacked(columns: Mapping[str, Any]) -> Collected:
    """Return the input of which `packed` made the columns; its records are made on demand."""
    of_pages, of_sources, of_links = columns["pages"], columns["sources"], columns["links"]
    keys, ends = of_pages["key"], of_sources["key"]
    pages = SequenceOnDemand(len(keys), partial(_pages, of_pages))
    sources = SequenceOnDemand(len(ends), partial(_sources, of_sources, pages))
    links = SequenceOnDemand(len(of_links["start"]), partial(_links, of_links))
    rest: Collected = columns["rest"]
    found = replace(rest, pages=pages, sources=sources, links=links)
    # What the columns tell without the records.
    vars(found).update(
        addresses=_addresses(of_pages, of_sources),
        rows={key: row for row, key in enumerate(keys)},
        languages={*of_pages["lang"]},
        issues=of_pages["issue"],
        editable=_editable(of_pages),
        dead={keys[row] for row, issue in of_pages["issue"].items() if issue.kind not in VISITED},
        queries={
            key: query
            for key, query in zip(ends[::-1], of_sources["query"][::-1], strict=True)
            if key and query
        },
        source_keys=ends,
        source_queries=of_sources["query"],
        **_links_by_end(of_links, links),
    )
    return found


# The columns of texts of a source before its page.
_TEXTS_OF_SOURCES = ("key", "url", "query")


def _addresses(pages: Mapping[str, Any], sources: Mapping[str, Any]) -> list[Address]:
    keys, issue = pages["key"], pages["issue"].get
    found: list[Address] = [
        (key, url or key, issue(row)) for row, (key, url) in enumerate(zip(keys, pages["url"], strict=True))
    ]
    others = np.flatnonzero(sources["page"] < 0).tolist()
    return found + [(key, sources["url"][at], None) for at in others if (key := sources["key"][at])]


def _editable(columns: Mapping[str, Any]) -> list[int]:
    issues, editable = columns["issue"].items(), ~columns["target_only"]
    editable[[row for row, issue in issues if issue.kind is not NoTarget.SOURCE_ONLY]] = False
    found: list[int] = np.flatnonzero(editable).tolist()
    return found


def _sources(columns: Mapping[str, Any], pages: Sequence[Page], part: slice) -> list[Source]:
    rows = columns["page"][part].tolist()
    # To make all at once takes a fraction of the time.
    every = pages if len(rows) == 1 else [*pages]
    return [
        *map(
            Source,
            *(columns[name][part] for name in _TEXTS_OF_SOURCES),
            (every[row] if row >= 0 else None for row in rows),
            columns["in_sheet"][part].tolist(),
            columns["row_url"][part],
            columns["unlisted"][part].tolist(),
        )
    ]


def _packed_pages(pages: Sequence[Page]) -> dict[str, Any]:
    texts = [str(page.content).encode(_ENCODING, _ERRORS) for page in pages]
    return {
        "key": [page.key for page in pages],
        # None where it is the same as the column before it.
        "url": [None if page.url == page.key else page.url for page in pages],
        "title": [page.title for page in pages],
        "h1": [None if page.h1 == page.title else page.h1 for page in pages],
        "lang": [page.lang for page in pages],
        "target_only": np.array([page.target_only for page in pages], np.bool_),
        "issue": {row: page.issue for row, page in enumerate(pages) if page.issue},
        "headings": _packed_lines([page.headings for page in pages]),
        "closed": _packed_lines([page.closed for page in pages]),
        "texts": np.frombuffer(b"".join(texts), np.uint8),
        "ends": np.cumsum([0, *map(len, texts)]),
    }


def _pages(columns: Mapping[str, Any], part: slice) -> list[Page]:
    texts, issue = memoryview(columns["texts"]), columns["issue"].get
    return [
        Page(
            key,
            url or key,
            title,
            title if h1 is None else h1,
            _Content(texts, start, end) if start < end else "",
            lang,
            issue(row),
            headings,
            closed,
            only,
        )
        for row, (key, url, title, h1, (start, end), lang, headings, closed, only) in enumerate(
            zip(
                *(columns[name][part] for name in ("key", "url", "title", "h1")),
                pairwise(_ends(columns["ends"], part)),
                columns["lang"][part],
                _lines(columns["headings"], part),
                _lines(columns["closed"], part),
                columns["target_only"][part].tolist(),
                strict=True,
            ),
            part.start,
        )
    ]


def _ends(ends: NDArray[np.int64], part: slice) -> list[int]:
    """Return where each of some items begins, and where the last one ends."""
    found: list[int] = ends[part.start : part.stop + 1].tolist()
    return found


def _packed_lines(each: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    numbers = [np.asarray(lines, np.int64) for lines in each]
    return np.concatenate([np.empty(0, np.int64), *numbers]), np.cumsum([0, *map(len, each)])


def _lines(columns: tuple[NDArray[np.int64], NDArray[np.int64]], part: slice) -> list[tuple[int, ...]]:
    ends = _ends(columns[1], part)
    numbers, first = columns[0][ends[0] : ends[-1]].tolist(), ends[0]
    return [tuple(numbers[start - first : end - first]) for start, end in pairwise(ends)]


def _packed_sources(collected: Collected) -> dict[str, Any]:
    sources, rows = collected.sources, collected.rows
    return {
        **{name: [getattr(one, name) for one in sources] for name in (*_TEXTS_OF_SOURCES, "row_url")},
        "page": np.array([rows[one.page.key] if one.page else -1 for one in sources], np.int64),
        "in_sheet": np.array([one.in_sheet for one in sources], np.bool_),
        "unlisted": np.array([one.unlisted for one in sources], np.bool_),
    }


def _packed_links(links: Sequence[ExistingLink]) -> dict[str, Any]:
    numbers: dict[str, int] = {}
    texts = [
        [numbers.setdefault(getattr(link, name), len(numbers)) for link in links]
        for name in ("source", "target", "anchor")
    ]
    return {
        "names": [*numbers],
        "texts": np.array(texts, np.int64).reshape(3, -1),
        "start": np.array([link.start for link in links], np.int64),
        "followed": np.array([link.followed for link in links], np.bool_),
    }


def _links(columns: Mapping[str, Any], part: slice) -> list[ExistingLink]:
    name = columns["names"].__getitem__
    texts = (map(name, some) for some in columns["texts"][:, part].tolist())
    return [*map(ExistingLink, *texts, columns["start"][part].tolist(), columns["followed"][part].tolist())]


def _links_by_end(columns: Mapping[str, Any], links: Sequence[ExistingLink]) -> dict[str, Any]:
    """Return `links_from`, `anchored_to` and `text_links` of the input."""
    names, (sources, targets, anchors) = columns["names"], columns["texts"]
    number = {name: at for at, name in enumerate(names)}.get
    counts = np.bincount(sources, minlength=len(names))
    anchored = np.flatnonzero(anchors != number("", -1))
    return {
        "links_from": MappingOnDemand(
            _finder(links, number, np.arange(len(sources)), sources),
            lambda: grouped((link.source, link) for link in links),
        ),
        "anchored_to": MappingOnDemand(
            _finder(links, number, anchored, targets[anchored]),
            lambda: grouped((link.target, link) for link in links if link.anchor),
        ),
        "text_links": Counter({names[at]: int(counts[at]) for at in np.flatnonzero(counts).tolist()}),
    }


def _finder(
    links: Sequence[ExistingLink],
    number: Callable[[str], int | None],
    at: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> Callable[[str], list[ExistingLink] | None]:
    """Return a function that finds the links of a key, in order.

    Args:
        links: all links.
        number: returns the number of a key.
        at: (m,) the positions of some links, ascending.
        ends: (m,) the numbers of the keys that they are found by.
    """
    order = np.argsort(ends, kind="stable")
    at, ends = at[order], ends[order]

    def find(key: str) -> list[ExistingLink] | None:
        wanted = number(key)
        if wanted is None:
            return None
        start, end = np.searchsorted(ends, (wanted, wanted + 1))
        return [links[place] for place in at[start:end].tolist()] or None

    return find
