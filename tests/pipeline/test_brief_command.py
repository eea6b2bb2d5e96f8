"""The command `content-brief`: its costs, its output and its errors."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.standins import OpenAIStandIn
from tests.support.briefs import DRAFT, Ask, asking
from tests.support.link_sites import pages, random_pairs
from tests.support.sites import make_project, use_standins
from tests.support.small_project import (
    command,
    environment,
    snapshot,
    write_csv,
    write_text,
)
from tests.support.small_project import make_project as make_small_project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "site", 50, {"embedding_provider": "lsa"})


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    write_text(tmp_path / "draft.md", DRAFT)
    return tmp_path / "draft.md"


@pytest.fixture
def brief(capsys: pytest.CaptureFixture[str]) -> Ask:
    return asking(capsys)


def test_a_title_alone_is_no_short_page(brief: Ask, folder: Path) -> None:
    """The reasons of a brief don't say that the page is very short: it isn't written yet."""
    found = brief(folder, "How to steam oat milk for latte art")
    assert found["links_to"] and not any("very short" in link["why"] for link in found["links_to"])


# -- costs and written files ---------------------------------------------------------------------------


def test_only_the_brief_is_paid_for(brief: Ask, tmp_path: Path) -> None:
    with OpenAIStandIn() as openai:
        folder = make_project(tmp_path, 12)
        use_standins(folder, openai=openai)
        assert command("run", "--no-serp", "--project", str(folder)) == 0
        openai.forget()
        for _ in range(2):
            brief(folder, "Milk for a filter coffee")
        assert len(openai.ledger) == 1


def test_no_budget_is_a_gap(brief: Ask, tmp_path: Path) -> None:
    """max_cost_usd is observed: nothing is sent, only words rank, and the exit code is 6."""
    with OpenAIStandIn() as openai:
        folder = make_project(tmp_path, 12)
        use_standins(folder, openai=openai, settings={"max_cost_usd": 0.0})
        found = brief(folder, "Milk for a filter coffee", code=6)
        assert not openai.ledger
    assert "max_cost_usd" in found["gaps"][0] and found["links_to"]
    assert found["links_to"][0]["similarity"] is None


def test_files_stay_as_they_are(brief: Ask, folder: Path, draft: Path) -> None:
    before = snapshot(folder)
    brief(folder, draft)
    kept = {name: file for name, file in snapshot(folder).items() if "cache.sqlite3" not in name}
    index = {name for name in kept if Path(name).is_relative_to("files/index")}
    assert index and {name: kept[name] for name in kept.keys() - index} == before


@pytest.mark.long
def test_what_was_learned_ranks(brief: Ask, tmp_path: Path) -> None:
    """From 200 existing links on, each link to the page has its probability; the topic alone decides on its own."""
    site = pages(120)
    folder = make_small_project(tmp_path)
    write_csv(
        folder / "files/urls_rawdata.csv",
        [("URL", "Main Content"), *((one.url, str(one.content)) for one in site)],
    )
    links = [(site[source].url, site[target].url) for source, target in random_pairs(120, 600, 1)]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), *links])
    write_text(folder / "files/main_queries.csv", "URL,Main Query\n")
    found = brief(folder, str(site[5].content).replace("w1", "w2"))
    assert all(0 <= link["probability"] <= 1 for link in found["links_from"])
    assert all(link["probability"] is None for link in found["links_to"])
    found = brief(folder, str(site[5].content).replace("w1", "w2"), "--url", site[5].url)
    assert all(0 <= link["probability"] <= 1 for link in found["links_to"] + found["links_from"])


# -- the command ---------------------------------------------------------------------------------------


def test_it_is_printed_for_people(folder: Path, draft: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("content-brief", str(draft), "--project", str(folder), "--limit", "2") == 0
    printed = capsys.readouterr()
    for head in ("should link to", "should be linked from"):
        link = rf"Oat milk for latte art {head}\n 1 +\d+  \S.+\n {{9}}https://\S+\n {{9}}\S.+\.\n {{9}}.*\"[^\"]+\""
        assert re.search(link, printed.out)
    assert "Embedding:" in printed.err


@pytest.mark.long
def test_a_draft_comes_from_standard_input(tmp_path: Path) -> None:
    folder = make_small_project(tmp_path)
    arguments = "-m", "internal_linker", "content-brief", "-", "--project", str(folder), "--json"
    given = "Thé vert\nDes feuilles de thé".encode("cp1252")
    done = subprocess.run(
        [sys.executable, *arguments],
        input=given,
        env=environment(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["title"] == "Thé vert" and "Windows-1252" in found["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nix.docx",), 3, "nix.docx not found"),
        (("tea", "--url", "tea"), 3, "not a full URL"),
        (("tea", "--limit", "51"), 2, "--limit"),
        (("?",), 3, "no words"),
    ],
)
def test_what_can_t_be_used_is_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unusable input ends with one sentence and the exit code from the README."""
    folder = make_small_project(tmp_path)
    assert command("content-brief", *arguments, "--project", str(folder)) == code
    assert words in capsys.readouterr().err


def test_a_site_without_pages_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A project with queries alone is an error, because there are no pages to link."""
    folder = make_small_project(tmp_path)
    (folder / "files/urls_rawdata.csv").unlink()
    assert command("content-brief", "tea", "--project", str(folder)) == 3
    assert "There are no pages that could link to the new page" in capsys.readouterr().err
