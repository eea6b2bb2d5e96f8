"""A suggested wording goes into a text only if an editor accepted that very wording, and comes out again."""

import shutil
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from internal_linker.model.edges import Edge
from internal_linker.model.progress import Tracker as Notes
from internal_linker.model.wordings import shown_wording
from internal_linker.project.apply import AppliedLink, ApplyOutcome, apply
from internal_linker.project.link_decisions import Decisions, RequestedDecision
from internal_linker.project.link_lists import LinkFilter
from internal_linker.project.options.decisions import ApplyOptions, UndoOptions
from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from internal_linker.project.run import run
from internal_linker.project.stored_links import StoredLinks
from internal_linker.project.undo_links import undo
from internal_linker.publish.insertion import Refusal
from tests.support.builders import Told
from tests.support.wordings import FITS, OTHERS, make_project

Folders = tuple[Path, Path]
SHOWN = f"{FITS[:-1]}[ (see Limescale in boilers)]."
WRITTEN = f"{FITS[:-1]} (see [Limescale in boilers](/b))."


@pytest.fixture(scope="module")
def _ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wordings")
    project, _ = make_project(folder, OTHERS[0], FITS, OTHERS[1])
    run(open_project(project), RunOptions(), Told())
    return folder


@pytest.fixture
def folders(_ran: Path, tmp_path: Path) -> Folders:
    return Path(shutil.copytree(_ran / "project", tmp_path / "project")), Path(
        shutil.copytree(_ran / "sources", tmp_path / "sources")
    )


def the_link(project: Path) -> Edge:
    with open_project(project).graph() as (edges, _):
        [found] = [edge for edge in edges.each() if (edge.source[-2:], edge.target[-2:]) == ("/a", "/b")]
    return found


def written(folders: Folders) -> AppliedLink:
    """Apply the accepted link and return what became of it."""
    [found] = apply(open_project(folders[0]), ApplyOptions(files=folders[1], write=True), Notes()).links
    return found


def review(project: Path, **cells: str) -> dict[str, str]:
    """Change cells of the link's row in review.xlsx; return the row as it was."""
    path, link = project / "files/review.xlsx", the_link(project).id
    book = openpyxl.load_workbook(path)
    header, *lines = book.worksheets[0].iter_rows()
    names = [str(cell.value) for cell in header]
    [row] = [dict(zip(names, line, strict=True)) for line in lines if link in [cell.value for cell in line]]
    before = {name: str(cell.value or "") for name, cell in row.items()}
    for name, text in cells.items():
        row[name].value = text
    book.save(path)
    return before


def test_an_accepted_wording_is_written_and_taken_back_exactly(folders: Folders) -> None:
    """What the workbook shows in brackets, and nothing else, is added with the link; undo leaves the file as it was."""
    project, sources = folders
    before = (sources / "a.md").read_bytes()
    row = review(project, Status="accepted")
    assert (row["Sentence"], row["Anchor"]) == (SHOWN, "Limescale in boilers")
    assert row["Why"].startswith("New text: words would be added to the sentence.")
    run(open_project(project), RunOptions(), Told())
    assert review(project)["Sentence"] == SHOWN
    assert written(folders).outcome is ApplyOutcome.APPLIED
    assert (sources / "a.md").read_bytes() == before.replace(FITS.encode(), WRITTEN.encode())
    assert written(folders).outcome is ApplyOutcome.IN_PLACE
    undo(open_project(project), UndoOptions(what="last"), Notes())
    assert (sources / "a.md").read_bytes() == before


def test_an_emptied_sentence_accepts_the_link_for_a_related_box(folders: Folders) -> None:
    review(folders[0], Status="accepted", Sentence="")
    run(open_project(folders[0]), RunOptions(), Told())
    assert (the_link(folders[0]).verdict, written(folders).outcome) == ("accepted", ApplyOutcome.FOR_BOX)
    row = review(folders[0])
    assert "[" not in row["Sentence"] and row["Why"].startswith("New text. Accepted by an editor")


@pytest.mark.parametrize(("wording", "kept"), [(None, True), (SHOWN, True), ("", False), (FITS, False)])
def test_a_program_accepts_the_wording_that_it_saw(folders: Folders, wording: str | None, kept: bool) -> None:
    project = open_project(folders[0])
    [row] = [row for row in waiting_links(project).links if row.id == the_link(folders[0]).id]
    assert shown_wording(row) == SHOWN
    decide(project, [LinkDecision(row.id, "accepted", wording=wording)])
    assert bool(the_link(folders[0]).wording) is kept
    decide(project, [LinkDecision(row.id, "rejected")])
    assert not the_link(folders[0]).wording


def test_the_app_accepts_the_wording_that_a_person_saw(folders: Folders) -> None:
    """Another one is a conflict, and links that are accepted together keep their texts as they are."""
    decisions, link = Decisions(StoredLinks(folders[0], Notes())), the_link(folders[0]).id
    assert decisions.decide([RequestedDecision(link, "accepted", wording="Other[ words].")]).conflicts
    accepted = decisions.decide([RequestedDecision(link, "accepted", wording=SHOWN)])
    assert the_link(folders[0]).wording and accepted.rows[0].wording == SHOWN
    decisions.undo(accepted.undo)
    assert not the_link(folders[0]).wording
    decisions.decide_all(LinkFilter(), "accepted")
    assert (the_link(folders[0]).verdict, the_link(folders[0]).wording) == ("accepted", "")


def test_another_proposal_is_not_what_was_accepted(folders: Folders) -> None:
    """A run that went on while somebody accepted may have another one; then the link waits."""
    project = open_project(folders[0])
    decide(project, [LinkDecision(the_link(folders[0]).id, "accepted")])
    edge = the_link(folders[0])
    other = replace(edge.anchors[0], wording=edge.anchors[0].wording.replace("see", "see also"))
    with project.graph(read_only=False) as (edges, _):
        edges.put([replace(edge, anchors=(other,))])
    assert written(folders).reason is Refusal.REWORDED


def test_an_accepted_wording_stays_where_its_words_are_added_elsewhere(folders: Folders) -> None:
    """The page's new heading has the anchor's words; the sentence is still the accepted one."""
    project, sources = folders
    decide(open_project(project), [LinkDecision(the_link(project).id, "accepted")])
    for path in (project / "files/urls_rawdata.csv", sources / "a.md"):
        text = path.read_bytes()
        path.write_bytes(text.replace(OTHERS[0].encode(), b"# Limescale in boilers"))
    run(open_project(project), RunOptions(), Told())
    assert written(folders).outcome is ApplyOutcome.APPLIED
    assert WRITTEN in (sources / "a.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", [FITS.replace("soft", "hard"), f"{FITS}\n\n{FITS}"], ids=["changed", "twice"]
)
def test_the_sentence_must_stand_in_the_text_once(folders: Folders, text: str) -> None:
    decide(open_project(folders[0]), [LinkDecision(the_link(folders[0]).id, "accepted")])
    path = folders[1] / "a.md"
    path.write_text(path.read_text(encoding="utf-8").replace(FITS, text), encoding="utf-8")
    before = path.read_bytes()
    assert written(folders).reason is Refusal.NO_SENTENCE
    assert path.read_bytes() == before
