"""The command `backtest`: a run with the knowledge of an earlier date is evaluated on the links added since."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.insight.evaluation.backtest import as_it_was, compare
from internal_linker.model.errors import InputError
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import Collected, ExistingLink, Page, Targets
from internal_linker.rank import recommend
from internal_linker.rank.rules import LEAST_PLACE
from tests.standins import OpenAIStandIn
from tests.support import sites
from tests.support.sites import read_csv
from tests.support.small_project import (
    HEADER,
    SITE,
    TOPICS,
    URLS,
    command,
    make_project,
    snapshot,
    write_csv,
    write_text,
)

GREEN, BLACK, WHITE, POTS, WATER, STORAGE = URLS
PAGES = tuple(Page(url, url, content="fresh light water", lang="en") for url in URLS)
SITE_OF_SIX = Collected(PAGES, (), (), 0)
OPEN = Targets({url: url for url in URLS}, {})
LINK_HEADER = ("Source", "Destination", "Anchor")
BEFORE = [(GREEN, WHITE, "light"), (BLACK, POTS, "cup")]
AFTER = [(BLACK, POTS, "a cup"), (GREEN, STORAGE, "fresh"), (GREEN, WATER, ""), (WHITE, GREEN, "dried")]


def links(*rows: tuple[str, str, str]) -> list[ExistingLink]:
    return [ExistingLink(*row) for row in rows]


def tables(folder: Path, before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Write both tables into a folder and return the options that name them and the project in it."""
    write_csv(folder / "june.csv", [LINK_HEADER, *before])
    write_csv(folder / "july.csv", [LINK_HEADER, *after])
    named = ("--before", str(folder / "june.csv"), "--after", str(folder / "july.csv"))
    return (*named, "--project", str(folder / "site"))


def places(folder: Path) -> dict[tuple[str, str], str]:
    rows = read_csv(folder / "site/files/backtest.csv")
    return {(row["Source"], row["Target"]): row["Place"] for row in rows}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_project(tmp_path / "site")
    return tmp_path


# -- added links -----------------------------------------------------------------------------------


def test_a_link_is_a_pair_of_pages() -> None:
    changes = compare(SITE_OF_SIX, links(*BEFORE), links(*AFTER, (GREEN, STORAGE, "tin")), OPEN)
    assert (changes.added, changes.removed, changes.inner) == (3, 1, 3)
    assert changes.links == {
        (0, 5): ["fresh", "tin"],
        (0, 4): [""],
        (2, 0): ["dried"],
    }
    assert not changes.left_out


def test_what_no_run_could_have_proposed_is_left_out_with_its_reason() -> None:
    pages = tuple(replace(page, lang="de") if page.url == WATER else page for page in PAGES)
    known = {url: url for url in URLS if url != POTS}
    targets = Targets(known, {POTS: Reason(NoTarget.NOINDEX)}, aliases={STORAGE: BLACK})
    added = links(
        (GREEN, BLACK, ""),
        (GREEN, WATER, ""),
        (GREEN, POTS, ""),
        (STORAGE, BLACK, ""),
        (f"{SITE}/nix/", GREEN, ""),
        (f"{SITE}/nix/", f"{SITE}/other/", ""),
        (GREEN, f"{SITE}/nix/", ""),
    )
    changes = compare(Collected(pages, (), (), 0), [], added, targets)
    assert list(changes.links) == [(0, 1)]
    assert (changes.added, changes.inner) == (7, 3)
    assert changes.left_out == {
        "into another language": 1,
        "to a page that no link may lead to (not indexable)": 1,
        "from a copy of a page to that page": 1,
        "from a page that is not listed": 2,
        "to a page that is not listed": 1,
    }


def test_nothing_to_look_for_is_said_with_the_counts() -> None:
    gone = links((GREEN, f"{SITE}/nix/", ""))
    for before, after, words in (
        (links(*AFTER), links(*AFTER), "between the two tables, none were added and 0 were removed"),
        (links(*AFTER), links(*AFTER[:1]), "between the two tables, none were added and 3 were removed"),
        ([], gone, "1 were added between the two tables, but 1 to a page that is not"),
    ):
        with pytest.raises(InputError, match=words):
            compare(SITE_OF_SIX, before, after, OPEN)


@pytest.mark.parametrize("cut", [True, False])
def test_the_added_links_anchors_leave_the_text(cut: bool) -> None:
    before = links((POTS, WATER, "water"), (GREEN, WHITE, "light"))
    changes = compare(SITE_OF_SIX, before, links((GREEN, STORAGE, "fresh"), (GREEN, STORAGE, "water")), OPEN)
    site = as_it_was(SITE_OF_SIX, before, changes, cut_anchors=cut)
    texts = {page.url: str(page.content).split() for page in site.pages}
    whole = ["fresh", "light", "water"]
    assert texts == dict.fromkeys(URLS, whole) | {GREEN: ["light"] if cut else whole}
    assert (site.visible, site.truth, site.pairs) == (tuple(before), {GREEN: {STORAGE}}, 1)


# -- the command -------------------------------------------------------------------------------------


def test_the_command_prints_counts_and_figures_and_writes_one_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = tables(folder, BEFORE, [*AFTER, (GREEN, f"{SITE}/nix/", "x"), ("http://", GREEN, "x")])
    before = snapshot(folder)
    assert command("backtest", *options) == 0
    out = capsys.readouterr().out
    for line in (
        "  Links in the pages' text, before / after: 2 / 5",
        "  Rows rejected (no URL): 0 / 1",
        "  Removed: 1",
        "  Added: 4",
        "    between two listed pages of one language: 3",
        "    left out: to a page that is not listed: 1",
        "3 added links from 2 pages, anchors removed; encoder local/lsa-256; means with 95% intervals",
        "files/backtest.csv lists the place of each added link.",
    ):
        assert f"{line}\n" in out
    table = [line.split("  ")[0] for line in out.splitlines()[-10:-7]]
    assert table == ["ranked by", "words + passages", "as configured, inlinks for everyone"]
    after = snapshot(folder)
    assert {name for name in after if before.get(name) != after[name] and "cache" not in name} == {
        str(Path("site/files/backtest.csv"))
    }
    rows = read_csv(folder / "site/files/backtest.csv")
    assert list(rows[0]) == ["Source", "Target", "Anchor", "Place"]
    assert [tuple(row.values())[:3] for row in rows] == AFTER[1:]


def test_a_place_is_that_of_a_run_at_the_earlier_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A backtest ranks by the pages alone: the texts lack the words of the links that were added.
    monkeypatch.setattr(recommend, "with_places", lambda ranked, *_: ranked)
    monkeypatch.setitem(LEAST_PLACE, "balanced", 0.99)
    settings = {"embedding_provider": "lsa", "min_inlinks": 4, "max_inlinks": 2.0}
    project = sites.make_project(tmp_path / "site", 20, settings)
    urls = [row["URL"] for row in read_csv(project / "files/urls_rawdata.csv")]
    before = [(url, urls[at - 1], "x") for at, url in enumerate(urls)]
    every = [(source, target, "") for source in urls for target in urls if source != target]
    assert command("backtest", *tables(tmp_path, before, every)) == 0
    found = places(tmp_path)
    write_csv(project / "files/existing_links.csv", [LINK_HEADER, *before])
    assert command("run", "--no-serp", "--project", str(project)) == 0
    ran = {
        (row["URL"], row[f"Link {place}"]): str(place)
        for row in read_csv(project / "files/Output.csv")
        for place in range(1, 6)
    }
    assert len(found) == 20 * 18
    assert {ends: place for ends, place in found.items() if place in {"1", "2", "3", "4", "5"}} == ran
    # All others are present, too, each at a rank of its own.
    for source in urls:
        ours = sorted(int(place) for (start, _), place in found.items() if start == source and place)
        assert ours == list(range(1, len(ours) + 1)) and len(ours) > 5


def test_only_the_earlier_tables_links_are_known(folder: Path) -> None:
    pages = [
        (url, slug.replace("-", " "), f"<p>{TOPICS[slug]}</p>")
        for slug, url in zip(TOPICS, URLS, strict=True)
    ]
    every = [(GREEN, url, "") for url in URLS[1:]]
    write_csv(folder / "site/files/urls_rawdata.csv", [HEADER, *pages])
    assert command("backtest", *tables(folder, [], every)) == 0
    plain = places(folder)
    html = pages[0][2].replace("cup", f'<a href="{WHITE}">cup</a>')
    write_csv(folder / "site/files/urls_rawdata.csv", [HEADER, (*pages[0][:2], html), *pages[1:]])
    assert command("backtest", *tables(folder, [], every)) == 0
    assert places(folder) == plain
    first = next(target for (_, target), place in plain.items() if place == "1")
    assert command("backtest", *tables(folder, [(GREEN, first, "")], every)) == 0
    assert sorted(places(folder).values()) == ["1", "2", "3", "4"] and (GREEN, first) not in places(folder)


def test_a_crawlers_table_is_read_as_existing_links_are(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = read_csv(folder / "site/files/urls_rawdata.csv")
    rows = [[*row.values(), ""] for row in pages]
    moved = [f"{SITE}/old/", "", "", BLACK]
    write_csv(folder / "site/files/urls_rawdata.csv", [(*HEADER, "Redirect URL"), *rows, moved])
    options = tables(folder, [(GREEN, f"{SITE}/old/", "x")], [])
    header = ("Type", "Source", "Destination", "Anchor", "Link Position")
    crawl = [
        ("Hyperlink", GREEN, BLACK, "x", "Content"),
        ("Hyperlink", GREEN, POTS, "x", "Content"),
        ("Hyperlink", GREEN, WATER, "x", "Navigation"),
        ("Image", GREEN, WATER, "x", "Content"),
    ]
    write_csv(folder / "july.csv", [header, *crawl])
    assert command("backtest", *options) == 0
    out = capsys.readouterr().out
    assert "  Rows left out (menus, images, ...): 0 / 2\n" in out and "  Added: 1\n" in out
    assert list(places(folder)) == [(GREEN, POTS)]


def test_figures_without_vectors_are_marked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with OpenAIStandIn() as openai:
        sites.use_standins(folder / "site", openai=openai, settings={"embedding_provider": "openai"})
        write_text(folder / "site/config/openai_api_key.txt", "sk-wrong")
        assert command("backtest", *tables(folder, BEFORE, AFTER)) == 0
    assert "Without all vectors, the figures differ from a run's." in capsys.readouterr().err


def test_what_is_wrong_is_one_line_with_its_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong call ends with 2, and a wrong file or no link to evaluate with 3; no list is written."""
    *_, project = tables(folder, [], AFTER)
    write_csv(folder / "other.csv", [("Page", "Target"), (GREEN, BLACK)])
    monkeypatch.chdir(folder)
    for options, code, words in (
        ("--after july.csv --before nix.csv", 3, "nix.csv not found: check the path"),
        ("--after july.csv --before other.csv", 3, "other.csv: the header row has no column 'Source'"),
        ("--after july.csv --before ./july.csv", 2, "are the same file (july.csv). Give the links of"),
        ("--after june.csv --before july.csv", 3, "4 were removed. Pass the earlier table with"),
        ("--before june.csv", 2, "--after"),
    ):
        assert command("backtest", *options.split(), "--project", project) == code
        assert words in capsys.readouterr().err
    assert not (folder / "site/files/backtest.csv").exists()
