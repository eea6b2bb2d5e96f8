"""The learned model of anchors: which phrase an editor would link, and how likely an editor would accept it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from internal_linker.anchors.features import FEATURES
from internal_linker.core.arrays import Vectors

WEIGHTS = "weights.json"


@dataclass(frozen=True, slots=True)
class Network:
    """A perceptron with one hidden layer of rectified units, and direct weights beside it."""

    # mean, scale: (f,) mean and standard deviation of each feature among the phrases that it learned from
    mean: Vectors
    scale: Vectors
    hidden: Vectors  # (f, h) weights of the hidden units
    bias: Vectors  # (h,) their biases
    out: Vectors  # (h,) weights of the hidden units for the result
    direct: Vectors  # (f,) weights of the features for the result
    level: float = 0.0  # what is added to the result

    def __call__(self, features: Vectors) -> Vectors:
        """Return (n,) the result for (n, f) features."""
        scaled = ((features - self.mean) / self.scale).clip(-5, 5)
        # Unlike `@`, this adds in one order however many rows there are: a phrase's result depends on nothing else.
        units = np.maximum(np.einsum("nf,fh->nh", scaled, self.hidden) + self.bias, 0)
        result: Vectors = np.einsum("nh,h->n", units, self.out) + np.einsum("nf,f->n", scaled, self.direct)
        return result + self.level


@dataclass(frozen=True, slots=True)
class AnchorModel:
    """What was learned from editors' anchors on many sites; tests/research/quality/ANCHORS.md has its card."""

    choice: Network  # the preference among the phrases of one text for one target, a logit
    # the logit of the probability that a phrase is much like the anchor of an editor who links the pair
    likeness: Network
    # the weights of the likeness ("likeness"), of some features and of one ("level") in the logit of the probability
    # that an editor accepts the phrase as an anchor
    accepted: Mapping[str, float]

    def quality(self, features: Vectors) -> Vectors:
        """Return (n,) how likely an editor is to accept each phrase as an anchor, 0 to 1."""
        logit = self.accepted["level"] + self.accepted["likeness"] * self.likeness(features)
        for name, weight in self.accepted.items():
            if name in FEATURES:
                logit = logit + weight * features[:, FEATURES.index(name)]
        quality: Vectors = 1 / (1 + np.exp(-logit))
        return quality


@cache
def anchor_model() -> AnchorModel:
    """Return the model that comes with the program."""
    known = json.loads(resources.files(__package__).joinpath(WEIGHTS).read_text("utf-8"))
    if known["features"] != list(FEATURES):
        raise ValueError(f"{WEIGHTS} is for other features: train the model again")
    return AnchorModel(_network(known["choice"]), _network(known["likeness"]), known["accepted"])


def _network(known: Mapping[str, Any]) -> Network:
    def array(part: str) -> Vectors:
        return np.array(known[part], np.float32)

    return Network(
        array("mean"),
        array("scale"),
        hidden=array("hidden"),
        bias=array("bias"),
        out=array("out"),
        direct=array("direct"),
        level=known["level"],
    )
