"""Time the app's pages on many links, in a real browser: `python -m tests.research.benchmarks.app [LINKS ...]`.

Without numbers: 5,000 and 50,000 links, five from each of made-up pages of 250 words. Times are medians; a page counts
as painted when its first link is there. Close all other programs.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from internal_linker.model.edges import Anchor, Edge
from internal_linker.model.urls import normal_form
from internal_linker.project.project import open_project
from tests.support.app_browser import open_browser
from tests.support.app_server import running_app
from tests.support.small_project import write_csv, write_settings

_LINKS_A_PAGE, _PARAGRAPHS, _SENTENCES, _WORDS = 5, 5, 5, 10
_ROUNDS = 9
# A page, and what shows that it is painted.
_PAGES = (("links", ".tabulator-row"), ("review", "#passage mark"), ("review?view=table", ".tabulator-row"))
_VOCABULARY = [
    first + second for first in ("tea", "pot", "cup", "leaf", "water") for second in "abcdefghijklmnop"
]


def main(sizes: list[int]) -> None:
    """Print a table of times for each size."""
    print(f"| {'links':>7} | {'what':<32} | median |\n|---|---|---|")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            made = make(Path(folder) / "site", size)
            for what, figure in measured(Path(folder), made):
                print(f"| {size:>7,} | {what:<32} | {figure} |", flush=True)


def make(folder: Path, size: int) -> Path:
    """Write a project with pages and stored links that wait for a decision."""
    chance = random.Random(1)
    pages = size // _LINKS_A_PAGE
    urls = [f"https://www.big.example/{('blog', 'shop', 'help')[at % 3]}/page-{at}/" for at in range(pages)]
    rows, edges = [], []
    for at, url in enumerate(urls):
        lines = [
            [" ".join(chance.choices(_VOCABULARY, k=_WORDS)).capitalize() + "." for _ in range(_SENTENCES)]
            for _ in range(_PARAGRAPHS)
        ]
        content = "\n".join(" ".join(line) for line in lines)
        rows.append((url, f"Page {at}", content))
        for rank in range(_LINKS_A_PAGE):
            sentence = lines[rank % _PARAGRAPHS][1]
            words = " ".join(sentence.split()[3:6])
            start = content.find(sentence) + sentence.find(words)
            target = urls[(at * 7 + rank * 13 + 1) % pages]
            anchors = (Anchor(words, sentence, start, True, False, 0.8),)
            strength = chance.random()
            ends = (normal_form(url), normal_form(target), url, target)
            edges.append(Edge(*ends, rank=rank + 1, tier="inline", strength=strength, anchors=anchors))
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    write_settings(folder, {})
    with open_project(folder).graph(read_only=False) as (store, _):
        store.put(edges)
    return folder


def measured(folder: Path, made: Path) -> list[tuple[str, str]]:
    """Return what was measured, and its figure."""
    found = []
    with running_app(folder) as app, open_browser() as browser:
        key = app.open(made).key
        api = f"/api/projects/{key}"
        found.append(("first list after the start", timed(lambda: app.client.get(f"{api}/links"), 1)))
        for path, shown in (
            ("links", ".tabulator-row"),
            ("review", "#passage mark"),
            ("review?view=table", ".tabulator-row"),
        ):
            page = browser.page(app)

            def paint(path: str = path, shown: str = shown) -> None:
                page.goto(f"{app.url}/p/{key}/{path}")  # noqa: B023
                page.locator(shown).first.wait_for()  # noqa: B023

            found.append((f"page {path}", timed(paint)))
        # Other words each time: lists of the same filter are kept.
        words = iter(range(_ROUNDS))
        search = lambda: app.client.get(f"{api}/links?text=page+{next(words)}+teab")  # noqa: E731
        found.append(("search for words", timed(search)))
        rows = app.client.get(f"{api}/links?status=waiting&limit=100").json()["rows"]
        ids = iter([row["id"] for row in rows])

        def decide() -> None:
            body = {"decisions": [{"id": next(ids), "status": "accepted"}]}
            app.client.post(f"{api}/decisions", json=body).raise_for_status()

        found.append(("a decision", timed(decide)))

        def decide_and_list() -> None:
            decide()
            app.client.get(f"{api}/links")

        found.append(("a decision and the list", timed(decide_and_list)))
        body = {"filter": {"include": ["/blog"]}, "status": "rejected"}
        found.append(
            (
                "a decision on a third of all",
                timed(lambda: app.client.post(f"{api}/decisions/filter", json=body), 1),
            )
        )
        found.append(("memory of server and benchmark", f"{psutil.Process().memory_info().rss >> 20} MB"))
    return found


def timed(work: Callable[[], object], rounds: int = _ROUNDS) -> str:
    """Return the median time."""
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return f"{statistics.median(seconds):.3f} s"


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [5_000, 50_000])
