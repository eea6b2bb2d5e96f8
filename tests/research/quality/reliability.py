"""Probabilities of links on sites that they were not learned from, beside what editors did, as Markdown.

`train_ranker` learns the calibration and prints these tables. A probability is that of an editor adding a link between
two dates of a site, to a page that gets a link in this time. Scores are those of a ranker that has not seen the site's
family, and so is the calibration. Each site counts the same, and so does each of its pages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.model.arrays import Vectors
from internal_linker.rank.calibration import LinkProbability, log_odds, reliability
from internal_linker.rank.metrics import TOP
from tests.research.quality.arrivals import ARRIVALS, SETTINGS
from tests.research.quality.corpora import family
from tests.research.quality.ranker_lists import Lists
from tests.research.quality.weights import head, row

_STEPS = 30


@dataclass(frozen=True)
class Pairs:
    """The candidates of a site in one setting, m in all, scored by a ranker that has not seen the site.

    Attributes:
        log_odds: (m,) log-odds of each candidate's share, see `calibration`.
        is_link: (m,) whether each pair is a link to be found.
        first: (m,) whether it is among the first `TOP` of its list.
        pages: count of the lists.
    """

    log_odds: Vectors
    is_link: Vectors
    first: Vectors
    pages: int


# Pairs of each site, by setting.
Scored = Mapping[str, Mapping[str, Pairs]]


def scored(sites: Mapping[str, Sequence[tuple[Lists, Vectors]]]) -> Scored:
    """Return the pairs of each setting and site.

    Args:
        sites: the lists of each site, with scores of their candidates.
    """
    return {
        setting: {
            name: _pairs([each for each in lists if each[0].setting == setting])
            for name, lists in sites.items()
            if any(each.setting == setting for each, _ in lists)
        }
        for setting in SETTINGS
        if any(each.setting == setting for lists in sites.values() for each, _ in lists)
    }


def _pairs(lists: Sequence[tuple[Lists, Vectors]]) -> Pairs:
    first = []
    for each, scores in lists:
        order = np.lexsort((each.targets, -scores, each.of))
        starts = np.searchsorted(each.of, np.arange(len(each.sources)))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - starts[each.of[order]]
        first.append(place < TOP)
    return Pairs(
        np.concatenate([log_odds(scores, each.of) for each, scores in lists]),
        np.concatenate([each.is_link for each, _ in lists]),
        np.concatenate(first),
        sum(len(each.sources) for each, _ in lists),
    )


def calibrated(sites: Mapping[str, Pairs]) -> LinkProbability:
    """Return the calibration with the highest likelihood; each site counts the same."""
    given = np.concatenate([each.log_odds for each in sites.values()])
    is_link = np.concatenate([each.is_link for each in sites.values()])
    weights = np.concatenate([np.full(len(each.is_link), 1 / each.pages) for each in sites.values()])
    known, found = np.stack([np.ones(len(given)), given]), np.array([0.0, 1.0])
    for _ in range(_STEPS):
        expected = LinkProbability(*found.tolist())
        likely = _probability(expected, given)
        slope = known @ (weights * (is_link - likely))
        step = np.linalg.solve((known * (weights * likely * (1 - likely))) @ known.T, slope)
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    return LinkProbability(*(round(value, 4) for value in found.tolist()))


def _probability(calibration: LinkProbability, given: Vectors) -> Vectors:
    found: Vectors = 1 / (1 + np.exp(-calibration.intercept - calibration.slope * given))
    return found


def tables(found: Scored) -> Iterator[str]:
    """Yield the lines of the tables, with calibrations learned from the arrivals of other families' sites."""
    arrivals = found[ARRIVALS]
    every = dict.fromkeys(name for sites in found.values() for name in sites)
    calibrations = {
        name: calibrated({other: each for other, each in arrivals.items() if family(other) != family(name)})
        for name in every
    }
    expected = {
        setting: {name: _probability(calibrations[name], each.log_odds) for name, each in sites.items()}
        for setting, sites in found.items()
    }
    for setting, sites in found.items():
        yield from _ranges(setting, sites, expected[setting])
        yield ""
    yield from _losses(found, expected)
    yield ""
    yield from head(
        ["expected / added", *(f"{name}, {what}" for name in found for what in ("page", "first"))]
    )
    for name in every:
        yield row([name, *(_of_site(name, found[setting], expected[setting], what)
                           for setting in found for what in (False, True))])  # fmt: skip


def _ranges(setting: str, sites: Mapping[str, Pairs], expected: Mapping[str, Vectors]) -> Iterator[str]:
    yield from head([f"probability, {setting}", "expected", "added", "pairs"])
    parts = reliability(
        np.concatenate([expected[name] for name in sites]),
        np.concatenate([each.is_link for each in sites.values()]),
        np.concatenate([np.full(len(each.is_link), 1 / each.pages) for each in sites.values()]),
    )
    for part in parts:
        bounds = f"{part.low:g} to {min(part.high, 1):g}"
        yield row([bounds, f"{part.expected:.4f}", f"{part.links:.4f}", f"{part.pairs:,}"])


def _losses(found: Scored, expected: Mapping[str, Mapping[str, Vectors]]) -> Iterator[str]:
    """Yield a table of losses by page, beside those of the same probability for each pair."""
    yield from head(["", *found])
    for title, which in (("log loss of a page", 0), ("Brier loss of a page", 1)):
        for other, same in (("", False), (", the same probability for all", True)):
            values = []
            for setting, sites in found.items():
                share = np.mean([each.is_link.sum() / each.pages for each in sites.values()]) / np.mean(
                    [len(each.is_link) / each.pages for each in sites.values()]
                )
                each = [
                    _loss(np.full(len(one.is_link), share) if same else expected[setting][name], one)[which]
                    for name, one in sites.items()
                ]
                values.append(f"{np.mean(each):.3f}")
            yield row([title + other, *values])


def _loss(expected: Vectors, pairs: Pairs) -> tuple[float, float]:
    """Return log loss and Brier loss of a page's candidates together, the mean of the pages."""
    sure = np.where(pairs.is_link, expected, 1 - expected)
    return -float(np.log(sure).sum()) / pairs.pages, float(((1 - sure) ** 2).sum()) / pairs.pages


def _of_site(name: str, sites: Mapping[str, Pairs], expected: Mapping[str, Vectors], first: bool) -> str:
    """Return expected and observed links of a page's candidates, or of one of its first `TOP`."""
    if name not in sites:
        return ""
    each, likely = sites[name], expected[name]
    if first:
        return f"{likely[each.first].mean():.2f} / {each.is_link[each.first].mean():.2f}"
    return f"{likely.sum() / each.pages:.2f} / {each.is_link.sum() / each.pages:.2f}"
