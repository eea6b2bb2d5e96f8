"""Pages are grouped by topic, reproducibly, for any number of pages, languages and titles."""

import numpy as np
import pytest

from internal_linker.insight.similarity.cluster_links import (
    MOST_FROM_HUB,
    NEAREST,
    inner_links,
    missing_links,
)
from internal_linker.insight.similarity.clusters import count_bounds
from internal_linker.insight.similarity.kmeans import MANY_PAGES, by_means, ordered, points_of, tries
from internal_linker.insight.similarity.page_map import places, select_shown_pages
from internal_linker.insight.similarity.similarity import Field, Similarity, title_words
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.errors import ConfigurationError

ONE_LANGUAGE = -1


def units(rows: Vectors) -> Vectors:
    found: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def around(centres: int, each: int, spread: float = 0.3, dimensions: int = 24) -> Vectors:
    """Return points around this many centres, one centre after the other."""
    random = np.random.default_rng(7)
    middle = np.repeat(units(random.normal(size=(centres, dimensions))), each, axis=0)
    return units(middle + spread * random.normal(size=middle.shape) / np.sqrt(dimensions))


def sizes(labels: Ints) -> list[int]:
    return [int(count) for count in np.bincount(labels[labels >= 0])]


def unknown(n: int) -> Ints:
    return np.full(n, ONE_LANGUAGE)


def agrees(labels: Ints, centres: int, each: int) -> bool:
    """Return whether the pages of each centre are one cluster."""
    rows = labels.reshape(centres, each)
    return bool((rows == rows[:, :1]).all()) and len(set(rows[:, 0].tolist())) == centres


def test_the_silhouette_finds_how_many_clusters_there_are() -> None:
    points = around(9, 20)
    labels, tried = by_means(points, unknown(180), (2, 13))
    assert tried[0].best == 9 and tried[0].counts == list(range(2, 14))
    assert agrees(labels, 9, 20)
    # Again, also where the points don't say, bit for bit.
    points = around(6, 25, spread=1.5)
    first, second = (ordered(points, by_means(points, unknown(150), (2, 5))[0]) for _ in range(2))
    assert (first.labels == second.labels).all() and (first.centres == second.centres).all()


def test_batches_find_the_same_clusters_on_large_sites() -> None:
    points = around(20, MANY_PAGES // 20)
    labels, _ = by_means(points, unknown(MANY_PAGES), (20, 20))
    assert np.mean([len(set(part.tolist())) == 1 for part in labels.reshape(20, -1)]) > 0.9


def test_languages_are_grouped_apart_and_counts_shared_out_by_pages() -> None:
    """A page in an unknown language joins the nearest cluster; each language has at least one."""
    points = np.vstack([around(3, 10)] * 2 + [around(3, 10)[:1]])
    labels, _ = by_means(points, np.repeat([0, 1, -1], [30, 30, 1]), (6, 6))
    assert not set(labels[:30].tolist()) & set(labels[30:60].tolist())
    assert agrees(labels[:30], 3, 10) and agrees(labels[30:60], 3, 10)
    assert labels[60] in (labels[0], labels[30])
    points, languages = around(1, 83, spread=3.0), np.repeat([0, 1, 2], [60, 20, 3])
    labels, _ = by_means(points, languages, (8, 8))
    assert [len(set(labels[languages == each].tolist())) for each in range(3)] == [5, 2, 1]
    assert len(set(by_means(points, languages, (1, 1))[0].tolist())) == 3


def test_tries_are_told_beforehand() -> None:
    """The announced number of trials equals the number made, so that the bar ends at its end."""
    points, languages = around(4, 30), np.repeat([0, 1, -1], [70, 47, 3])
    for bounds in (None, (1, 1), (5, 40), (120, 120)):
        made: list[int] = []
        by_means(points, languages, bounds, made.append)
        assert sum(made) == tries(np.ones(120, np.bool_), languages, bounds)


def test_the_largest_cluster_is_the_first() -> None:
    points = np.vstack([around(1, 5), np.zeros((1, 24), np.float32), around(2, 9)[9:]])
    found = ordered(points, by_means(points, unknown(15), (2, 2))[0])
    assert sizes(found.labels) == [9, 5] and found.labels[5] == -1 and np.isnan(found.distances[5])
    known = found.labels >= 0
    assert ((found.distances[known] >= 0) & (found.distances[known] < 0.5)).all()


def test_few_pages_have_clusters() -> None:
    for n, bounds in ((1, None), (2, None), (3, None), (2, (2, 2)), (5, (5, 5)), (4, (2, 40))):
        points = around(n, 1)
        found = ordered(points, by_means(points, unknown(n), bounds)[0])
        assert found.labels.min() == 0 and sum(sizes(found.labels)) == n and min(sizes(found.labels)) > 0
        assert np.isfinite(places(points)).all()


@pytest.mark.parametrize("each", [25, pytest.param(110, marks=pytest.mark.long)])
def test_similar_pages_lie_near_each_other_on_the_map(each: int, recwarn: pytest.WarningsRecorder) -> None:
    points = around(8, each)
    found = places(points)
    apart = np.square(found[:, None] - found[None]).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    group = np.arange(8 * each) // each
    assert np.mean(group[apart.argmin(axis=1)] == group) > 0.99
    assert np.abs(found).max() == 1 and (found == places(points)).all() and not recwarn.list


def test_equal_pages_are_one_cluster(recwarn: pytest.WarningsRecorder) -> None:
    points = np.tile(around(1, 1), (12, 1))
    for bounds in (None, (3, 3), (2, 6)):
        assert sizes(ordered(points, by_means(points, unknown(12), bounds)[0]).labels) == [12]
    assert np.isfinite(places(points)).all()
    # Nearly all pages of a large site have one text.
    assert np.isfinite(places(np.vstack([np.tile(points[:1], (600, 1)), around(2, 1)[1:]]))).all()
    assert not recwarn.list


def test_words_and_meaning_both_count() -> None:
    titles = [
        f"{drink} {verb}".split()
        for drink in ("tea", "coffee", "milk")
        for verb in ("brew", "buy", "store", "clean")
    ]
    words, dense = title_words(titles), around(12, 1)
    fields = Field("title", 1, words=words), Field("title", 1, dense), Field("title", 1, dense, words)
    for field, meaning in zip(fields, (0.0, 1.0, 0.5), strict=True):
        expected = meaning * (dense @ dense.T) + (1 - meaning) * (words @ words.T).toarray()
        points = points_of(Similarity([field]))
        assert np.abs(points @ points.T - expected).max() < 0.1


def test_the_hub_is_near_the_topic_and_linked() -> None:
    labels, distances = np.array([0, 0, 0, 0, 1, 1]), np.array([0.1, 0.2, 0.3, 0.8, 0.6, 0.5], np.float32)
    links = np.sort(np.array([0 * 6 + 2, 1 * 6 + 2, 3 * 6 + 1, 4 * 6 + 0, 5 * 6 + 0, 2 * 6 + 0, 3 * 6 + 2]))
    unnamed, named = np.zeros(6), np.array([0, 1.0, 0, 0, 0, 0])
    found = inner_links(labels, distances, unnamed, links, links)
    assert found.hubs.tolist() == [2, 5]
    assert found.links.tolist() == [5, 0]
    assert found.densities.tolist() == [5 / 12, 0.0]
    assert inner_links(labels, distances, named, links, links).hubs.tolist() == [1, 5]
    far = np.sort(np.array([0 * 6 + 3, 1 * 6 + 3, 2 * 6 + 3, 3 * 6 + 0]))
    assert inner_links(labels, distances, unnamed, far, far).hubs[0] == 0
    assert inner_links(labels, distances, unnamed, links, links[:0]).hubs.tolist() == [0, 5]


def test_missing_links_are_those_that_do_not_stand() -> None:
    points, labels = around(2, 8), np.repeat([0, 1], 8)
    links = np.sort(np.array([0 * 16 + 1, 1 * 16 + 0, 2 * 16 + 3, 3 * 16 + 9]))
    found = missing_links(points, labels, np.array([0, 8]), links)
    keys = found.sources * 16 + found.targets
    assert len(set(keys.tolist())) == len(keys) and not set(keys.tolist()) & set(links.tolist())
    assert (labels[found.sources] == labels[found.targets]).all() and (found.sources != found.targets).all()
    from_hub, to_hub = found.reasons == 0, found.reasons == 1
    assert sorted(found.targets[from_hub & (found.sources == 0)].tolist()) == [2, 3, 4, 5, 6, 7]
    assert sorted(found.sources[to_hub & (found.targets == 8)].tolist()) == [9, 10, 11, 12, 13, 14, 15]
    near = found.targets[(found.reasons == 2) & (found.sources == 2)].tolist()
    scores = {row: float(points[2] @ points[row]) for row in (1, 4, 5, 6, 7)}
    assert near == sorted(scores, key=lambda row: -scores[row])[:NEAREST]


def test_a_hub_links_to_so_many_pages() -> None:
    n = MOST_FROM_HUB + 20
    points = around(1, n)
    found = missing_links(points, np.zeros(n, np.int64), np.array([3]), np.empty(0, np.int64))
    listed = found.targets[found.reasons == 0]
    assert len(listed) == MOST_FROM_HUB and found.left_out == 19
    rest = np.setdiff1d(np.arange(n), [*listed.tolist(), 3])
    assert (points[listed] @ points[3]).min() >= (points[rest] @ points[3]).max()
    assert (found.reasons == 1).sum() == n - 1


def test_a_map_of_many_pages_shows_a_share_of_each_cluster() -> None:
    labels = np.repeat([0, 1, 2, -1], [600, 300, 100, 50])
    rows = select_shown_pages(labels, np.array([5, 700, 950]), 100)
    assert len(rows) == 100 and {5, 700, 950} <= set(rows.tolist())
    assert np.abs(np.bincount(labels[rows]) - [60, 30, 10]).max() <= 3
    assert select_shown_pages(labels, np.array([5, 700, 950]), 1000).tolist() == list(range(1000))


def test_a_count_is_a_number_or_a_range_or_empty() -> None:
    read = {"": None, "12": (12, 12), " 5-40 ": (5, 40), "7-7": (7, 7)}
    assert {count: count_bounds(count) for count in read} == read
    for count in ("0", "-3", "40-5", "5-", "many", "1.5", "0-4", "5000", "٥", "9" * 40):
        with pytest.raises(ConfigurationError, match="such as 12, or a range, such as 5-40"):
            count_bounds(count)
