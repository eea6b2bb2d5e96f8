"""Priorities: what needs cost in relevance, and how many in-links they bring to needy pages, as Markdown.

    python -m tests.research.quality.priorities --cache DIR   prints the tables of PRIORITIES.md; DIR keeps the vectors

No search data exist for the development sites, so needs are simulated: at random, and against the links that
the editors set. The loss is that of NDCG@5 on the hidden links against the same run without needs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from internal_linker.insight.evaluation.holdout import HIDINGS, Hidden
from internal_linker.model.arrays import NO_PAIRS, Bools, Vectors
from internal_linker.model.needs import LEVELS, PageNeeds
from internal_linker.rank.choice import Chooser
from internal_linker.rank.fusion import Ranked
from internal_linker.rank.metrics import TOP, measure
from internal_linker.rank.priorities import bonuses
from internal_linker.rank.rank import Ranking
from internal_linker.rank.recommend import all_ranked, counting
from internal_linker.rank.rules import NEED_BONUS, LinkRules
from internal_linker.rank.stability import preferences
from tests.research.quality.weights import head, opened, row
from tests.support.corpora import DEVELOPMENT, ranking, site

STRENGTHS = (0.02, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.15, 0.2, 0.3)
# The largest loss of NDCG@5, as a share.
MOST_LOSS = 0.02
HIDDEN = ("all", "half")
DRAWS = 5
# Each candidate that is no hidden link has the bonus, and no hidden link has any. No needs of pages can do worse where
# each page takes its best candidates: a list only gets worse if a hidden link loses some of its bonus, or another
# candidate gains some.
WORST = "worst for each link"
WORST_LIMITED = "worst for each link, with the limits of in-links"
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
    yield "adverse: the fewer editors' links, the more", 1 / (1 + links)
    yield "adverse: pages without any editors' link", (links == 0).astype(np.float64)


def needs_of(values: Vectors) -> PageNeeds:
    """Return needs as a run has them, in steps."""
    none = np.zeros(len(values), np.int64)
    return PageNeeds((np.rint(values * LEVELS) / LEVELS).astype(np.float32), none, none, none - 1)


@dataclass(frozen=True)
class Measuring:
    """A site whose candidates are weighed once, since needs change only which of them become links.

    Args:
        hidden: the site.
        ranking: its ranking, by rules with the product's own limits of in-links.
    """

    hidden: Hidden
    ranking: Ranking

    @cached_property
    def candidates(self) -> Ranked:
        """The candidates of all pages."""
        return all_ranked(self.ranking, counting(self.ranking.sources), offering=True)[0]

    @cached_property
    def wanted(self) -> Bools:
        """(m,) which candidates are hidden links."""
        pages, ranked = self.ranking.pages, self.candidates
        truth = [self.hidden.truth.get(source.url, ()) for source in self.ranking.sources]
        ends = zip(ranked.of.tolist(), ranked.targets.tolist(), strict=True)
        return np.array([pages[target].url in truth[of] for of, target in ends], np.bool_)

    def lists(self, bonus: Vectors, *, limits: bool = True) -> Lists:
        """Return the links of each page, best first, with what needs add to the candidates' scores, (m,).

        Without `limits`, each page takes its best candidates.
        """
        rules = self.ranking.rules if limits else replace(self.ranking.rules, min_inlinks=0, max_inlinks=0.0)
        liked, counts = preferences(self.candidates, None, bonus), counting(self.ranking.sources)
        chooser = Chooser(self.candidates, self.ranking, counts, rules, liked, bonus=bonus)
        chosen = chooser.chosen_first(NO_PAIRS)
        pages, found = self.ranking.pages, [list[str]() for _ in self.ranking.sources]
        for of, target in zip(chosen.of.tolist(), chosen.targets.tolist(), strict=True):
            if len(found[of]) < TOP:
                found[of].append(pages[target].url)
        return {source.url: ours for source, ours in zip(self.ranking.sources, found, strict=True)}

    def ndcg(self, lists: Lists) -> float:
        """Return NDCG@5 on the hidden links."""
        return measure(self.hidden.truth, lists).ndcg.mean


def cases(name: str, vectors: Vectors, hiding: str) -> Iterator[tuple[str, float, Case]]:
    """Yield what needs do on a site by their name and by what the greatest need adds to a score."""
    hidden = site(name, HIDINGS[hiding])
    rules = LinkRules(TOP, "fill", 0.65, min_inlinks=2, max_inlinks=10.0)
    site_ = Measuring(hidden, ranking(hidden, vectors, rules))
    nothing = np.zeros(len(site_.wanted))
    plain, alone = site_.lists(nothing), site_.lists(nothing, limits=False)
    for bonus in STRENGTHS:
        worst = np.where(site_.wanted, 0.0, bonus)
        yield WORST, bonus, Case(1 - site_.ndcg(site_.lists(worst, limits=False)) / site_.ndcg(alone))
        yield WORST_LIMITED, bonus, Case(1 - site_.ndcg(site_.lists(worst)) / site_.ndcg(plain))
        for seed in range(DRAWS):
            for kind, values in simulated(hidden, seed):
                if seed and kind.startswith("adverse"):
                    continue
                found = site_.lists(bonuses(site_.candidates, needs_of(values), bonus))
                yield (
                    kind,
                    bonus,
                    Case(1 - site_.ndcg(found) / site_.ndcg(plain), _gain(hidden, values, plain, found)),
                )


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
        if not key[0].startswith(WORST):
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
