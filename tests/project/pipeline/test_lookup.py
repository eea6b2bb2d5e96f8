"""Lookups: the links of a page or a query, and the best sources for a page, with reasons and anchors."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from internal_linker import lookup
from internal_linker.faces.cli.output import marked
from internal_linker.model.edges import score_of, strength
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide
from internal_linker.project.run import PageLink
from tests.support.builders import Told
from tests.support.sites import make_project, read_csv, sample_pages
from tests.support.small_project import (
    SITE,
    URLS,
    command,
    write_csv,
    write_settings,
    write_text,
)
from tests.support.small_project import make_project as make_small_project

COFFEE = "https://www.slowkettle.example"
MILK = f"{COFFEE}/milk/how-to-steam-milk/"
FLAT_WHITE = f"{COFFEE}/recipes/flat-white/"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "site", 50, {"embedding_provider": "lsa"})


@pytest.fixture(scope="module")
def after_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of 50 pages after a run, whose links are those of lookups."""
    settings = {"embedding_provider": "lsa", "min_inlinks": 0, "max_inlinks": 0, "max_new_inlinks": 0}
    made = make_project(tmp_path_factory.mktemp("lookup") / "site", 50, settings)
    assert command("run", "--no-serp", "--project", str(made)) == 0
    return made


@pytest.fixture
def ran(after_run: Path, tmp_path: Path) -> Path:
    """A copy of that site."""
    return shutil.copytree(after_run, tmp_path / "ran")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return make_small_project(tmp_path)


def links_of(
    folder: Path, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0
) -> list[dict[str, Any]]:
    """Return the links that `lookup --json` prints."""
    capsys.readouterr()
    assert command("lookup", *words, "--json", "--project", str(folder)) == code
    links: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["links"]
    return links


# -- what is shown -------------------------------------------------------------------------------------


def test_each_link_has_title_score_reason_and_anchor(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Terminal, JSON and Python have the same links; an anchor stands in its sentence and in the source's text."""
    pages = {page["URL"]: page for page in sample_pages(50)}
    links = links_of(folder, capsys, FLAT_WHITE)
    assert set(links[0]) == set(PageLink.__dataclass_fields__)
    assert [link["rank"] for link in links] == [1, 2, 3, 4, 5]
    assert lookup(FLAT_WHITE, folder).to_frame()[["target", "score", "why"]].to_dict("records") == [
        {name: link[name] for name in ("target", "score", "why")} for link in links
    ]
    assert command("lookup", FLAT_WHITE, "--project", str(folder)) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Links for {FLAT_WHITE} ({pages[FLAT_WHITE]['Title']})\n")
    for link in links:
        assert link["target_title"] == pages[link["target"]]["Title"] in out
        assert isinstance(link["score"], int) and 0 <= link["score"] <= 100
        assert f"\n{link['rank']:>2}  {link['score']:>3}  {link['target_title']}\n" in out
        assert f"  {link['target']}\n" in out and link["why"].endswith(".") and f"  {link['why']}\n" in out
    inline = [link for link in links if link["verbatim"]]
    assert inline
    for link in inline:
        assert link["anchor"] in link["sentence"] and link["anchor"] in pages[FLAT_WHITE]["Main Content"]
        assert f'"{link["anchor"]}"' in out
    assert out.count("  related box") == len(links) - len(inline)


def test_anchors_of_a_lookup_are_those_of_a_run(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After a run, a lookup shows the run's anchors, and an editor's own anchor instead of a proposed one."""
    rows = [row for row in read_csv(ran / "files/links.csv") if row["Source"] == MILK]
    links = links_of(ran, capsys, MILK)
    assert [(link["target"], link["anchor"]) for link in links] == [
        (row["Target"], row["Anchor"]) for row in rows
    ]
    decide(open_project(ran), [LinkDecision(rows[1]["Link Id"], "accepted", "steam wand")], by="test")
    assert links_of(ran, capsys, MILK)[1]["anchor"] == "steam wand"


def test_a_query_without_a_page_has_no_anchor(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = links_of(folder, capsys, "how to froth milk")
    assert all(link["target_title"] and link["score"] and link["why"] for link in links)
    assert not any(link["anchor"] or link["sentence"] for link in links)
    assert command("lookup", "how to froth milk", "--project", str(folder)) == 0
    assert "related box" not in capsys.readouterr().out


def test_an_anchor_is_marked_in_its_sentence() -> None:
    """It is bold on a terminal and in quotation marks elsewhere; a long sentence is shortened around it."""
    for terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=500)
        text = marked(console, "Pour it into a\nflat white slowly.", "flat white")
        around = ("", "") if terminal else ('"', '"')
        assert text.plain == "Pour it into a {}flat white{} slowly.".format(*around)
        bold = [text.plain[span.start : span.end] for span in text.spans if span.style == "bold"]
        assert bold == (["flat white"] if terminal else [])
        long = marked(console, f"{'before ' * 90}flat white{' behind' * 90}", "flat white").plain
        assert "flat white" in long and len(long) < 300 and long.startswith("...") and long.endswith("...")
        assert "Flat White" in marked(console, "A flat white.", "Flat White").plain


# -- which page is meant -------------------------------------------------------------------------------


@pytest.mark.long
def test_a_page_can_be_named_in_many_ways(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = links_of(small, capsys, URLS[1], "--to")
    assert {link["target"] for link in to} == {URLS[1]}
    assert links_of(small, capsys, "tiny.example/black-tea", "--to") == to
    wanted = links_of(small, capsys, URLS[1])
    assert {link["source"] for link in wanted} == {URLS[1]}
    for address in (
        *("http://www.tiny.example/black-tea", "https://tiny.example/black-tea/", "tiny.example/black-tea"),
        *("www.tiny.example/black-tea/", "TINY.example/black-tea/?utm_source=x#top", "/black-tea/"),
        *("/black-tea", "black-tea/", "tiny.example/black-tea/index.html"),
    ):
        assert links_of(small, capsys, address) == wanted


def test_a_bare_host_is_the_home_page(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The host alone names the home page if it is listed; other words with a dot stay queries."""
    path = small / "files/urls_rawdata.csv"
    rows = [*csv.reader(path.read_text(encoding="utf-8").splitlines())]
    write_csv(path, [*rows, [f"{SITE}/", "Tea", "All about tea leaves, tea pots and water."]])
    assert {link["source"] for link in links_of(small, capsys, "tiny.example")} == {f"{SITE}/"}
    assert {link["source"] for link in links_of(small, capsys, "node.js")} == {""}


def test_an_unknown_page_gets_near_names(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for address, *words in (
        (f"{SITE}/blak-tea/", "--to"),
        ("www.tiny.example/Black_Tea",),
        ("/black-te",),
    ):
        assert command("lookup", address, *words, "--project", str(small)) == 3
        err = capsys.readouterr().err
        assert f"{address} is neither in the main queries" in err and "Did you mean https://" in err
        assert f"{SITE}/black-tea" in err
    assert command("lookup", f"{SITE}/zzz/", "--project", str(small)) == 3
    assert "Did you mean" not in capsys.readouterr().err
    assert command("lookup", "dark tea", "--to", "--project", str(small)) == 3
    assert "dark tea is no page: --to takes a page's URL, or its path" in capsys.readouterr().err


# -- the best sources for a page -----------------------------------------------------------------------


def test_the_best_sources_have_the_scores_of_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sources come best first, each with the figures that its link has in a run, its title, reason and anchor."""
    folder = make_project(tmp_path / "site", 16, {"embedding_provider": "lsa"})
    pages = {page["URL"]: page for page in sample_pages(16)}
    links = links_of(folder, capsys, "--to", (page := next(iter(pages))), "--limit", "20")
    assert len(links) > 7 and [link["rank"] for link in links] == [*range(1, len(links) + 1)]
    scores = [link["score"] for link in links]
    assert scores == sorted(scores, reverse=True)
    assert lookup(page, folder, to=True, limit=20).to_frame()["source"].tolist() == [
        link["source"] for link in links
    ]
    limits = {"min_inlinks": 0, "max_inlinks": 0, "max_new_inlinks": 0}
    settings = {"embedding_provider": "lsa", "links_per_page": 15, **limits}
    write_settings(folder, settings)
    assert command("run", "--figures", "--no-serp", "--project", str(folder)) == 0
    run = {row["Source"]: row for row in read_csv(folder / "files/links.csv") if row["Target"] == page}
    for link in links:
        assert link["source_title"] == pages[link["source"]]["Title"]
        assert link["target_title"] == pages[page]["Title"] and link["why"].endswith(".")
        assert link["similarity"] == pytest.approx(
            float(run[link["source"]]["Embedding Similarity"]), abs=1e-3
        )
        if link["verbatim"]:
            assert link["anchor"] in link["sentence"]
            assert link["anchor"] in pages[link["source"]]["Main Content"]


def test_pages_that_link_already_or_may_not_are_left_out(
    ran: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row for row in read_csv(ran / "files/links.csv") if row["Target"] == MILK]
    all_ = [link["source"] for link in links_of(ran, capsys, "--to", MILK, "--limit", "20")]
    rejected = next(row for row in rows if row["Source"] in all_)
    decide(open_project(ran), [LinkDecision(rejected["Link Id"], "rejected")], by="test")
    left = [source for source in all_ if source != rejected["Source"]]
    write_csv(ran / "files/existing_links.csv", [("Source", "Destination"), (left[0], MILK)])
    section = "/" + left[1].removeprefix(COFFEE).split("/")[1]
    off = [source for source in left if source.startswith(f"{COFFEE}{section}/")]
    settings = ran / "config/settings.toml"
    write_text(settings, f'sections_off = ["{section}"]\n{settings.read_text(encoding="utf-8")}')
    found = [link["source"] for link in links_of(ran, capsys, "--to", MILK, "--limit", "20")]
    assert found and not {rejected["Source"], left[0], *off} & set(found)


def test_a_page_that_no_link_may_lead_to_has_no_sources(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason is said, and the exit code is that of gaps."""
    (small / "config").mkdir(exist_ok=True)
    (small / "config/excluded_urls.txt").write_text("/water/\n", encoding="utf-8")
    assert links_of(small, capsys, "--to", "/water/", code=6) == []
    assert command("lookup", "--to", "/water/", "--project", str(small)) == 6
    assert f"No link may lead to {URLS[4]}: excluded by /water/." in capsys.readouterr().err


def test_the_number_of_links_is_the_settings_or_the_limit(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--limit applies to a page's links, too."""
    for words, count in ((("--limit", "2"), 2), ((), 5)):
        assert len(links_of(small, capsys, URLS[1], *words)) == count
    assert command("lookup", URLS[1], "--limit", "51", "--project", str(small)) == 2


def test_nothing_is_stored(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links_of(small, capsys, URLS[1])
    links_of(small, capsys, "--to", URLS[1])
    assert not [*(small / "files").glob("*utput*")] and not (small / "logfile.txt").exists()
    with open_project(small).context(Told(), deliver=False) as context:
        assert context.edges and not [*context.edges.each()]


def test_scores_are_strengths_as_people_read_them(small: Path) -> None:
    """The score of a lookup is the link's strength from 0 to 100."""
    found = lookup("dark tea", small, search=False)
    for link, rated in zip(found.links, found.recommendations[0].links, strict=True):
        assert link.score == score_of(strength(rated.target.score))
