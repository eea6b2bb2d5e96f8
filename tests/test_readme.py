"""The README is held to the code: its commands run, its tables name what there is."""

import json
import re
import shlex
from pathlib import Path

import pytest

from internal_linker.core.errors import ExitCode
from internal_linker.usecases.settings.settings import KEY_FILES, Settings
from tests.support.sites import make_project
from tests.support.small_project import REPOSITORY, command, write_text
from tests.support.web_sites import html_page

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^\$ \./run_main\.sh(.*)$", README, re.MULTILINE)


def settings_table() -> str:
    """The README's table of settings, as the code has them; paste it in when a setting changes."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        if name not in KEY_FILES:
            lines.append(
                f"| `{name}` | `{json.dumps(field.default, ensure_ascii=False)}` | {field.description} |"
            )
    return "\n".join(lines)


@pytest.mark.parametrize("arguments", COMMANDS)
def test_commands_of_the_readme_run(arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `./run_main.sh ...` of the README does on the sample site what it is said to do."""
    links = (REPOSITORY / "files/existing_links.csv").read_text(encoding="utf-8")
    write_text(tmp_path / "inlinks-june.csv", "".join(links.splitlines(keepends=True)[::2]))
    write_text(tmp_path / "inlinks-july.csv", links)
    write_text(tmp_path / "all_inlinks.csv", links)
    pages = (REPOSITORY / "files/urls_rawdata.csv").read_text(encoding="utf-8")
    write_text(tmp_path / "crawl.csv", pages.replace("URL,Title,H1", "Address,Title 1,H1-1", 1))
    write_text(tmp_path / "saved-pages/brewing/index.html", html_page("Brewing"))
    monkeypatch.chdir(tmp_path)
    project = make_project(tmp_path, 50, {"embedding_provider": "lsa"})
    words = shlex.split(arguments) or ["run"]
    if "--project" not in words:
        words += ["--project", str(project)]
    words = [str(tmp_path / "other") if word == "DIR" else word for word in words]
    assert command(*words) == ExitCode.SUCCESS


def test_there_are_commands_to_run() -> None:
    """The README shows the first start, a look-up, the check, a dry run and a trial run; and a piece of Python."""
    assert len(COMMANDS) >= 5 and PYTHON


@pytest.mark.parametrize("code", PYTHON)
def test_python_of_the_readme_runs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every piece of Python code of the README prints something on the sample site, started in its folder."""
    monkeypatch.chdir(make_project(tmp_path, 50, {"embedding_provider": "lsa"}))
    exec(code, {})
    assert capsys.readouterr().out


def test_settings_table_is_the_codes() -> None:
    """Every setting stands in the README with its default and meaning."""
    assert settings_table() in README


def test_exit_codes_are_the_codes() -> None:
    """Every exit code is explained in the README, and no other."""
    table = README.partition("| code | meaning")[2].partition("\n\n")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) ", table, re.MULTILINE)] == [
        int(code) for code in ExitCode
    ]


def test_files_named_in_the_readme_exist() -> None:
    """The table "To change X open Y" leads to files that are there."""
    table = README.partition("## To change X open Y")[2]
    paths = re.findall(r"`((?:internal_linker|tests|config)/[\w/.]*)`", table)
    assert len(paths) > 10
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []
