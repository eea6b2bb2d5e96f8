"""config/notify.txt: which lines are addresses, and what no log may have of them."""

from pathlib import Path

import pytest

from internal_linker.usecases.log import LOGGER, run_log
from internal_linker.usecases.settings.notify_addresses import notify_addresses, notify_secrets
from internal_linker.usecases.settings.settings import load_settings
from tests.support.small_project import forget_settings, make_project, write_text


def test_lines_are_counted_with_comments() -> None:
    """Empty lines and comments are no addresses, but count as lines."""
    text = "\n# the team\n slack://A/B/C \r\n\n#off://x\njson://x"
    assert [*notify_addresses(text)] == [(3, "slack://A/B/C"), (6, "json://x")]


def test_the_log_hides_secrets_and_keeps_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords and tokens show as ***, also alone; hosts and ordinary words stay, as the log is about the site."""
    forget_settings(monkeypatch)
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
    """A line without a scheme may be a key that was pasted."""
    assert notify_secrets("abcdefghijk") == ["abcdefghijk"]
