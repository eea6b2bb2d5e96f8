"""Commands in messages work as typed: they name the program as it was started, and a Python that can install."""

import os
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from internal_linker.model import cli_commands
from internal_linker.model.cli_commands import CHECKOUT, command, installation, project_command

EXTRAS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="Windows has run_main.bat")
@pytest.mark.parametrize(
    ("started", "prefix", "printed"),
    [
        ("main.py", CHECKOUT / ".venv", "./run_main.sh check"),
        ("main.py", "/usr", "python main.py check"),
        ("internal-linker", "/usr", "internal-linker check"),
        ("a_notebook.py", "/usr", "internal-linker check"),
    ],
)
def test_commands_name_the_program_as_it_was_started(
    started: str, prefix: object, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """run_main.sh, `python main.py` and the console script each print themselves."""
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.setattr(sys, "argv", [str(CHECKOUT / started) if started == "main.py" else started])
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(cli_commands, "which", lambda name: f"/usr/bin/{name}")
    assert command("check") == printed


@pytest.mark.skipif(os.name == "nt", reason="Windows has run_main.bat")
def test_commands_work_from_another_folder(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(CHECKOUT / "main.py")])
    monkeypatch.setattr(sys, "prefix", str(CHECKOUT / ".venv"))
    assert command("check") == f"{CHECKOUT}/run_main.sh check"
    home = elsewhere / "a home"
    monkeypatch.setattr(cli_commands, "CHECKOUT", home)
    monkeypatch.setattr(sys, "prefix", str(home / ".venv"))
    assert command("check") == '"./a home/run_main.sh" check'
    assert project_command("check", home) == command("check"), "main.py's own folder needs no --project"
    assert project_command("check", elsewhere / "shop") == '"./a home/run_main.sh" check --project shop'


@pytest.mark.skipif(os.name == "nt", reason="Windows has run_main.bat")
@pytest.mark.parametrize(
    ("started", "prefix", "printed"),
    [
        ("main.py", CHECKOUT / ".venv", f"{CHECKOUT}/run_main.sh check"),
        ("main.py", "/usr", f"/usr/bin/python3 {CHECKOUT}/main.py check"),
        ("internal-linker", "/usr", "/usr/bin/internal-linker check"),
        ("internal_linker/__main__.py", "/usr", "/usr/bin/python3 -m internal_linker check"),
    ],
    ids=["its own environment", "another Python", "the command", "the module"],
)
def test_a_scheduler_gets_whole_paths(
    started: str, prefix: object, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.setattr(sys, "argv", [str(CHECKOUT / started)])
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    monkeypatch.setattr(cli_commands, "which", lambda name: f"/usr/bin/{name}")
    assert command("check", anywhere=True) == printed


@pytest.mark.usefixtures("elsewhere")
def test_installation_names_the_packages_of_an_extra() -> None:
    """Every extra is installed by its packages' names, since the project itself is not in a registry."""
    for extra, wanted in EXTRAS.items():
        python, options, packages = installation(extra).partition(" -m pip install ")
        assert python.strip('"') == sys.executable and options
        assert len(packages.split('" "')) == len(wanted), extra
        assert all(each.replace(" ", "") in packages for each in wanted), extra


def test_installation_without_the_checkout_asks_the_metadata(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package has no pyproject.toml; its metadata names the same packages."""
    monkeypatch.setattr(cli_commands, "CHECKOUT", elsewhere)
    monkeypatch.setattr(
        metadata,
        "requires",
        lambda name: ['pyarrow<27,>=17 ; extra == "parquet"', 'x>=1; extra == "y"', "z"],
    )
    assert installation("parquet").endswith(' -m pip install "pyarrow<27,>=17"')
