"""Near-duplicates: how they are found, that no link joins two of them, and that they don't fill a page's list."""

from collections.abc import Sequence

import numpy as np
import pytest

from internal_linker.match.near_duplicates import SHINGLE, NearDuplicates, jaccard, shingles
from internal_linker.model.arrays import Vectors, pairs_of
from internal_linker.model.records import Fusion, Page, Searched, SerpTarget
from internal_linker.rank.rank import Ranking
from internal_linker.rank.recommend import recommend
from internal_linker.rank.reverse_candidates import sources_near
from internal_linker.rank.rules import CANDIDATES, LinkRules
from tests.support.builders import page, source, url
from tests.support.link_sites import query_of, ranked_site

FIFTY = [f"word{number}" for number in range(50)]


def ranking(
    pages: Sequence[Page],
    vectors: Vectors,
    *,
    linked: dict[str, tuple[str, ...]] | None = None,
    searched: Searched | None = None,
    **rules: float | Fusion,
) -> Ranking:
    """Return the ranking of a site by embedding and words; vectors are (len(pages), d)."""
    sources = [source(query="query", of=each) for each in pages]
    given: dict[str, object] = {"links_per_page": 5, "fusion": "fill", "lexical_weight": 0.5, **rules}
    made = LinkRules(**given)  # type: ignore[arg-type]
    return ranked_site(pages, sources, searched=searched, rules=made, vectors=vectors, linked=linked or {})


def suggested(of: Ranking) -> dict[str, set[str]]:
    found = of.rank_sources(range(len(of.sources)))
    return {
        one.key.rsplit("/", 1)[1]: {candidate.key.rsplit("/", 1)[1] for candidate in candidates}
        for one, candidates in zip(of.sources, found, strict=True)
    }


def unit(rows: Sequence[Sequence[float]]) -> Vectors:
    raw = np.array(rows, np.float32)
    rows_of_length_1: Vectors = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    return rows_of_length_1


def copies(count: int, others: int) -> tuple[list[Page], Vectors]:
    """Return copies of one text, each with a word of its own, and other texts of the same words in any order."""
    dice = np.random.default_rng(1)
    texts = [[*FIFTY, f"own{number}"] for number in range(count)]
    texts += [dice.choice(FIFTY, 40).tolist() for _ in range(others)]
    names = [f"copy{number}" for number in range(count)] + [f"other{number}" for number in range(others)]
    vectors = [[1.0, 0.01 * (number % 7), 0.0] for number in range(count)]
    vectors += [[1.0, dice.normal(), dice.normal() + 2] for _ in range(others)]
    return [page(name, " ".join(text)) for name, text in zip(names, texts, strict=True)], unit(vectors)


def test_the_shared_part_of_two_texts() -> None:
    changed = [*FIFTY[:20], "another", *FIFTY[21:]]
    assert jaccard(shingles(FIFTY), shingles(FIFTY)) == 1
    assert jaccard(shingles(FIFTY), shingles(changed)) == pytest.approx(43 / 51)
    assert jaccard(shingles(FIFTY), shingles(FIFTY[::-1])) == 0
    assert jaccard(shingles(FIFTY[: SHINGLE - 1]), shingles(FIFTY[: SHINGLE - 1])) == 0


@pytest.mark.parametrize(
    ("similarity", "lexical", "other", "alike"),
    [
        (0.96, 0.2, FIFTY[:48], True),
        (0.2, 0.96, FIFTY[:48], True),
        (np.nan, 0.96, FIFTY[:48], True),
        (0.94, 0.94, FIFTY[:48], False),
        (np.nan, 0.94, FIFTY, False),
        (1.0, 1.0, FIFTY[::-1], False),
        (1.0, 1.0, [], False),
    ],
)
def test_both_cosine_and_text_make_a_near_duplicate(
    similarity: float, lexical: float, other: list[str], alike: bool
) -> None:
    found = NearDuplicates([FIFTY, other].__getitem__, 0.95).among(
        0, np.array([1]), np.array([similarity]), np.array([lexical])
    )
    assert found == ({1} if alike else set())


def test_the_setting_is_the_least_cosine_and_a_copy_counts_at_any() -> None:
    pages, vectors = copies(2, 12)
    copy = [page("twin", str(pages[0].content)), *pages]
    found = suggested(ranking(copy, np.concatenate([vectors[:1], vectors]), near_duplicate=1.0))
    assert "copy0" not in found["twin"] and "copy1" in found["twin"]
    pages, _ = copies(2, 12)
    vectors = unit([[1, 0], [0.9, 0.43589], *([[0.0, 1.0]] * 12)])
    assert "copy1" in suggested(ranking(pages, vectors, near_duplicate=0.95, lexical_weight=0.0))["copy0"]
    assert "copy1" not in suggested(ranking(pages, vectors, near_duplicate=0.85))["copy0"]


def test_no_link_joins_two_near_duplicates() -> None:
    found = suggested(ranking(*copies(120, 10)))
    others = {f"other{number}" for number in range(10)}
    assert all(found[f"copy{number}"] == others for number in range(120))
    assert all(len(found[name]) == CANDIDATES and found[name] - others for name in others)


@pytest.mark.parametrize("fusion", ["fill", "blend"])
def test_a_search_result_that_is_a_near_duplicate_is_no_link(fusion: Fusion) -> None:
    pages, vectors = copies(3, 20)
    pages[2] = page("copy2", str(pages[2].content), lang="de")
    pages[0] = page("copy0", str(pages[0].content), lang="en")
    results = tuple(SerpTarget(each.key, each.url, rank) for rank, each in enumerate(pages[1:5], 1))
    searched = Searched(targets={0: results})
    (first, *_) = recommend(
        ranking(pages, vectors, searched=searched, fusion=fusion),
        searched,
        LinkRules(5, fusion, 0.5),
    )
    keys = {link.target.key for link in first.links}
    assert len(keys) == 5 and not keys & {url("copy1"), url("copy2")}
    assert {pages[3].key, pages[4].key} <= {
        link.target.key for link in first.links if link.origin == "serp"
    } or fusion == "blend"


def test_copies_get_their_inlinks_from_others() -> None:
    pages, vectors = copies(15, 60)
    rules = LinkRules(5, "fill", 0.5, min_inlinks=2)
    found = ranking(pages, vectors, min_inlinks=2)
    counts = dict.fromkeys((each.key for each in pages), 0)
    for one in recommend(found, Searched(), rules):
        for link in one.links:
            counts[link.target.key] += 1
            assert "other" in one.source.key or "other" in link.target.key
    assert min(counts.values()) >= 2
    (nearest,) = sources_near(found, np.array([0]), 10)
    assert len(nearest) == 10 and min(nearest) >= 15


def test_a_page_that_links_to_its_six_hundred_best_gets_those_behind_them() -> None:
    dice = np.random.default_rng(2)
    hub = page("hub", " ".join(f"w{number}" for number in range(300)))
    pages = [hub] + [
        page(number, " ".join(f"w{word}" for word in dice.integers(0, 600, 30))) for number in range(700)
    ]
    vectors = unit(dice.normal(size=(len(pages), 8)).tolist())
    matches = ranking(pages, vectors).site.matches(
        np.array([0]), np.ones(len(pages), np.bool_), 0.5, pairs_of([range(len(pages))])
    )
    rows = matches.rows.tolist()
    keys = [pages[row].key for row in rows]
    site = ranking(pages, vectors, linked={hub.key: tuple(keys[:600])})
    (found,) = site.rank_sources([0])
    assert {candidate.key for candidate in found} == set(keys[600 : 600 + CANDIDATES])
    beside = site.candidates(*site.ranked([0], {0: rows[300:600] + rows[-60:]}))
    assert {candidate.key for candidate in beside} >= set(keys[600 : 600 + CANDIDATES]), (
        "with requested rows beside them"
    )
    (nearest,) = sources_near(site, np.array([0]), 5)
    assert len(nearest) == 5


def test_a_page_that_nothing_speaks_for_has_no_sources() -> None:
    pages, _ = copies(2, 12)
    alone = page("alone", "something else entirely")
    site = ranking([*pages, alone], np.zeros((15, 1), np.float32))
    nobody, others = sources_near(site, np.array([len(pages), 5]), 5)
    assert (nobody, len(others)) == ([], 5)
    # A query without a page has no text that could be a copy.
    pages, vectors = copies(2, 5)
    site = ranked_site(pages, [query_of("")], vectors=np.concatenate([vectors, vectors[:1]]))
    (found,) = site.rank_sources([0])
    assert {candidate.key for candidate in found} == {each.key for each in pages}
