"""What is said of the impact of links, and when nothing is said."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

from internal_linker.insight.impact.analysis import impact, sentence, treated_pages
from internal_linker.insight.impact.estimate import detectable, pages_needed
from internal_linker.insight.impact.matching import drawn_at_random
from internal_linker.insight.impact.records import Conclusion, Dropped, Effect, Metric
from internal_linker.model.search_data import FINAL_AFTER
from tests.support.impact_sites import Kind, Simulated, nearest_controls_moved, simulated

CLEAR = Kind(pages=700, targets=150, clicks=4.0, noise=0.1, drift=0.1, scatter=0.0)


@pytest.fixture(scope="module")
def site() -> Simulated:
    return simulated(11, CLEAR, 0.3)


def made(**more: object) -> Effect:
    facts: dict[str, object] = {
        "outcome": Metric.CLICKS, "group": "all", "pages": 60, "controls": 300,
        "effect": np.log(1.06), "low": np.log(0.98), "high": np.log(1.14), "error": 0.04,
    }  # fmt: skip
    return Effect(**{**facts, **more})  # type: ignore[arg-type]


def test_a_large_effect_is_found(site: Simulated) -> None:
    found = site.findings()
    clicks = found.estimates[0]
    assert found.verdict is Conclusion.GAIN
    assert clicks.low < np.log(1.3) < clicks.high
    assert found.placebo is not None
    assert found.placebo.verdict is Conclusion.UNCLEAR
    assert found.pre_trend > 0.05
    weeks = found.weeks.set_index("week")["effect"]
    assert [*weeks.index] == [*range(weeks.index[0], 4)]
    assert -16 <= weeks.index[0] <= -14
    assert weeks.loc[:-1].abs().max() < weeks.loc[0:].min()


def test_a_placebo_that_fails_is_remarked_upon(site: Simulated) -> None:
    """Pages without a link that gained as if they had one are named as a reason for doubt; otherwise nothing is."""
    sound = site.findings()
    assert not any("placebo" in remark for remark in sound.remarks)
    assert sound.listed[-1] is sound.placebo
    assert sound.listed[-1].judgement == "no effect, as it should be"
    found = replace(site, panel=nearest_controls_moved(site, 1.3)).findings()
    assert found.placebo is not None
    assert found.placebo.judgement == "failed"
    (remark,) = [each for each in found.remarks if "placebo" in each]
    assert remark.startswith("The placebo failed: the pages most similar to the targets gained 2")
    lost = replace(site, panel=nearest_controls_moved(site, 0.7)).findings()
    assert any("targets lost 2" in remark or "targets lost 3" in remark for remark in lost.remarks)


def test_results_do_not_differ_from_call_to_call(site: Simulated) -> None:
    one, other = site.findings(), site.findings()
    assert one == other and one.weeks.equals(other.weeks) and one.pairs.equals(other.pairs)


def test_impressions_and_positions_are_outcomes_as_well(site: Simulated) -> None:
    rows = {page: row for row, page in enumerate(site.panel.pages)}
    positions = site.panel.impressions * 8.0
    for page, day in zip(site.treated["page"], site.treated["day"], strict=True):
        positions[rows[page], day - site.panel.first :] *= 6 / 8
    found = replace(site, panel=replace(site.panel, positions=positions)).findings()
    assert [one.outcome for one in found.estimates[:3]] == [*Metric]
    assert found.estimates[2].effect == pytest.approx(-2, abs=0.01)
    assert found.estimates[2].verdict is Conclusion.GAIN


def test_groups_have_their_own_effects(site: Simulated) -> None:
    at = np.arange(len(site.treated))
    names = site.treated.assign(
        tier=np.where(at % 2, "related box", "in the text"), anchor=np.where(at < 5, "rare", "")
    )
    found = replace(site, treated=names).findings()
    assert [one.group for one in found.estimates] == ["all"] * 3 + ["in the text", "related box"]
    assert sum(one.pages for one in found.estimates[3:]) == found.estimates[0].pages


def test_few_targets_are_refused(site: Simulated) -> None:
    """The sentence says how many more would be enough, or how many wait until which day, and who is left out."""
    late = pd.concat([site.treated[:12], site.treated[12:20].assign(day=site.panel.end - 20)])
    found = replace(site, treated=late).findings()
    assert found.verdict is Conclusion.THIN
    # The data end on the day before `end`; those of 8 more days are needed, and final ten days later.
    until = date.fromordinal(site.panel.end + 7)
    assert timedelta(days=10) == FINAL_AFTER
    waits = f"ask again from {until + timedelta(days=10)} on, with final search data until {until}."
    assert found.sentence.endswith(
        "12 targets can be compared, and 20 are needed. 8 targets wait for search data of up to 28 days "
        f"after the link: {waits}"
    )
    assert found.dropped[Dropped.RECENT] == 8
    fewer = replace(site, treated=late[:13]).findings().sentence
    assert "12 targets can be compared, and 8 more targets would be enough. 1 target waits for" in fewer
    early = site.treated[:9].assign(day=site.panel.first)
    assert (
        replace(site, treated=early)
        .findings()
        .sentence.endswith(
            "0 targets can be compared, and 20 more targets would be enough. Left out: 9 targets with too few weeks of "
            "search data before the link. Import search data from 12 weeks before the links."
        )
    )


def test_the_twentieth_target_says_when_to_ask_again(site: Simulated) -> None:
    late = site.treated[:26].assign(day=site.panel.end - 27 + np.arange(26))
    until = date.fromordinal(site.panel.end + 19)
    assert f"with final search data until {until}." in replace(site, treated=late).findings().sentence


def test_few_clicks_are_refused(site: Simulated) -> None:
    """Chance in counting would hide any effect."""
    panel = replace(site.panel, clicks=np.where(site.panel.clicks > 9, 1.0, 0.0))
    quiet = replace(
        site, panel=replace(panel, clicks=panel.clicks * (np.arange(panel.clicks.shape[1]) % 40 == 0))
    )
    found = quiet.findings()
    assert found.verdict is Conclusion.THIN
    assert found.sentence.startswith("Too few data")


def test_no_links_are_no_result(site: Simulated) -> None:
    """Without an error: alerts ask again and again."""
    found = impact(site.panel, site.treated[:0], site.strata)
    assert found.verdict is Conclusion.THIN
    assert "New links to at least 20 pages are needed" in found.sentence


def test_the_sentence_says_what_would_be_enough() -> None:
    """Of an effect that may be chance; one that is none is stated."""
    needed = pages_needed(made()) - 60
    assert sentence(made(), 28) == (
        f"Targets gained 6% [-2%, 14%] clicks in 28 days: not distinguishable from no effect yet; {needed} more pages "
        "would be enough to see 5%."
    )
    lost = made(effect=np.log(0.9), low=np.log(0.85), high=np.log(0.95))
    assert sentence(lost, 28).startswith("Targets lost 10% [5%, 15%] clicks in 28 days, compared with")
    drawn = sentence(lost, 28, randomised=True)
    assert drawn.endswith("compared with pages whose links were held back at random.")
    sure = made(effect=0.0, low=-0.01, high=0.01, error=0.005)
    assert sentence(sure, 28).endswith("no effect, and an effect of 5% would probably have been seen.")


def test_the_pages_needed_see_five_percent() -> None:
    """With so many pages, the smallest effect that is detectable is 5%."""
    few = made(pages=100, error=0.05)
    error = few.error * np.sqrt(few.pages / pages_needed(few))
    assert detectable(error) == pytest.approx(0.05, rel=0.01)


def test_the_first_link_of_a_page_counts() -> None:
    """Later ones are counted as long as they fall into the comparison."""
    links = pd.DataFrame({"target": "a", "day": [30, 10, 10, 90], "tier": ["box", "text", "box", "text"]})
    found = treated_pages(links.assign(anchor="words"), 28)
    assert found.to_dict("records") == [
        {"page": "a", "day": 10, "links": 3, "tier": "several", "anchor": "words"}
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_few_targets_have_one_that_is_held_back(count: int) -> None:
    """An experiment without a held-back target would compare with nothing."""
    levels = {f"p{at}": float(at) for at in range(count)}
    found = {page for seed in range(60) for page in drawn_at_random(levels, {}, np.random.default_rng(seed))}
    assert found == {*levels}
    assert len(drawn_at_random(levels, {}, np.random.default_rng(0))) == min(count, 1)


def test_one_in_five_is_drawn_from_each_block() -> None:
    levels = {f"p{at:02}": float(at) for at in range(20)}
    strata = {page: "a" if at < 10 else "b" for at, page in enumerate(levels)}
    times = dict.fromkeys(levels, 0)
    for seed in range(300):
        held = drawn_at_random(levels, strata, np.random.default_rng(seed))
        assert len(held) == 4
        assert sum(strata[page] == "a" for page in held) == 2
        for page in held:
            times[page] += 1
    assert min(times.values()) > 30
    assert max(times.values()) < 95
