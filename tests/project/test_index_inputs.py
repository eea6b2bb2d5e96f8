"""The digest of what an index depends on changes with every table and setting, and with nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from internal_linker.project.index_inputs import inputs_digest, inputs_status
from internal_linker.project.project import open_project
from internal_linker.project.settings.settings import ENV_PREFIX
from tests.support.small_project import make_project, write_settings

TABLES = ("urls_rawdata.csv", "main_queries.csv", "existing_links.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def added(name: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    """Return a change that adds a line to a file."""

    def add(folder: Path, _: pytest.MonkeyPatch) -> None:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("a line\n")

    return add


def another_setting(folder: Path, _: pytest.MonkeyPatch) -> None:
    write_settings(folder, {"lexical_weight": 0.9})


def variable(name: str, value: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    """Return a change of the environment."""
    return lambda _, patch: patch.setenv(f"{ENV_PREFIX}{name}", value)


def another_version(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr("internal_linker.project.index_inputs.__version__", "0")


CHANGES: dict[str, Callable[[Path, pytest.MonkeyPatch], None]] = {
    **{name: added(f"files/{name}") for name in TABLES},
    "excluded_urls.txt": added("config/excluded_urls.txt"),
    "settings.toml": another_setting,
    "a variable": variable("LEXICAL_WEIGHT", "0.9"),
    "a key": variable("OPENAI_API_KEY", "sk-a"),
    "the program": another_version,
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_input_counts(folder: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    before = inputs_digest(open_project(folder))
    CHANGES[change](folder, monkeypatch)
    assert inputs_digest(open_project(folder)) != before


def test_a_table_that_is_no_file_has_no_digest(folder: Path) -> None:
    """What can't be read twice, or at all, can't be compared: there is no index of it."""
    (folder / "files/urls_rawdata.csv").unlink()
    (folder / "files/urls_rawdata.csv").mkdir()
    assert inputs_digest(open_project(folder)) == ""


def test_what_a_run_writes_does_not_count(folder: Path) -> None:
    before = inputs_digest(open_project(folder))
    (folder / "files/Output.csv").write_text("links", encoding="utf-8")
    (folder / "files/cache.sqlite3").write_bytes(b"rows")
    (folder / "files/urls_rawdata.csv").touch()
    assert inputs_digest(open_project(folder)) == before


def test_the_status_of_files_has_that_of_given_vectors(folder: Path) -> None:
    write_settings(folder, {"embedding_provider": "file:vectors.csv"})
    settings = open_project(folder).settings
    before = inputs_status(folder, settings)
    (folder / "vectors.csv").write_text("1", encoding="utf-8")
    assert [name for name, *_ in set(inputs_status(folder, settings)) - set(before)] == ["vectors.csv"]
