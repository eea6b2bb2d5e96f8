"""Candidates besides the most similar pages: each search and each kind of shared link finds its own."""

from collections.abc import Sequence

import numpy as np
import pytest

from internal_linker.match.candidates import language_codes
from internal_linker.model.arrays import Bools, Pairs, both
from internal_linker.model.records import Page
from internal_linker.rank.candidate_sources import CandidateSources
from internal_linker.rank.pair_link_features import SimilarPagesLinks
from internal_linker.rank.rank import Ranking
from tests.support.builders import page
from tests.support.link_sites import ranking
from tests.support.word_indexes import word_index

PAGES = (
    page(0, "cold brew", title="Start"),
    page(1, "unlike", title="Brew"),
    page(2, "a cold evening", title="Weather"),
    page(3, "nothing", title="Alone"),
    page(4, "zebra", title="Animals"),
    page(5, "zebra lion", title="Zoo"),
)


def found(
    pages: Sequence[Page], links: Sequence[tuple[int, int]] = (), among: Bools | None = None
) -> list[list[int]]:
    made: Ranking = ranking(pages, links)
    texts = np.arange(len(pages))
    near = made.site.matches(texts, made.linkable, 1.0)
    allowed = made.linkable if among is None else among
    languages = language_codes([page.lang for page in pages])
    sources = CandidateSources(word_index(pages), allowed, languages)
    similar = SimilarPagesLinks.from_graph(made.graph, near, 2)
    pairs: Pairs = both(sources.by_words(texts), sources.by_links(texts, made.graph, similar))
    return [sorted({*pairs.rows[pairs.of == text].tolist()}) for text in texts.tolist()]


def test_words_find_candidates_in_both_directions() -> None:
    assert found(PAGES) == [[1, 2], [0], [0], [], [5], [4]]


@pytest.mark.parametrize(
    ("links", "source", "candidates"),
    [
        ([(2, 3), (2, 1)], 3, [1]),  # one page links to both
        ([(3, 4), (2, 4)], 3, [2]),  # both link to one page
        ([(5, 3)], 4, [3, 5]),  # a similar page links to it
    ],
)
def test_links_find_candidates(links: list[tuple[int, int]], source: int, candidates: list[int]) -> None:
    assert found(PAGES, links)[source] == candidates


def test_only_targets_in_the_text_s_language_are_found() -> None:
    among = np.array([True, False, True, True, True, True])
    assert found(PAGES, [(2, 3), (2, 1)], among)[0] == [2, 3]
    assert found(PAGES, [(2, 3), (2, 1)], among)[3] == []
    pages = [page(0, "tea", lang="en"), page(1, "tea", lang="de"), page(2, "tea", lang="en")]
    assert found(pages) == [[2], [], [0]]
