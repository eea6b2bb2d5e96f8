"""A capability is declared once, by its use case: command line, Python, the app's API and assistants have it."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import pytest
from mcp import Client

import internal_linker
from internal_linker import InternalLinkerError
from internal_linker.faces.mcp.server import assistant_server
from internal_linker.model.results import Columns, Result
from internal_linker.project.capabilities import capability
from internal_linker.project.option_records import Option, Options
from internal_linker.project.options import Sections
from internal_linker.project.project import Project
from tests.support.app_server import running_app
from tests.support.small_project import URLS, command, make_project


@dataclass(frozen=True, slots=True, kw_only=True)
class LongUrlsOptions(Options):
    least: Annotated[int, Option("Only URLs of at least N characters.", metavar="N", least=1)] = 30
    draft: Annotated[Path | None, Option("A file that only this computer may name.")] = None
    sections: Sections = ()


@dataclass(frozen=True, repr=False)
class LongUrls(Result):
    urls: list[str]

    def tables(self) -> Mapping[str, Columns]:
        return {"urls": {"url": self.urls, "characters": [len(url) for url in self.urls]}}


@capability()
def long_urls(project: Project, options: LongUrlsOptions) -> LongUrls:
    """List the pages with long URLs."""
    with project.file("urls_rawdata.csv").open(encoding="utf-8", newline="") as file:
        return LongUrls([row["URL"] for row in csv.DictReader(file) if len(row["URL"]) >= options.least])


@capability(writes=True)
def rename_page(project: Project) -> LongUrls:
    """Stand for a capability that changes something."""
    return LongUrls([])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project beside the two capabilities above, which are offered like the program's own."""
    for name in ("long_urls", "rename_page"):
        monkeypatch.setitem(internal_linker.CAPABILITIES, name, __name__)
    monkeypatch.setattr(internal_linker, "DERIVED", ("long_urls", "rename_page"))
    return make_project(tmp_path / "shop")


MOST = max(map(len, URLS))
LONGEST = [{"url": url, "characters": MOST} for url in URLS if len(url) == MOST]


def test_the_command_line_has_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = "long-urls", "--project", str(folder)
    assert command(*where, "--least", str(MOST), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"urls": LONGEST}
    assert command(*where, "--least", str(MOST)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "url\tcharacters",
        *(f"{one['url']}\t{MOST}" for one in LONGEST),
    ]
    assert command(*where, "--least", "0") == 2
    assert "--least" in capsys.readouterr().err
    assert command("--help") == 0 and "List the pages with long URLs." in capsys.readouterr().out


def test_python_has_it(folder: Path) -> None:
    assert internal_linker.long_urls(folder, least=MOST).records() == {"urls": LONGEST}
    with pytest.raises(InternalLinkerError, match=r"--least 0: the number must be 1 or more\."):
        internal_linker.long_urls(folder, least=0)
    assert "least: Only URLs of at least N characters." in internal_linker.long_urls.__doc__


@pytest.mark.filterwarnings("error")
def test_the_api_has_it(folder: Path, tmp_path: Path) -> None:
    with running_app(tmp_path) as app:
        route = f"/api/projects/{app.open(folder).key}/long-urls"
        assert app.client.post(route, json={"least": MOST}).json() == {"urls": LONGEST}
        for wrong in ({"least": 0}, {"least": "x"}, {"nix": 1}, {"draft": "/etc/passwd"}):
            assert app.client.post(route, json=wrong).status_code == 422
        described = app.client.get("/api/openapi.json").json()
        assert "/api/projects/{key}/long-urls" in described["paths"]
        fields = described["components"]["schemas"]["LongUrlsOptions"]["properties"]
        assert fields.keys() == {"least", "sections"} and fields["least"]["minimum"] == 1


def test_assistants_have_it(folder: Path) -> None:
    """One that writes is only offered where assistants may write."""

    async def dialogue(write: bool, offered: set[str]) -> None:
        async with Client(assistant_server(folder, write=write)) as connected:
            answer = await connected.call_tool("long_urls", {"least": MOST})
            assert answer.structured_content == {"urls": LONGEST}
            assert (await connected.call_tool("long_urls", {"least": 0})).is_error
            tools = {tool.name: tool for tool in (await connected.list_tools()).tools}
            assert tools["long_urls"].input_schema["properties"].keys() == {"least", "sections"}
            assert {"long_urls", "rename_page"} & {*tools} == offered

    anyio.run(dialogue, False, {"long_urls"})
    anyio.run(dialogue, True, {"long_urls", "rename_page"})
