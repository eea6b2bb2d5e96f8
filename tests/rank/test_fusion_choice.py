"""The advice to rank search results with the similar pages: from known links where there are enough, or from texts."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np
import pytest

from internal_linker.model.records import Page, Searched, SerpTarget, Source
from internal_linker.rank.fusion_choice import (
    LEAST_PAGES,
    LEAST_RESULTS,
    LEAST_SITE,
    MOST_PAGES,
    FusionEvidence,
    fusion_evidence,
    pages_to_compare,
)
from internal_linker.rank.rank import Ranking
from tests.support.builders import page, url
from tests.support.link_sites import existing, ranked_site

TOPICS, OF_TOPIC = 24, 5
COUNT = TOPICS * OF_TOPIC
# Every page links to two of the four others of its topic.
LINKS = existing(
    (topic * OF_TOPIC + one, topic * OF_TOPIC + other)
    for topic in range(TOPICS)
    for one, other in permutations(range(OF_TOPIC), 2)
    if (other - one) % OF_TOPIC in (1, 2)
)


def pages() -> tuple[Page, ...]:
    rng = np.random.default_rng(0)
    words = rng.integers(0, (30, 300), (COUNT, 30, 2))
    return tuple(
        page(number, " ".join(f"w{number // OF_TOPIC}x{one} s{other}" for one, other in words[number]))
        for number in range(COUNT)
    )


@cache
def ranking(poor: bool) -> Ranking:
    """Return the ranking of the site with poor or good search results, which has ranked all pages."""
    site, searched = pages(), elsewhere() if poor else linked()
    sources = tuple(Source(each.key, each.url, f"query {each.key}", each, in_sheet=False) for each in site)
    ranked = ranked_site(site, sources, links=LINKS, searched=searched)
    for _ in ranked.rank_sources(range(COUNT)):
        pass
    return ranked


def results(numbers: Callable[[int], Iterable[int]]) -> Searched:
    return Searched(
        {
            at: tuple(SerpTarget(url(found), url(found), rank) for rank, found in enumerate(numbers(at), 1))
            for at in range(COUNT)
        }
    )


def elsewhere() -> Searched:
    return results(lambda at: ((at + OF_TOPIC * n) % COUNT for n in range(1, 7)))


def linked() -> Searched:
    """Return the pages that an editor linked to as search results, then the rest of the topic."""
    return results(lambda at: (at // OF_TOPIC * OF_TOPIC + (at + n) % OF_TOPIC for n in range(1, 5)))


def evidence(poor: bool, links: int = len(LINKS)) -> FusionEvidence:
    """Return what speaks for "blend" with such search results and so many known links."""
    ranked, found = ranking(poor), elsewhere() if poor else linked()
    some = pages_to_compare(ranked.sources, LINKS[:links])
    rows = {source.key: at for at, source in enumerate(ranked.sources)}
    again = Searched({at: found.targets[rows[source.key]] for at, source in enumerate(some)})
    return fusion_evidence(ranked, some, LINKS[:links], again, sum(map(len, found.targets.values())))


def test_results_that_miss_the_known_links_speak_for_blending() -> None:
    found = evidence(poor=True)
    assert found.pages == COUNT
    assert found.fill < 0.3 < found.blend and found.low > 0
    assert found.sentence == (
        f'set fusion = "blend": on {COUNT} pages whose links are known, it has up to {found.blend:.0%} of these among '
        f'the first five, and "fill" has {found.fill:.0%}'
    )


def test_results_that_find_the_known_links_stay_first() -> None:
    found = evidence(poor=False)
    assert found.fill == 1.0
    assert found.sentence == "" == replace(found, far=found.results).sentence


def test_few_known_links_leave_it_to_the_texts() -> None:
    few = 2 * (LEAST_PAGES - 1)
    poor, fair = evidence(True, few), evidence(False, few)
    assert poor.pages == fair.pages == 0
    assert poor.results == 6 * COUNT and poor.far > poor.results / 3
    assert poor.sentence.startswith(
        f'set fusion = "blend": {poor.far} of {poor.results} search results are no closer'
    )
    assert fair.far < fair.results / 3 and not fair.sentence


def test_a_few_results_and_the_texts_of_a_small_site_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (0, LEAST_RESULTS - 1):
        assert FusionEvidence(count, far=count).sentence == ""
    assert FusionEvidence(LEAST_RESULTS, far=LEAST_RESULTS).sentence
    monkeypatch.setattr("internal_linker.rank.fusion_choice.LEAST_SITE", COUNT + 1)
    assert COUNT >= LEAST_SITE
    assert evidence(True, 0) == FusionEvidence()


def test_pages_to_compare_have_a_query_and_a_link() -> None:
    site = [
        Source(each.key, each.url, "query" * (number % 2), each, in_sheet=False)
        for number, each in enumerate(pages())
    ]
    some = pages_to_compare(site, LINKS[:100])
    assert {source.key for source in some} == {url(number) for number in range(50) if number % 2}
    assert len(pages_to_compare(site * 5, LINKS)) <= MOST_PAGES
    assert pages_to_compare(site[::-1], LINKS[::-1]) == pages_to_compare(site, LINKS)


def test_a_small_gain_is_no_reason_and_evidence_survives_storing() -> None:
    """The anchors in the texts favour the site's own ranking, so that a small gain proves nothing."""
    found = FusionEvidence(500, 400, 120, 0.3, 0.5, gain=0.2, low=0.1, high=0.3)
    assert found.sentence
    assert not replace(found, gain=0.09, low=0.05).sentence
    assert not replace(found, low=-0.01).sentence
    assert FusionEvidence.unpack(found.pack()) == found
    assert FusionEvidence.unpack({"results": 3}) == FusionEvidence()
