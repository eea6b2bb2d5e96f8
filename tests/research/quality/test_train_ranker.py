"""Training of the ranker: its lists, what it learns from them, and how it is measured."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from internal_linker.insight.evaluation.holdout import Hidden, hide
from internal_linker.rank.pair_features import PAIR_FEATURES
from internal_linker.rank.ranker import COLUMNS
from tests.research.quality.arrivals import SETTINGS, Reached, arrivals
from tests.research.quality.corpora import drawn, family
from tests.research.quality.ranker_lists import Lists, trial_lists
from tests.research.quality.test_arrivals import AFTER, BEFORE
from tests.research.quality.train_ranker import (
    about,
    by_page,
    learn,
    learning,
    measured,
    table,
    what_to_learn,
    with_trees,
)
from tests.research.quality.weights import DEFAULT
from tests.support.builders import collected, page
from tests.support.corpora import no_vectors, ranking
from tests.support.link_sites import existing, random_pairs

WORDS, VOTES = PAIR_FEATURES.index("words"), PAIR_FEATURES.index("votes")


def made(seed: int, count: int = 40, setting: str = "half") -> Lists:
    """Return lists of ten candidates, of which the two with the most words in common are links, mostly."""
    rng = np.random.default_rng(seed)
    features = rng.random((10 * count, len(PAIR_FEATURES))).astype(np.float32)
    of = np.repeat(np.arange(count), 10)
    noisy = (features[:, WORDS] + 0.1 * rng.random(len(of))).reshape(count, 10)
    is_link = (np.argsort(np.argsort(-noisy, axis=1), axis=1) < 2).ravel()
    wanted = np.full(count, 2)
    sources = [f"{seed}/{number}" for number in range(count)]
    return Lists(setting, sources, of, np.tile(np.arange(10), count), features, is_link, wanted)


def sites() -> Mapping[str, list[Lists]]:
    return {"one": [made(0), made(1, setting="none")], "other": [made(2)]}


def test_it_learns_what_links_have_in_common() -> None:
    """The feature that decides has the most weight, and links come first on another site."""
    ranker = learn({"one": [learning("one", [made(0, 300)])], "other": [learning("other", [made(1, 300)])]})
    heavy = [COLUMNS[at] for at in np.argsort(-ranker.weights)[:2]]
    assert all(name.endswith(" words") for name in heavy)
    other = made(9)
    ndcg, recall = measured(other, ranker.score(other.features, other.of)).mean(axis=0)
    assert ndcg > 0.9 and recall == 1


def test_training_is_deterministic_and_at_its_optimum() -> None:
    """Equal lists give equal weights; from other weights, training ends at the same ones."""
    learned = {name: [learning(name, lists)] for name, lists in sites().items()}
    first = learn(learned)
    again = learn({name: [learning(name, lists)] for name, lists in sites().items()})
    np.testing.assert_array_equal(first.weights, again.weights)
    shifted = learn(learned, learn({"other": learned["other"]}))
    np.testing.assert_allclose(shifted.weights, first.weights, atol=5e-3)


def test_settings_of_a_site_weigh_the_same() -> None:
    """A setting with more trials or more lists counts no more than another; lists without a link don't count."""
    empty = made(3)
    empty.is_link[:10] = False
    found = learning("site", [empty, made(4, 20, "none"), made(5, 5, "none")])
    assert len(found.starts) == len(found.weights) == 39 + 20 + 5
    assert found.weights[:39].sum() == pytest.approx(1)
    assert found.weights[39:].sum() == pytest.approx(1)
    assert np.add.reduceat(found.target, found.starts) == pytest.approx(np.ones(64))


def test_links_of_some_targets_are_hidden() -> None:
    column = learning("site", [made(0)]).columns[:, COLUMNS.index("raw votes")]
    assert 0.2 < np.isnan(column).mean() < 0.4
    assert np.isfinite(learning("site", [made(0)]).columns[:, COLUMNS.index("raw words")]).all()


def either_or(seed: int, setting: str) -> Lists:
    """Return lists whose links have both many words in common and many votes, or few of both."""
    lists = made(seed, 300, setting)
    one, other = (lists.features[:, at].reshape(-1, 10) - 0.5 for at in (WORDS, VOTES))
    best = np.argsort(np.argsort(-one * other, axis=1), axis=1) < 2
    return replace(lists, is_link=best.ravel())


def test_trees_learn_what_a_sum_cannot_and_not_from_new_pages() -> None:
    """They leave the weights as they are."""
    lists = [either_or(seed, setting) for seed, setting in enumerate(("half", "none", "new pages"))]
    weights, trees = what_to_learn({"without vectors": {"one": lists}})
    assert [len(each.starts) for each in (weights["one"][0], trees["one"][0])] == [900, 600]
    linear = learn(weights)
    ranker = with_trees(linear, trees)
    np.testing.assert_array_equal(ranker.weights[:-1], linear.weights[:-1])
    other = either_or(9, "half")
    before, after = (
        measured(other, each.score(other.features, other.of))[:, 0].mean() for each in (linear, ranker)
    )
    assert after > before + 0.1


def test_measures_are_those_of_the_best_candidates() -> None:
    """Links that are no candidates count as misses."""
    lists = made(0, 2)
    perfect = lists.is_link.astype(float)
    assert measured(lists, perfect).tolist() == [[1, 1], [1, 1]]
    assert measured(lists, -perfect)[:, 0].tolist() == [0, 0]
    lists.wanted[:] = 4
    assert (measured(lists, perfect) < 1).all() and measured(lists, perfect)[:, 1].tolist() == [0.5, 0.5]


def test_raw_cosines_of_vectors_have_no_weight() -> None:
    """Those of another encoder lie elsewhere: only z-scores and ranks of them count."""
    lists = made(0, 300)
    at = PAIR_FEATURES.index("embedding")
    lists.features[:, at] = lists.features[:, WORDS]
    ranker = learn({"one": [learning("one", [lists])]})
    weights = dict(zip(COLUMNS, ranker.weights, strict=True))
    assert weights["raw embedding"] == 0 < weights["z embedding"]
    moved = lists.features.copy()
    moved[:, at] = 0.5 + moved[:, at] / 4
    np.testing.assert_allclose(
        ranker.score(moved, lists.of), ranker.score(lists.features, lists.of), atol=1e-4
    )


def test_the_table_has_each_site_and_their_mean() -> None:
    found = sites()
    lines = [*table(by_page(found, lambda _, lists: measured(lists, lists.is_link.astype(float))))]
    assert lines[0] == "| NDCG@5 | none | half |"
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| one", "| other", "| mean of the sites"]
    assert lines[-1].count("1.0000 [1.000, 1.000]") == 2


def test_families_are_left_out_together() -> None:
    assert family("react-es") == family("react-ja") != family("wsl") == "wsl"


def lists_of(hidden: Hidden, setting: str) -> Lists:
    return trial_lists(setting, hidden, ranking(hidden, no_vectors(hidden.pages), DEFAULT))


def test_lists_have_the_links_to_be_found_and_no_known_ones() -> None:
    """Of the links that were added, those to candidates; new pages have features, but none of links to them."""
    trial = arrivals(BEFORE, AFTER)
    assert trial
    found = lists_of(trial.hidden, SETTINGS[0])
    rows = {one.url: row for row, one in enumerate(trial.hidden.pages)}
    assert found.sources == sorted(trial.hidden.truth)
    assert found.wanted.tolist() == [2, 2]
    known = {(rows[link.source], rows[link.target]) for link in trial.hidden.visible}
    source_rows = np.array([rows[source] for source in found.sources])
    pairs = [*zip(source_rows[found.of].tolist(), found.targets.tolist(), strict=True)]
    assert not known & {*pairs} and len({*pairs}) == len(pairs)
    for pair, is_link in zip(pairs, found.is_link.tolist(), strict=True):
        source, target = (trial.hidden.pages[row].url for row in pair)
        assert is_link == (target in trial.hidden.truth[source])
    assert found.is_link.any()
    new = found.targets == len(rows) - 1
    assert np.isnan(found.features[new, VOTES]).all()


def test_blocks_of_sources_are_joined() -> None:
    """More sources than are computed at a time have the same candidates as each alone."""
    texts = [
        " ".join(f"w{word}" for word in np.random.default_rng(at).integers(0, 60, 12)) for at in range(300)
    ]
    pages = [page(number, text) for number, text in enumerate(texts)]
    site = collected(pages, existing(random_pairs(300, 1800, 0)))
    hidden = hide(site, drawn("half", 0), cut_anchors=False)
    every = lists_of(hidden, "half")
    assert len(every.sources) > 256
    for at in (0, 255, 256, len(every.sources) - 1):
        source = every.sources[at]
        alone = lists_of(replace(hidden, truth={source: hidden.truth[source]}), "half")
        assert alone.targets.tolist() == every.targets[every.of == at].tolist()
        np.testing.assert_allclose(alone.features, every.features[every.of == at], rtol=1e-5, atol=1e-6)


def test_a_ranker_says_what_it_learned_from() -> None:
    """Its figures on unseen sites, beside those of words and passages, and each site's commit."""
    reached: Mapping[str, Reached] = {
        "half": {"wsl": {"/a": (0.25, 1.0), "/b": (0.75, 1.0)}, "tts": {"/a": (0.25, 1.0)}}
    }
    worse: Mapping[str, Reached] = {
        "half": {name: dict.fromkeys("ab", (0.125, 0.0)) for name in ("wsl", "tts")}
    }
    kinds = ("without vectors", "with vectors")
    said = about(dict.fromkeys(kinds, reached), dict.fromkeys(kinds, worse), ["wsl", "tts"])
    assert [(each["lists"], each["site"], each["ndcg@5"], each["baseline"]) for each in said["figures"]] == [
        (kind, site, ndcg, 0.125)
        for kind in kinds
        for site, ndcg in (("wsl", 0.5), ("tts", 0.25), ("mean of the sites", 0.375))
    ]
    assert said["sites"][0]["source"] == "MicrosoftDocs/WSL 8842def"
