"""`pairs` on a development site: how well the most similar pages agree with editors' links."""

from pathlib import Path

import numpy as np
import pytest

from internal_linker import pairs
from internal_linker.ranking.metrics import measure
from tests.benchmarks.similar import first_five, write_pages
from tests.quality.corpora import ABSENT, DEVELOPMENT, present, site
from tests.support.small_project import forget_settings

pytestmark = pytest.mark.skipif(not present(DEVELOPMENT[0]), reason=ABSENT)

# NDCG@5, links hidden and their anchors cut. all-MiniLM-L6-v2 in float32 on the first 256 tokens, as notebooks have
# it: titles 0.209, contents 0.262, both in one text 0.279.
FLOORS = {"title": 0.22, "content": 0.365, "title,content": 0.375}


@pytest.mark.parametrize(
    "by", [pytest.param(by, marks=[pytest.mark.long] * (by != "title")) for by in FLOORS]
)
def test_the_most_similar_pages_are_what_editors_link(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By title, content and both, `pairs` without keys or settings beats the notebooks' method."""
    forget_settings(monkeypatch)
    hidden = site(DEVELOPMENT[0])
    (tmp_path / "files").mkdir()
    write_pages(tmp_path / "files/urls_rawdata.csv", hidden.pages)
    similarity = pairs(tmp_path, by=by).compared.similarity
    matrix = np.concatenate([scores for _, _, scores in similarity.tiles()])
    found = measure(hidden.truth, first_five([page.url for page in hidden.pages], matrix))
    assert found.ndcg.mean >= FLOORS[by]
