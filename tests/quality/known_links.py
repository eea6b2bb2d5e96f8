"""The weights of known links: what they and alternatives reach on both development sites, as Markdown.

    python -m tests.quality.known_links --cache DIR   prints the last tables of WEIGHTS.md; DIR keeps the vectors

Either half of the links are hidden, or pages are cold: all links to a fifth of them are hidden together, and only
those count. Each is drawn several times, so that no weights win by the luck of one draw.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from internal_linker.evaluation.holdout import HIDINGS, Hidden, Hides
from internal_linker.ranking.features import fixed_score
from internal_linker.ranking.metrics import TOP, fold, measure
from internal_linker.ranking.rank import BLOCK, Ranking
from internal_linker.ranking.rules import FIXED_WEIGHTS, Weights
from tests.quality.corpora import DEVELOPMENT, ranking, site
from tests.quality.weights import DEFAULT, FOLDS, head, opened, row

# The half and the fifth that the product's own commands hide, and four other draws of each.
DRAWS = 5
# The least ratio to words and passages alone at finding links to cold pages, on each site: new pages need links
# most.
LEAST = 1.05
WORDS = "words + passages"
HEADER = [
    "weights", *(f"{name}, half" for name in DEVELOPMENT), "mean", "mean - fixed",
    *(f"{name}, cold" for name in DEVELOPMENT),
]  # fmt: skip

# Each source that has hidden links with its NDCG@5, one draw after the other.
Ndcgs = Sequence[tuple[str, float]]
# What some weights reach, by (hiding, site).
Reached = Mapping[tuple[str, str], Ndcgs]


@dataclass(frozen=True, slots=True)
class Figures:
    """NDCG@5 on each site with half of the links hidden, and the ratio of cold pages' NDCG@5 to the base's."""

    half: Sequence[float]
    cold: Sequence[float]

    @property
    def mean(self) -> float:
        """The mean over both sites, with equal weight."""
        return fmean(self.half)


def variants() -> dict[str, Weights]:
    """Return all measured weights by name; weights that a name doesn't mention are the fixed ones."""
    rows = {"known links unused": replace(FIXED_WEIGHTS, votes=0, linked_similarity=0, unlinked=0)}
    rows |= {
        f"votes {votes}, unlinked {unlinked}": replace(FIXED_WEIGHTS, votes=votes, unlinked=unlinked)
        for votes in (0.0, 0.2, 0.4, 0.6)
        for unlinked in (0.0, 0.5, 1.0, 1.5)
    }
    rows |= {
        f"linked_similarity {linked_similarity}": replace(FIXED_WEIGHTS, linked_similarity=linked_similarity)
        for linked_similarity in (0.0, 0.2, 0.4)
    }
    rows |= {f"named {named}": replace(FIXED_WEIGHTS, named=named) for named in (0.0, 1.0, 1.5, 2.0, 3.0)}
    return rows | {f"time {time}": replace(FIXED_WEIGHTS, time=time) for time in (0.0, 0.25, 0.5, 0.8, 1.2)}


def default_name() -> str:
    """Return the first variant's name that has the product's own weights."""
    return next(name for name, weights in variants().items() if weights == FIXED_WEIGHTS)


def drawn(hiding: str, number: int) -> Hides:
    """Return which links are hidden; draw 0 is that of the product's own commands."""
    salt = f"{number} " if number else ""
    return lambda source, target: HIDINGS[hiding](f"{salt}{source}", f"{salt}{target}")


def reached(ranked: Ranking, draws: Sequence[Hidden], rows: Mapping[str, Weights]) -> dict[str, Ndcgs]:
    """Return what each of the weights reaches; a source's signals are the same for all of them."""
    orders = {name: [dict[str, list[str]]() for _ in draws] for name in rows}
    urls = np.array([page.url for page in ranked.site.pages])
    known = [ranked.knowing(draw.visible, ranked.sources) for draw in draws]
    blocks = ranked.signals(range(len(ranked.sources)), known)
    for first, (_, found) in zip(range(0, len(ranked.sources), BLOCK), blocks, strict=True):
        some = ranked.sources[first : first + BLOCK]
        for number, together in enumerate(found):
            for source, signals in zip(some, together.split(len(some)), strict=True):
                for name, weights in rows.items():
                    best = np.argsort(-fixed_score(signals, weights), kind="stable")[:TOP]
                    orders[name][number][source.url] = urls[signals.rows[best]].tolist()
    return {
        name: [pair for draw, order in zip(draws, each, strict=True) for pair in _ndcgs(draw, order)]
        for name, each in orders.items()
    }


def figures(ours: Reached, base: Reached, without: int | None = None) -> Figures:
    """Return what the weights reach over all draws, on all sources or on those outside one fold."""

    def mean(ndcgs: Ndcgs) -> float:
        return fmean(ndcg for source, ndcg in ndcgs if fold(source, FOLDS) != without)

    return Figures(
        [mean(ndcgs) for (hiding, _), ndcgs in ours.items() if hiding == "half"],
        [mean(ndcgs) / mean(base[at]) for at, ndcgs in ours.items() if at[0] == "cold"],
    )


def choose(measured: Mapping[str, Figures]) -> str:
    """Return the weights with the best mean of half whose cold ratios reach `LEAST`; of equals, the first."""
    good = [name for name, each in measured.items() if min(each.cold) >= LEAST]
    return max(good or measured, key=lambda name: measured[name].mean)


def cross_validate(found: Mapping[str, Reached], base: Reached) -> tuple[list[str], Reached]:
    """Choose the weights for each fold of the sources by the other folds alone.

    Returns:
        The chosen names, one per fold, and what every source reaches with the weights chosen for its fold.
    """
    chosen = [
        choose({name: figures(ours, base, without=held_out) for name, ours in found.items()})
        for held_out in range(FOLDS)
    ]
    return chosen, {
        at: [found[chosen[fold(source, FOLDS)]][at][number] for number, (source, _) in enumerate(ndcgs)]
        for at, ndcgs in base.items()
    }


def tables(found: Mapping[str, Reached], base: Reached) -> Iterator[str]:
    """Yield the lines of both tables; "!" marks cold pages that are found worse than by words and passages alone."""
    measured = {name: figures(ours, base) for name, ours in found.items()}
    default = measured[default_name()]
    yield from head(HEADER)
    yield _line(WORDS, figures(base, base), default)
    for name, ours in measured.items():
        yield _line(name, ours, default)
    yield ""
    chosen, held_out = cross_validate(found, base)
    yield from head(HEADER)
    yield _line(f"fixed: {default_name()}", default, default)
    yield _line("chosen on the other folds", figures(held_out, base), default)
    yield ""
    times = ", ".join(f"{name} ({count})" for name, count in Counter(chosen).most_common())
    yield f"Chosen on all folds: {choose(measured)}. Chosen in how many of {FOLDS} folds: {times}."


def _ndcgs(draw: Hidden, orders: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, float]]:
    measured = measure(draw.truth, orders)
    return zip(measured.sources, measured.each[:, 2].tolist(), strict=True)


def _line(name: str, ours: Figures, default: Figures) -> str:
    half = [f"{ndcg:.4f}" for ndcg in (*ours.half, ours.mean)]
    cold = [f"{ratio:.3f}{' !' if ratio < 1 else ''}" for ratio in ours.cold]
    return row([name, *half, f"{ours.mean - default.mean:+.4f}", *cold])


def main() -> None:
    """Rank both sites with all weights and print the tables."""
    sites, vectors = opened(__doc__)
    words = Weights(passage=FIXED_WEIGHTS.passage, time=0, votes=0, linked_similarity=0, unlinked=0, named=0)
    found = defaultdict[str, dict[tuple[str, str], Ndcgs]](dict)
    base = {}
    for name, each in sites.items():
        ranked = ranking(each, vectors[name], DEFAULT)
        alone = ranked.by(replace(DEFAULT, lexical_weight=1.0))
        for hiding in ("half", "cold"):
            draws = [site(name, drawn(hiding, number)) for number in range(DRAWS)]
            base[hiding, name] = reached(alone, draws, {WORDS: words})[WORDS]
            for weights, ndcgs in reached(ranked, draws, variants()).items():
                found[weights][hiding, name] = ndcgs
    for line in tables(found, base):
        print(line)


if __name__ == "__main__":
    main()
