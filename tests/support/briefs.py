"""A draft of a page for the sample site, and the command `content-brief` that finds links for it."""

import json
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.support.small_project import command

COFFEE = "https://www.slowkettle.example"
DRAFT = f"""# Oat milk for latte art

Oat milk steams well if you keep it cool. Start with a [flat white]({COFFEE}/recipes/flat-white/) and pour.

If there is no steam wand, you can froth milk without a steamer, too. A burr grinder makes better espresso shots.
"""


class Ask(Protocol):
    """A function that returns the JSON the command prints."""

    def __call__(self, folder: Path, text: object, *options: str, code: int = 0) -> dict[str, Any]: ...


def asking(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Return a function that runs the command in this process and parses its output."""

    def ask(folder: Path, text: object, *options: str, code: int = 0) -> dict[str, Any]:
        capsys.readouterr()
        assert command("content-brief", str(text), "--json", "--project", str(folder), *options) == code
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return ask
