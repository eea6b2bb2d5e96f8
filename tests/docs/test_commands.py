"""Every command and Python example in the documentation runs on the sample site and prints the output shown."""

import csv
import io
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from internal_linker import apply, decide, waiting_links
from internal_linker.model.errors import ExitCode
from internal_linker.project.review import LinkDecision
from tests.docs.generated import COMMANDS
from tests.docs.pages import PAGES, doc
from tests.standins import SearchConsoleStandIn, WordPressStandIn
from tests.standins.ghost import KEY, GhostStandIn, ghost_post
from tests.standins.search_console import search_rows
from tests.standins.wordpress import PASSWORD, USER, StoredPost
from tests.support.message_servers import Inbox, webhook
from tests.support.post_site import sign_in
from tests.support.small_project import REPOSITORY, command, write_text
from tests.support.source_site import git
from tests.support.web_server import Site, sitemap
from tests.support.web_sites import html_page

# The quick tier runs the commands of the two pages that people read first.
_READ_FIRST = {"README.md", "docs/getting-started.md"}
FIRST = {arguments for each in PAGES if each.name in _READ_FIRST for arguments in each.commands}
SHOWN = [
    pytest.param(arguments, marks=[pytest.mark.long] * (arguments not in FIRST))
    for arguments in sorted({arguments for each in PAGES for arguments in each.commands})
    if arguments.split()[:1] != ["app"]
]
OUTPUTS = [shown for each in PAGES for shown in each.outputs]
PYTHON = [
    pytest.param(block.text, id=f"{each.name}-{number}")
    for each in PAGES
    for number, block in enumerate(block for block in each.blocks if block.language == "python")
]
# These commands never end.
NOT_RUN = {"app", "mcp", "schedule"}
# The sample site has too few pages for an experiment.
REFUSED = {"impact --plan"}
FETCHED = "https://www.example.com"
# The page whose links the pages take back.
APPLIED = "https://www.slowkettle.example/milk/froth-milk-without-a-steamer/"
RUN_ID = r"\b20\d{6}-\d{6}(?:-[a-z]{4})?\b"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample site after two runs, with the files that the pages name beside it."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    for name in ("files", "config"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("*key.txt", "cache*"))
    links = (folder / "files/existing_links.csv").read_text(encoding="utf-8")
    write_text(folder / "inlinks-june.csv", "".join(links.splitlines(keepends=True)[::2]))
    write_text(folder / "inlinks-july.csv", links)
    write_text(folder / "all_inlinks.csv", links)
    pages = (folder / "files/urls_rawdata.csv").read_text(encoding="utf-8")
    write_text(folder / "crawl.csv", pages.replace("URL,Title,H1", "Address,Title 1,H1-1", 1))
    write_text(folder / "saved-pages/brewing/index.html", html_page("Brewing"))
    post = {"id": 1, "slug": "tea", "title": "Tea", "html": "<p>Tea</p>", "status": "published"}
    write_text(folder / "tea.ghost.json", json.dumps({"data": {"posts": [post]}}))
    write_text(folder / "draft.md", "# Oat milk latte art\n\nSteam oat milk to 55 °C and swirl the jug.\n")
    write_text(folder / "search-data.csv", search_data(pages))
    assert command("import", str(folder / "search-data.csv"), "--project", str(folder)) == 0
    for _ in range(2):
        # Without the index, nobody knows that nothing changed.
        shutil.rmtree(folder / "files/index", ignore_errors=True)
        assert command("run", "--project", str(folder)) == 0
    return folder


def search_data(pages: str) -> str:
    """Return a table by day, page and query in which each page earns from its title."""
    table = io.StringIO()
    write = csv.writer(table).writerow
    write(("Date", "Page", "Query", "Clicks", "Impressions", "Position"))
    for number, row in enumerate(csv.DictReader(io.StringIO(pages))):
        write(("2026-10-01", row["URL"], row["Title"].casefold(), number % 7, 50 + number, 2 + number % 9))
    return table.getvalue()


def apply_links(folder: Path) -> None:
    """Write the sample site's sources into git; accept a link in the text of each page, and apply that of one page."""
    with (folder / "files/urls_rawdata.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            path = urlsplit(row["URL"]).path.strip("/") or "index"
            write_text(
                folder / f"website/{path}.md",
                f"---\ntitle: {json.dumps(row['Title'])}\n---\n\n{row['Main Content']}\n",
            )
    git(folder / "website", "init", "-q")
    git(folder / "website", "config", "user.name", "Anna")
    git(folder / "website", "config", "user.email", "anna@slowkettle.example")
    git(folder / "website", "add", ".")
    git(folder / "website", "commit", "-q", "-m", "Pages")
    links = {
        link.source_url: link.id for link in reversed(waiting_links(folder).links) if link.tier == "inline"
    }
    decide([LinkDecision(link, "accepted") for link in links.values()], folder)
    assert apply(folder / "website", folder, write=True, only=[APPLIED]).application
    git(folder / "website", "commit", "-q", "-a", "-m", "Links")


@pytest.fixture
def folder(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the sample site as the current folder; nothing is typed at prompts."""
    shutil.copytree(sample, tmp_path / "site")
    monkeypatch.chdir(tmp_path / "site")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return tmp_path / "site"


@pytest.fixture
def site() -> Iterator[Site]:
    """Return a site with a sitemap and a page."""
    with Site({"/robots.txt": "User-agent: *\nAllow: /\n", "/tea/": html_page("Tea")}) as server:
        server.pages["/sitemap.xml"] = sitemap(f"{server.url}/tea/")
        yield server


@pytest.fixture
def wordpress_site() -> Iterator[WordPressStandIn]:
    with WordPressStandIn([StoredPost(1, "tea", "<p>About tea.</p>")]) as server:
        yield server


@pytest.fixture
def ghost_site(folder: Path) -> Iterator[GhostStandIn]:
    """Return a site with a post, whose key the folder has."""
    with GhostStandIn([ghost_post(1)]) as server:
        write_text(folder / "config/site_access.toml", f'["{server.url}"]\nkey = "{KEY}"\n')
        yield server


@pytest.fixture
def search_console(folder: Path) -> Iterator[None]:
    """Let the folder's account read the property that the pages name."""
    today = datetime.now(UTC).date()
    days = [today - timedelta(days=days) for days in range(3, 8)]
    rows = search_rows(days, ["https://www.example.com/tea/"])
    with SearchConsoleStandIn({"sc-domain:example.com": rows}, today=today) as server:
        write_text(folder / "config/service_account.txt", json.dumps(server.service_account))
        settings = (folder / "config/settings.toml").read_text(encoding="utf-8")
        write_text(
            folder / "config/settings.toml",
            re.sub("(?m)^search_console_url = .*", f'search_console_url = "{server.url}"', settings),
        )
        yield


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with webhook() as server:
        yield server


@pytest.mark.long
@pytest.mark.parametrize("arguments", SHOWN)
def test_commands_run(
    arguments: str,
    folder: Path,
    site: Site,
    wordpress_site: WordPressStandIn,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every `$ ./run_main.sh ...` ends as the pages say and prints what the page shows below it.

    URLs, numbers and quotations may differ.
    """
    words = shlex.split(_with_real_runs(arguments, capsys)) or ["run"]
    if "--search-console" in words:
        request.getfixturevalue("search_console")
    if words[0] in ("apply", "undo"):
        apply_links(folder)
    if words[0] == "import" and {"--sitemap", "--urls", "--wordpress", "--ghost"} & {*words}:
        write_text(folder / "my-pages.txt", f"{site.url}/tea/\n")
        url = wordpress_site.url if "--wordpress" in words else site.url
        if "--ghost" in words:
            url = request.getfixturevalue("ghost_site").url
        words = [word.replace(FETCHED, url) for word in words] + ["--allow-private", "--delay", "0"]
    if words[0] == "apply" and "--wordpress" in words:
        sign_in(folder, wordpress_site.url, USER, PASSWORD)
        words = [word.replace(FETCHED, wordpress_site.url) for word in words] + ["--delay", "0"]
    if "--notify" in words:
        write_text(
            folder / "config/notify.txt", f"json://127.0.0.1:{request.getfixturevalue('inbox').port}/team"
        )
    if words[0] == "run":
        # Without the index, nobody knows that nothing changed.
        shutil.rmtree(folder / "files/index", ignore_errors=True)
    assert command(*words) == (ExitCode.GAPS if arguments in REFUSED else ExitCode.SUCCESS)
    printed = {_outline(line) for line in "".join(capsys.readouterr()).splitlines()}
    shown = [line for of, text in OUTPUTS if of == arguments for line in text.splitlines() if line != "..."]
    assert [line for line in shown if _outline(line) not in printed] == []


def test_every_command_is_shown() -> None:
    shown = {" ".join(shlex.split(arguments)[:2]) for arguments in doc("commands").commands}
    run = {name for name in COMMANDS if any(f"{each} ".startswith(f"{name} ") for each in shown)}
    assert run | NOT_RUN == set(COMMANDS)


def test_there_are_outputs() -> None:
    """The README shows the output of a run and a lookup; other pages show more."""
    assert len(OUTPUTS) >= 5


@pytest.mark.long
@pytest.mark.parametrize("code", PYTHON)
def test_python_runs(code: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(code, {})
    assert capsys.readouterr().out


def _with_real_runs(arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Replace the run ids in arguments with the sample's, in order."""
    if not re.search(RUN_ID, arguments):
        return arguments
    assert command("history") == ExitCode.SUCCESS
    real = sorted(set(re.findall(RUN_ID, capsys.readouterr().out)))
    for shown, run in zip(sorted(set(re.findall(RUN_ID, arguments))), real, strict=False):
        arguments = arguments.replace(shown, run)
    return arguments


def _outline(line: str) -> str:
    """Return a line without what depends on the site, the model and the time."""
    line = re.sub(r"^ {9}(?!http)\S.*", "DETAIL", line)
    line = re.sub(r"^( ?\d+ +(?:\d+|-)  ).*", r"\1TITLE", line)
    line = re.sub(r"https?://\S+", "URL", line)
    line = re.sub(r'"[^"]*"', "QUOTE", line)
    line = re.sub(r"  in: .*", "  in: SENTENCE", line)
    line = re.sub(r"  [^ ][^<]*<- URL", "  NAME <- URL", line)
    line = re.sub(r"(<->|-->|<--)", "   ", line)
    line = re.sub(r"pairs?\b", "pairs", line)
    return re.sub(r"[\d.,]*\d", "#", " ".join(line.split()))
