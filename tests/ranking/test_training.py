"""`teach` learns real patterns from a site's links, and nothing from random links."""

from collections import defaultdict
from functools import cache
from itertools import product
from math import isnan

import numpy as np
import pytest

from internal_linker.ranking.features import Signals
from internal_linker.ranking.metrics import fold, measure
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.training import HIDINGS, LEAST_LINKS, TOO_FEW, Lesson, teach
from tests.support.builders import url
from tests.support.link_sites import Pairs, existing, pages, random_pairs, ranking

PAGES = pages(150)
CHANCE = tuple(random_pairs(150, 600, seed=1))
POPULAR = tuple(random_pairs(150, 600, seed=2, popularity=1.0))


@cache
def taught(pairs: tuple[tuple[int, int], ...]) -> tuple[Ranking, Ranking, Lesson]:
    """Return the ranking without and with the lesson from these links, and the lesson."""
    plain = ranking(PAGES, pairs)
    ours, lesson = teach(plain, existing(pairs))
    assert lesson
    return plain, ours, lesson


def orders(ranked: Ranking) -> list[list[tuple[str, float, float]]]:
    """Return the key, score and probability of each source's candidates, best first."""
    return [
        [(each.key, each.score, each.probability) for each in ours]
        for ours in ranked.of(range(len(ranked.sources)))
    ]


def chance(pairs: Pairs) -> float:
    """Return the mean NDCG@5 of random orders of the pages without visible links, with each part hidden in turn."""
    rng = np.random.default_rng(0)
    hidden, visible = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for source, target in pairs:
        part = fold(f"{url(source)}\n{url(target)}", HIDINGS)
        for number in range(HIDINGS):
            (hidden if part == number else visible)[f"{number} {source}"].add(str(target))
    others = {one: [str(n) for n in range(150) if str(n) not in visible[one]] for one in hidden}
    shuffled = ({one: rng.permutation(rest).tolist() for one, rest in others.items()} for _ in range(20))
    return float(np.mean([measure(hidden, each).ndcg.mean for each in shuffled]))


@pytest.mark.parametrize("count", [pytest.param(6, marks=pytest.mark.long)])
def test_sites_with_random_links_score_like_chance(count: int) -> None:
    """If links are random, hidden ones are found only by chance: no signal reveals the hidden link itself."""
    sites = [tuple(random_pairs(150, 600, seed)) for seed in range(count)]
    lessons = [taught(pairs)[2] for pairs in sites]
    by_chance = np.mean([chance(pairs) for pairs in sites])
    assert by_chance == pytest.approx(0.022, abs=0.003)
    for of in ("fixed", "learned"):
        # Three standard errors of this number of sites; a signal that knows the link finds it at once.
        assert np.mean([getattr(lesson, of).mean for lesson in lessons]) == pytest.approx(
            by_chance, abs=0.017 / np.sqrt(count)
        )
    assert not any(lesson.used for lesson in lessons)
    assert "is not used" in str(lessons[0])


@pytest.mark.parametrize("seed", range(12))
def test_no_signal_of_a_pair_tells_whether_it_is_linked(seed: int) -> None:
    """Hiding a link makes all signals those of a site without it, and its target a candidate again."""
    n = 24
    site = pages(n, seed)
    pairs = random_pairs(n, 90, seed, popularity=seed % 3)
    source, target = pairs[np.random.default_rng(seed).integers(len(pairs))]
    rest = [pair for pair in pairs if pair != (source, target)]
    found: list[Signals] = []
    for known in (pairs, rest):
        whole = ranking(site, known)
        hidden = whole.knowing(existing(rest), [whole.sources[source]])
        _, signals = next(hidden.signals([0], [hidden]))
        found.extend(signals)
    with_it, without = found
    assert target in without.rows
    for name in Signals.__slots__:
        np.testing.assert_array_equal(getattr(with_it, name), getattr(without, name), err_msg=name)


def test_what_is_known_of_one_source_does_not_depend_on_the_others_asked_for() -> None:
    """Computing signals for several states of the links together gives the same values as for each alone."""
    whole = ranking(PAGES, CHANCE)
    sources = whole.sources[:5]
    states = [whole.knowing(existing(CHANCE[part::3]), sources) for part in range(3)]
    together = [signals for _, signals in states[0].signals(range(5), states)]
    for at, state in enumerate(states):
        for ours, (_, (alone,)) in zip(together, state.signals(range(5), [state]), strict=True):
            for name in Signals.__slots__:
                np.testing.assert_allclose(getattr(ours[at], name), getattr(alone, name), rtol=1e-6)


def test_a_pattern_that_the_fixed_weights_miss_is_used() -> None:
    """If editors link to the same popular pages, the ranker learns and reports it, and its lists change."""
    plain, ours, lesson = taught(POPULAR)
    assert lesson.used and lesson.gain.low > 0
    assert lesson.learned.mean == pytest.approx(lesson.fixed.mean + lesson.gain.mean)
    assert "is used" in str(lesson) and f"{lesson.links} links" in str(lesson) and lesson.links == 600
    assert [[key for key, *_ in one] for one in orders(ours)] != [
        [key for key, *_ in one] for one in orders(plain)
    ]


def test_new_pages_keep_their_place() -> None:
    """Learned weights move no page without inlinks in any list; all candidates stay candidates."""
    plain, ours, _ = taught(POPULAR)
    linked = {url(target) for _, target in POPULAR}
    kept = 0
    for before, after in zip(orders(plain), orders(ours), strict=True):
        assert {key for key, *_ in before} == {key for key, *_ in after}
        for (old, score, _), (new, new_score, _) in zip(before, after, strict=True):
            assert score == new_score
            if old not in linked or new not in linked:
                assert old == new
                kept += 1
    assert kept > 1000


@pytest.mark.parametrize("pairs", [CHANCE, POPULAR])
def test_a_probability_stands_beside_every_candidate(pairs: tuple[tuple[int, int], ...]) -> None:
    """Probabilities are between 0 and 1 and average near the share of links; without the lesson there are none."""
    plain, ours, lesson = taught(pairs)
    told = [probability for one in orders(ours) for _, _, probability in one]
    assert all(0 <= each <= 1 for each in told)
    measured = sum(part.links * part.pairs for part in lesson.reliability)
    assert 0.3 < np.mean(told) * sum(part.pairs for part in lesson.reliability) / measured < 3
    assert all(np.isnan(probability) for one in orders(plain) for _, _, probability in one)


def test_with_the_fixed_weights_the_higher_score_is_never_less_probable() -> None:
    """If the ranker isn't used, a higher score never has a lower probability."""
    _, ours, lesson = taught(CHANCE)
    assert not lesson.used
    by_score = sorted((score, probability) for one in orders(ours) for _, score, probability in one)
    assert (np.diff([probability for _, probability in by_score]) >= 0).all()


def test_expected_probabilities_are_what_was_so() -> None:
    """In each range with many pairs, the share of links is near the expected one from other pages' links."""
    _, _, lesson = taught(POPULAR)
    large = [part for part in lesson.reliability if part.pairs >= 500]
    assert len(large) >= 3
    for part in large:
        error = np.sqrt(part.expected * (1 - part.expected) / part.pairs)
        assert abs(part.links - part.expected) < 4 * error + 0.2 * part.expected
        assert part.low <= part.expected < part.high


def test_two_lessons_are_one() -> None:
    """The same links in any order give the same figures, order and probabilities."""
    _, ours, lesson = taught(POPULAR)
    again, same = teach(ranking(PAGES, POPULAR), existing(POPULAR[::-1]))
    assert str(lesson) == str(same)
    assert orders(ours) == orders(again)


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        random_pairs(150, LEAST_LINKS - 1, 0),
        [*product(range(2), range(2, 130))],
        [pair for pair in product(range(16), repeat=2) if pair[0] != pair[1]],
    ],
    ids=["none", "too few", "from two pages only", "each page to every other"],
)
def test_where_there_is_nothing_to_learn_the_ranking_stays(pairs: Pairs) -> None:
    """Too few links, links of very few pages, or no other candidates give no lesson and no error."""
    plain = ranking(pages(16) if len(pairs) == 240 else PAGES, pairs)
    ours, lesson = teach(plain, existing(pairs))
    assert lesson is None
    assert ours is plain
    assert str(LEAST_LINKS) in TOO_FEW


def test_a_link_with_two_anchors_is_one() -> None:
    """Repeated links with other anchors and links to unlisted pages don't count."""
    plain = ranking(PAGES, CHANCE)
    more = [*existing(CHANCE), *existing(CHANCE), *existing([(1, 900), (900, 1)])]
    assert str(teach(plain, more)[1]) == str(teach(plain, existing(CHANCE))[1])


def test_a_query_without_a_page_is_ranked_beside_known_links() -> None:
    """A query's row comes after the pages; links change neither its order nor its scores, and say no probability."""
    queries = "w1 w2 w3 w4", "w5"
    ours, _ = teach(ranking(PAGES, POPULAR, *queries), existing(POPULAR))
    for one, without in zip(orders(ours)[-2:], orders(ranking(PAGES, [], *queries))[-2:], strict=True):
        assert len(one) >= 50 and all(isnan(probability) for _, _, probability in one)
        assert [each[:2] for each in one] == [each[:2] for each in without]
