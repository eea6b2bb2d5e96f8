"""The constants in docs/scaling.md equal those of the code; tests/docs checks its tables."""

import re

from internal_linker.match.candidates import SERVED
from internal_linker.match.neighbours.knn_join import EXACT_ROWS, EXACT_SECONDS
from tests.support.dask_clusters import GUIDE
from tests.support.small_project import REPOSITORY


def test_the_package_is_the_same_everywhere() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    asked = set(re.findall(r'"(distributed[<>=].*?)"', project))
    assert len(asked) == 1 and f'pip install "{asked.pop()}"' in GUIDE
    assert f"n/{EXACT_ROWS} tasks" in GUIDE and f"(K = {SERVED})" in GUIDE
    assert f"(if exact k-NN would take more than {EXACT_SECONDS:.0f} seconds)" in GUIDE
