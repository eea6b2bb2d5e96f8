"""A project with accepted links, and the folder of source files that its pages are made of."""

import subprocess
from dataclasses import replace
from pathlib import Path

from internal_linker.model.edges import Anchor, Edge
from internal_linker.model.urls import normal_form
from internal_linker.project.project import open_project
from tests.support.small_project import write_csv, write_settings

SITE = "https://www.leaves.example"
# By page: its title and its paragraphs.
PAGES = {
    "blog/green": (
        "Green tea at home",
        "Steep green tea in soft water. A clay pot keeps it warm for an hour, and a dark tin keeps it fresh.",
        "Rinse the leaves once. Then let them draw for two minutes and pour all of it.",
    ),
    "blog/black": (
        "Black tea for breakfast",
        "Black tea is malty and strong. It likes a clay pot, too, if you have one.",
        "Hard water makes it dull. Boil fresh water for every pot.",
    ),
    "shop/pot": (
        "A clay pot from the river",
        "Our potter makes each pot by hand from the clay of the river, and fires it twice.",
        "It holds half a litre. Do not put it into the dishwasher.",
    ),
    "shop/tin": (
        "A dark tin for leaves",
        "The lid of this tin closes so tightly that leaves stay fresh for a whole year.",
        "It is made of steel, and painted black inside.",
    ),
    "care/water": (
        "Soft water for tea",
        "A filter makes soft water out of hard water, and lasts for about two months.",
        "Boil the water once, and do not let it boil for long.",
    ),
}


def url(name: str) -> str:
    return f"{SITE}/{name}/"


def link(source: str, target: str, anchor: str, sentence: str, **more: object) -> Edge:
    """Return an accepted link whose anchor stands in the page's text."""
    found = Anchor(anchor, sentence, 0, True, False, 0.9)
    facts: dict[str, object] = {
        "rank": 1,
        "strength": 0.8,
        "tier": "inline",
        "status": "accepted",
        "verdict": "accepted",
    }
    ends = normal_form(url(source)), normal_form(url(target)), url(source), url(target)
    return Edge(*ends, anchors=(found,), **{**facts, **more})  # type: ignore[arg-type]


POT = link(
    "blog/green",
    "shop/pot",
    "clay pot",
    "A clay pot keeps it warm for an hour, and a dark tin keeps it fresh.",
)
TIN = link(
    "blog/green",
    "shop/tin",
    "dark tin",
    "A clay pot keeps it warm for an hour, and a dark tin keeps it fresh.",
    rank=2,
)
WATER = link("blog/green", "care/water", "soft water", "Steep green tea in soft water.", rank=3)
BLACK_POT = link("blog/black", "shop/pot", "clay pot", "It likes a clay pot, too, if you have one.")
MISSING = link("blog/black", "care/water", "rain water", "Rain water is soft.", rank=2)
BOX = replace(
    link("shop/tin", "blog/green", "", "", tier="sidebar"),
    anchors=(Anchor("Green tea at home", "", 0, False),),
)
REJECTED = link("shop/pot", "shop/tin", "clay", "", status="rejected", verdict="rejected")
LINKS = (POT, TIN, WATER, BLACK_POT, MISSING, BOX, REJECTED)


def text_of(name: str, end: str = "\n") -> str:
    title, *paragraphs = PAGES[name]
    return f"---\ntitle: {title}\n---\n\n".replace("\n", end) + (end * 2).join(paragraphs) + end


def make_source_site(root: Path, links: tuple[Edge, ...] = LINKS) -> tuple[Path, Path]:
    """Write a project with links and the folder of its source files; return both folders."""
    project, sources = root / "project", root / "sources"
    rows = [(url(name), title, "\n".join(texts)) for name, (title, *texts) in PAGES.items()]
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    write_csv(project / "files/existing_links.csv", [("Source", "Destination", "Anchor")])
    write_settings(project, {"search_query_template": "site:www.leaves.example {main_query}"})
    with open_project(project).graph(read_only=False) as (edges, _):
        edges.put(links)
    for name in PAGES:
        write(sources / f"{name}.md", text_of(name).encode())
    return project, sources


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the mode of each file, without git's own."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode) for path in files}


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Anna", "-c", "user.email=anna@leaves.example")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout
