"""The command `evaluate --anchors`: first anchors compared with editors', and those of a run looked at."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal

from internal_linker import decide, evaluate_anchors, history, waiting_links
from internal_linker.insight.evaluation.anchors import LENGTHS, agreement, token_f1
from internal_linker.insight.evaluation.hygiene import Flaw
from internal_linker.model.records import Collected, ExistingLink, Page
from tests.support.small_project import SITE, URLS, command, make_project, snapshot, write_csv

GREEN, BLACK, WHITE, POTS, WATER, STORAGE = URLS
LINKS = [(BLACK, POTS, "dark colour"), (POTS, BLACK, "black tea leaves"), (WATER, GREEN, "no such words")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with two links whose anchors are in the text, one whose is not, and a page that names a target."""
    folder = make_project(tmp_path)
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *LINKS])
    with (folder / "files/urls_rawdata.csv").open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(
            (
                f"{SITE}/guests/",
                "Guests",
                "Many guests like white tea in the evening, and they talk about their garden.",
            )
        )
    return folder


def test_token_f1_compares_multisets_of_folded_words() -> None:
    for ours, theirs, expected in (
        ("Black Tea", "black tea", 1.0),
        ("black tea leaves", "black tea", 0.8),
        ("tea tea", "tea", 2 / 3),
        ("green", "black", 0.0),
        ("東京都", "東京", 2 / 3),
        ("C", "c", 1.0),
        ("", "black", 0.0),
    ):
        assert token_f1(ours, theirs) == pytest.approx(expected)


def test_the_nearest_of_the_editors_anchors_counts_and_others_are_left_out() -> None:
    text = "We brew black tea in clay pots, and we like tea pots a lot."
    pages = (
        Page(f"{SITE}/a", f"{SITE}/a", "Brewing", content=text),
        Page(f"{SITE}/b", f"{SITE}/b", "Tea pots", content="Tea pots of clay."),
        Page(f"{SITE}/c", f"{SITE}/c", "Zinc", content="Nothing in common."),
    )
    links = [
        *(
            ExistingLink(f"{SITE}/a", f"{SITE}/b", anchor)
            for anchor in ("tea pots", "we brew black tea", "absent")
        ),
        ExistingLink(f"{SITE}/b", f"{SITE}/c", "of clay"),
        ExistingLink(f"{SITE}/c", f"{SITE}/a", "absent"),
    ]
    found = agreement(Collected(pages, (), (), 0, tuple(links)))
    assert found
    assert (found.pairs, found.sources, found.absent) == (2, 2, 1)
    assert (found.f1.mean, found.exact.mean, found.found.mean) == (0.5, 0.5, 0.5)
    assert [share.mean for share in found.editors_lengths] == pytest.approx([0, 2 / 3, 0, 1 / 3, 0, 0])
    assert found.lengths[1].mean == 1
    assert found.by_language == {}
    languages = [replace(pages[0], lang="en"), replace(pages[1], lang="en"), replace(pages[2], lang="en")]
    german = [replace(page, key=f"{page.key}-de", url=f"{page.url}-de", lang="de") for page in pages[:2]]
    both = (*links[:4], ExistingLink(german[0].key, german[1].key, "tea pots"))
    parts = agreement(Collected((*languages, *german), (), (), 0, both))
    assert parts and parts.pairs == 3
    assert {name: one.pairs for name, one in parts.by_language.items()} == {"de": 1, "en": 2}


def test_the_terminal_shows_figures_lengths_and_hygiene(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(folder / "files")
    assert command("evaluate", "--anchors", "--project", str(folder)) == 0
    assert snapshot(folder / "files").items() >= before.items()
    assert not (folder / "files/links.csv").exists() and not (folder / "files/Output.csv").exists()
    out = capsys.readouterr().out
    assert "2 linked pairs of pages whose anchor is in the source's main content (1 others left out)" in out
    figures = re.findall(r"^(.+?) +(\d\.\d{4}) \[[\d.]+, [\d.]+\]$", out, re.M)
    assert [name for name, _ in figures[:5]] == [
        "token F1 of the first anchor",
        "the first anchor equals the editors'",
        "an anchor was found in the text",
        "it is good enough to be proposed",
        "anchors that stand at their place",
    ]
    assert figures[4][1] == "1.0000"
    assert re.search(r"^\d+ links that a run proposes, \d+ with an anchor in the text", out, re.M)
    for flaw in Flaw:
        assert re.search(rf"^{re.escape(flaw.message)} +\d+$", out, re.M)
    assert command("evaluate", "--anchors", "--json", "--project", str(folder)) == 0
    data = json.loads(capsys.readouterr().out)
    frames = evaluate_anchors(folder).frames
    assert {"shares", "lengths", "hygiene", "examples"} == set(frames) <= set(data)
    assert data["linked_pairs"] == 2 and data["linked_pairs_left_out"] == 1
    shares = zip(frames["shares"]["measure"], frames["shares"]["share"], strict=True)
    assert {row["measure"]: row["share"] for row in data["shares"]} == dict(shares)
    assert [row["flaw"] for row in data["hygiene"]] == [flaw.value for flaw in Flaw]
    assert len(data["lengths"]) == 3 * len(LENGTHS)
    assert data["proposed_links"] >= data["anchors_in_text"] > 0


def test_the_anchors_are_those_of_a_run(folder: Path) -> None:
    assert command("run", "--no-serp", "--project", str(folder)) == 0
    lines = (folder / "files/links.csv").read_text(encoding="utf-8-sig").splitlines()
    links, runs = waiting_links(folder).to_frame(), history(folder).to_frame()
    proposals = evaluate_anchors(folder).proposals
    assert proposals.pairs == len(lines) - 1
    assert_frame_equal(waiting_links(folder).to_frame(), links)
    assert_frame_equal(history(folder).to_frame(), runs)
    decide(links.assign(status="rejected"), project=folder)
    assert evaluate_anchors(folder).proposals.pairs < proposals.pairs


def test_without_editors_anchors_only_a_runs_anchors_are_measured(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = "--project", str(folder)
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), (GREEN, BLACK)])
    assert command("evaluate", "--anchors", *where) == 0
    out = capsys.readouterr().out
    assert "has the column Anchor" in out and "links that a run proposes" in out
    assert evaluate_anchors(folder).agreement is None
    one = [("URL", "Title", "Main Content"), (GREEN, "Tea", "Green tea.")]
    write_csv(folder / "files/urls_rawdata.csv", one)
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query")])
    assert command("evaluate", "--anchors", *where) == 0
    out = capsys.readouterr().out
    assert "A run proposes no links, so there are no anchors to look at." in out and "nan" not in out
    assert command("evaluate", "--anchors", "--json", *where) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["proposed_links"] == 0 and {row["share"] for row in data["shares"]} == {None}
    assert command("evaluate", "--json", *where) == 2
    assert "--json requires --anchors" in capsys.readouterr().err
