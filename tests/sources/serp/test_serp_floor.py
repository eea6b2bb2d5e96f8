"""Search results that aren't about the page: `fill` keeps and counts them, `blend` drops them."""

from pathlib import Path

from tests.standins import SerperStandIn
from tests.support.sites import read_csv, use_standins
from tests.support.small_project import HEADER, SITE, TOPICS, URLS, command, make_project, summary, write_csv

GREEN, BLACK, *_ = URLS
OIL, NEW = f"{SITE}/oil/", f"{SITE}/new/"


def run(folder: Path, **settings: object) -> tuple[dict[str, str], str]:
    """Return the first page's links with the origin of each, and the figures of the summary.

    The search returns a page about another topic, one without content, and one about the same topic.
    """
    make_project(folder)
    rows = [(url, slug, text) for url, (slug, text) in zip(URLS, TOPICS.items(), strict=True)]
    oil = (OIL, "Engine oil", "Change your engine's oil every year and its filter with it.")
    write_csv(folder / "files/urls_rawdata.csv", [HEADER, *rows, oil])
    write_csv(
        folder / "files/main_queries.csv", [("URL", "Main Query"), (GREEN, "green tea"), (NEW, "oolong")]
    )
    with SerperStandIn(lambda words, site: [OIL, NEW, BLACK] if words == "green tea" else []) as serper:
        use_standins(
            folder,
            serper=serper,
            settings={
                "search_query_template": "site:www.tiny.example {main_query}",
                "embedding_provider": "lsa",
                **settings,
            },
        )
        assert command("run", "--project", str(folder)) == 0
    links = {
        row["Target"]: row["Origin"] for row in read_csv(folder / "files/links.csv") if row["Source"] == GREEN
    }
    return links, summary(folder)["Search results below serp_floor / dropped"]


def test_results_below_the_floor(tmp_path: Path) -> None:
    """By default the search's order stays, and results no more similar than the average page are only counted.

    With `blend` they lose their search rank; a page without content, whose score is unknown, keeps it.
    """
    links, figures = run(tmp_path / "fill")
    assert list(links)[:3] == [OIL, NEW, BLACK] and figures == "1 / 0"
    links, figures = run(tmp_path / "blend", fusion="blend")
    assert OIL not in links and links[NEW] == links[BLACK] == "serp" and figures == "1 / 1"
    links, figures = run(tmp_path / "high", fusion="blend", serp_floor=10)
    assert links[NEW] == "serp" and "serp" not in (links.get(BLACK), links.get(OIL)) and figures == "2 / 2"
