"""Embeddings from a crawler or export-vectors are imported unchanged into files/page_vectors.csv."""

import json
from pathlib import Path

import numpy as np
import pytest

from internal_linker.sources.crawl import vector_cell
from internal_linker.sources.tables.lists_csv import PAGE_VECTORS, ListCsv
from tests.support.crawls import A, B, C, crawl, imported, pages, table
from tests.support.small_project import SITE, write_text

VECTORS = "page_vectors.csv"
EXTRACTION = "Extract embeddings from page content 1"


@pytest.mark.parametrize("name", [EXTRACTION, "Embeddings", "OpenAI embedding"])
def test_a_crawls_embeddings(
    name: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Comma-separated and JSON embeddings are read under any column name, and the output names the setting."""
    rows = ((A, "200", "0.25,-1.5e-05, 3"), (B, "404", ""), (C, "200", "[0.1, 0.20, -0.3]"))
    file = crawl(tmp_path / "internal_all.csv", ("Address", "Status Code", name), *rows)
    assert imported(project, file) == 0
    expected = [("URL", "Embedding"), (A, "[0.25, -1.5e-05, 3]"), (C, "[0.1, 0.20, -0.3]")]
    assert table(project, VECTORS) == expected
    assert pages(project) == [("URL", "Status Code"), (A, "200"), (B, "404"), (C, "200")]
    assert 'embedding_provider = "file:files/page_vectors.csv"' in capsys.readouterr().out


def test_our_own_vectors_come_back_byte_by_byte(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_text(project / "files/urls_rawdata.csv", "my own pages")
    vectors = np.random.default_rng(1).normal(size=(2, 384)).astype(np.float16)
    own = project / "files/vectorized_urls.csv"
    ListCsv(own, PAGE_VECTORS).write(zip((A, B), vectors, strict=True))
    assert imported(project, str(own), "--json") == 0
    assert (project / "files" / VECTORS).read_bytes() == own.read_bytes()
    assert (project / "files/urls_rawdata.csv").read_text(encoding="utf-8") == "my own pages"
    told = json.loads(capsys.readouterr().out)
    assert (told["vectors"], told["pages"], told["page_columns"], told["copies"]) == (2, None, [], [])


BAD = {
    "words": ("Error: 429 Too many requests", "not a list of numbers"),
    "NaN": ("NaN,1,2", "not a list of numbers"),
    "infinite": ("[1e999, 1, 2]", "a number that is too large"),
    "beyond float32": ("1e39,1,2", "a number that is too large"),
    "zeros": ("0,0.0,-0", "has only zeros"),
    "nested": ("[1, [2, 3]]", "not a list of numbers"),
    "deeply nested": ("[" * 100_000, "not a list of numbers"),
    "truths": ("true,1,2", "not a list of numbers"),
    "one": ("1", "not a list of numbers"),
    "far too many": ("1," * 60_000 + "1", "more than 50,000 dimensions"),
    "digits without end": ("9" * 5_000 + ",1,2", "not a list of numbers"),
}


@pytest.mark.parametrize(("cell", "reason"), BAD.values(), ids=BAD)
def test_what_is_no_embedding_has_a_reason(cell: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        vector_cell(cell)


def test_what_is_no_embedding_is_rejected(project: Path, tmp_path: Path) -> None:
    """An invalid embedding, and one of another length, is rejected; the page and the other embeddings are imported."""
    rows = ((A, "Tea", "1,2,3"), (B, "Pots", "no"), (C, "Cups", "1,2"))
    file = crawl(tmp_path / "p.csv", ("URL", "Title", "Embeddings"), *rows)
    assert imported(project, file) == 0
    assert table(project, VECTORS)[1:] == [(A, "[1, 2, 3]")]
    assert pages(project)[1:] == [row[:2] for row in rows]
    rejected = table(project, "rejected_rows.csv")[1:]
    assert [row[2] for row in rejected] == [B, C]
    assert "not a list of numbers" in rejected[0][3] and "has 2 dimensions, the first one 3" in rejected[1][3]


def test_of_a_page_that_is_left_out_no_embedding_is_taken(project: Path, tmp_path: Path) -> None:
    rows = ((A, "200", "1,2"), (A + "?utm_source=x", "200", "3,4"), (B, "404", "5,6"))
    file = crawl(tmp_path / "p.csv", ("URL", "Status Code", "Embedding"), *rows)
    more = crawl(tmp_path / "v.csv", ("URL", "Embedding"), (B, "7,8"), (C, "9,10"))
    assert imported(project, file, more, "--only-200") == 0
    assert table(project, VECTORS)[1:] == [(A, "[1, 2]"), (C, "[9, 10]")]


def test_nothing_but_bad_embeddings_is_a_sentence(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of invalid embeddings ends with one sentence and exit code 3, and nothing is written."""
    assert imported(project, crawl(tmp_path / "v.csv", ("URL", "Embedding"), (SITE, "x"))) == 3
    assert "no rows left to import (rejected: 1 because" in capsys.readouterr().err
    assert not (project / "files" / VECTORS).exists()
