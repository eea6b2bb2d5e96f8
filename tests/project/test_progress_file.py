"""Progress as JSON lines: what a program that watches a run learns."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from internal_linker.model.errors import InputError, OutputError
from internal_linker.model.progress import Tracker
from internal_linker.project.jobs import progress_file
from tests.support.small_project import command, make_project


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_step_is_told(tmp_path: Path) -> None:
    """The file has each step with its counts, notes and the end, in order; all goes on to people, too."""
    shown = Tracker()
    with progress_file(tmp_path / "told", shown, []) as told:
        told.start("Embedding", 10, "texts")
        told.advance(4)
        told.advance(3)
        told.finish("7 texts")
        told.warn("three are missing")
        told.end(6, "Finished.", [("Pages", "10")])
    found = events(tmp_path / "told")
    assert [event["event"] for event in found] == ["begin", "start", "advance", "finish", "note", "end"]
    assert found[0]["pid"] and found[1]["total"] == 10 and found[3]["done"] == 7
    assert (found[-1]["code"], found[-1]["summary"]) == (6, [["Pages", "10"]])
    assert shown.notes == ["three are missing"]


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (InputError("The file is empty."), 3, "The file is empty."),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (ValueError("secret"), 1, "Unexpected error (ValueError)"),
    ],
)
def test_an_error_is_the_end(tmp_path: Path, error: BaseException, code: int, sentence: str) -> None:
    with pytest.raises(type(error)), progress_file(tmp_path / "told", Tracker(), []):
        raise error
    last = events(tmp_path / "told")[-1]
    assert last["code"] == code and last["sentence"].startswith(sentence)


def test_secrets_are_masked(tmp_path: Path) -> None:
    key = 'sk-"secret"-0123456789'
    with suppress(InputError), progress_file(tmp_path / "told", Tracker(), [key]) as told:
        told.warn(f"The key {key} is wrong.")
        raise InputError(f"Refused: {key}")
    text = (tmp_path / "told").read_text()
    assert "0123456789" not in text and text.count("***") == 2


def test_a_place_that_cant_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OutputError, match="check --progress-file"), progress_file(tmp_path, Tracker(), []):
        pass
    folder = make_project(tmp_path / "site")
    nowhere = str(tmp_path / "none/told")
    assert command("run", "--project", str(folder), "--progress-file", nowhere) == 3
    assert "check --progress-file" in capsys.readouterr().err
    assert not (folder / "files/links.csv").exists()
