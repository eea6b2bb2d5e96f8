"""Grows the trees of the ranker with LightGBM, on what its linear part leaves to learn from the same lists."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import lightgbm
import numpy as np

from internal_linker.model.arrays import Vectors
from internal_linker.rank.listwise import Choices
from internal_linker.rank.trees import LEAVES, Trees, read_trees

ROUNDS = 80
_PARAMETERS = {
    "num_leaves": LEAVES - 1,
    "learning_rate": 0.1,
    "min_data_in_leaf": 100,
    # Of a loss that sums to the number of lists: a leaf rests on several links.
    "min_sum_hessian_in_leaf": 2.0,
    "lambda_l2": 5.0,
    "max_bin": 31,
    "bin_construct_sample_cnt": 50_000,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.5,
    "bagging_freq": 1,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
# Below it, a candidate without a chance would make the steps of its leaf endless.
_LEAST_HESSIAN = 1e-4
_ENDLESS = 1e30


def grown(parts: Sequence[Choices], scores: Sequence[Vectors], columns: Sequence[int]) -> Trees:
    """Return the trees that lower the loss most: cross-entropy of the lists, as in `listwise`.

    Args:
        parts: what to learn from; columns are unscaled, NaN where unknown.
        scores: for each part, (p,) scores by the linear part, to which those of the trees are added.
        columns: the columns that trees may look at.
    """
    lengths = np.concatenate([np.diff(np.append(part.starts, len(part.columns))) for part in parts])
    starts = np.cumsum([0, *lengths[:-1]])
    weights = np.concatenate([part.weights for part in parts])
    of_pairs = np.repeat(weights * (len(weights) / weights.sum()), lengths)
    target, linear = (np.concatenate(each) for each in ([part.target for part in parts], scores))

    def slopes(sums: Vectors, _: object) -> tuple[Vectors, Vectors]:
        every = sums + linear
        raised = np.exp(every - np.repeat(np.maximum.reduceat(every, starts), lengths))
        shares = raised / np.repeat(np.add.reduceat(raised, starts), lengths)
        return of_pairs * (shares - target), of_pairs * np.maximum(shares * (1 - shares), _LEAST_HESSIAN)

    values = np.concatenate([part.columns[:, columns] for part in parts])
    data = lightgbm.Dataset(values, label=target)
    booster = lightgbm.train({**_PARAMETERS, "objective": slopes}, data, ROUNDS)
    return trees_of(booster, columns)


def trees_of(booster: lightgbm.Booster, columns: Sequence[int]) -> Trees:
    """Return the trees of a model of at most `LEAVES` leaves each; `columns` has the number of each of its features."""
    trees = (tree["tree_structure"] for tree in booster.dump_model()["tree_info"])
    return read_trees([_row(tree, columns) for tree in trees if "split_feature" in tree])


def _row(tree: Mapping[str, Any], columns: Sequence[int]) -> Mapping[str, Any]:
    """Return the record of one tree, see `Trees.rows`."""
    leaves = [*_leaves(tree)]
    numbers = {leaf["leaf_index"]: number for number, leaf in enumerate(leaves)}
    nodes = [*_nodes(tree)]
    # Where values of a column were all known, LightGBM reads an unknown one as 0.
    unknown = [
        node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] >= 0 for node in nodes
    ]
    left = [sum(1 << numbers[leaf["leaf_index"]] for leaf in _leaves(node["left_child"])) for node in nodes]
    values = [leaf["leaf_value"] for leaf in leaves]
    return {
        "columns": [columns[node["split_feature"]] for node in nodes],
        # A node that only asks whether a value is known has an endless threshold.
        "thresholds": [min(node["threshold"], _ENDLESS) for node in nodes],
        "unknown_left": unknown,
        "right": [((1 << LEAVES) - 1) & ~bits for bits in left],
        "leaves": [float(f"{value:.4g}") for value in values] + [0.0] * (LEAVES - len(values)),
    }


def _nodes(tree: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "split_feature" in tree:
        yield tree
        yield from _nodes(tree["left_child"])
        yield from _nodes(tree["right_child"])


def _leaves(tree: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "split_feature" in tree:
        yield from _leaves(tree["left_child"])
        yield from _leaves(tree["right_child"])
    else:
        yield tree
