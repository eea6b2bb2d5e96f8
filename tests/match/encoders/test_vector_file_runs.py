"""Runs, checks and audits with vectors from the user's own file."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.sites import read_csv
from tests.support.small_project import URLS, command, make_project, write_csv, write_settings


@pytest.mark.long
def test_a_run_takes_the_vectors_that_were_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_project(tmp_path, {"embedding_provider": "local"})
    where = ("--project", str(folder))
    assert command("run", "--figures", *where) == command("export-vectors", *where) == 0
    ours = similarities(folder)
    write_settings(folder, {"embedding_provider": "file:files/vectorized_urls.csv"})
    assert command("run", "--figures", *where) == 0
    theirs = similarities(folder)
    assert theirs.keys() == ours.keys()
    assert {row["Model"] for row in read_csv(folder / "files/links.csv")} == {"file/vectorized_urls.csv"}
    np.testing.assert_allclose(list(theirs.values()), list(ours.values()), atol=2e-3)
    rows = read_csv(folder / "files/vectorized_urls.csv")[1:]
    write_csv(
        folder / "files/vectorized_urls.csv",
        [("URL", "Embedding"), *((row["URL"], row["Embedding"]) for row in rows)],
    )
    capsys.readouterr()
    assert command("run", "--figures", *where) == 0
    assert "1 page has no vector in file/vectorized_urls.csv" in "".join(capsys.readouterr())
    assert command("check", *where) == 0
    assert "file/vectorized_urls.csv has vectors of 5 pages with 384 dimensions" in capsys.readouterr().out
    assert command("export-vectors", *where) == 2
    assert "come from file/vectorized_urls.csv" in capsys.readouterr().err


def similarities(folder: Path) -> dict[tuple[str, str], float]:
    rows = read_csv(folder / "files/links.csv")
    return {(row["Source"], row["Target"]): float(row["Embedding Similarity"]) for row in rows}


def test_a_run_says_how_many_numbers_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(tmp_path, {"embedding_provider": "file:v.csv", "matryoshka_dimensions": 2})
    write_csv(folder / "v.csv", [("URL", "Embedding"), *((url, f"1 0 {at}") for at, url in enumerate(URLS))])
    assert command("run", "--figures", "--project", str(folder)) == 0
    assert set(similarities(folder).values()) == {1.0}
    assert {row["Model"] for row in read_csv(folder / "files/links.csv")} == {"file/v.csv (first 2)"}
    write_settings(folder, {"embedding_provider": "file:v.csv", "matryoshka_dimensions": 4})
    assert command("run", "--project", str(folder)) == 2
    assert "matryoshka_dimensions is 4, but file/v.csv has only 3 dimensions" in capsys.readouterr().err
    write_settings(folder, {"embedding_provider": "lsa", "matryoshka_dimensions": 4})
    assert command("run", "--figures", "--accept-drift", "--project", str(folder)) == 0
    assert {row["Model"] for row in read_csv(folder / "files/links.csv")} == {"local/lsa-256"}


def test_an_audit_groups_pages_by_the_users_vectors(tmp_path: Path) -> None:
    """Clusters come from the user's vectors, which here contradict the titles."""
    folder = make_project(tmp_path, {"embedding_provider": "file:v.csv"})
    rows = [(url, "1 0" if at % 2 else "0 1") for at, url in enumerate(URLS)]
    write_csv(folder / "v.csv", [("URL", "Embedding"), *rows])
    assert command("audit", "--project", str(folder)) == 0
    clusters = [row["cluster:string"] for row in read_csv(folder / "files/audit_nodes.csv")]
    assert len(set(clusters)) == 2 and clusters == clusters[:2] * 3


@pytest.mark.parametrize("arguments", [["run"], ["lookup", URLS[0]], ["pairs"], ["check"]], ids=" ".join)
def test_a_bar_that_stands_when_something_is_wrong_goes(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_project(tmp_path, {"embedding_provider": "file:v.csv"})
    monkeypatch.setenv("FORCE_COLOR", "1")
    by = ["--encoder", "file:v.csv"] if arguments == ["pairs"] else []
    assert command(*arguments, *by, "--project", str(folder)) in (2, 3)
    shown = max(capsys.readouterr(), key=lambda text: text.count(HIDE_CURSOR))
    assert ("Checking" if arguments == ["check"] else "Vectors") in shown
    assert shown.rfind(SHOW_CURSOR) > shown.rfind(HIDE_CURSOR) > -1


HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


def test_vectors_of_another_site_end_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(tmp_path, {"embedding_provider": "file:v.csv"})
    write_csv(folder / "v.csv", [("URL", "Embedding"), ("https://else.example/a", "1 2")])
    assert command("run", "--project", str(folder)) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "but none of these pages is in your tables: the file has https://else.example/a, your tables have https://www.tiny.example/"
        in said
    )
    assert not (folder / "files/links.csv").exists()
