"""`pairs` on a development site: how well the most similar pages agree with editors' links."""

from pathlib import Path

import numpy as np
import pytest

from internal_linker import pairs
from internal_linker.rank.metrics import measure
from tests.support.corpora import ABSENT, DEVELOPMENT, present, site
from tests.support.small_project import write_csv

pytestmark = pytest.mark.skipif(not present(DEVELOPMENT[0]), reason=ABSENT)

# NDCG@5, links hidden and their anchors cut. all-MiniLM-L6-v2 in float32 on the first 256 tokens, as notebooks have
# it: titles 0.209, contents 0.262, both in one text 0.279.
FLOORS = {"title": 0.22, "content": 0.365, "title,content": 0.375}


@pytest.mark.long
@pytest.mark.parametrize("by", list(FLOORS))
def test_the_most_similar_pages_are_what_editors_link(by: str, tmp_path: Path) -> None:
    hidden = site(DEVELOPMENT[0])
    rows = [(page.url, page.title, page.h1, str(page.content), page.lang) for page in hidden.pages]
    write_csv(tmp_path / "files/urls_rawdata.csv", [("URL", "Title", "H1", "Main Content", "Lang"), *rows])
    similarity = pairs(tmp_path, by=by).compared.similarity
    matrix = np.concatenate([scores for _, _, scores in similarity.tiles()])
    np.fill_diagonal(matrix, -np.inf)
    best = np.argsort(-matrix, axis=1, kind="stable")[:, :5]
    urls = [page.url for page in hidden.pages]
    found = measure(
        hidden.truth, {url: [urls[at] for at in row] for url, row in zip(urls, best.tolist(), strict=True)}
    )
    assert found.ndcg.mean >= FLOORS[by]
