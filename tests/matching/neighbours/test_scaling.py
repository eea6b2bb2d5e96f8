"""The constants in docs/scaling.md are those of the code; tests/docs holds its tables."""

import re

from internal_linker.matching.candidates import SERVED
from internal_linker.matching.neighbours.knn_join import EXACT_ROWS, EXACT_SECONDS
from tests.support.dask_clusters import GUIDE
from tests.support.small_project import REPOSITORY


def test_the_package_is_the_same_everywhere() -> None:
    """Guide, error and project ask for the same versions of it."""
    texts = {
        name: (REPOSITORY / name).read_text(encoding="utf-8")
        for name in ("pyproject.toml", "internal_linker/adapters/compute/dask.py")
    }
    asked = set(re.findall(r'"(distributed[<>=].*?)"', "".join(texts.values())))
    assert len(asked) == 1 and f'pip install "{asked.pop()}"' in GUIDE


def test_constants_of_the_guide_are_the_codes() -> None:
    """Rows of a block, candidates and the seconds from which cells are used stand there as in the code."""
    assert f"n/{EXACT_ROWS} tasks" in GUIDE and f"(K = {SERVED})" in GUIDE
    assert f"(if comparing all would take more than {EXACT_SECONDS:.0f} seconds)" in GUIDE
