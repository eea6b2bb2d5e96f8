"""A site whose first page has one sentence for a link to a page on limescale, and no words that fit as an anchor."""

from pathlib import Path

from internal_linker.model.records import Page
from tests.support.builders import page
from tests.support.small_project import write_csv, write_settings

FITS = "Water from a soft spring keeps the boiler of any machine free of limescale for many months."
OTHERS = [
    "We open at nine in the morning and we close when the last guest has gone home.",
    "Ask the waiter for the cake of the day, which is baked in our own kitchen.",
]
LIMESCALE = (
    "Limescale grows in the boiler. Descale the boiler of your machine with citric acid, and limescale goes away. "
    "Soft water means less limescale in the boiler of the machine."
)


def site(*lines: str) -> list[Page]:
    """Return a page of these lines, three on limescale, and pages that speak of other things."""
    texts = [LIMESCALE, LIMESCALE.replace("citric acid", "vinegar"), LIMESCALE.replace("citric", "lactic")]
    titles = ["Limescale in boilers", "Limescale and boilers", "Boilers with limescale"]
    about = [
        page(name, text, title=title, lang="en")
        for name, title, text in zip("bcd", titles, texts, strict=True)
    ]
    others = [
        page(number, f"{OTHERS[number % 2]} Room {number}.", title=f"Room {number}", lang="en")
        for number in range(60)
    ]
    return [page("a", "\n\n".join(lines), title="Our house", lang="en"), *about, *others]


def make_project(folder: Path, *lines: str) -> tuple[Path, Path]:
    """Write a project with the site and the folder of its source files in Markdown; return both folders."""
    project, sources, pages = folder / "project", folder / "sources", site(*lines)
    table = [(each.url, each.title, str(each.content)) for each in pages]
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *table])
    write_csv(project / "files/existing_links.csv", [("Source", "Destination", "Anchor")])
    settings = {"search_query_template": "site:shop.example {main_query}", "min_inlinks": 0, "max_inlinks": 0}
    write_settings(project, settings)
    sources.mkdir()
    for each in pages:
        path = sources / f"{each.url.rpartition('/')[2]}.md"
        path.write_bytes(f"---\ntitle: {each.title}\n---\n\n{each.content}\n".encode())
    return project, sources
