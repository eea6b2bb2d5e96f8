"""Calibrated probabilities: what is learned from the lists of some sites, and the tables of the others."""

import numpy as np
import pytest

from internal_linker.model.arrays import Vectors
from internal_linker.rank.calibration import LinkProbability
from tests.research.quality.arrivals import ARRIVALS
from tests.research.quality.ranker_lists import Lists
from tests.research.quality.reliability import calibrated, scored, tables

TRUE = LinkProbability(0.8, 1.2)


def made(seed: int, setting: str = ARRIVALS, count: int = 400) -> tuple[Lists, Vectors]:
    """Return lists of 50 candidates with their scores, whose links were drawn with the probabilities of `TRUE`."""
    rng = np.random.default_rng(seed)
    scores, of = rng.normal(size=50 * count), np.repeat(np.arange(count), 50)
    is_link = rng.random(len(of)) < TRUE.probability(scores, of)
    none = np.zeros((len(of), 0), np.float32)
    wanted = np.bincount(of, is_link).astype(np.int64)
    sources = [f"{seed}/{number}" for number in range(count)]
    targets = np.tile(np.arange(50), count)
    return Lists(setting, sources, of, targets, none, is_link, wanted), scores


def test_the_calibration_that_drew_the_links_is_found() -> None:
    """From arrivals of two sites, each of which counts the same."""
    sites = {"one": [made(0, count=4000)], "other": [made(3, count=1500)]}
    found = calibrated(scored(sites)[ARRIVALS])
    scores, of = np.linspace(-2, 2, 50), np.zeros(50, np.int64)
    np.testing.assert_allclose(found.probability(scores, of), TRUE.probability(scores, of), rtol=0.15)


def test_the_tables_compare_with_what_was_added() -> None:
    """Where links follow the probabilities, each range and each site has about as many as expected."""
    sites = {name: [made(at), made(at + 9, "half")] for at, name in enumerate(("wsl", "tts", "govuk"))}
    lines = [*tables(scored(sites))]
    starts = [at for at, line in enumerate(lines) if line.startswith("| probability, ")]
    assert [lines[at].split(" | ")[0] for at in starts] == ["| probability, arrivals", "| probability, half"]
    ranges = lines[starts[0] + 2 : lines.index("")]
    assert len(ranges) == 9
    for line in ranges:
        _, expected, added, pairs = line.strip("| ").split(" | ")
        assert float(added) == pytest.approx(
            float(expected), abs=4 * (0.25 / int(pairs.replace(",", ""))) ** 0.5
        )
    of_site = next(line for line in lines if line.startswith("| tts |")).strip("| ").split(" | ")
    assert len(of_site) == 5
    of_page = [float(figure) for figure in of_site[1].split(" / ")]
    assert of_page[1] == pytest.approx(of_page[0], rel=0.15)


def test_a_site_without_arrivals_is_in_the_other_tables() -> None:
    """Its probabilities are those learned from the arrivals of the others."""
    lines = [*tables(scored({"wsl": [made(0)], "tts": [made(1)], "18f-blog": [made(2, "half")]}))]
    assert lines[-1].startswith("| 18f-blog |  |  | ")
