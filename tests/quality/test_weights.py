"""The choice of the fixed weights: honest cross-validation, and tables that match the product."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from internal_linker.ranking.metrics import fold, measure
from tests.quality.corpora import ABSENT, ROOT
from tests.quality.weights import FOLDS, blends, cross_validate, default_name, tables, variants

HERE = Path(__file__).parent


def written(part: int) -> list[str]:
    """Return the first cells of the tables of WEIGHTS.md: of the weights of contents (0), and of known links (1)."""
    text = (HERE / "WEIGHTS.md").read_text(encoding="utf-8").split("\n## ")[1:][part]
    return [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")]


def pages(site: str, count: int) -> list[str]:
    return [f"https://{site}.example/{number}" for number in range(count)]


def ranked(sources: list[str], right: list[str]) -> dict[str, list[str]]:
    """Return for each source the wanted target in the first rank, or another one."""
    return {source: ["wanted" if source in right else "other"] for source in sources}


def test_weights_are_chosen_without_the_fold_that_they_are_scored_on() -> None:
    """Weights that are right in one fold only are never chosen for that fold."""
    sources = pages("site", 100)
    found = {
        f"right in {part}": {"site": ranked(sources, [one for one in sources if fold(one, FOLDS) == part])}
        for part in range(FOLDS)
    }
    truth = {source: ["wanted"] for source in sources}
    chosen, held_out = cross_validate({"site": truth}, found)
    assert len(chosen) == FOLDS
    assert measure(truth, held_out["site"]).ndcg.mean == 0
    assert all(measure(truth, each["site"]).ndcg.mean > 0.1 for each in found.values())


def test_both_sites_count_alike() -> None:
    """Weights that are right on all of a small site win over those right on most of a large one."""
    small, large = pages("small", 20), pages("large", 200)
    found = {
        "large": {"small": ranked(small, []), "large": ranked(large, large[:150])},
        "small": {"small": ranked(small, small), "large": ranked(large, [])},
    }
    truths = {"small": {source: ["wanted"] for source in small}, "large": {one: ["wanted"] for one in large}}
    chosen, held_out = cross_validate(truths, found)
    assert chosen == ["small"] * FOLDS
    assert measure(truths["small"], held_out["small"]).ndcg.mean == 1


@pytest.mark.long
def test_a_star_marks_what_is_surely_other_than_the_fixed_weights() -> None:
    """A star marks a certain difference only; the last column is the difference of the means."""
    sources = pages("site", 50)
    names = list(variants())
    found = {name: {"site": ranked(sources, [] if name == names[-1] else sources)} for name in names}
    lines = list(tables({"site": {source: ["wanted"] for source in sources}}, found))
    assert f"| {names[0]} | 1.0000 [1.000, 1.000] | 1.0000 | +0.0000 |" in lines
    assert f"| {names[-1]} | 0.0000 [0.000, 0.000] * | 0.0000 | -1.0000 |" in lines


def test_the_written_table_has_the_weights_that_are_measured() -> None:
    """WEIGHTS.md has a row for each variant, in order, and names the product's own weights as the fixed ones."""
    names = list(variants())
    assert [name for name in written(0) if name in names] == names
    assert f"fixed: {default_name()}" in written(0)
    assert default_name() in blends()


@pytest.mark.parametrize(
    "command",
    ["weights", *(pytest.param(each, marks=pytest.mark.long) for each in ("known_links", "arrivals"))],
)
def test_without_the_sites_the_commands_say_so(command: str, tmp_path: Path) -> None:
    """Without shared/corpora each command ends with one sentence."""
    shutil.copytree(HERE, tmp_path / "project" / "tests" / "quality")
    shutil.copytree(HERE.parent / "support", tmp_path / "project" / "tests" / "support")
    (tmp_path / "project" / "tests" / "__init__.py").touch()
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.quality.{command}"],
        cwd=tmp_path / "project",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr == f"{ABSENT}.\n"
