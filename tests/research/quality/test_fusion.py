"""What is measured about search results: a search in titles, its spoilt variants, and the table of advice."""

from dataclasses import replace

import numpy as np
import pytest

from internal_linker.rank.fusion_choice import FusionEvidence
from internal_linker.rank.metrics import Estimate, measure
from tests.research.quality.fusion import Case, bm25, cases, searches, table
from tests.support.builders import page
from tests.support.corpora import ABSENT, present

TEXTS = ("how to brew green tea", "how to froth milk for coffee", "how to store coffee beans", "tea and milk")


def test_a_search_finds_rare_words_of_the_query_first() -> None:
    """Pages without a word of the query are not found; a rare word counts more than a common one."""
    pages = [replace(page(number, text), title="") for number, text in enumerate(TEXTS)]
    assert bm25(pages, ["how froth", "beans", "sugar"]) == [[1, 0, 2], [2], []]
    assert bm25([*pages[:3], replace(pages[3], title="coffee")], ["coffee"])[0][0] == 3


def test_searches_are_spoilt_or_know_the_links() -> None:
    """Every search has a list for each page; those that know the links have them first."""
    hits = [[(at + step) % 30 for step in range(1, 9)] for at in range(30)]
    links = [[(at + 20) % 30] for at in range(30)]
    found = dict(searches(hits, links))
    assert {len(each) for each in found.values()} == {30}
    assert found["search in titles"] == hits
    assert [each[0] for each in found["its first result only"]] == [each[0] for each in hits]
    some = [
        each[0] == link[0] for each, link in zip(found["40% of the editors' links first"], links, strict=True)
    ]
    assert 5 < sum(some) < 20


def test_the_table_counts_right_and_wrong_advice() -> None:
    """The advice is counted beside the setting that is surely better."""
    figures = measure({"a": ["b"]}, {"a": ["b"]})
    told = FusionEvidence(100, 10, 50, 0.2, 0.4, 0.2, 0.1, 0.3)
    every = [
        Case(figures, figures, Estimate(gain, gain - 0.1, gain + 0.1), evidence)
        for gain, evidence in (
            (0.2, told),
            (-0.2, told),
            (0.0, replace(told, low=-0.1)),
            (0.3, replace(told, far=40)),
        )
    ]
    *_, line = table({"search": every})
    assert line == "| search | 1.000 | 1.000 | 2 / 1 | 2 / 3 / 1 | 1 / 1 / 0 | 10% to 40% |"


@pytest.mark.long
@pytest.mark.skipif(not present("vue-zh"), reason=ABSENT)
def test_the_advice_is_right_on_a_site() -> None:
    """On a development site, "blend" is advised for a poor search, and not for one that knows the editors' links."""
    found = dict(cases("vue-zh"))
    poor, good = found["the same ten pages first"], found["60% of the editors' links first"]
    assert poor.gain.low > 0 and poor.evidence.sentence
    assert good.gain.high < 0 and not good.evidence.sentence
    assert np.isfinite([poor.evidence.gain, good.evidence.gain]).all()
