"""Trains the judge of places on editors' links, and measures it on drafts of sites left out.

    python -m tests.research.quality.train_judge

--write internal_linker/anchors/judge.json   also writes the judge that learned from all sites
--families DIR   also writes the judges that learned without each family
--cache DIR      keeps each site's drafts there, and reads those that it finds

It learns from editors listwise (LambdaRank) which places of a page they would link, and which words for a target. A
site counts by the square root of its drafts. What is known of the two pages is hidden for some drafts, and for the
words, so that the judge does without it, too. How likely a place can be published unread is learned from the verdicts
of readers, PLACES.csv. The result is deterministic.
"""

import argparse
import csv
import json
import pickle
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import lightgbm
import numpy as np
from sklearn.linear_model import LogisticRegression

from internal_linker.anchors.judge import ACCEPTED, COLUMNS, Judge
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.rank.metrics import fold
from internal_linker.rank.promising_targets import PAIR_COLUMNS
from internal_linker.rank.trees import Trees
from tests.research.quality.corpora import HISTORY, family
from tests.research.quality.draft_places import Draft, drafts, reached
from tests.research.quality.ranker_trees import trees_of
from tests.support.corpora import ABSENT, CORPORA, DEVELOPMENT

ROUNDS = 150
# Drafts of one site and kind at most.
MOST = 200
# Share of drafts for which the columns of the two pages are hidden.
HIDDEN = 0.15
# What the choice of words for one target counts, beside the choice of all links of the page.
WORDS = 0.3
# What readers who did not know the method said of places: their columns and verdicts, without their words. Some places
# have one reader.
VERDICTS, READERS = Path(__file__).with_name("PLACES.csv"), ("first", "second")
REGULARISATION = 0.5
_PARAMETERS = {
    "objective": "lambdarank",
    "label_gain": [0, 1, 4],
    "lambdarank_truncation_level": 10,
    "num_leaves": 12,
    "learning_rate": 0.08,
    "min_data_in_leaf": 40,
    "lambda_l2": 5.0,
    "max_bin": 63,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}


def learned(sites: Mapping[str, Mapping[str, Sequence[Draft]]]) -> Trees:
    """Return the trees learned from the drafts of some sites, by site and kind."""
    columns, labels, sizes, weights = list[Vectors](), list[Ints](), list[int](), list[float]()

    def add(values: Vectors, right: Ints, weight: float) -> None:
        columns.append(values)
        labels.append(right)
        sizes.append(len(values))
        weights.append(weight)

    for name, kinds in sites.items():
        for some in kinds.values():
            usable = [draft for draft in some if (draft.right == 2).any()]
            # By the hash of their key: any sample, but always the same.
            usable = sorted(usable, key=lambda draft: fold(draft.key, 1 << 20))[:MOST]
            weight = max(len(usable), 30) ** -0.5
            for draft in usable:
                values, hidden = draft.places.columns, draft.places.columns.copy()
                hidden[:, -len(PAIR_COLUMNS) :] = np.nan
                is_hidden = fold(f"{name} {draft.key}", 1000) < 1000 * HIDDEN
                add(hidden if is_hidden else values, draft.right, weight)
                for target in np.unique(draft.places.of[draft.right == 2]):
                    here = draft.places.of == target
                    add(hidden[here], np.where(draft.right[here] == 2, 2, 0), weight * WORDS)
    each = np.repeat(np.array(weights) / np.mean(weights), sizes)
    data = lightgbm.Dataset(np.concatenate(columns), np.concatenate(labels), group=sizes, weight=each)
    return trees_of(lightgbm.train(_PARAMETERS, data, ROUNDS), range(len(COLUMNS)))


def accepted(without: str = "") -> Mapping[str, float]:
    """Return the weights by which readers would publish a place unread, by logistic regression on their verdicts.

    A verdict "good" counts as published. The sums of the trees are those of judges that had not seen the site.

    Args:
        without: a family of sites whose verdicts don't count.
    """
    with VERDICTS.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if family(row["site"]) != without]
    names = ("judge", *ACCEPTED)
    each = [
        (row, row[reader], 1 / sum(map(bool, map(row.get, READERS)))) for row in rows for reader in READERS
    ]
    each = [(row, verdict, weight) for row, verdict, weight in each if verdict]
    values = np.array([[float(row[name]) for name in names] for row, _, _ in each])
    good, weight = np.array([verdict == "good" for _, verdict, _ in each]), [weight for _, _, weight in each]
    scale = values.std(axis=0)
    found = LogisticRegression(C=REGULARISATION).fit(values / scale, good, sample_weight=weight)
    weights = {name: round(float(each), 4) for name, each in zip(names, found.coef_[0] / scale, strict=True)}
    return weights | {"level": round(float(found.intercept_[0]), 4)}


def written(judge: Judge) -> str:
    """Return a judge as JSON, a line for each tree."""
    head = {"columns": list(COLUMNS), "accepted": judge.accepted}
    rows = ",\n    ".join(json.dumps(row) for row in judge.trees.rows())
    return json.dumps(head)[:-1] + f', "trees": [\n    {rows}\n  ]}}\n'


def main() -> None:
    """Print what the judges of the other families reach on each site; write the judge of all."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.research.quality.train_judge", description=main.__doc__
    )
    parser.add_argument("--write", type=Path)
    parser.add_argument("--families", type=Path)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    if not CORPORA.is_dir():
        sys.exit(f"{ABSENT}.")
    sites = {name: _kept(name, options.cache) for name in (*HISTORY, *DEVELOPMENT)}
    found = dict[str, tuple[float, float, float]]()
    for out in dict.fromkeys(map(family, HISTORY)):
        trees = learned({name: kinds for name, kinds in sites.items() if family(name) != out})
        if options.families:
            options.families.mkdir(parents=True, exist_ok=True)
            (options.families / f"{out}.json").write_text(
                written(Judge(trees, accepted(out))), encoding="utf-8"
            )
        for name in HISTORY:
            if family(name) == out:
                new = sites[name]["new"]
                found[name] = reached(new, [trees.predict(draft.places.columns) for draft in new])
                print(f"{name:12} found {found[name][0]:.3f} right {found[name][1]:.3f}", flush=True)
    print("mean         found {:.3f} right {:.3f}".format(*np.mean([*found.values()], axis=0)[:2]))
    if options.write:
        options.write.write_text(written(Judge(learned(sites), accepted())), encoding="utf-8")


def _kept(name: str, cache: Path | None) -> dict[str, list[Draft]]:
    path = cache / f"{name}.pickle" if cache else None
    if path and path.exists():
        kept: dict[str, list[Draft]] = pickle.loads(path.read_bytes())
        return kept
    found = drafts(name)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(found))
    return found


if __name__ == "__main__":
    main()
