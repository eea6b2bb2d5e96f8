"""The commands apply and undo: what they print, and their exit codes."""

import json
from pathlib import Path

import pytest

from internal_linker.model.errors import ExitCode
from tests.support.small_project import command
from tests.support.source_site import POT, contents, make_source_site, url


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, Path]:
    project, sources = make_source_site(tmp_path)
    return str(project), sources


def test_a_table_and_a_diff_are_printed(
    folders: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    project, sources = folders
    before = contents(sources)
    assert command("apply", "--files", str(sources), "--project", project) == ExitCode.SUCCESS
    said = capsys.readouterr().out
    assert "5 source files; 5 pages found (5 by its path), 0 unsure, 0 without a file." in said
    [row] = [
        line.split("  ") for line in said.splitlines() if line.startswith("/blog") and "dark tin" in line
    ]
    assert (row[0], row[-1]) == ("/blog/green/", "would be applied")
    assert "+Black tea is malty and strong. It likes a [clay pot](/shop/pot/), too, if you have one." in said
    assert "4 links would be applied\n1 link refused: the anchor is not in the text\n" in said
    assert "1 link for a related box: write them with --links-json FILE\n" in said
    assert not any(line.startswith("/shop/tin/") for line in said.splitlines())
    assert said.endswith("Nothing was changed. To change the files, add --write.\n")
    assert contents(sources) == before


def test_what_was_written_is_taken_back(
    folders: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """--write prints the command that takes the links back; undo says what it restored, and lists the applications."""
    project, sources = folders
    before = contents(sources)
    assert command("apply", "--files", str(sources), "--write", "--project", project) == ExitCode.SUCCESS
    line = next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("To take the links back:")
    )
    assert command("undo", "--project", project) == ExitCode.SUCCESS
    application = line.partition(" undo ")[2].split()[0]
    assert application in capsys.readouterr().out
    assert command("undo", application, "--project", project) == ExitCode.SUCCESS
    assert "2 files restored, 4 links taken back." in capsys.readouterr().out
    assert contents(sources) == before
    assert command("undo", "LAST", "--project", project) == ExitCode.INPUT


def test_what_is_left_is_a_gap(folders: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Undo ends with code 6 and names each file that changed since."""
    project, sources = folders
    command("apply", "--files", str(sources), "--write", "--project", project)
    path = sources / "blog/green.md"
    path.write_bytes(path.read_bytes() + b"More.\n")
    assert command("undo", "LAST", "--project", project) == ExitCode.GAPS
    assert f"Left as it is: {path}: it changed since links were applied" in capsys.readouterr().out


def test_the_result_is_json(folders: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints the links, the diff and what was unusual."""
    project, sources = folders
    assert command("apply", "--files", str(sources), "--only", POT.id, "--json", "--project", project) == 0
    found = json.loads(capsys.readouterr().out)
    [link] = found["links"]
    assert (link["page"], link["outcome"], link["reason"]) == (url("blog/green"), "would be applied", None)
    assert "[clay pot](/shop/pot/)" in found["diff"]


def test_a_missing_folder_is_named(folders: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    project, sources = folders
    assert command("apply", "--project", project) == ExitCode.CONFIGURATION
    assert "--files DIR" in capsys.readouterr().err
    assert command("apply", "--files", str(sources / "no"), "--project", project) == ExitCode.INPUT
    assert "not found: check the path" in capsys.readouterr().err
    assert command("undo", "LAST", "--project", project) == ExitCode.INPUT
    assert "There is nothing to undo" in capsys.readouterr().err
