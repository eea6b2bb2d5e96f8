"""A brief for a page that doesn't exist yet: its links, the links to it, the notes, and the command `content-brief`."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from internal_linker.model.edges import beside, score_for, strengths
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide
from internal_linker.rank.rules import LEAST_PLACE
from tests.standins import OpenAIStandIn, SerperStandIn
from tests.support.briefs import COFFEE, DRAFT, Ask, asking
from tests.support.link_sites import pages, random_pairs
from tests.support.sites import make_project, read_csv, sample_pages, use_standins
from tests.support.small_project import (
    SITE,
    URLS,
    command,
    environment,
    snapshot,
    write_csv,
    write_settings,
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


def targets(found: dict[str, Any]) -> list[str]:
    return [link["target"] for link in found["links_to"]]


def sources(found: dict[str, Any]) -> list[str]:
    return [link["source"] for link in found["links_from"]]


# -- what it should link to ----------------------------------------------------------------------------


def test_its_links_are_those_of_a_run(brief: Ask, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A page's own text as a brief for its URL gives the links, scores and order of a look-up."""
    for page in sample_pages(50)[3:30:18]:
        write_text(folder / "draft.txt", page["Main Content"])
        options = ("--title", page["Title"], "--url", page["URL"], "--lang", page["Lang"])
        found = brief(folder, folder / "draft.txt", *options)
        capsys.readouterr()
        assert command("lookup", page["URL"], "--json", "--project", str(folder)) == 0
        links = json.loads(capsys.readouterr().out)["links"]
        assert [link["target"] for link in found["links_to"]] == [link["target"] for link in links]
        for name in ("similarity", "lexical"):
            ours = [link[name] for link in found["links_to"]]
            assert ours == pytest.approx([link[name] for link in links], abs=1e-3)
        assert any("the draft replaces it" in note for note in found["notes"])


def test_its_anchors_stand_in_the_draft(brief: Ask, folder: Path, draft: Path) -> None:
    found = brief(folder, draft, "--limit", "20")
    text = DRAFT.replace("#", "").replace(f"[flat white]({COFFEE}/recipes/flat-white/)", "LINK")
    verbatim = [link for link in found["links_to"] if link["verbatim"]]
    assert any("froth milk without a steamer" in link["anchor"] for link in verbatim)
    for link in verbatim:
        assert link["anchor"] in link["sentence"] and link["anchor"] in text


def test_what_the_draft_links_to_is_not_proposed_again(brief: Ask, folder: Path, draft: Path) -> None:
    flat_white = f"{COFFEE}/recipes/flat-white/"
    assert flat_white not in targets(brief(folder, draft, "--limit", "50"))
    write_text(draft, DRAFT.replace(f"({flat_white})", "(/recipes/flat-white)"))
    assert flat_white not in targets(brief(folder, draft, "--limit", "50"))
    write_text(draft, DRAFT.replace(f"({flat_white})", "(https://other.example/)"))
    assert flat_white in targets(brief(folder, draft, "--limit", "50"))


def test_without_a_draft_names_are_proposed(brief: Ask, folder: Path) -> None:
    links = [("Source", "Destination", "Anchor")]
    steam = f"{COFFEE}/milk/how-to-steam-milk/"
    links += [(f"{COFFEE}/recipes/flat-white/", steam, text) for text in ("here", "steaming milk")]
    write_csv(folder / "files/existing_links.csv", links)
    found = brief(folder, "Oat milk that steams like cow's milk")
    (link,) = (link for link in found["links_to"] if link["target"] == steam)
    told = [link["anchor"], *(each["text"] for each in link["more_anchors"])]
    assert told == ["How to Steam Milk for Silky Microfoam", "how to steam milk", "steaming milk"]
    assert not link["verbatim"]
    assert not any("very short" in link["why"] for link in found["links_to"]), "it isn't written yet"


def test_a_search_counts_as_in_a_run(brief: Ask, tmp_path: Path) -> None:
    """With --query one search is made and its results come first; without it, or with --no-serp, none is made."""
    asked: list[str] = []

    def answers(words: str, site: str) -> list[str]:
        asked.append(words)
        return [f"{SITE}/new/", URLS[4]]

    with SerperStandIn(answers) as serper:
        folder = make_small_project(tmp_path, {"serper_url": serper.url, "max_serp_pages": 1})
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
        brief(folder, "Tea in a glass")
        brief(folder, "Tea in a glass", "--query", "glass tea", "--no-serp")
        assert not asked
        for _ in range(2):
            found = brief(folder, "Tea in a glass", "--query", "glass tea", "--url", f"{SITE}/new/")
    assert asked == ["glass tea"]
    assert targets(found)[0] == URLS[4] and found["links_to"][0]["serp_rank"] == 2
    assert f"{SITE}/new/" not in targets(found)


def test_the_number_of_links_is_the_settings_or_the_limit(brief: Ask, folder: Path) -> None:
    """--limit applies to each direction; without it links_per_page does."""
    for options, count in (((), 5), (("--limit", "2"), 2), (("--limit", "7"), 7)):
        found = brief(folder, "Espresso beans and how to grind them for a moka pot", *options)
        assert len(targets(found)) == count and len(sources(found)) <= count
        assert [link["rank"] for link in found["links_to"]] == list(range(1, count + 1))


# -- what should link to it ----------------------------------------------------------------------------


def test_pages_near_to_it_should_link_to_it(brief: Ask, folder: Path, draft: Path) -> None:
    found = brief(folder, draft, "--url", "/milk/oat-latte-art/".join([COFFEE, ""]))
    contents = {page["URL"]: page["Main Content"] for page in sample_pages(50)}
    assert f"{COFFEE}/milk/oat-milk-for-coffee/" in sources(found)[:3]
    for links in (found["links_from"], found["links_to"]):
        scores = [link["score"] for link in links]
        assert scores == sorted(scores, reverse=True) and scores[-1] > 0
        assert [link["rank"] for link in links] == [*range(1, len(links) + 1)]
        inside = [link["score"] >= 33 for link in links]
        assert inside == [link["verbatim"] for link in links] and any(inside) and not all(inside)
    for link in found["links_from"]:
        assert link["target"] == f"{COFFEE}/milk/oat-latte-art/" and link["place"] >= 1
        shown = [(link["anchor"], link["sentence"])] * link["verbatim"]
        shown += [(each["text"], each["sentence"]) for each in link["more_anchors"] if each["verbatim"]]
        assert all(text in sentence and text in contents[link["source"]] for text, sentence in shown)


def test_it_is_ranked_among_what_a_page_could_link_to(
    brief: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A planned page and others are ranked by the pages alone; so is a run where no place is good enough.
    monkeypatch.setitem(LEAST_PLACE, "strict", 0.99)
    settings = {"embedding_provider": "lsa", "anchors": "strict", "short_page_words": 0}
    folder = make_project(tmp_path / "site", 25, settings)
    page = sample_pages(1)[0]
    write_text(folder / "draft.txt", page["Main Content"])
    options = ("--title", page["Title"], "--url", page["URL"], "--lang", page["Lang"], "--limit", "50")
    found = brief(folder, folder / "draft.txt", *options)
    free = {
        "links_per_page": 24,
        "min_inlinks": 0,
        "max_inlinks": 0,
        "max_new_inlinks": 0,
        "both_directions": 0,
    }
    write_settings(folder, {**settings, **free})
    assert command("run", "--figures", "--no-serp", "--project", str(folder)) == 0
    run = {row["Source"]: row for row in read_csv(folder / "files/links.csv") if row["Target"] == page["URL"]}
    assert len(found["links_from"]) > 10
    for link in found["links_from"]:
        pages = beside(LEAST_PLACE["strict"]) * strengths(np.array(link["blend"]))
        assert score_for(pages) == pytest.approx(float(run[link["source"]]["Blend"]), abs=1e-3)
        assert link["place"] == int(run[link["source"]]["Rank"])


def test_who_links_to_it_already_is_left_out(brief: Ask, folder: Path) -> None:
    """Pages with an existing link to the planned URL are left out."""
    new = f"{COFFEE}/milk/oat-latte-art/"
    before = sources(brief(folder, "Oat milk for latte art", "--url", new))
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), (before[0], new)])
    assert sources(brief(folder, "Oat milk for latte art", "--url", new))[0] == before[1]


def test_sections_that_are_off_and_errors_link_to_nothing(brief: Ask, tmp_path: Path) -> None:
    """Pages in sections_off, errors and noindex pages get no new links; neither error nor noindex is a target."""
    folder = make_small_project(tmp_path, {"sections_off": ["/green-tea"]})
    path = folder / "files/urls_rawdata.csv"
    rows = [*csv.reader(path.read_text(encoding="utf-8").splitlines())]
    stand = {URLS[1]: ("404", ""), URLS[3]: ("200", "Non-Indexable")}
    header = [*rows[0], "Status Code", "Indexability"]
    write_csv(path, [header, *([*row, *stand.get(row[0], ("200", ""))] for row in rows[1:])])
    found = brief(folder, "Green, black and white tea leaves in the cup", "--limit", "10")
    assert {URLS[0], URLS[1], URLS[3]}.isdisjoint(sources(found)) and URLS[2] in sources(found)
    assert {URLS[1], URLS[3]}.isdisjoint(targets(found)) and URLS[0] in targets(found)


def test_where_no_link_may_lead_is_said(brief: Ask, tmp_path: Path) -> None:
    """A planned URL that matches an exclusion gets no links and a note names the pattern; so with targets."""
    folder = make_small_project(tmp_path)
    write_text(folder / "config/excluded_urls.txt", "/tag/\n/water/\nbrief")
    found = brief(folder, "Fresh tea leaves and water", "--url", f"{SITE}/tag/tea/", "--limit", "10")
    assert not found["links_from"] and any("excluded by /tag/" in note for note in found["notes"])
    assert f"{SITE}/water/" not in targets(found)
    assert sources(brief(folder, "Fresh tea leaves and water"))


@pytest.mark.long
def test_a_rejected_link_is_not_proposed_to_a_page_anew(brief: Ask, folder: Path) -> None:
    assert command("run", "--no-serp", "--project", str(folder)) == 0
    link = next(
        row for row in read_csv(folder / "files/links.csv") if row["Source"] == sample_pages(1)[0]["URL"]
    )
    given = folder, sample_pages(1)[0]["Main Content"], "--url", link["Source"], "--limit", "50"
    assert link["Target"] in targets(brief(*given))
    decide(open_project(folder), [LinkDecision(link["Link Id"], "rejected")], by="test")
    assert link["Target"] not in targets(brief(*given))


# -- notes ---------------------------------------------------------------------------------------------


def test_a_page_that_is_there_already_is_named(brief: Ask, folder: Path) -> None:
    page = sample_pages(1)[0]
    copy = "\n".join([page["Title"], page["Main Content"]])
    for text, why in (
        (page["Title"].upper(), "the same title"),
        ("V60  recipe", "the same main query"),
        (copy, "the same text"),
    ):
        first = brief(folder, text)["like"][0]
        assert (first["url"], first["why"]) == (page["URL"], why) and 0 < first["similarity"] <= 1.001
    assert brief(folder, "Oat milk for latte art")["like"] == []
    assert page["URL"] not in targets(brief(folder, copy, "--limit", "50"))


def test_languages_are_kept_apart(brief: Ask, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Persian draft gets links only to Persian pages; a language without pages is reported."""
    folder = make_small_project(tmp_path)
    path = folder / "files/urls_rawdata.csv"
    rows = [*csv.reader(path.read_text(encoding="utf-8").splitlines())]
    persian = [
        [f"{SITE}/fa/{n}/", f"چای {n}", f"چای سبز را با آب داغ دم می‌کنیم و در فنجان می‌ریزیم. {n}", "fa"]
        for n in range(3)
    ]
    write_csv(path, [[*rows[0], "Lang"], *([*row, "en"] for row in rows[1:]), *persian])
    text = "چای سبز\nبرای دم کردن چای سبز آب داغ را در قوری می‌ریزیم و چند دقیقه صبر می‌کنیم."
    found = brief(folder, text, "--limit", "10")
    assert found["lang"] == "fa" and {*targets(found), *sources(found)} <= {row[0] for row in persian}
    assert targets(found) and not found["notes"][2:]
    title = brief(folder, "چای سبز در خانه", "--limit", "10")
    assert title["lang"] == "fa" and {*targets(title), *sources(title)} <= {row[0] for row in persian}
    assert brief(folder, text, "--lang", "en-GB")["lang"] == "en"
    german = brief(folder, "Tee\nGrünen Tee übergießt man nicht mit kochendem Wasser, sonst wird er bitter.")
    assert german["lang"] == "" and any("seems to be in de" in note for note in german["notes"])
    capsys.readouterr()
    for code in ("fr", "english"):
        assert command("content-brief", "Tea", "--lang", code, "--project", str(folder)) == 3
        said = f"--lang {code}: no page is in this language. Use one of the pages' codes: en, fa."
        assert said in capsys.readouterr().err


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
