"""The table of the weights of terms: its stars, and rows that match the product."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.research.quality.weights import OWN, table, variants
from tests.support.corpora import ABSENT, ROOT

HERE = Path(__file__).parent


def test_a_star_marks_what_is_surely_other_than_the_products_own() -> None:
    """A star marks a certain difference only; the last column is the difference of the means."""
    sources = [f"https://site.example/{number}" for number in range(50)]
    found = {
        name: {"site": {source: ["wanted" if name == OWN else "other"] for source in sources}}
        for name in (OWN, "worse")
    }
    lines = list(table({"site": {source: ["wanted"] for source in sources}}, found))
    assert f"| {OWN} | 1.0000 [1.000, 1.000] | 1.0000 | +0.0000 |" in lines
    assert "| worse | 0.0000 [0.000, 0.000] * | 0.0000 | -1.0000 |" in lines


def test_the_written_table_has_the_weights_that_are_measured() -> None:
    """WEIGHTS.md has a row for each variant, in order."""
    text = (HERE / "WEIGHTS.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")]
    assert rows[2:] == list(variants())


@pytest.mark.parametrize(
    "command",
    ["weights", pytest.param("arrivals", marks=pytest.mark.long)],
)
def test_without_the_sites_the_commands_say_so(command: str, tmp_path: Path) -> None:
    """Without shared/corpora each command ends with one sentence."""
    shutil.copytree(HERE, tmp_path / "project" / "tests" / "research" / "quality")
    for package in ("support", "standins"):
        shutil.copytree(HERE.parents[1] / package, tmp_path / "project" / "tests" / package)
    for package in ("tests", "tests/research"):
        (tmp_path / "project" / package / "__init__.py").touch()
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.research.quality.{command}"],
        cwd=tmp_path / "project",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr == f"{ABSENT}.\n"
