"""The command app: what it refuses before it serves."""

from pathlib import Path

import pytest

from tests.support.small_project import command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--project", "{folder}/none"), "not found: check --project"),
        (("--host", "0.0.0.0"), "name a file with --password-file"),
        (("--host", "0.0.0.0", "--password-file", "{folder}/none"), "check --password-file"),
        (("--host", "0.0.0.0", "--password-file", "{folder}/short"), "12 characters or more"),
        (("--host", "0.0.0.0", "--password-file", "{folder}/empty"), "no password in its first line"),
        (("--host", "192.0.2.1", "--password-file", "{folder}/long"), "of 192.0.2.1 can't be used"),
    ],
)
def test_a_wrong_start_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    """If the app can't start, one sentence says why, and the exit code is 2."""
    for name, text in (("short", "abc"), ("empty", ""), ("long", "correct horse battery\nmore")):
        (tmp_path / name).write_text(text)
    words = [word.format(folder=tmp_path) for word in arguments]
    assert command("app", "--no-browser", *words) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err and len(err.splitlines()) == 1
