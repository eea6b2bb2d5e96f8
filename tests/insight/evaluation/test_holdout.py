"""The command `evaluate`: links are hidden from all ranking steps and searched for, and the figures are printed."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.faces.cli.evaluate import ARRIVALS_MEANING
from internal_linker.insight.evaluation.holdout import AS_CONFIGURED, HIDINGS, cold, hidden, hide
from internal_linker.model.errors import InputError
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.rank.adaptation import TOO_FEW
from tests.standins import SerperStandIn
from tests.support import link_sites
from tests.support.sites import use_standins
from tests.support.small_project import URLS, command, make_project, snapshot, write_csv

GREEN, BLACK, WHITE, POTS, WATER, STORAGE = URLS
LINKS = [
    (GREEN, WHITE, "light"),
    (GREEN, STORAGE, "fresh"),
    (BLACK, POTS, "cup"),
    (WHITE, GREEN, "dried"),
    (POTS, WATER, "water"),
    (WATER, BLACK, "dark"),
]


def collected(languages: dict[str, str] | None = None) -> Collected:
    pages = tuple(
        Page(url, url, content="fresh light water", lang=(languages or {}).get(url, "")) for url in URLS
    )
    return Collected(pages, (), (), 0, links=tuple(ExistingLink(*link) for link in LINKS))


def project(folder: Path) -> Path:
    folder = make_project(folder)
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *LINKS])
    return folder


def test_all_links_are_hidden() -> None:
    """Each hidden link's anchor leaves its own source's text only; links into another language are not asked for."""
    site = hide(collected(), HIDINGS["all"], cut_anchors=True)
    assert site.visible == ()
    assert site.pairs == len(LINKS)
    assert site.truth[GREEN] == {WHITE, STORAGE}
    texts = {page.key: str(page.content).split() for page in site.pages}
    assert texts[GREEN] == ["water"]
    assert texts[POTS] == ["fresh", "light"]
    assert texts[STORAGE] == ["fresh", "light", "water"]
    # Visible links' anchors are removed, too: the texts are embedded once for all tables.
    assert all(
        hide(collected(), HIDINGS[how], cut_anchors=True).pages == site.pages for how in ("half", "cold")
    )
    site = hide(collected({GREEN: "en", WHITE: "de", STORAGE: "en"}), HIDINGS["all"], cut_anchors=False)
    assert (site.truth[GREEN], WHITE in site.truth, site.visible) == ({STORAGE}, False, ())


def test_half_of_the_links_is_chosen_by_their_hash() -> None:
    site = hide(collected(), HIDINGS["half"], cut_anchors=False)
    there = {(source, target) for source, targets in site.truth.items() for target in targets}
    assert there == {(source, target) for source, target, _ in LINKS if hidden(source, target)}
    assert {(link.source, link.target) for link in site.visible} == {link[:2] for link in LINKS} - there
    assert all(page.content == "fresh light water" for page in site.pages)


def test_a_site_without_links_and_an_unknown_choice_are_told_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"files/existing_links\.csv"):
        hide(Collected(collected().pages, (), (), 0), HIDINGS["all"], cut_anchors=True)
    assert command("evaluate", "--project", str(make_project(tmp_path))) == 3
    assert "Source, Destination, Anchor" in capsys.readouterr().err
    assert command("evaluate", "--project", str(project(tmp_path)), "--hide", "some") == 2
    assert "--hide some: choose one of all, half." in capsys.readouterr().err


def test_all_links_to_a_cold_page_are_hidden_together() -> None:
    everything = tuple(ExistingLink(one, other, "") for one in URLS for other in URLS if one != other)
    site = hide(replace(collected(), links=everything), HIDINGS["cold"], cut_anchors=False)
    chosen = {target for targets in site.truth.values() for target in targets}
    assert chosen == {url for url in URLS if cold(url)} and chosen < set(URLS)
    assert set(site.visible) == {link for link in everything if link.target not in chosen}
    assert site.pairs == len(chosen) * (len(URLS) - 1)


def test_simulated_arrivals_have_a_table_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project(tmp_path)
    before = {name for name in snapshot(folder) if "cache" not in str(name) and "log" not in str(name)}
    assert command("evaluate", "--project", str(folder)) == 0
    after = {name for name in snapshot(folder) if "cache" not in str(name) and "log" not in str(name)}
    assert {str(name) for name in after - before} <= {str(folder / "files/.internal_linker.lock")}
    out = capsys.readouterr().out
    for name in ("words", "embedding", "all signals, known links ignored", "inlinks for everyone"):
        assert name in out
    shares = [float(found) for found in re.findall(r"\b[01]\.\d{4}\b", out)]
    assert shares and all(0 <= share <= 1 for share in shares)
    first, heading, second = out.partition("6 hidden links from 5 pages")
    assert re.match(r"\d+ simulated arrivals from 5 pages, anchors removed", first) and heading
    assert "\nall signals  " in first and "\nall signals  " not in second
    assert ARRIVALS_MEANING in first and ARRIVALS_MEANING not in second
    for part in (first, second):
        assert AS_CONFIGURED in part and f"Ranker: {TOO_FEW}." in part
    assert "expected     links     pairs" in first and "expected     links     pairs" not in second
    assert "MRR       1 if a page's first proposal is a hidden link" in second


@pytest.mark.long
def test_what_links_taught_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = link_sites.pages(80)
    pairs = link_sites.random_pairs(80, 500, seed=2, popularity=1.5)
    folder = make_project(tmp_path)
    write_csv(
        folder / "files/urls_rawdata.csv", [("URL", "Main Content"), *((p.url, str(p.content)) for p in site)]
    )
    links = [(each.source, each.target, "") for each in link_sites.existing(pairs)]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    assert command("evaluate", "--hide", "half", "--project", str(folder)) == 0
    arrivals, _, first = capsys.readouterr().out.partition(" hidden links from ")
    ranges = re.findall(r"^[\d.]+ to [\d.]+ +(\d\.\d{4}) +(\d\.\d{4}) +(\d+)$", arrivals, re.M)
    expected, found = (sum(float(each[at]) * int(each[2]) for each in ranges) for at in (0, 1))
    assert len(ranges) >= 3 and expected / 3 < found < 3 * expected
    assert "+ weights adapted to the site" in first
    assert re.search(
        r"^Ranker: weights adapted to your site by its \d+ links \(NDCG@5 0\.\d{3} against 0\.\d{3}",
        first,
        re.M,
    )


def test_search_results_that_were_paid_for_are_measured_and_none_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project(tmp_path)
    with SerperStandIn(lambda words, site: [WHITE, WATER]) as server:
        use_standins(
            folder,
            serper=server,
            settings={
                "search_query_template": "site:www.tiny.example {main_query}",
                "embedding_provider": "lsa",
            },
        )
        assert command("run", "--project", str(folder)) == 0
        calls = len(server.calls("POST /search"))
        capsys.readouterr()
        assert command("evaluate", "--project", str(folder)) == 0
        assert len(server.calls("POST /search")) == calls
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("search results")]
    assert [row[:38].strip() for row in rows[:3]] == [
        "search results",
        "search results, filled up",
        "search results, blended",
    ]
