"""Agreement with hidden links: checked by hand, against chance, and against the external scorer on two real sites."""

import csv
import hashlib
import importlib.util
import json
import math
import random
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from internal_linker.insight.evaluation.holdout import cold, hidden
from internal_linker.rank.metrics import Estimate, estimates, fold, measure, paired, ratios, reach
from internal_linker.text.spans import without_anchors
from tests.support.builders import url

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
SITES = ["18f-blog", "vue-fa-ar"]
outside = pytest.mark.skipif(not (CORPORA / "score.py").is_file(), reason="shared/corpora isn't here")

Truth = dict[str, set[str]]
Ranked = dict[str, list[str]]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def body_links(site: str) -> list[dict[str, str]]:
    return [link for link in table(CORPORA / site / "links.csv") if link["Kind"] == "body"]


def languages(site: str) -> dict[str, str]:
    return {page["URL"]: page["Lang"] for page in table(CORPORA / site / "pages.csv")}


def truth_of(site: str, hide: str) -> Truth:
    lang = languages(site)
    truth: Truth = defaultdict(set)
    for link in body_links(site):
        source, target = link["Source"], link["Target"]
        if lang[source] == lang[target] and (hide == "all" or hidden(source, target)):
            truth[source].add(target)
    return truth


def hash_order(site: str, keep: int) -> Ranked:
    lang = languages(site)
    return {
        page: sorted(
            (each for each in lang if lang[each] == lang[page] and each != page),
            key=lambda each: hashlib.sha256(f"{page} {each}".encode()).digest(),
        )[:keep]
        for page in lang
    }


def informed(ranked: Ranked, truth: Truth) -> Ranked:
    better = {source: list(targets) for source, targets in ranked.items()}
    for number, (source, wanted) in enumerate(sorted(truth.items())):
        for target in sorted(wanted)[: number % 3]:
            better[source].insert(number % 10, target)
    return better


def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", CORPORA / "score.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(path: Path, ranked: Ranked, wide: bool) -> None:
    header = ["URL", *(f"Link {place}" for place in range(1, 6))] if wide else ["Source", "Target"]
    pairs = ([source, target] for source, targets in ranked.items() for target in targets)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(header)
        rows.writerows(([source, *targets] for source, targets in ranked.items()) if wide else pairs)


def chance_of(found: Estimate, count: int) -> float:
    """How far an end of an interval may lie from that of other resamples.

    With 1,000 of them it is off by 0.08 standard errors of the mean; two such ends differ by 0.12, and an interval
    is four wide: five times that. Means of a few sources lie half a source apart.
    """
    return 0.15 * (found.high - found.low) + 0.5 / count


@outside
@pytest.mark.parametrize(("site", "hide", "wide"), [("18f-blog", "half", True), ("vue-fa-ar", "all", False)])
def test_the_outside_scorer_counts_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], site: str, hide: str, wide: bool
) -> None:
    truth = truth_of(site, hide)
    chance = hash_order(site, keep=5 if wide else 12)
    # Targets beyond the columns of a wide table must not count.
    some_right = {source: targets[: 5 if wide else 20] for source, targets in informed(chance, truth).items()}
    for ranked in (chance, some_right):
        write(tmp_path / "Output.csv", ranked, wide)
        scorer().score(CORPORA / site, tmp_path / "Output.csv", hide)
        theirs = json.loads(capsys.readouterr().out)
        ours = measure(truth, ranked)
        assert len(ours.sources) == theirs["sources"]
        means = [round(each.mean, 4) for each in (ours.hit, ours.recall, ours.ndcg, ours.mrr)]
        assert means == [theirs[name] for name in ("hit@5", "recall@5", "ndcg@5", "mrr")]
        most = chance_of(ours.hit, len(ours.sources))
        assert (ours.hit.low, ours.hit.high) == pytest.approx(theirs["hit@5_ci95"], abs=most)


@outside
@pytest.mark.parametrize("site", SITES)
def test_the_hidden_half_is_the_outside_scorers(site: str) -> None:
    theirs, links = scorer(), body_links(site)
    assert len(links) > 500
    for link in links:
        assert hidden(link["Source"], link["Target"]) == theirs.hidden(link, "half")


@outside
@pytest.mark.parametrize(("site", "most"), [("18f-blog", 0.0008), ("vue-fa-ar", 0.008)])
def test_cutting_without_positions_comes_close_to_cutting_by_them(
    tmp_path: Path, site: str, most: float
) -> None:
    scorer().make_input(CORPORA / site, tmp_path, "removed", "all")
    by_place = {page["URL"]: page["Main Content"] for page in table(tmp_path / "urls_rawdata.csv")}
    content = {page["URL"]: page["Content"] for page in table(CORPORA / site / "pages.csv")}
    anchors: dict[str, list[str]] = defaultdict(list)
    for link in body_links(site):
        anchors[link["Source"]].append(link["Anchor"])
    differ = 0
    for source, texts in anchors.items():
        ours = Counter("".join(without_anchors(content[source], texts).split()))
        theirs = Counter("".join(by_place[source].split()))
        differ += ((ours - theirs) + (theirs - ours)).total()
    assert differ / sum(len(content[source]) for source in anchors) <= most


def test_figures_worked_out_by_hand() -> None:
    ranked = {"s": [*"xaybzc"], "late": [*"uvwxyza"], "all": [*"abcdefg"]}
    truth = {"s": {*"abc"}, "late": {"a"}, "all": {*"abcdefg"}, "missing": {"a"}}
    found = measure(truth, ranked)
    assert found.sources == ("all", "late", "missing", "s")
    ndcg = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2)
    expected = [[1, 5 / 7, 1, 1], [0, 0, 0, 1 / 7], [0, 0, 0, 0], [1, 2 / 3, ndcg, 1 / 2]]
    assert found.each.tolist() == [pytest.approx(row) for row in expected]
    means = (found.hit.mean, found.recall.mean, found.ndcg.mean, found.mrr.mean)
    assert means == pytest.approx([sum(column) / 4 for column in zip(*expected, strict=True)])


def test_what_can_be_no_link_takes_no_place() -> None:
    found = measure({"s": {"a"}, "none": set()}, {"s": ["s", "", "b", "b", "a"], "none": ["a"]})
    assert found.sources == ("s",)
    assert found.mrr.mean == 1 / 2
    assert reach({"s": {"a"}}, {"s": ["s", "", "b", "b", "a"]}, k=2) == 1
    truth, candidates = {"s": {*"abc"}, "t": {"a"}}, {"s": [*"xaybzc"]}
    assert (reach(truth, candidates), reach(truth, candidates, k=4)) == (3 / 4, 2 / 4)


def test_nothing_to_measure_is_no_zero() -> None:
    nothing = measure({}, {"s": ["a"]})
    for each in (nothing.hit, nothing.recall, nothing.ndcg, nothing.mrr, paired(nothing, nothing)):
        assert all(map(math.isnan, (each.mean, each.low, each.high)))
    assert math.isnan(reach({}, {"s": ["a"]}))


@pytest.mark.parametrize("count", [1, 7, 64, 281])
def test_the_interval_is_that_of_a_plain_resampling(count: int) -> None:
    truth = {f"{number:03}": {"a"} for number in range(count)}
    ranked = {source: ["b"] * (number % 3 > 0) + ["a"] for number, source in enumerate(truth)}
    values = [0.5 if number % 3 else 1.0 for number in range(count)]
    rng = random.Random(0)
    means = sorted(sum(rng.choice(values) for _ in values) / count for _ in range(1000))
    found = measure(truth, ranked).mrr
    assert (found.low, found.high) == pytest.approx((means[25], means[974]), abs=chance_of(found, count))
    assert measure(truth, ranked).mrr == found


def test_ratios_are_those_of_sums_and_resample_whole_clusters() -> None:
    rng = np.random.default_rng(7)
    each = rng.integers(0, 2, (200, 1)).astype(np.float64)
    (plain,) = estimates(each)
    (clustered,) = ratios(50 * each, np.full_like(each, 50))
    assert clustered.mean == pytest.approx(plain.mean)
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high))
    values, counts = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 0.0]])
    half, nothing = ratios(values, counts)
    assert half.mean == 0.5 and math.isnan(nothing.mean)
    (empty,) = ratios(np.zeros((0, 1)), np.zeros((0, 1)))
    assert math.isnan(empty.mean) and math.isnan(empty.low)


def test_random_ranking_gets_what_chance_predicts() -> None:
    rng = random.Random(1)
    others = [str(number) for number in range(59)]
    # A page on each of 1,200 such sites.
    truth = {f"page {turn}": set(rng.sample(others, 3)) for turn in range(1200)}
    ranked = {source: rng.sample(others, len(others)) for source in truth}
    discounts = [1 / math.log2(place + 1) for place in range(1, 6)]
    first = [math.comb(59 - place, 2) / math.comb(59, 3) for place in range(1, 58)]
    found = measure(truth, ranked)
    for each, expected in [
        (found.hit, 1 - math.comb(56, 5) / math.comb(59, 5)),
        (found.recall, 5 / 59),
        (found.ndcg, 3 / 59 * sum(discounts) / sum(discounts[:3])),
        (found.mrr, sum(share / place for place, share in enumerate(first, start=1))),
    ]:
        assert each.low < each.mean < each.high
        # The interval is four standard errors wide: chance leaves this band once in 15,000 times.
        assert abs(each.mean - expected) < each.high - each.low
    assert reach(truth, ranked, k=20) == pytest.approx(20 / 59, abs=0.03)


def test_a_paired_gain_shows_where_two_intervals_overlap() -> None:
    truth = {f"{number}": {"a"} for number in range(100)}
    before = {source: [*"bcd"[: 1 + int(source) % 3], "a"] for source in truth if int(source) % 2}
    after = {source: targets[1:] for source, targets in before.items()}
    ours, theirs = measure(truth, after), measure(truth, before)
    gain = paired(ours, theirs)
    assert ours.ndcg.low < theirs.ndcg.high
    assert gain.mean == pytest.approx(ours.ndcg.mean - theirs.ndcg.mean)
    assert 0 < gain.low < gain.mean < gain.high
    assert paired(ours, ours) == Estimate(0, 0, 0)
    one, two = measure({"a": {"b"}, "c": {"b"}}, {}), measure({"a": {"b"}}, {})
    with pytest.raises(ValueError, match="2 here, 1 there, 1 in both"):
        paired(one, two)


def test_splits_are_even_fixed_and_tell_nothing_of_each_other() -> None:
    urls = [url(number) for number in range(5000)]
    assert [each for each in range(12) if hidden(url(0), url(each))] == [0, 3, 4, 5, 6, 8, 10, 11]
    assert sum(hidden(url(0), each) for each in urls) / 5000 == pytest.approx(1 / 2, abs=0.02)
    assert sum(map(cold, urls)) / 5000 == pytest.approx(1 / 5, abs=0.02)
    assert [each for each in range(12) if cold(url(each))] == [4]
    assert [fold(url(each), 5) for each in range(6)] == [4, 2, 4, 4, 0, 2]
    for part in range(5):
        mine = [each for each in urls if fold(each, 5) == part]
        assert len(mine) / 5000 == pytest.approx(1 / 5, abs=0.02)
        assert sum(map(cold, mine)) / len(mine) == pytest.approx(1 / 5, abs=0.04)
