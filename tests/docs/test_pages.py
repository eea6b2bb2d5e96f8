"""The pages name what exists: tables match the code, links and paths lead somewhere, and options exist."""

import re
import tomllib
from inspect import isfunction, signature
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import internal_linker
from internal_linker.faces.mcp.server import Tools
from internal_linker.model.errors import ExitCode
from internal_linker.project.run import PageLink
from internal_linker.project.settings.accounts import site_accesses
from internal_linker.project.settings.link_rules import LINK_RULES_FILE, LINK_TARGETS_FILE
from internal_linker.project.settings.settings import KEY_FILES, Settings
from internal_linker.store.page_vectors import PAGE_VECTORS
from tests.docs.generated import COMMANDS, COMMON, places, renewed
from tests.docs.pages import PAGES, README, Page, doc
from tests.support.small_project import REPOSITORY

EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=[each.name for each in PAGES])
OPTIONS = {name for each in COMMANDS.values() for one in each.params for name in one.opts} | {
    "--help",
    "--version",
}
# Options of pytest, tests/lock.py, the endurance trials and other programs.
OTHER_OPTIONS = {"--all", "--upgrade", "--only", "--kills", "--seed", "--faulty-runs", "--check"}
# Crawlers' files and columns, and names of libraries and functions that the pages explain.
OTHER_NAMES = {
    "internal_all",
    "all_inlinks",
    "trust_remote_code",
    "weights_only",
    "run_main",
    "run_tests",
    "ignore_robots",
    "maintenance_work_mem",
}
# What other programs query.
TABLE_NAMES = {PAGE_VECTORS.name, *PAGE_VECTORS.c.keys()}
FUNCTIONS = {name: getattr(internal_linker, name) for name in internal_linker.__all__}
FUNCTIONS = {name: each for name, each in FUNCTIONS.items() if isfunction(each)}
ARGUMENTS = {name for each in FUNCTIONS.values() for name in signature(each).parameters}
RETURNED = {name: signature(each).return_annotation for name, each in FUNCTIONS.items()}
RESULTS = {name: {*dir(each), *getattr(each, "__dataclass_fields__", ())} for name, each in RETURNED.items()}
PYTHON_NAMES = {"internal_linker", "exit_code", *internal_linker.__all__} | ARGUMENTS.union(*RESULTS.values())
PYTHON_NAMES |= {*PageLink.__dataclass_fields__}
# What assistants call.
TOOLS = [name for name in vars(Tools) if not name.startswith("_")]
PYTHON_NAMES |= {*TOOLS}


@EVERY_PAGE
def test_tables_are_those_of_the_code(page: Page) -> None:
    """Generated parts are up to date: rewrite them with `python -m tests.docs`."""
    assert renewed(page.text) == page.text


def test_every_command_has_its_options() -> None:
    named = [name.removeprefix("options of ") for name in places(doc("commands").text)]
    assert sorted(named) == sorted(COMMANDS)
    assert {name.replace(" ", "-") for name in COMMANDS} <= doc("commands").anchors
    assert all(COMMON in {name for one in each.params for name in one.opts} for each in COMMANDS.values())


@EVERY_PAGE
def test_links_lead_somewhere(page: Page) -> None:
    pages = {each.path: each for each in PAGES}
    broken = []
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.path.parent / parts.path).resolve() if parts.path else page.path
        if not target.exists() or (parts.fragment and parts.fragment not in pages[target].anchors):
            broken.append(link)
    assert broken == []


@EVERY_PAGE
def test_paths_exist(page: Page) -> None:
    paths = [
        text for text in page.code if re.match(r"(internal_linker|tests|config|docs|\.ci|\.github)/", text)
    ]
    missing = [text for text in paths if not (REPOSITORY / text).exists()]
    # Files that a project may have, and the former path of a page.
    optional = [*(path for path, _ in KEY_FILES.values()), LINK_RULES_FILE, LINK_TARGETS_FILE]
    assert sorted({*missing} - {path.as_posix() for path in optional} - {".github/SCALING.md"}) == []


@EVERY_PAGE
def test_options_exist(page: Page) -> None:
    named = {option for text in page.code for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", text)}
    assert named - OPTIONS - OTHER_OPTIONS == set()


@EVERY_PAGE
def test_names_exist(page: Page) -> None:
    named = {text.partition(" = ")[0] for text in page.code}
    names = {text for text in named if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", text)}
    assert names - set(Settings.model_fields) - PYTHON_NAMES - OTHER_NAMES - TABLE_NAMES == set()


def test_every_tool_for_assistants_is_described() -> None:
    """docs/assistants.md has a row for each tool, in the order in which assistants see them."""
    rows = re.findall(r"^\| `(\w+)` \|", doc("assistants").text, re.MULTILINE)
    assert rows == TOOLS


@EVERY_PAGE
def test_settings_can_be_used_as_shown(page: Page) -> None:
    """Every block of TOML is a valid settings.toml or, if it has a table per site, a valid site_access.toml."""
    for block in page.blocks:
        if block.language == "toml" and block.text.startswith('["https://'):
            assert site_accesses(block.text)
        elif block.language == "toml":
            Settings.model_validate(tomllib.loads(block.text))


def test_exit_codes_are_all_explained() -> None:
    rows = doc("operations").text.partition("| code | meaning")[2].partition("\n\n")[0]
    codes = [int(code) for code in re.findall(r"^\| (\d+) ", rows, re.MULTILINE)]
    assert codes == [int(code) for code in ExitCode]


def test_rooms_are_all_explained() -> None:
    package = Path(internal_linker.__file__).parent
    rooms = {f"internal_linker/{each.name}/" for each in package.iterdir() if (each / "__init__.py").exists()}
    assert rooms - set(doc("contributing").code) == set()


def test_python_functions_are_all_explained() -> None:
    rows = doc("python").text.partition("| function |")[2].partition("\n\n")[0].splitlines()[2:]
    named: set[str] = set()
    for row in rows:
        functions, _, attributes = (re.findall(r"`(\w+)`", cell) for cell in row.strip("|").split(" | "))
        named |= {*functions}
        assert {*attributes} <= {name for each in functions for name in RESULTS[each]}, row
    assert named == set(RESULTS)


def test_the_readme_is_short() -> None:
    """The README is a front page: at most 200 lines, with a picture."""
    assert len(README.text.splitlines()) <= 200
    assert any(link.endswith(".png") for link in README.links)


def test_the_readme_leads_to_every_page() -> None:
    """The README mentions every page of docs/."""
    assert {each.name for each in PAGES if each.name.startswith("docs/")} - set(README.links) == set()


def test_messages_are_quoted_as_they_are() -> None:
    """The symptoms that the README quotes are messages of the program."""
    table = README.text.partition("| symptom |")[2]
    quoted = re.findall(r'^\|[^|]*?"([^"]+)"', table, re.MULTILINE)
    code = "".join(
        path.read_text(encoding="utf-8") for path in Path(internal_linker.__file__).parent.rglob("*.py")
    )
    assert quoted and [text for text in quoted if re.split(r" \d+ |\.\.\.", text)[0] not in code] == []


def test_pictures_are_all_shown() -> None:
    shown = {
        (each.path.parent / link).resolve() for each in PAGES for link in each.links if link.endswith(".png")
    }
    assert shown == {*(REPOSITORY / "docs/pictures").rglob("*.png")}
