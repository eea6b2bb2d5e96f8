"""The packaged weights are adapted to a site's links and its editors' rejections, where these say that it helps."""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
import pytest

from internal_linker.model.records import ExistingLink, Page
from internal_linker.rank import adaptation
from internal_linker.rank.adaptation import LEAST_LINKS, TOO_FEW, Adaptation, adapted
from internal_linker.rank.rank import Ranking
from tests.support.builders import page, url
from tests.support.link_sites import Pairs, existing, pages, random_pairs, ranked_site, ranking

PAGES = pages(60)
CHANCE = tuple(random_pairs(60, 240, seed=1))
POPULAR = tuple(random_pairs(60, 240, seed=2, popularity=1.5))
FOLDERS = 4


@cache
def in_folders(count: int = 64) -> tuple[Page, ...]:
    found = pages(count, seed=3)
    return tuple(page(f"{'abcd'[at % FOLDERS]}/{at}", str(each.content)) for at, each in enumerate(found))


def ends(pairs: Pairs) -> list[ExistingLink]:
    site = in_folders()
    return [ExistingLink(site[source].key, site[target].key, "here") for source, target in pairs]


def ranked(links: Sequence[ExistingLink], rejected: Pairs = ()) -> Ranking:
    site = in_folders()
    refused: dict[str, list[str]] = {}
    for source, target in rejected:
        refused.setdefault(site[source].key, []).append(site[target].key)
    return ranked_site(site, links=links, rejected=refused)


def orders(found: Ranking) -> list[list[str]]:
    return [[each.key for each in ours] for ours in found.rank_sources(range(len(found.sources)))]


def place_of_own_folder(found: Ranking) -> float:
    """Return the mean place, 0 to 1 the last, of candidates in their source's folder, for undecided sources."""
    rows = {each.key: row for row, each in enumerate(in_folders())}
    places = [
        place / len(order)
        for at, order in enumerate(orders(found))
        if at % 8 >= FOLDERS
        for place, key in enumerate(order)
        if rows[key] % FOLDERS == at % FOLDERS
    ]
    return float(np.mean(places))


PLAIN = tuple(random_pairs(64, 260, seed=5))


@cache
def adapted_to_popular() -> tuple[Ranking, Adaptation | None]:
    return adapted(ranking(PAGES, POPULAR), existing(POPULAR))


@pytest.mark.long
def test_a_pattern_that_the_packaged_weights_miss_is_used() -> None:
    plain = ranking(PAGES, POPULAR)
    ours, found = adapted_to_popular()
    assert found and found.used and found.gain.low >= adaptation.LEAST_GAIN
    assert found.adapted.mean == pytest.approx(found.packaged.mean + found.gain.mean)
    assert str(found).startswith("weights adapted to your site by its 240 links (NDCG@5 0.")
    popular = {url(target) for target in range(5)}
    before, after = (
        np.mean([len(popular & {*order[:5]}) for order in orders(each)]) for each in (plain, ours)
    )
    assert after > before


def test_random_links_change_nothing() -> None:
    plain = ranking(PAGES, CHANCE)
    ours, found = adapted(plain, existing(CHANCE))
    assert found and not found.used and ours is plain
    assert "packaged weights; adapted by your site's 240 links, they are not clearly better" in str(found)


def test_the_order_of_the_links_does_not_matter() -> None:
    ours, found = adapted_to_popular()
    more = [*existing(POPULAR[::-1]), *existing(POPULAR[:50]), *existing([(1, 900), (900, 1)])]
    again, same = adapted(ranking(PAGES, POPULAR), more)
    assert found and same and found.used
    assert (found.gain, found.adapted) == (same.gain, same.adapted)
    np.testing.assert_array_equal(ours.ranker.weights, again.ranker.weights)


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        random_pairs(60, LEAST_LINKS - 1, 0),
        [pair for pair in product(range(16), repeat=2) if pair[0] != pair[1]],
    ],
    ids=["none", "too few", "each page to every other"],
)
def test_where_there_is_nothing_to_learn_the_ranking_stays(pairs: Pairs) -> None:
    plain = ranking(pages(16) if len(pairs) == 240 else PAGES, pairs)
    ours, found = adapted(plain, existing(pairs))
    assert ours is plain and (found is None or not found.used)
    assert str(LEAST_LINKS) in TOO_FEW


@cache
def learned(
    rejected: tuple[tuple[int, int], ...] = (), accepted: tuple[tuple[int, int], ...] = ()
) -> tuple[Ranking, Adaptation]:
    """Return the ranking with weights adapted to these decisions, whatever the cross-validation says."""
    links = ends(PLAIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptation, "LEAST_GAIN", -1.0)
        ours, found = adapted(ranked(links, rejected), [*links, *ends(accepted)])
    assert found and found.used
    return ours, found


def proposed(found: Ranking) -> tuple[tuple[int, int], ...]:
    """Return the first five candidates in the same folder, of every other source in each folder."""
    rows = {each.key: row for row, each in enumerate(in_folders())}
    return tuple(
        (at, rows[key])
        for at, order in enumerate(orders(found))
        if at % 8 < FOLDERS
        for key in order[:5]
        if rows[key] % FOLDERS == at % FOLDERS
    )


@pytest.mark.long
def test_rejections_of_one_kind_lower_such_links_elsewhere() -> None:
    before, _ = learned()
    rejected = proposed(before)
    after, found = learned(rejected)
    assert found.rejected == len(rejected) > 20
    assert f"its {found.links} links and {found.rejected} rejected ones" in str(found)
    assert place_of_own_folder(after) > place_of_own_folder(before) + 0.01
    keys, lists = [each.key for each in in_folders()], orders(after)
    assert not any(keys[target] in lists[source] for source, target in rejected)


@pytest.mark.long
def test_accepted_links_of_one_kind_raise_such_links_elsewhere() -> None:
    before, _ = learned()
    accepted = proposed(before)
    after, found = learned(accepted=accepted)
    assert found.links == len({*PLAIN, *accepted})
    assert place_of_own_folder(after) < place_of_own_folder(before) - 0.01


def test_three_decisions_change_little() -> None:
    before, _ = learned()
    one, *others = proposed(before)[:3]
    after, _ = learned(tuple(others), (one,))
    change = np.abs(after.ranker.weights - before.ranker.weights)
    assert 0 < change.max() < 0.02
    moved = sum(
        len({*ours[:5]} - {*theirs[:5]})
        for at, (ours, theirs) in enumerate(zip(orders(before), orders(after), strict=True))
        if at not in {source for source, _ in (one, *others)}
    )
    assert moved <= 0.03 * 5 * len(in_folders())
