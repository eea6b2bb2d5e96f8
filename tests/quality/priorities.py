"""Priorities: what needs cost in relevance, and how many in-links they bring to needy pages, as Markdown.

    python -m tests.quality.priorities --cache DIR   prints the tables of PRIORITIES.md; DIR keeps the vectors

No search data exist for the development sites, so needs are simulated: at random, and by enemies who know which links
the editors set. The loss is that of NDCG@5 on the hidden links against the same run without needs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.needs import LEVELS, PageNeeds
from internal_linker.core.records import Searched
from internal_linker.evaluation.holdout import HIDINGS, Hidden
from internal_linker.ranking.metrics import TOP, measure
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.recommend import recommend
from internal_linker.ranking.rules import NEED_BONUS, LinkRules
from tests.quality.corpora import DEVELOPMENT, ranking, site
from tests.quality.weights import head, opened, row

STRENGTHS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3)
# The largest loss of NDCG@5, as a share.
MOST_LOSS = 0.02
HIDDEN = ("all", "half")
DRAWS = 5
ENEMY = "enemy, link by link"
HEADER = ["needs", "site", "links hidden", *map(str, STRENGTHS)]

Lists = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Case:
    """What needs cost and bring.

    Attributes:
        loss: of NDCG@5, as a share; above 0 if needs cost relevance.
        gain: change of the in-links that the tenth of the pages that need most gets, as a share; NaN: not measured.
    """

    loss: float
    gain: float = float("nan")


def simulated(hidden: Hidden, seed: int) -> Iterator[tuple[str, Vectors]]:
    """Yield needs by their name, (n,) 0 to 1: at random, with a heavy tail, and against the editors' links."""
    random, n = np.random.default_rng(seed), len(hidden.pages)
    yield "at random", random.random(n)
    tail = np.zeros(n)
    tail[random.permutation(n)[: n // 10]] = 1.0
    yield "a tenth of the pages, drawn at random", tail
    wanted = Counter(target for targets in hidden.truth.values() for target in targets)
    links = np.array([wanted[page.url] for page in hidden.pages], np.float64)
    yield "enemy: the fewer editors' links, the more", 1 / (1 + links)
    yield "enemy: pages without any editors' link", (links == 0).astype(np.float64)


def needs_of(values: Vectors) -> PageNeeds:
    """Return needs as a run has them, in steps."""
    none = np.zeros(len(values), np.int64)
    return PageNeeds((np.rint(values * LEVELS) / LEVELS).astype(np.float32), none, none, none - 1)


def lists(ranked: Ranking, rules: LinkRules, needs: PageNeeds | None) -> Lists:
    """Return the links of each page, best first."""
    found = recommend(ranked, Searched(), rules, needs=needs)
    return {one.source.url: [link.target.url for link in one.links] for one in found}


def worst(ranked: Ranking, hidden: Hidden, bonus: float) -> Lists:
    """Return the lists with the bonus for each candidate that is no hidden link, and none for those that are.

    No needs can do worse where each source takes its best: a list only gets worse if a hidden link loses some of its
    bonus, or another candidate gains some.
    """
    places = [at for at, source in enumerate(ranked.sources) if source.url in hidden.truth]
    found = {}
    for at, candidates in zip(places, ranked.of(places), strict=True):
        source = ranked.sources[at].url
        worth = [-one.score - (0.0 if one.url in hidden.truth[source] else bonus) for one in candidates]
        chosen = np.sort(np.argsort(worth, kind="stable")[:TOP])
        found[source] = [candidates[place].url for place in chosen.tolist()]
    return found


def cases(name: str, vectors: Vectors, hiding: str) -> Iterator[tuple[str, float, Case]]:
    """Yield what needs do on a site by their name and by what the greatest need adds to a score."""
    hidden = site(name, HIDINGS[hiding])
    rules = LinkRules(TOP, "fill", 0.65, min_inlinks=2, max_inlinks=10.0)
    ranked = ranking(hidden, vectors, rules)
    plain = lists(ranked, rules, None)
    base = measure(hidden.truth, plain).ndcg.mean
    alone = measure(hidden.truth, worst(ranked, hidden, 0.0)).ndcg.mean
    for bonus in STRENGTHS:
        ours = replace(rules, need_bonus=bonus)
        yield ENEMY, bonus, Case(1 - measure(hidden.truth, worst(ranked, hidden, bonus)).ndcg.mean / alone)
        for seed in range(DRAWS):
            for kind, values in simulated(hidden, seed):
                if seed and kind.startswith("enemy"):
                    continue
                found = lists(ranked, ours, needs_of(values))
                loss = 1 - measure(hidden.truth, found).ndcg.mean / base
                yield kind, bonus, Case(loss, _gain(hidden, values, plain, found))


def _gain(hidden: Hidden, values: Vectors, before: Lists, after: Lists) -> float:
    """Return by how much the in-links of the tenth of the pages that need most grow; of all of equal need, if more."""
    least = np.sort(values)[-max(1, len(values) // 10)]
    needy = {page.url for page, value in zip(hidden.pages, values, strict=True) if value >= least}
    then, now = (
        sum(target in needy for targets in each.values() for target in targets) for each in (before, after)
    )
    return now / then - 1


def tables(found: Mapping[tuple[str, str, str], Mapping[float, Sequence[Case]]]) -> Iterator[str]:
    """Yield two tables: the greatest loss of all draws, and the mean gain."""
    yield from head(HEADER)
    for key, by_bonus in found.items():
        yield row([*key, *(f"{100 * max(case.loss for case in by_bonus[at]):+.2f}%" for at in STRENGTHS)])
    yield ""
    yield from head(HEADER)
    for key, by_bonus in found.items():
        if key[0] != ENEMY:
            gains = [np.mean([case.gain for case in by_bonus[at]]) for at in STRENGTHS]
            yield row([*key, *(f"{100 * gain:+.1f}%" for gain in gains)])


def main() -> None:
    """Measure both sites and print the tables."""
    _, vectors = opened(__doc__)
    found: dict[tuple[str, str, str], dict[float, list[Case]]] = {}
    for name in DEVELOPMENT:
        for hiding in HIDDEN:
            for kind, bonus, case in cases(name, vectors[name], hiding):
                found.setdefault((kind, name, hiding), {}).setdefault(bonus, []).append(case)
    kinds = list(dict.fromkeys(key[0] for key in found))
    for line in tables({key: found[key] for kind in kinds for key in found if key[0] == kind}):
        print(line)
    print(f"\nThe product adds at most {NEED_BONUS}.")


if __name__ == "__main__":
    main()
