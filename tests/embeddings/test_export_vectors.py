"""`export-vectors`: the cache's vectors in the seed's shape, and a plain word where there are none."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from internal_linker.core.records import Page
from internal_linker.embeddings.embed import page_text, text_hash
from internal_linker.ingest.collect import collect
from internal_linker.pipeline.context import Parts
from internal_linker.usecases.export_vectors import export_vectors
from internal_linker.usecases.project import open_project
from tests.support.builders import Told
from tests.support.small_project import (
    URLS,
    command,
    forget_settings,
    make_project,
    write_csv,
    write_settings,
)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


def test_every_embedded_page_has_its_vector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After a run each page's URL stands beside its vector; a page that came later is counted, exit code 6."""
    folder = make_project(tmp_path, {"embedding_provider": "local"})
    where = ("--project", str(folder))
    assert command("run", *where) == 0
    assert command("export-vectors", *where) == 0
    csv.field_size_limit(10_000_000)
    with (folder / "files/vectorized_urls.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [row[0] for row in rows] == URLS
    assert all(len(json.loads(row[-1])) == 384 for row in rows)
    more = [("URL", "Main Content"), (URLS[0], "A new text."), ("https://www.tiny.example/new/", "")]
    write_csv(folder / "files/urls_rawdata.csv", more)
    capsys.readouterr()
    assert command("export-vectors", *where) == 6
    assert "2 pages have none: new or changed" in capsys.readouterr().out


def test_pages_with_and_without_a_vector_are_a_table(tmp_path: Path) -> None:
    """Each page of the input, and whether its vector is in the file."""
    folder = make_project(tmp_path, {"embedding_provider": "local"})
    opened = open_project(folder)
    with opened.parts(Told(), serp=False, deliver=False) as parts:
        texts = [page_text(page) for page in _pages(parts)[:4]]
        vectors = dict.fromkeys(map(text_hash, texts), np.ones(384, np.float32))
        parts.vector_cache.put(parts.encoder, vectors)
    result = export_vectors(opened, Told())
    frame = result.to_frame()
    assert frame["page"].tolist() == URLS and frame["exported"].dtype == bool
    assert frame["exported"].tolist() == [True] * 4 + [False] * 2
    assert (result.found, result.missing) == (4, 2)


def _pages(parts: Parts) -> Sequence[Page]:
    assert parts.pages is not None
    return collect(None, parts.pages.stream(), queries_in_sheet=False, keep=parts.keep).pages


def test_word_statistics_have_no_vectors_to_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody is sent to start a run that could not help: the setting is named."""
    folder = make_project(tmp_path)
    assert command("export-vectors", "--project", str(folder)) == 2
    assert 'Set embedding_provider = "local"' in capsys.readouterr().err
    assert not (folder / "files/vectorized_urls.csv").exists()


def test_without_pages_there_is_nothing_to_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The missing file is named."""
    folder = make_project(tmp_path)
    write_settings(folder, {"embedding_provider": "local"})
    (folder / "files/urls_rawdata.csv").unlink()
    assert command("export-vectors", "--project", str(folder)) == 3
    assert "files/urls_rawdata.csv is not there" in capsys.readouterr().err
