"""`init`: turns an empty folder into a project that says what is missing."""

import os
import stat
from pathlib import Path

import pytest

from internal_linker.model.errors import OutputError
from internal_linker.project.init import init
from internal_linker.project.options.stores import InitOptions
from internal_linker.project.settings.settings import KEY_FILES, Settings, load_settings
from tests.standins import GoogleStandIn
from tests.support.sites import make_project, use_standins
from tests.support.small_project import REPOSITORY, command, write_text

WRITTEN = [
    "config/settings.toml",
    "config/excluded_urls.txt",
    *(str(path.as_posix()) for path, _ in KEY_FILES.values()),
]


def test_an_empty_folder_gets_a_whole_configuration(tmp_path: Path) -> None:
    """`init` creates and names every file that users may fill in; their contents mean the defaults."""
    folder = tmp_path / "new/site"
    result = init(folder)
    assert sorted(
        str(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file()
    ) == sorted(WRITTEN)
    assert [(file.name, file.written) for file in result.files] == [(name, True) for name in WRITTEN]
    assert load_settings(folder) == Settings.model_validate({})


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    """A second `init` completes a project and never overwrites the user's files."""
    write_text(tmp_path / "config/settings.toml", "max_serp_pages = 3\n")
    write_text(tmp_path / "config/serper_api_key.txt", "my-key")
    frame = init(tmp_path).to_frame()
    assert (tmp_path / "config/settings.toml").read_text() == "max_serp_pages = 3\n"
    assert (tmp_path / "config/serper_api_key.txt").read_text() == "my-key"
    assert frame["written"].dtype == bool
    written = dict(frame.itertuples(index=False, name=None))
    assert not written["config/settings.toml"] and written["config/excluded_urls.txt"]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights")
def test_key_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    init(tmp_path)
    for path, _ in KEY_FILES.values():
        assert stat.S_IMODE((tmp_path / path).stat().st_mode) == 0o600


def test_a_folder_that_cant_be_written_is_named(tmp_path: Path) -> None:
    write_text(tmp_path / "site", "a file")
    with pytest.raises(OutputError, match="site"):
        init(tmp_path / "site")


def test_the_next_steps_name_the_files_and_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("init", "--project", str(tmp_path / "my site")) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[: len(WRITTEN)] == [f"written  {name}" for name in WRITTEN]
    for words in (
        "files/urls_rawdata.csv",
        "files/main_queries.csv",
        "URL, Title, Main Content",
        "URL, Main Query",
    ):
        assert words in text
    for words in ("import crawl.csv", "check", "run --dry-run"):
        assert f'internal-linker {words} --project "{tmp_path / "my site"}"' in text


def test_a_run_on_a_new_project_names_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run without input ends with an input error of one line that says which files to add."""
    assert command("init", "--project", str(tmp_path)) == 0
    assert command("run", "--project", str(tmp_path)) == 3
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("Error: ")
    assert "files/urls_rawdata.csv" in said and "files/main_queries.csv" in said
    assert "rejected_rows.csv" not in said


def test_the_column_names_of_the_sheet(
    tmp_path: Path, google: GoogleStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    """`init --sheet` writes the template's columns into an empty tab, says so, and leaves other tabs as they are."""
    google.set_grid("Main", [])
    make_project(tmp_path)
    use_standins(tmp_path, google=google)
    assert command("init", "--sheet", "--project", str(tmp_path)) == 0
    template = (REPOSITORY / "docs/sheet-template.csv").read_text().strip().split(",")
    assert google.grid("Main") == [template]
    assert "Google Sheet 'Main': the columns URL, Main Query, Link 1," in capsys.readouterr().out
    assert (
        init(tmp_path, InitOptions(sheet=True)).sheet
        == "Google Sheet 'Main': not empty, so nothing was written."
    )
    assert google.grid("Main") == [template]


def test_a_sheet_that_is_not_set_up_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a Sheet or its key, `init --sheet` writes the configuration and says what to fill in."""
    assert command("init", "--sheet", "--project", str(tmp_path)) == 2
    assert "init --sheet needs google_sheet_id in config/settings.toml" in capsys.readouterr().err
    assert (tmp_path / "config/settings.toml").exists()
