"""`export-vectors` writes the cached vectors in the seed's format, and says plainly if there are none."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from internal_linker.match.embed import page_text, text_hash
from internal_linker.model.records import Page
from internal_linker.project.export_vectors import export_vectors
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.project import open_project
from internal_linker.sources.collect import collect
from tests.support.builders import Told
from tests.support.small_project import URLS, command, make_project, write_csv, write_settings


def test_pages_with_and_without_a_vector_are_a_table(tmp_path: Path) -> None:
    folder = make_project(tmp_path, {"embedding_provider": "local"})
    opened = open_project(folder)
    with opened.context(Told(), serp=False, deliver=False) as context:
        texts = [page_text(page) for page in _pages(context)[:4]]
        vectors = dict.fromkeys(map(text_hash, texts), np.ones(384, np.float32))
        context.vector_cache.put(context.encoder, vectors)
    result = export_vectors(opened, Told())
    frame = result.to_frame()
    assert frame["page"].tolist() == URLS and frame["exported"].dtype == bool
    assert frame["exported"].tolist() == [True] * 4 + [False] * 2
    assert (result.found, result.missing) == (4, 2)


def vectors_in(path: Path) -> dict[str, list[float]]:
    csv.field_size_limit(10_000_000)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row[0]: json.loads(row[-1]) for row in list(csv.reader(file))[1:]}


def test_each_run_writes_the_vectors_if_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With write_vectors a run ends with the file that export-vectors writes, a vector for each page; a trial run
    does not write it. A page without one is counted, and the exit code is 6.
    """
    folder = make_project(tmp_path, {"embedding_provider": "local", "write_vectors": "always"})
    file = folder / "files/vectorized_urls.csv"
    assert command("run", "--limit", "2", "--project", str(folder)) == 0
    assert not file.exists()
    assert command("run", "--project", str(folder)) == 0
    assert f"{len(URLS)} vectors in files/vectorized_urls.csv" in capsys.readouterr().out
    found = vectors_in(file)
    file.unlink()
    assert command("export-vectors", "--project", str(folder)) == 0
    assert vectors_in(file) == found and list(found) == URLS
    assert {len(vector) for vector in found.values()} == {384}
    more = [("URL", "Main Content"), (URLS[0], "A new text."), ("https://www.tiny.example/new/", "")]
    write_csv(folder / "files/urls_rawdata.csv", more)
    capsys.readouterr()
    assert command("export-vectors", "--project", str(folder)) == 6
    assert "2 pages have no vector: they are new or changed" in capsys.readouterr().out


def test_a_run_without_vectors_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With word statistics there is nothing to write: a note says why, and the run succeeds; export-vectors fails.

    So it does without pages, and names the missing file.
    """
    folder = make_project(tmp_path, {"write_vectors": "always"})
    assert command("run", "--project", str(folder)) == 0
    assert "write_vectors: Word statistics (LSA)" in capsys.readouterr().out
    assert command("export-vectors", "--project", str(folder)) == 2
    assert 'Set embedding_provider = "local"' in capsys.readouterr().err
    write_settings(folder, {"embedding_provider": "local"})
    (folder / "files/urls_rawdata.csv").unlink()
    assert command("export-vectors", "--project", str(folder)) == 3
    assert "files/urls_rawdata.csv not found" in capsys.readouterr().err
    assert not (folder / "files/vectorized_urls.csv").exists()


def test_vectors_of_titles_can_be_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(tmp_path, {"embedding_provider": "local"})
    where = ("--project", str(folder))
    assert command("export-vectors", "--by", "title", *where) == 6
    assert "since the last pairs --by title (start it)" in capsys.readouterr().out
    assert command("pairs", "--by", "title", *where) == 0
    assert command("export-vectors", "--by", "title", *where) == 0
    found = vectors_in(folder / "files/vectorized_titles.csv")
    assert list(found) == URLS and {len(vector) for vector in found.values()} == {384}
    assert not (folder / "files/vectorized_urls.csv").exists()
    assert command("export-vectors", "--by", "words", *where) == 2
    assert "choose one of content, title, h1" in capsys.readouterr().err


def _pages(context: RunContext) -> Sequence[Page]:
    assert context.pages is not None
    return collect(None, context.pages.stream(), queries_in_sheet=False, keep=context.keep).pages
