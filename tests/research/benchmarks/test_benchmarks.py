"""The benchmark's own parts: the pages of the documentation corpus, and the results file."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.research.benchmarks import debian, projects
from tests.research.benchmarks.commits import checkout, compared, rerun
from tests.research.benchmarks.parts import Work, measured
from tests.research.benchmarks.results import Row, machine, merge, section
from tests.support.synthetic_pages import synthetic

URL = f"{debian.HOST}/tea-doc/doc/tea/html"
PROSE = "<p>" + "Tea leaves are steamed and dried, so that the cup stays fresh. " * 8 + "</p>"


def page(name: str, body: str, head: str = "") -> debian.Found | None:
    html = f"<html><head><title>Tea</title>{head}</head><body>{body}</body></html>"
    return debian.read_page(f"{URL}/{name}", html.encode())


def test_a_page_has_title_text_language_and_links() -> None:
    """A page's links are full URLs on the synthetic host; its menus are not part of its text."""
    html = f'<html lang="de-AT"><title>Grün\n Tee</title><div class="navheader">Menu</div>{PROSE}'
    html += '<a href="../pots.html#clay">pots</a> <a href="https://other.example/">elsewhere</a></html>'
    found = debian.read_page(f"{URL}/leaves/green.html", html.encode("cp1252"))
    assert found
    assert (found.title, found.lang) == ("Grün Tee", "de")
    assert found.links == ((f"{URL}/pots.html", "pots"),)
    assert "steamed" in found.text
    assert "Menu" not in found.text


@pytest.mark.parametrize(
    ("name", "body", "head"),
    [
        ("short.html", "<p>Tea leaves are steamed.</p>", ""),
        ("moved.html", PROSE, '<meta http-equiv="Refresh" content="0; url=other.html">'),
        ("genindex.html", PROSE, ""),
        ("class-use/Tea.html", PROSE, ""),
        ("whole-book.html", PROSE * 500, ""),
    ],
)
def test_what_is_no_page(name: str, body: str, head: str) -> None:
    """Short files, redirects, indexes and whole books in one file are left out."""
    assert page("tea.html", PROSE) is not None
    assert page(name, body, head) is None


def test_a_redirect_for_browsers_without_scripts_is_none() -> None:
    """A redirect for browsers without scripts, as in LibreOffice's help, is still a page; its links start at <base>."""
    head = '<base href="../"><noscript><meta http-equiv="refresh" content="0; url=no.html"></noscript>'
    found = page("help/green.html", PROSE + '<a href="pots.html">pots</a>', head)
    assert found
    assert found.links == ((f"{URL}/pots.html", "pots"),)


def test_no_package_is_more_than_a_quarter() -> None:
    """The cap keeps small packages whole and cuts the largest, as far as the wanted total allows."""
    sizes = {"large": 900, "middle": 200, "other": 200, "third": 200, "small": 100}
    for pages in (0, 400, 800):
        cap = debian.chosen(sizes, pages)
        counts = [min(size, cap) for size in sizes.values()]
        assert cap <= sum(counts) / 4
    assert debian.chosen(sizes, 400) == 80
    assert debian.chosen({}, 100) == 0


def test_links_are_those_between_pages_without_menus() -> None:
    """Each pair is kept once, with its first anchor; next, up and links from every page are dropped."""
    urls = [f"{URL}/{number}.html" for number in range(40)]
    home = f"{URL}/home.html"
    pages = [
        debian.Found(
            url,
            "",
            "text",
            "en",
            ((home, "tea"), (urls[0], "Next: pots"), (urls[1], "a pot"), (urls[1], "more")),
        )
        for url in urls[:15]
    ]
    pages += [debian.Found(url, "", "text", "en", ((home, "tea"),)) for url in [*urls[15:], home]]
    links = debian.site(pages)
    assert {(to, anchor) for _, to, anchor in links} == {(urls[1], "a pot")}
    assert len(links) == 14  # the page itself is one of the fifteen


def test_a_run_replaces_its_own_sections_only() -> None:
    """Sections are in the file's order, unmeasured ones unchanged; unknown ones are dropped."""
    first = section("runs", "About runs.", [Row("cold", "9.0")])
    old = merge("", {"runs": first, "gone": section("gone", "About.", [Row("x")])}, ["join", "runs", "gone"])
    joined = section("join", "About joins.", [Row("ours", "1.0", note="fast"), Row("theirs", "6.0")])
    new = merge(old, {"join": joined}, ["join", "runs"])
    assert new.index("## join") < new.index("## runs")
    assert first.strip() in new
    assert "gone" not in new
    assert "| What | Seconds | Note |\n| --- | --- | --- |\n| ours | 1.0 | fast |\n| theirs | 6.0 |  |" in new
    assert merge(new, {"join": joined}, ["join", "runs"]) == new


def test_the_machine_is_told() -> None:
    """A section has its day, the number of rounds, and the peak with its range."""
    told = machine([190.0, 200.0, 180.0], 3, datetime(2026, 3, 1, tzinfo=UTC))
    assert told.startswith("2026-03-01, median of 3; ")
    assert "sgemm peak 190 GFLOP/s (180 to 200)" in told
    assert "numpy 2." in told


def eat(megabytes: int) -> Work:
    """Prepare twice this much memory and free it, then take this much."""

    def work() -> Callable[[], Mapping[str, float]]:
        size = len(bytearray(b"x") * (megabytes << 20))
        return lambda: {"size": size}

    return work


@pytest.mark.long
def test_a_part_is_measured_in_a_process_of_its_own() -> None:
    """Memory is measured per part: a large part before a small one doesn't affect it."""
    large, small = measured(eat, 300), measured(eat, 1)
    assert large.figures == {"size": 300 << 20}
    assert small.memory < large.memory - 200 or large.memory == 0
    assert small.extra < 100
    assert small.seconds < 60
    assert large.peak > 0


def test_one_percent_changes() -> None:
    """The given share of texts changes, spread over the site, and every URL stays."""
    pages = synthetic(300, 40)
    after = projects.changed(pages, 0.01)
    assert [page[0] for page in after] == [page[0] for page in pages]
    assert [at for at, (old, new) in enumerate(zip(pages, after, strict=True)) if old != new] == [0, 100, 200]


def test_a_corpus_is_read_with_either_name_of_its_content(tmp_path: Path) -> None:
    """The content column may be Content, as in the development sites, or Main Content."""
    for name in ("Content", "Main Content"):
        (tmp_path / "pages.csv").write_text(f"URL,Title,{name},Lang\nhttps://a.example/,T,text,en\n")
        assert projects.corpus(tmp_path) == [("https://a.example/", "T", "text", "en")]


@pytest.mark.long
def test_commits_are_compared_as_users_run_them() -> None:
    """Both programs run on projects of their own, and each figure has its ratio to the earlier commit."""
    rows, _ = compared(rerun, (60,), "HEAD", 1, {"rerun, nothing changed": "10 s"})
    assert [row.what.partition(": ")[2] for row in rows] == [
        "first run",
        "rerun, nothing changed",
        "rerun, 1% changed",
    ]
    assert rows[1].target == "10 s"
    assert all(row.ratio.endswith("times as long") and "before" in row.seconds for row in rows)


@pytest.mark.long
def test_a_project_that_is_prepared_serves_all_rounds() -> None:
    """Each program prepares one project, which each of its rounds measures and no other program sees."""
    seen = list[tuple[str, Path, str]]()

    def prepare(root: Path, project: Path, pages: int) -> None:
        (project / "made").write_text(f"{root} {pages}")

    def measure(root: Path, project: Path, pages: int) -> dict[str, tuple[float, float]]:
        assert (project / "made").read_text() == f"{root} {pages}"
        seen.append((root.name, project, str(pages)))
        return {"it": (1.0, 1.0)}

    rows, peaks = compared(measure, (5, 6), "HEAD", 2, prepare=prepare)
    assert [row.what for row in rows] == ["5 pages: it", "6 pages: it"]
    assert len(peaks) == 4
    assert len(seen) == 8
    assert len({place for _, place, _ in seen}) == 4


def test_an_unknown_commit_is_named() -> None:
    """A commit that doesn't exist ends the benchmark with git's sentence."""
    with pytest.raises(SystemExit, match="no-such-commit"), checkout("no-such-commit"):
        pass
