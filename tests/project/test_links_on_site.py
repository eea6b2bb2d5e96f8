"""Lists of links say which accepted links are on the site: not yet, applied, live, or taken back."""

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.model.progress import Tracker as Notes
from internal_linker.project.apply import apply
from internal_linker.project.link_lists import LinkFilter, write_links
from internal_linker.project.options.decisions import ApplyOptions, UndoOptions
from internal_linker.project.project import open_project
from internal_linker.project.stored_links import StoredLinks
from internal_linker.project.undo_links import undo
from tests.support.source_site import (
    BLACK_POT,
    BOX,
    LINKS,
    MISSING,
    POT,
    REJECTED,
    TIN,
    WATER,
    make_source_site,
)

IN_TEXT = {POT.id, TIN.id, WATER.id, BLACK_POT.id}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return make_source_site(tmp_path)


def states(links: StoredLinks) -> Mapping[str, str]:
    return {row.id: row.on_site for row in links.part(LinkFilter()).rows}


def test_a_link_is_followed_from_accepted_to_live(folders: tuple[Path, Path]) -> None:
    """The same list tells each step: applied, live once a run has found it, taken back by an undo."""
    project, sources = folders
    links, opened = StoredLinks(project, Notes()), open_project(project)
    before = states(links)
    assert {key for key, state in before.items() if state == "missing"} == {*IN_TEXT, MISSING.id, BOX.id}
    assert before[REJECTED.id] == ""
    apply(opened, ApplyOptions(files=sources, write=True), Notes())
    assert {key for key, state in states(links).items() if state == "applied"} == IN_TEXT
    with opened.graph(read_only=False) as (edges, _):
        edges.put([replace(POT, status="live")])
    assert states(links)[POT.id] == "live"
    undo(opened, UndoOptions(what="LAST"), Notes())
    after = states(links)
    assert {key for key, state in after.items() if state == "undone"} == IN_TEXT - {POT.id}
    assert after[POT.id] == "live" and states(StoredLinks(project, Notes())) == after


def test_a_link_that_was_rejected_later_is_still_applied(folders: tuple[Path, Path]) -> None:
    project, sources = folders
    opened = open_project(project)
    apply(opened, ApplyOptions(files=sources, write=True), Notes())
    with opened.graph(read_only=False) as (edges, _):
        edges.put([replace(POT, status="rejected", verdict="rejected")])
    assert states(StoredLinks(project, Notes()))[POT.id] == "applied"


def test_lists_and_downloads_say_it(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Links that were taken back are not on the site either; the column On the Site has the words of the page."""
    project, sources = folders
    opened = open_project(project)
    apply(opened, ApplyOptions(files=sources, write=True), Notes())
    undo(opened, UndoOptions(what=POT.source_url), Notes())
    wanted: dict[str, set[str]] = {
        "missing": {MISSING.id, BOX.id, TIN.id, WATER.id, POT.id},
        "undone": {TIN.id, WATER.id, POT.id},
        "applied": {BLACK_POT.id},
        "live": set(),
        "": {link.id for link in LINKS},
    }
    listed = StoredLinks(project, Notes())
    for state, ids in wanted.items():
        found = listed.part(LinkFilter(on_site=state))  # type: ignore[arg-type]
        assert {row.id for row in found.rows} == ids
    write_links(StoredLinks(project, Notes()).filtered(LinkFilter()), tmp_path / "links.csv", "csv")
    with (tmp_path / "links.csv").open(encoding="utf-8-sig", newline="") as file:
        told = {row["Link Id"]: row["On the Site"] for row in csv.DictReader(file)}
    assert told[POT.id] == "taken back" and told[BLACK_POT.id] == "applied"
    assert told[MISSING.id] == "not yet" and told[REJECTED.id] == ""
