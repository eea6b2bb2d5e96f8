"""`export-vectors`: the cache's vectors in the seed's shape, and a plain word where there are none."""

import csv
import json
from pathlib import Path

import pytest

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
