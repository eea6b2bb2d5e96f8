"""logfile.txt: what happened and when, by run, without secrets, and without disturbing the run."""

import json
import logging
import re
from pathlib import Path

import pytest

from internal_linker.model.errors import OutputError
from internal_linker.project import log as runlog
from internal_linker.project.log import LOG_FILE, LOGGER, run_log
from tests.standins import make_service_account

ENTRY = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (INFO|WARNING|ERROR) \[run-1\] .+")
KEY = "sk-0123456789abcdef"


def log_text(folder: Path) -> str:
    return (folder / LOG_FILE).read_text(encoding="utf-8")


def test_each_entry_is_one_line_with_time_level_and_run(tmp_path: Path) -> None:
    with run_log(tmp_path, "run-1", []):
        LOGGER.info("Input: start")
        LOGGER.warning("page 'a\r\nb\u2028c' has no text")
        LOGGER.error("%s", "stopped")
    lines = log_text(tmp_path).splitlines()
    assert len(lines) == 3 and all(ENTRY.fullmatch(line) for line in lines)
    assert lines[1].endswith("page 'a b c' has no text")


def test_a_tracebacks_lines_carry_the_run_and_no_key(tmp_path: Path) -> None:
    """Searching for a run's id finds every line of a traceback; a library's error stays readable, without the key."""
    with run_log(tmp_path, "run-1", [KEY]):
        try:
            raise ValueError(f"bad header\nBearer {KEY}")
        except ValueError:
            LOGGER.exception("It failed")
    lines = log_text(tmp_path).splitlines()
    assert len(lines) > 4 and all("[run-1] " in line for line in lines)
    assert "Traceback (most recent call last):" in lines[1]
    assert lines[-1].endswith("Bearer ***") and KEY not in log_text(tmp_path)


@pytest.mark.parametrize(
    "form",
    [
        lambda secret: f"key {secret}.",
        lambda secret: json.dumps({"key": secret}),
        lambda secret: json.dumps(json.dumps({"key": secret})),
        repr,
        lambda secret: secret.replace("\n", "\r\n"),
    ],
    ids=["as it is", "in JSON", "in JSON in JSON", "repr", "CRLF"],
)
def test_no_form_of_a_private_key_reaches_the_log(tmp_path: Path, form: object) -> None:
    """A private key from a service account's JSON is hidden with real and with escaped line ends."""
    assert callable(form)
    account = make_service_account("http://127.0.0.1")
    pem = account["private_key"]
    with run_log(tmp_path, "run-1", [json.dumps(account, indent=2), KEY]):
        LOGGER.error("refused: %s and %s", form(pem), form(KEY))
        LOGGER.error("file: %s", form(json.dumps(account, indent=2)))
        LOGGER.error("share it with %s", account["client_email"])
    text = log_text(tmp_path)
    assert account["client_email"] in text
    assert KEY not in text and "***" in text
    assert not [line for line in pem.splitlines()[1:-1] if line in text]


def test_the_log_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old entries move to logfile.txt.1 and further, and the oldest file is deleted."""
    monkeypatch.setattr(runlog, "MAX_BYTES", 1000)
    monkeypatch.setattr(runlog, "OLD_FILES", 2)
    with run_log(tmp_path, "run-1", []):
        for number in range(100):
            LOGGER.info("entry %d %s", number, "x" * 50)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "logfile.txt",
        "logfile.txt.1",
        "logfile.txt.2",
    ]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())


def test_a_log_that_cant_be_rotated_grows_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runlog, "MAX_BYTES", 500)
    for number in range(1, runlog.OLD_FILES + 1):
        (tmp_path / f"logfile.txt.{number}").mkdir()
    with run_log(tmp_path, "run-1", []):
        for number in range(30):
            LOGGER.info("entry %d", number)
    assert len(log_text(tmp_path).splitlines()) == 30
    assert capsys.readouterr().err == ""


def test_runs_follow_each_other_in_one_file(tmp_path: Path) -> None:
    for run in ("run-1", "run-2"):
        with run_log(tmp_path, run, []):
            LOGGER.info("here")
    assert re.findall(r"\[(.+?)\] here", log_text(tmp_path)) == ["run-1", "run-2"]


def test_a_folder_that_takes_no_log_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / LOG_FILE).mkdir()
    with pytest.raises(OutputError, match=r"logfile\.txt can't be written"), run_log(tmp_path, "run-1", []):
        pass


def test_outside_a_run_nothing_is_logged_or_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LOGGER, "propagate", True)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    LOGGER.warning("twice?")
    assert capsys.readouterr().err == "" and not list(tmp_path.iterdir())


def test_control_characters_are_shown_in_the_log(tmp_path: Path) -> None:
    """What a terminal would obey when somebody prints the log is an escape in it."""
    with run_log(tmp_path, "run-1", []):
        LOGGER.warning("the server said \x1b[2J\x9b31m\u202eevil")
    assert log_text(tmp_path).endswith("the server said \\u001b[2J\\u009b31m\\u202eevil\n")


def test_a_key_within_a_longer_key_leaves_no_rest(tmp_path: Path) -> None:
    with run_log(tmp_path, "run-1", [KEY, f"{KEY}-and-more"]):
        LOGGER.info("keys %s-and-more and %s", KEY, KEY)
    assert log_text(tmp_path).endswith("keys *** and ***\n")
