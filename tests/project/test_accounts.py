"""What key files with more than a key say, and the warnings about them."""

import os
from pathlib import Path

import pytest

from internal_linker.project.log import LOGGER, run_log
from internal_linker.project.settings.accounts import (
    exposed_keys,
    notify_addresses,
    notify_secrets,
    unencrypted,
)
from internal_linker.project.settings.settings import load_settings
from tests.support.small_project import command, make_project, write_settings, write_text


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights.")
@pytest.mark.parametrize(("mode", "told"), [(0o600, 0), (0o640, 1), (0o644, 1), (0o400, 0)])
def test_a_key_that_others_can_read_is_told(mode: int, told: int, tmp_path: Path) -> None:
    """The warning contains the command that fixes the permissions, not the key; an empty file gives no warning."""
    write_text(tmp_path / "config/openai_api_key.txt", "sk-0123456789")
    write_text(tmp_path / "config/serper_api_key.txt", "")
    (tmp_path / "config/openai_api_key.txt").chmod(mode)
    (tmp_path / "config/serper_api_key.txt").chmod(0o644)
    said = list(exposed_keys(tmp_path))
    assert len(said) == told and all("chmod 600 config/openai_api_key.txt" in one for one in said)
    assert "0123456789" not in "".join(said)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://api.openai.com/v1", False),
        ("http://127.0.0.1:11434/v1", False),
        ("http://localhost:1234", False),
        ("http://[::1]:80", False),
        ("http://llm.example/v1", True),
        ("http://10.0.0.5:8000", True),
        ("http://127.0.0.1.evil.example", True),
    ],
)
def test_a_key_in_the_clear_is_told(address: str, told: bool) -> None:
    assert bool(list(unencrypted({"base_url": address}))) is told


def test_a_run_and_the_check_tell_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run and `check` both print the warning and go on."""
    project = make_project(tmp_path)
    write_settings(project, dict.fromkeys(("serper_url", "serpapi_url"), "http://search.example"))
    for name in ("run", "check"):
        assert command(name, "--project", str(project)) == 0
        said = capsys.readouterr().out
        assert "serper_url begins with http://" in said and "serpapi_url begins with http://" in said


def test_lines_are_counted_with_comments() -> None:
    text = "\n# the team\n slack://A/B/C \r\n\n#off://x\njson://x"
    assert [*notify_addresses(text)] == [(3, "slack://A/B/C"), (6, "json://x")]


def test_the_log_hides_secrets_and_keeps_hosts(tmp_path: Path) -> None:
    """Passwords and tokens show as ***, also alone; hosts and ordinary words stay, as the log is about the site."""
    lines = ["mailtos://robot:horse-staple@tea.example?to=seo@tea.example", "slack://T1JJ3T3L2/A1BRTD4JD/x"]
    lines += ["json://hooks.tea.example/notifications", "json://www.tea.example"]
    folder = make_project(tmp_path)
    write_text(folder / "config/notify.txt", "\n".join(lines))
    with run_log(folder, "run", load_settings(folder).secrets):
        LOGGER.info("%s", ", ".join(lines))
        LOGGER.info("tokens: T1JJ3T3L2 A1BRTD4JD; user:horse-staple@host")
        LOGGER.info("kept: https://www.tea.example/notifications")
    whole, tokens, kept = (folder / "logfile.txt").read_text(encoding="utf-8").splitlines()
    assert whole.endswith("INFO [run] ***, ***, ***, ***")
    assert tokens.endswith("tokens: *** ***; user***host")
    assert kept.endswith("kept: https://www.tea.example/notifications")


def test_what_is_no_address_is_a_secret_as_a_whole() -> None:
    assert notify_secrets("abcdefghijk") == ["abcdefghijk"]
