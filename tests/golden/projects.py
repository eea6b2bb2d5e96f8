"""The projects, each prepared and taken through the commands that make sense for it.

Vectors come from a stand-in: those of the packaged model and of LSA differ from processor to processor.
"""

import hashlib
import random
import shutil
from collections.abc import Callable, Container, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import openpyxl
import time_machine

from tests.golden.content import BREAD, GardenPage, bakery_tables, garden_pages
from tests.golden.recorder import Recorder
from tests.standins import GoogleStandIn, OpenAIStandIn, SerperStandIn
from tests.standins.wordpress import PASSWORD, USER, StoredPost, WordPressStandIn
from tests.support.post_site import sign_in
from tests.support.sites import make_project, read_csv, sample_pages, sample_queries, use_standins
from tests.support.small_project import REPOSITORY, write_csv, write_text

NOW = datetime(2026, 10, 12, 9, tzinfo=UTC)
GARDEN = "https://www.beds.example"
COFFEE = "https://www.slowkettle.example"
STEAM = f"{COFFEE}/milk/how-to-steam-milk/"

# What editors type, by row of the review and column.
DECISIONS: Mapping[int, Mapping[str, str]] = {
    2: {"Status": "accepted"},
    3: {"Status": "rejected"},
    5: {"Anchor": "an editor's own words"},
    6: {"Notes": "ask Ann"},
    8: {"Status": "Rejected", "Notes": "off topic"},
    9: {"Status": "acepted"},
    11: {"Status": "accepted"},
    12: {"Status": "edited", "Anchor": "other words"},
}


def sample(folder: Path, openai: OpenAIStandIn) -> str:
    """The sample as shipped, but for its model."""
    _copy_sample(folder)
    settings = folder / "config/settings.toml"
    shipped = settings.read_text("utf-8")
    write_text(settings, shipped.replace('"https://api.openai.com/v1"', f'"{openai.url}/v1"'))
    write_text(folder / "config/openai_api_key.txt", openai.api_key)
    record = Recorder(folder)
    record.run("run", "--dry-run")
    record.run("run")
    record.run("lookup", STEAM, "--limit", "3")
    record.run("lookup", "--to", STEAM, "--json")
    record.run("lookup", "how to froth milk", "--no-serp")
    record.run("content-brief", "How to steam oat milk for latte art", "--limit", "2")
    record.run("audit")
    record.run("pairs", "--by", "title", "--min-similarity", "0.4")
    record.run("clusters", "--k", "6")
    _decide(folder)
    record.look()
    record.run("run")
    record.run("run", "--section", "/milk")
    record.run("run", "--limit", "4")
    record.run("run", "--limit", "3", "--publish")
    record.run("run", "--only", "/milk/how-to-steam-milk/", "--target-exclude", "/recipes")
    record.run("history")
    record.run("export-vectors")
    return record.text()


def model(folder: Path, _: OpenAIStandIn) -> str:
    """The sample exactly as shipped; the first line tells by which vectors, since other processors have others."""
    _copy_sample(folder)
    record = Recorder(folder)
    record.run("run")
    record.run("lookup", STEAM)
    record.run("content-brief", "How to steam oat milk for latte art", "--json")
    record.run("pairs")
    record.run("export-vectors")
    vectors = (folder / "files/vectorized_urls.csv").read_bytes()
    return f"vectors {hashlib.sha256(vectors).hexdigest()}\n{record.text()}"


def languages(folder: Path, openai: OpenAIStandIn) -> str:
    """A site in two languages, with a redirect, an error, a copy and a page without index."""
    for name, rows in bakery_tables().items():
        write_csv(folder / "files" / name, rows)
    settings = {"search_query_template": "site:www.crumb.example {main_query}", "links_per_page": 3}
    use_standins(folder, openai=openai, settings=settings)
    write_text(folder / "config/excluded_urls.txt", "/thanks/\n")
    record = Recorder(folder)
    record.run("run")
    record.run("lookup", f"{BREAD}/de/sauerteig/")
    record.run("lookup", "--to", "en/dutch-oven", "--json")
    record.run("lookup", "bread without yeast", "--json")
    record.run(
        "content-brief", "Brot mit Sauerteig und Roggenmehl im Gusseisentopf", "--lang", "de", "--json"
    )
    draft = "# Rye in a pot\n\nBake bread made with rye flour in a dutch oven.\n"
    draft += f"\n[Starter]({BREAD}/en/sourdough-starter/)\n"
    write_text(folder / "draft.md", draft)
    record.look()
    record.run("content-brief", str(folder / "draft.md"), "--url", f"{BREAD}/en/rye-in-a-pot/")
    record.run("audit", "--section", "/en", "--home", f"{BREAD}/en/rye-flour/", "--fail-on", "orphan")
    record.run("pairs", "--min-similarity", "0.1", "--full-matrix", "csv")
    record.run("clusters", "--method", "communities", "--min-similarity", "0.1")
    _decide(folder)
    tables = bakery_tables()
    tables["existing_links.csv"].append([f"{BREAD}/en/baking-stone/", f"{BREAD}/en/dutch-oven/", "a pot"])
    tables["urls_rawdata.csv"].pop(3)
    for name in ("existing_links.csv", "urls_rawdata.csv"):
        write_csv(folder / "files" / name, tables[name])
    record.look()
    record.run("run")
    record.run("run", "--section", "/de=off")
    record.run("diff", "last-1", "last")
    record.run("rollback", "last-1", "--section", "/en")
    return record.text()


def searched(folder: Path, openai: OpenAIStandIn) -> str:
    """Main queries that a search service answers, with pages that the site lacks and a limit that is reached."""
    make_project(folder, 14)
    pages = [page["URL"] for page in sample_pages(14)]

    def answers(words: str, site: str) -> list[str]:
        if len(words) % 5 == 0 or not site:
            return []
        first = len(words) % len(pages)
        return [*pages[first : first + 7], f"https://{site}/gone/", *pages[:2]]

    with SerperStandIn(answers) as serper:
        # One after another: which search is the last before the limit must not depend on the network.
        settings = {"serp_requests_in_flight": 1}
        use_standins(folder, openai=openai, serper=serper, settings={**settings, "max_serp_credits": 9})
        record = Recorder(folder)
        record.run("run", "--dry-run")
        record.run("run")
        record.part("credits", str(serper.units))
        use_standins(folder, openai=openai, serper=serper, settings={**settings, "fusion": "blend"})
        record.run("run")
        record.part("credits", str(serper.units))
        _decide(folder)
        record.look()
        record.run("run")
        record.run("run", "--limit", "3")
        record.run("run", "--section", "/brewing", "--no-serp")
        record.run("lookup", pages[0])
        record.run("lookup", "milk for a flat white", "--json")
        record.run("content-brief", "A flat white with oat milk", "--query", "oat flat white")
        record.part("credits", str(serper.units))
    return record.text()


def sheet(folder: Path, openai: OpenAIStandIn) -> str:
    """Main queries and review in a Google Sheet, where editors decide."""
    make_project(folder, 12)
    rows = [
        *sample_queries(sample_pages(12)),
        ["", "filter coffee for guests"],
        ["https://other.example/x/", "x"],
    ]
    grid = [["URL", "Main Query", "Ours", *(f"Link {place}" for place in range(1, 6))]]
    grid += [[url, query, f"note {place}"] for place, (url, query) in enumerate(rows)]
    with GoogleStandIn({"Main": grid}, reads_per_minute=10_000, writes_per_minute=10_000) as google:
        use_standins(folder, openai=openai, google=google)
        record = Recorder(folder)

        def run(*arguments: str) -> None:
            record.run(*arguments)
            for title in ("Main", "Review"):
                record.change(f"tab {title}", "\n".join(" | ".join(row) for row in google.grid(title)))

        run("run")
        _decide_in_tab(google)
        google.edit("sortRange", **_sorted_by(google, "Target Title"))
        run("run")
        run("run", "--section", "/brewing=off")
        record.run("run", "--limit", "2")
        record.run("lookup", "--to", sample_pages(3)[2]["URL"])
        google.set_grid(
            "Main", [*grid[:4], *grid[6:], ["https://www.slowkettle.example/milk/oat-milk-for-coffee/", ""]]
        )
        run("run")
    return record.text()


def sources(folder: Path, openai: OpenAIStandIn) -> str:
    """Source files that get accepted links and lose them again; then what the links earned."""
    project, files = folder / "project", folder / "sources"
    pages = garden_pages(48, seed=5)
    _write_garden(project, pages, [page.paragraphs for page in pages])
    for page in pages:
        write_text(files / _source_name(page), _source(page))
    template = "site:www.beds.example {main_query}"
    use_standins(project, openai=openai, settings={"search_query_template": template, "links_per_page": 3})
    for name, rows in _search_data(pages).items():
        write_csv(project / name, rows)
    record = Recorder(project, others={"sources": files})
    with time_machine.travel(NOW, tick=True) as clock:
        record.run("import", str(project / "by-page.csv"), str(project / "by-query.csv"), "--yes")
        record.run("queries", "--json")
        record.run("queries", "--write")
        record.run("run")
        links = read_csv(project / "files/links.csv")
        _decide(project, [row["Link Id"] for row in links if row["Tier"] == "inline"])
        record.look()
        record.run("run")
        record.run("impact")
        record.run("apply", "--files", str(files))
        record.run("apply", "--files", str(files), "--json", "--max-per-page", "1")
        record.run("apply", "--files", str(files), "--patch", str(project / "links.patch"))
        record.run("apply", "--files", str(files), "--write")
        record.run("undo")
        record.run("undo", "LAST")
        record.run("apply", "--files", str(files), "--write", "--section", "/beds", "--max-per-page", "1")
        # By hand, links to half of the pages went live, too.
        live = [
            [row["Source"], row["Target"], row["Anchor"]]
            for row in links
            if row["Type"] == "contextual" and "/beds/" not in row["Target"]
        ]
        _write_garden(project, pages, [page.paragraphs for page in pages], live)
        record.look()
        record.run("run")
        clock.shift(timedelta(days=45))
        record.run("impact")
        record.run("impact", "--json")
        record.run("audit", "--after", "all")
    return record.text()


def wordpress(folder: Path, openai: OpenAIStandIn) -> str:
    """A WordPress site whose posts are imported, get accepted links and lose them again."""
    pages = garden_pages(16, seed=11)
    # The host is that of the pages, which the port is a part of.
    settings = {
        "search_query_template": "site:yoursite.com {main_query}",
        "anchors": "broad",
        "tier_sidebar": 0.2,
    }
    use_standins(folder, openai=openai, settings=settings)
    with WordPressStandIn() as site:
        site.posts = {
            number: StoredPost(number, page.slug, _post(page, number, site.url), title=page.title, lang="en")
            for number, page in enumerate(pages, 1)
        }
        sign_in(folder, site.url, USER, PASSWORD)
        record = Recorder(folder, names={site.url: "<site>"}, ids=True)

        def run(*arguments: str) -> None:
            record.run(*arguments)
            for post in site.posts.values():
                record.change(f"post {post.slug}", post.content)

        run("import", "--wordpress", site.url, "--delay", "0", "--yes", "--allow-private")
        run("run")
        links = read_csv(folder / "files/links.csv")
        _decide(folder, [row["Link Id"] for row in links if row["Tier"] == "inline"])
        record.look()
        run("run")
        run("apply", "--wordpress", site.url, "--delay", "0")
        run("apply", "--wordpress", site.url, "--delay", "0", "--write", "--max-per-page", "2")
        site.posts[3].content += "\n<p>Edited meanwhile.</p>"
        site.posts[3].modified = "2024-03-01T00:00:00"
        run("undo")
        run("undo", "LAST", "--delay", "0")
        run("run", "--limit", "2")
        run("pairs", "--json")
    return record.text()


PROJECTS: Mapping[str, Callable[[Path, OpenAIStandIn], str]] = {
    project.__name__: project for project in (sample, model, languages, searched, sheet, sources, wordpress)
}


def _copy_sample(folder: Path) -> None:
    for name in ("config", "files"):
        shutil.copytree(
            REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("*.sqlite3*", "index")
        )


def _decide(folder: Path, accepted: Container[str] = ()) -> None:
    """Decide in review.xlsx as editors do: accept these links or, without any, make `DECISIONS`."""
    path = folder / "files/review.xlsx"
    book = openpyxl.load_workbook(path)
    sheet = book.active
    places = {cell.value: cell.column for cell in sheet[1]}
    for row in range(2, sheet.max_row + 1):
        cells = {} if accepted else DECISIONS.get(row, {})
        if sheet.cell(row, places["Link ID"]).value in accepted:
            cells = {"Status": "accepted"}
        for column, text in cells.items():
            sheet.cell(row, places[column], text)
    book.save(path)


def _decide_in_tab(google: GoogleStandIn) -> None:
    tab, header = google.tab("Review"), google.grid("Review")[0]
    for row, cells in DECISIONS.items():
        for column, text in cells.items():
            place = header.index(column)
            tab.put(row - 1, place, tab.at(row - 1, place)._replace(value=text))


def _sorted_by(google: GoogleStandIn, column: str) -> dict[str, object]:
    grid = google.grid("Review")
    box = {
        "sheetId": google.tab("Review").sheet_id,
        "startRowIndex": 1,
        "endRowIndex": len(grid),
        "startColumnIndex": 0,
        "endColumnIndex": len(grid[0]),
    }
    return {"range": box, "sortSpecs": [{"dimensionIndex": grid[0].index(column), "sortOrder": "ASCENDING"}]}


def _garden_url(page: GardenPage) -> str:
    return f"{GARDEN}/{page.section}/{page.slug}/"


def _write_garden(
    project: Path, pages: list[GardenPage], texts: list[object], more: list[list[str]] | None = None
) -> None:
    urls = {page.slug: _garden_url(page) for page in pages}
    rows = [[urls[page.slug], page.title, "\n".join(page.paragraphs), "en"] for page in pages]
    write_csv(project / "files/urls_rawdata.csv", [["URL", "Title", "Main Content", "Lang"], *rows])
    links = [
        [urls[page.slug], urls[target], target.replace("-", " ")] for page in pages for target in page.links
    ]
    write_csv(
        project / "files/existing_links.csv", [["Source", "Destination", "Anchor"], *links, *(more or [])]
    )


def _source_name(page: GardenPage) -> str:
    """Return the path of a page's source file: every fourth is HTML."""
    return f"{page.section}/{page.slug}.{'html' if len(page.slug) % 4 == 0 else 'md'}"


def _source(page: GardenPage) -> str:
    if _source_name(page).endswith(".md"):
        return f"---\ntitle: {page.title}\n---\n\n" + "\n\n".join(page.paragraphs) + "\n"
    body = "\n".join(f"    <p>{text}</p>" for text in page.paragraphs)
    return f"<!doctype html>\n<html lang=en>\n  <title>{page.title}</title>\n  <main>\n{body}\n  </main>\n</html>\n"


def _post(page: GardenPage, number: int, site: str) -> str:
    """Return a post's content, every third in classic HTML."""
    own = [f'<a href="{site}/{target}/">{target}</a>' for target in page.links]
    texts = [*page.paragraphs[:-1], " ".join([page.paragraphs[-1], *own])]
    if number % 3 == 0:
        return "\r\n\r\n".join(texts)
    return "\n\n".join(f"<!-- wp:paragraph -->\n<p>{text}</p>\n<!-- /wp:paragraph -->" for text in texts)


def _search_data(pages: list[GardenPage]) -> dict[str, list[list[str]]]:
    """Return search data of each day from 20 weeks before now to 6 weeks after it, and queries of the last month."""
    dice = random.Random(3)
    by_page = [["Date", "Page", "Clicks", "Impressions", "Position"]]
    by_query = [["Date", "Page", "Query", "Clicks", "Impressions", "Position"]]
    for number, page in enumerate(pages):
        query = page.title.lower() if number % 5 else page.slug.replace("-", " ")
        for back in range(-42, 140):
            day = str(NOW.date() - timedelta(days=back))
            gain = 2 if back < 0 and page.section != "beds" else 0
            clicks = 3 + number % 7 + dice.randrange(-2, 3) + gain
            figures = [str(clicks), str(clicks * 9 + 10), "4.5"]
            by_page.append([day, _garden_url(page), *figures])
            if 0 <= back < 28:
                by_query.append([day, _garden_url(page), query, *figures])
    return {"by-page.csv": by_page, "by-query.csv": by_query}
