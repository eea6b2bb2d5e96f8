"""The input and the links of a run as columns, which take less memory than records and load in a tenth of the time."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.arrays import floats
from internal_linker.model.evidence import NO_EVIDENCE, NO_NEED, Evidence
from internal_linker.model.records import (
    Candidate,
    Collected,
    ExistingLink,
    Link,
    Origin,
    Page,
    Recommendation,
    Shortage,
    Source,
    StoredText,
)
from internal_linker.model.sequences import FEW, Later, Lazy

# As `TextSpool` writes texts: lone surrogates must survive, too.
_ENCODING, _ERRORS = "utf-8", "surrogatepass"
# The columns of texts of a source before its page.
_TEXTS_OF_SOURCES = ("key", "url", "query")
# Values of the evidence for a link, besides its words and its target's need.
_COUNTS = len(NO_EVIDENCE.counts)


class _Content(StoredText):
    """The content of a page, within the bytes of all contents."""

    __slots__ = ("_end", "_start", "_texts")

    def __init__(self, texts: memoryview, start: int, end: int) -> None:
        self._texts, self._start, self._end = texts, start, end

    def __str__(self) -> str:
        return str(self._texts[self._start : self._end], _ENCODING, _ERRORS)


def to_columns(collected: Collected) -> dict[str, Any]:
    """Return the columns of pages, sources and links, and the rest of the input."""
    return {
        "rest": replace(collected, pages=(), sources=(), links=()),
        "pages": _columns_of_pages(collected.pages),
        "sources": _columns_of_sources(collected),
        "links": _columns_of_links(collected.links),
    }


def from_columns(columns: Mapping[str, Any]) -> Collected:
    """Return the input of which `to_columns` made the columns; its records are made when the first is needed."""
    of_pages, of_sources, of_links = columns["pages"], columns["sources"], columns["links"]
    rest: Collected = columns["rest"]
    pages = Later(len(of_pages["key"]), lambda: _pages(of_pages))
    return replace(
        rest,
        pages=pages,
        sources=Later(len(of_sources["key"]), lambda: _sources(of_sources, pages)),
        links=Later(len(of_links["start"]), lambda: _links(of_links)),
    )


def _sources(columns: Mapping[str, Any], pages: Sequence[Page]) -> list[Source]:
    every = [*pages, None]
    return [
        *map(
            Source,
            *(columns[name] for name in _TEXTS_OF_SOURCES),
            map(every.__getitem__, columns["page"].tolist()),
            columns["in_sheet"].tolist(),
            columns["row_url"],
            columns["unlisted"].tolist(),
        )
    ]


def _columns_of_pages(pages: Sequence[Page]) -> dict[str, Any]:
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
        "headings": _columns_of_lines([page.headings for page in pages]),
        "closed": _columns_of_lines([page.closed for page in pages]),
        "taken": _columns_of_lines([page.taken for page in pages]),
        "texts": np.frombuffer(b"".join(texts), np.uint8),
        "ends": np.cumsum([0, *map(len, texts)]),
    }


def _pages(columns: Mapping[str, Any]) -> list[Page]:
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
            taken,
        )
        for row, (key, url, title, h1, (start, end), lang, headings, closed, only, taken) in enumerate(
            zip(
                *(columns[name] for name in ("key", "url", "title", "h1")),
                pairwise(columns["ends"].tolist()),
                columns["lang"],
                _lines(columns["headings"]),
                _lines(columns["closed"]),
                columns["target_only"].tolist(),
                _lines(columns["taken"]),
                strict=True,
            )
        )
    ]


def _columns_of_lines(each: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    numbers = [np.asarray(lines, np.int64) for lines in each]
    return np.concatenate([np.empty(0, np.int64), *numbers]), np.cumsum([0, *map(len, each)])


def _lines(columns: tuple[NDArray[np.int64], NDArray[np.int64]]) -> list[tuple[int, ...]]:
    numbers = columns[0].tolist()
    return [tuple(numbers[start:end]) for start, end in pairwise(columns[1].tolist())]


def _columns_of_sources(collected: Collected) -> dict[str, Any]:
    sources, rows = collected.sources, collected.rows
    return {
        **{name: [getattr(one, name) for one in sources] for name in (*_TEXTS_OF_SOURCES, "row_url")},
        # -1 for none, as the last item of a list.
        "page": np.array([rows[one.page.key] if one.page else -1 for one in sources], np.int64),
        "in_sheet": np.array([one.in_sheet for one in sources], np.bool_),
        "unlisted": np.array([one.unlisted for one in sources], np.bool_),
    }


def _columns_of_links(links: Sequence[ExistingLink]) -> dict[str, Any]:
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


def _links(columns: Mapping[str, Any]) -> list[ExistingLink]:
    name = columns["names"].__getitem__
    texts = (map(name, some) for some in columns["texts"].tolist())
    return [*map(ExistingLink, *texts, columns["start"].tolist(), columns["followed"].tolist())]


def in_columns(recommendations: Iterable[Recommendation], few: int = FEW) -> Sequence[Recommendation]:
    """Return up to `few` recommendations as a list, more in columns: a third of the memory, each built when read."""
    rest = iter(recommendations)
    first = [*islice(rest, few + 1)]
    return _recommendations(chain(first, rest)) if len(first) > few else first


def _recommendations(recommendations: Iterable[Recommendation]) -> Sequence[Recommendation]:
    sources, ends = list[Source](), array("Q", [0])
    remarks, shortages = list[str](), list[Shortage | None]()
    keys, urls, origins = list[str](), list[str](), list[Origin]()
    scores, similarities, lexicals, probabilities = array("d"), array("d"), array("d"), array("d")
    ranks, serp_ranks, evidence, shared = array("I"), array("I"), array("i"), list[str]()
    needs = dict[int, tuple[int, int, int, int]]()
    for item in recommendations:
        sources.append(item.source)
        remarks.append(item.remark)
        shortages.append(item.shortage)
        for link in (*item.links, *item.held):
            target = link.target
            keys.append(target.key)
            urls.append(target.url)
            origins.append(link.origin)
            ranks.append(link.rank)
            scores.append(target.score)
            similarities.append(target.similarity)
            lexicals.append(target.lexical)
            serp_ranks.append(target.serp_rank)
            probabilities.append(target.probability)
            evidence.extend(link.evidence.counts)
            shared.append(link.evidence.title_words)
            if link.evidence.needed:
                needs[len(keys) - 1] = link.evidence.need
        ends.append(len(keys))

    def made(row: int) -> Recommendation:
        some = slice(ends[row], ends[row + 1])
        signals = [floats(column[some]) for column in (scores, similarities, lexicals)]
        probable = floats(probabilities[some])
        targets = map(Candidate, keys[some], urls[some], *signals, serp_ranks[some], probable)
        reasons = (
            Evidence.of_counts(
                evidence[at * _COUNTS : (at + 1) * _COUNTS], shared[at], needs.get(at, NO_NEED)
            )
            for at in range(some.start, some.stop)
        )
        links = tuple(map(Link, targets, ranks[some], origins[some], reasons))
        # Held links have no rank.
        split = len(links) - ranks[some].count(0)
        return Recommendation(sources[row], links[:split], remarks[row], links[split:], shortages[row])

    return Lazy(len(sources), made)
