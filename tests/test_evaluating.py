"""`evaluate`: links are hidden from everything that ranks, asked for again, and the figures are printed."""

import re
from pathlib import Path

import pytest

from internal_linker.errors import InputError
from internal_linker.evaluating import HIDINGS, hide
from internal_linker.records import Collected, ExistingLink, Page
from internal_linker.steps.measure import hidden
from tests.sites import use_standins
from tests.small_project import URLS, command, make_project, snapshot, write_csv
from tests.standins import SerperStandIn

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
    """Nothing stays visible, and each hidden link's anchor leaves its source's text, no other's."""
    site = hide(collected(), HIDINGS["all"], cut_anchors=True)
    assert site.visible == ()
    assert site.pairs == len(LINKS)
    assert site.truth[GREEN] == {WHITE, STORAGE}
    texts = {page.key: page.content.split() for page in site.pages}
    assert texts[GREEN] == ["water"]
    assert texts[POTS] == ["fresh", "light"]
    assert texts[STORAGE] == ["fresh", "light", "water"]


def test_half_of_the_links_is_chosen_by_their_hash() -> None:
    """What is hidden is in the truth and not visible, and the other way round."""
    site = hide(collected(), HIDINGS["half"], cut_anchors=False)
    there = {(source, target) for source, targets in site.truth.items() for target in targets}
    assert there == {(source, target) for source, target, _ in LINKS if hidden(source, target)}
    assert {(link.source, link.target) for link in site.visible} == {link[:2] for link in LINKS} - there
    assert all(page.content == "fresh light water" for page in site.pages)


def test_links_into_another_language_are_not_asked_for() -> None:
    """They are hidden all the same, but a ranking that keeps to one language can't be blamed for them."""
    site = hide(collected({GREEN: "en", WHITE: "de", STORAGE: "en"}), HIDINGS["all"], cut_anchors=False)
    assert site.truth[GREEN] == {STORAGE}
    assert WHITE not in site.truth
    assert site.visible == ()


def test_a_site_without_links_is_told_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No link to hide is an error of the input with its remedy."""
    with pytest.raises(InputError, match=r"files/existing_links\.csv"):
        hide(Collected(collected().pages, (), (), 0), HIDINGS["all"], cut_anchors=True)
    assert command("evaluate", "--project", str(make_project(tmp_path))) == 3
    assert "Source, Destination, Anchor" in capsys.readouterr().err


def test_every_way_of_ranking_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table has each signal, the blends and the configured one; nothing but the cache is written."""
    folder = project(tmp_path)
    before = {name for name in snapshot(folder) if "cache" not in str(name) and "log" not in str(name)}
    assert command("evaluate", "--project", str(folder), "--anchors", "kept") == 0
    out = capsys.readouterr().out
    assert "6 hidden links of 5 pages, anchors kept" in out
    for name in ("words", "embedding", "words + passages + embedding", "in-links for everyone"):
        assert name in out
    shares = [float(found) for found in re.findall(r"\b[01]\.\d{4}\b", out)]
    assert shares and all(0 <= share <= 1 for share in shares)
    after = {name for name in snapshot(folder) if "cache" not in str(name) and "log" not in str(name)}
    assert {str(name) for name in after - before} <= {str(folder / "files/.internal_linker.lock")}


@pytest.mark.parametrize("option", [("--hide", "some"), ("--anchors", "cut")])
def test_an_unknown_choice_is_refused(
    option: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the choices there are."""
    assert command("evaluate", "--project", str(project(tmp_path)), *option) == 2
    assert f"{option[0]} {option[1]}: there is no such choice. Take " in capsys.readouterr().err


def test_search_results_that_were_paid_for_are_measured_and_none_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a run with searches both fusions have a row each, as the results alone have; no further call is made."""
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
        assert command("evaluate", "--project", str(folder)) == 0
        assert "search results" not in capsys.readouterr().out
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
