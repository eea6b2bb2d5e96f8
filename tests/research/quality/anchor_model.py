"""Trains the model of anchors on editors' links of fourteen sites: `python -m tests.research.quality.anchor_model`.

It prints figures for each site by a model that learned from the others, and with `--write` replaces weights.json.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

import numpy as np

from internal_linker.anchors.features import FEATURES
from internal_linker.anchors.finder import Anchoring
from internal_linker.anchors.link_places import link_places
from internal_linker.anchors.model import WEIGHTS, Network
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.ranking.metrics import fold
from internal_linker.text.words import words
from tests.research.quality.corpora import HISTORY, LAST, family, snapshot
from tests.support.corpora import ABSENT, DEVELOPMENT, ROOT, present, whole_site

# Linked pairs of a site that are learned from: more of one site would teach its habits.
MOST_PAIRS = 400
# The share of pairs that are learned as if no link of the site were known.
_UNKNOWN = 0.3
_FOLDS = 5
_HIDDEN_UNITS = 16
# From this token F1 on, a phrase is much like an editor's anchor.
ALIKE = 0.6


@dataclass(frozen=True)
class Pair:
    """A linked pair: the phrases that could be its anchor, and how much they are like the editor's.

    Attributes:
        source: the source's key.
        features: (n, f) features of the phrases.
        f1: (n,) token F1 with the nearest of the editors' anchors, 0 to 1.
        texts: the phrases.
        editors: the editors' anchors.
    """

    source: str
    features: Vectors
    f1: Vectors
    texts: Sequence[str]
    editors: Sequence[str]


def pairs_of(name: str, most: int = MOST_PAIRS) -> list[Pair]:
    """Return linked pairs of a site, chosen at random with a fixed seed."""
    site = whole_site(name) if name in DEVELOPMENT else snapshot(name, LAST)
    knowing = Anchoring(site)
    by_fold = [knowing.knowing(partial(_outside, part)) for part in range(_FOLDS)]
    ignorant = Anchoring(replace(site, links=()))
    random = Random(0)
    linked = sorted({(link.source, link.target) for link in site.links if link.source != link.target})
    random.shuffle(linked)
    found: list[Pair] = []
    for ends in linked:
        source, target = map(site.find, ends)
        if source is None or target is None or source.lang != target.lang or len(found) == most:
            continue
        content = str(source.content)
        links = [link for link in site.links if (link.source, link.target) == ends]
        places = [place for link in links for place in link_places(content, link)]
        if not places:
            continue
        unknown = name not in DEVELOPMENT and random.random() < _UNKNOWN
        anchoring = ignorant if unknown else by_fold[fold(source.key, _FOLDS)]
        text, phrases, features = anchoring.studied(*ends)
        starts, last = text.phrases.starts[phrases.first], text.phrases.ends[phrases.last]
        texts = [content[start:end] for start, end in zip(starts, last, strict=True)]
        editors = [content[start:end] for start, end in places]
        tokens = [Counter(words(each)) for each in editors]
        f1 = np.array([max(_f1(Counter(words(text)), each) for each in tokens) for text in texts], np.float32)
        found.append(Pair(source.key, features, f1, texts, editors))
    return found


def _outside(part: int, source: str) -> bool:
    return fold(source, _FOLDS) != part


def _f1(ours: Counter[str], theirs: Counter[str]) -> float:
    return 2 * (ours & theirs).total() / max(1, ours.total() + theirs.total())


@dataclass(frozen=True)
class _Training:
    """How a network is trained.

    Attributes:
        steps: count of steps; each takes `lists` pairs.
        lists: pairs a step.
        phrases: at most so many phrases a pair; the twelve most like the editors' are always among them.
        rate: first learning rate, which falls to nothing.
        decay: weight decay.
        sharpness: how much more a phrase counts that is 0.1 of F1 more like the editors': e to the power of 0.1 / this.
    """

    steps: int = 2000
    lists: int = 64
    phrases: int = 64
    rate: float = 3e-3
    decay: float = 1e-4
    sharpness: float = 0.15


_TRAINING = _Training()


def train(pairs: Sequence[Pair], weights: Vectors, *, listwise: bool, how: _Training = _TRAINING) -> Network:
    """Return a network trained with Adam.

    Args:
        pairs: linked pairs.
        weights: how often each pair is drawn.
        listwise: whether it learns which phrase of a pair is most like the editors' (softmax), or else whether each
            phrase is much like theirs (logistic).
        how: the schedule.
    """
    rng = np.random.default_rng(0)
    everything = np.concatenate([pair.features for pair in pairs])
    mean, scale = everything.mean(axis=0), everything.std(axis=0) + 1e-3
    scaled = [((pair.features - mean) / scale).clip(-5, 5) for pair in pairs]
    f = len(FEATURES)
    params = {
        "hidden": rng.normal(0, f**-0.5, (f, _HIDDEN_UNITS)),
        "bias": np.zeros(_HIDDEN_UNITS),
        "out": rng.normal(0, 0.1, _HIDDEN_UNITS),
        "direct": np.zeros(f),
        "level": np.zeros(1),
    }
    params = {name: value.astype(np.float32) for name, value in params.items()}
    moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in params.items()}
    share = weights / weights.sum()
    for step in range(1, how.steps + 1):
        drawn = [_drawn(pairs[at], scaled[at], how, rng) for at in rng.choice(len(pairs), how.lists, p=share)]
        x, f1 = (np.concatenate(each) for each in zip(*drawn, strict=True))
        of = np.repeat(np.arange(how.lists), [len(each) for _, each in drawn])
        inner = x @ params["hidden"] + params["bias"]
        active = np.maximum(inner, 0)
        result = active @ params["out"] + x @ params["direct"] + params["level"]
        wrong = (_listwise(result, f1, of, how) if listwise else _pointwise(result, f1)) / how.lists
        back = np.outer(wrong, params["out"]) * (inner > 0)
        gradients = {
            "hidden": x.T @ back, "bias": back.sum(axis=0), "out": active.T @ wrong, "direct": x.T @ wrong,
            "level": wrong.sum(keepdims=True),
        }  # fmt: skip
        rate = how.rate * (1 - step / how.steps) + 1e-4
        for name, gradient in gradients.items():
            full = gradient + how.decay * params[name]
            first, second = moments[name]
            first *= 0.9
            first += 0.1 * full
            second *= 0.99
            second += 0.01 * full**2
            params[name] -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    level = float(params.pop("level")[0])
    return Network(mean.astype(np.float32), scale.astype(np.float32), **params, level=level)


def _drawn(pair: Pair, scaled: Vectors, how: _Training, rng: np.random.Generator) -> tuple[Vectors, Vectors]:
    n = len(pair.f1)
    if n <= how.phrases:
        return scaled, pair.f1
    at = np.unique(np.append(np.argsort(-pair.f1)[:12], rng.choice(n, how.phrases - 12, replace=False)))
    return scaled[at], pair.f1[at]


def _listwise(result: Vectors, f1: Vectors, of: Ints, how: _Training) -> Vectors:
    """Return the gradient of the cross-entropy between two softmaxes: of the result, and of the F1."""
    starts = np.searchsorted(of, np.arange(how.lists))
    most = np.maximum.reduceat(f1, starts)[of]

    def softmax(values: Vectors) -> Vectors:
        powers = np.exp(values - np.maximum.reduceat(values, starts)[of])
        shares: Vectors = powers / np.add.reduceat(powers, starts)[of]
        return shares

    # Nothing can be learned from a pair whose phrases are all unlike the editors'.
    wrong: Vectors = (softmax(result) - softmax(np.where(f1 > 0, f1 / how.sharpness, -50))) * (most > 0.3)
    return wrong


def _pointwise(result: Vectors, f1: Vectors) -> Vectors:
    wrong: Vectors = (1 / (1 + np.exp(-result)) - (f1 >= ALIKE)) / 16
    return wrong


def weights_of(sites: Sequence[Sequence[Pair]]) -> Vectors:
    """Return the weight of each pair, all sites one after the other: large sites count more, but not in proportion."""
    weights: Vectors = np.concatenate([np.full(len(pairs), max(1, len(pairs)) ** -0.5) for pairs in sites])
    return weights


def without_family(name: str) -> list[str]:
    """Return the sites that a model for this one may learn from."""
    return [other for other in (*DEVELOPMENT, *HISTORY) if family(other) != family(name)]


def figures(pairs: Sequence[Pair], choice: Network) -> tuple[float, float]:
    """Return mean token F1 of the preferred phrases, and their share that is an editor's anchor; 0 without any."""
    best = [pair.f1[int(choice(pair.features).argmax())] if len(pair.f1) else 0.0 for pair in pairs]
    return float(np.mean(best)), float(np.mean(np.array(best) == 1))


def _known(network: Network) -> dict[str, object]:
    parts = {name: np.round(getattr(network, name), 5) for name in Network.__slots__}
    return {name: value.tolist() for name, value in parts.items()}


def main() -> None:
    """Print the figures of each site by a model that learned from the others; write the model of all."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.research.quality.anchor_model", description=main.__doc__
    )
    parser.add_argument("--write", action="store_true", help=f"replace {WEIGHTS}; its calibration stays")
    arguments = parser.parse_args()
    if not all(map(present, DEVELOPMENT)):
        sys.exit(f"{ABSENT}.")
    sites = {name: pairs_of(name) for name in (*DEVELOPMENT, *HISTORY)}

    def trained(names: Sequence[str], *, listwise: bool) -> Network:
        usable = [[pair for pair in sites[name] if len(pair.f1)] for name in names]
        return train([pair for pairs in usable for pair in pairs], weights_of(usable), listwise=listwise)

    print("site, token F1, exact, by a model of the other sites' families")
    for name, pairs in sites.items():
        f1, exact = figures(pairs, trained(without_family(name), listwise=True))
        print(f"{name:12} {f1:.3f} {exact:.3f}", flush=True)
    if arguments.write:
        path = ROOT / "internal_linker" / "anchors" / WEIGHTS
        known = json.loads(path.read_text("utf-8")) | {"features": list(FEATURES)}
        for part, listwise in (("choice", True), ("likeness", False)):
            known[part] = _known(trained(list(sites), listwise=listwise))
        path.write_text(json.dumps(known, separators=(",", ":")), "utf-8")


if __name__ == "__main__":
    main()
