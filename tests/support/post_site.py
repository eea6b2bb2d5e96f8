"""A project with accepted links whose pages are the posts of a WordPress site, and the ways to apply them."""

from collections.abc import Iterable
from pathlib import Path

from internal_linker.model.edges import Anchor, Edge
from internal_linker.model.progress import Tracker as Notes
from internal_linker.model.urls import normal_form
from internal_linker.project.apply import AppliedLink, ApplyResult, apply
from internal_linker.project.options.decisions import ApplyOptions, UndoOptions
from internal_linker.project.project import open_project
from internal_linker.project.undo_links import UndoResult, undo
from tests.support.crawls import empty_project
from tests.support.small_project import write_csv, write_text


def sign_in(project: Path, url: str, user: str, password: str) -> None:
    path = project / "config/wordpress.txt"
    write_text(path, f"{url}\n{user}\n{password}\n")
    path.chmod(0o600)


def accepted(source: str, target: str, anchor: str, sentence: str = "", **more: object) -> Edge:
    """Return an accepted link between two URLs whose anchor stands in the text."""
    facts: dict[str, object] = {
        "rank": 1,
        "strength": 0.8,
        "tier": "inline",
        "status": "accepted",
        "verdict": "accepted",
    }
    found = Anchor(anchor, sentence, 0, True, False, 0.9)
    ends = normal_form(source), normal_form(target), source, target
    return Edge(*ends, anchors=(found,), **{**facts, **more})  # type: ignore[arg-type]


def make_project(folder: Path, pages: Iterable[tuple[str, str, str]], links: Iterable[Edge]) -> Path:
    """Write a project with pages (URL, title, text) and links."""
    project = empty_project(folder)
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *pages])
    write_csv(project / "files/existing_links.csv", [("Source", "Destination", "Anchor")])
    put_links(project, links)
    return project


def put_links(project: Path, links: Iterable[Edge]) -> None:
    with open_project(project).graph(read_only=False) as (edges, _):
        edges.put([*links])


def applied(project: Path, url: str, **options: object) -> ApplyResult:
    given = {"wordpress": url, "delay": 0, **options}
    return apply(open_project(project), ApplyOptions(**given), Notes())  # type: ignore[arg-type]


def undone(project: Path, what: str = "LAST", **options: object) -> UndoResult:
    given = {"what": what, "delay": 0, **options}
    return undo(open_project(project), UndoOptions(**given), Notes())  # type: ignore[arg-type]


def by_link(result: ApplyResult) -> dict[str, AppliedLink]:
    return {link.link_id: link for link in result.links}
