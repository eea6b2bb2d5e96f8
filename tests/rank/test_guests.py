"""Guests are weighed by the pages' statistics, compared with the pages, and change nothing about them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from internal_linker.match.embed import page_text
from internal_linker.match.guest_rows import GrownArray
from internal_linker.match.site_index import Guests
from internal_linker.match.tfidf import index_terms
from internal_linker.match.tokens import tokenize
from internal_linker.model.records import Candidate, Collected, Page, Searched, Source, Text
from internal_linker.rank.rank import Ranking
from tests.support.builders import page
from tests.support.link_sites import existing, pages, random_pairs, ranking

PAGES = pages(60, 3)
LINKS = random_pairs(60, 150, 4)
QUERY = "w7 w19 w7 novel words"


def guests(*texts: Text, pages: tuple[Page | None, ...] = ()) -> Guests:
    return Guests(texts, np.zeros((len(texts), 1), np.float32), pages or (None,) * len(texts))


def ranked(made: Ranking, positions: range) -> list[tuple[Candidate, ...]]:
    return [*made.rank_sources(positions)]


def test_pages_get_and_a_site_learns_the_same_whoever_is_a_guest() -> None:
    alone = ranked(ranking(PAGES, LINKS), range(60))
    with_guests = ranking(PAGES, LINKS, QUERY, "w3 w5", "w7")
    assert repr(ranked(with_guests, range(60))) == repr(alone)
    found = []
    for made in (ranking(PAGES, LINKS), ranking(PAGES, LINKS, QUERY, "w3 w5")):
        other = made.with_links(existing(LINKS[:100]), made.sources[:60])
        ((_, (features,)),) = other.features(range(60), [other])
        found.append(features)
    np.testing.assert_array_equal(found[0], found[1])


def test_a_guest_gets_the_same_links_in_any_company() -> None:
    (first,) = ranked(ranking(PAGES, LINKS, QUERY), range(60, 61))
    made = ranking(PAGES, LINKS, "w3 w5 novel", QUERY)
    assert repr(ranked(made, range(61, 62))) == repr([first])
    late = ranking(PAGES, LINKS).proposing(
        [Source("", "", QUERY, None, in_sheet=False)], made.targets, Searched()
    )
    assert repr(ranked(late.with_guests(guests(page_text(page(QUERY, QUERY)))), range(1))) == repr([first])
    assert first and all(np.isfinite(each.lexical) for each in first)


def test_ranking_for_a_guest_copies_no_array_of_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a large site the copies would take longer than all the rest."""
    made = ranking(PAGES, LINKS)
    late = made.proposing([Source("", "", QUERY, None, in_sheet=False)], made.targets, Searched())
    monkeypatch.setattr(GrownArray, "__array__", lambda *_, **__: pytest.fail("an array was copied"))
    (found,) = ranked(late.with_guests(guests(page_text(page(QUERY, QUERY)))), range(1))
    assert found


def test_a_pickled_ranking_takes_guests() -> None:
    source = Source("", "", QUERY, None, in_sheet=False)
    made = ranking(PAGES, LINKS)
    collected = Collected(tuple(PAGES), tuple(made.sources), (), 0)
    text = guests(Text(QUERY, "A draft of w9 w11 w12 and more."))
    stored: Ranking = pickle.loads(pickle.dumps(made.lasting()))
    again = stored.resumed(
        collected,
        [source],
        made.targets,
        Searched(),
        texts=[Text(p.title, str(p.content)) for p in PAGES],
        rules=made.rules,
    )
    fresh = made.proposing([source], made.targets, Searched())
    assert repr(ranked(again.with_guests(text), range(1))) == repr(ranked(fresh.with_guests(text), range(1)))


def test_a_planned_page_is_a_candidate_of_pages() -> None:
    planned = page("planned", "w1 w2 w3 w4 w5", title="w1 w2")
    made = ranking(PAGES, LINKS)
    targets = replace(made.targets, known={**made.targets.known, planned.key: planned.url})
    text = Text(planned.title, str(planned.content))
    grown = made.proposing(made.sources, targets, Searched()).with_guests(guests(text, pages=(planned,)))
    assert grown.rows[planned.key] == 60 and grown.linkable[60]
    (block,) = grown.ranked(range(5), {at: [60] for at in range(5)})
    found = [each.key for each in grown.candidates(block)]
    assert planned.key in found
    assert not ranking(PAGES, LINKS, QUERY).linkable[60]


@pytest.mark.parametrize("text", ["tea pot", "gauge", "tea gauge tea", "unknown words"])
def test_a_guest_weighs_what_a_page_with_its_words_weighs(text: str) -> None:
    pages = ["tea pot clay", "tea cup gauge", "iron pan", "tea pot lid"]
    index = index_terms(tokenize([Text("", each) for each in pages]).tokens)
    row = index.with_guests([(text.split(), [])]).rows[np.array([4])]
    known = {word for each in pages for word in each.split()}
    assert bool(row.nnz) == bool(known & {*text.split()})
    fits = (index.rows @ row.T).toarray().ravel()
    assert [at for at, each in enumerate(pages) if known and {*each.split()} & {*text.split()}] == [
        at for at, fit in enumerate(fits.tolist()) if fit > 0
    ]
    assert float(np.sqrt((row.data**2).sum())) <= 1 + 1e-6
