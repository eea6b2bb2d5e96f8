"""A project with stored links as a run leaves them, among them hostile titles and right-to-left texts."""

from pathlib import Path
from typing import Any

from internal_linker.model.edges import Anchor, Edge
from internal_linker.model.urls import normal_form
from internal_linker.project.project import open_project
from tests.support.small_project import write_csv, write_settings

SITE = "https://www.links.example"
SCRIPT = '<script>document.title="stolen"</script><img src=x onerror=alert(1)>'
PERSIAN = "راهنمای دم کردن چای سبز"
LONG = "Tea " * 2_500
TEXTS = {
    "blog/green": (
        "Green tea",
        "All about it.\nSteep green tea in soft water. A clay pot keeps it warm. Enjoy.",
    ),
    "blog/black": (SCRIPT, "Black tea is malty. It likes a clay pot, too.\nHard water makes it dull."),
    "blog/persian": (PERSIAN, "چای سبز را با آب نرم دم کنید. قوری سفالی آن را گرم نگه می‌دارد."),
    "shop/pot": ("Clay tea pots\u202e for sale", "A clay pot keeps the water hot.\nOurs are made by hand."),
    "shop/tin": (LONG, "A dark tin keeps leaves fresh."),
}


def url(name: str) -> str:
    return f"{SITE}/{name}/"


def key(name: str) -> str:
    return normal_form(url(name))


def edge(
    source: str, target: str, *, anchor: str = "", sentence: str = "", strength: float = 0.8, **more: Any
) -> Edge:
    """Return a link with an anchor in a sentence, or with the target's title as new text."""
    start = TEXTS[source][1].find(sentence) + sentence.find(anchor)
    found = Anchor(anchor, sentence, start, True, False, 0.9)
    new = Anchor(TEXTS[target][0], "", 0, False, False, 0.0)
    facts = {"rank": 1, "strength": strength, "score": 1.0, "anchors": (found, new) if anchor else (new,)}
    return Edge(key(source), key(target), url(source), url(target), **{**facts, **more})


EDGES = (
    edge("blog/green", "shop/pot", anchor="clay pot", sentence="A clay pot keeps it warm.", tier="inline"),
    edge("blog/green", "blog/black", strength=0.6, tier="sidebar", rank=2),
    edge(
        "blog/black",
        "shop/pot",
        anchor="clay pot",
        sentence="It likes a clay pot, too.",
        tier="inline",
        strength=0.9,
    ),
    edge("blog/black", "blog/green", strength=0.3, rank=2),
    edge(
        "blog/persian",
        "shop/pot",
        anchor="قوری سفالی",
        sentence="قوری سفالی آن را گرم نگه می‌دارد.",
        tier="inline",
    ),
    edge("shop/pot", "shop/tin", strength=0.7, tier="sidebar"),
    edge("shop/tin", "blog/green", strength=0.5, tier="sidebar"),
)


def make_linked(folder: Path) -> Path:
    """Write a project with `TEXTS` and `EDGES`."""
    rows = [(url(name), *texts) for name, texts in TEXTS.items()]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    links = [(url("blog/green"), url("shop/tin"), "tin"), (url("shop/pot"), url("blog/green"), "green tea")]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    write_settings(folder, {"search_query_template": "site:www.links.example {main_query}"})
    with open_project(folder).graph(read_only=False) as (edges, _):
        edges.put(EDGES)
    return folder
