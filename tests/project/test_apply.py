"""Accepted links are put into source files: first only shown, then written, and taken back byte by byte."""

import json
import os
import signal
import stat
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from internal_linker.model.applied_links import PageWrite, content_hash
from internal_linker.model.edges import Edge
from internal_linker.model.errors import ConfigurationError, InputError, RunActive
from internal_linker.model.progress import Tracker as Notes
from internal_linker.project.apply import AppliedLink, ApplyOutcome, ApplyResult, apply
from internal_linker.project.options.decisions import ApplyOptions, UndoOptions
from internal_linker.project.project import open_project
from internal_linker.project.settings.sources import ENV_PREFIX
from internal_linker.project.targets import SkipReason, UndoSkipReason
from internal_linker.project.undo_links import UndoResult, applications, undo
from internal_linker.publish.insertion import HoldReason, Refusal
from internal_linker.store.applied_links import APPLIED_LINKS
from internal_linker.store.engine import transact
from tests.support.small_project import command, snapshot, start, write_csv
from tests.support.source_site import (
    BLACK_POT,
    BOX,
    MISSING,
    POT,
    TIN,
    WATER,
    contents,
    git,
    make_source_site,
    text_of,
    url,
    write,
)

POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows has neither these modes nor kill -9")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return make_source_site(tmp_path)


def applied(folders: tuple[Path, Path], **options: object) -> ApplyResult:
    project, sources = folders
    return apply(open_project(project), ApplyOptions(files=sources, **options), Notes())  # type: ignore[arg-type]


def undone(folders: tuple[Path, Path], what: str = "LAST", **options: object) -> UndoResult:
    return undo(open_project(folders[0]), UndoOptions(what=what, **options), Notes())  # type: ignore[arg-type]


def by_link(result: ApplyResult) -> dict[str, AppliedLink]:
    return {link.link_id: link for link in result.links}


def new_links(result: ApplyResult) -> set[str]:
    done = (ApplyOutcome.PLANNED, ApplyOutcome.APPLIED)
    return {link.link_id for link in result.links if link.outcome in done}


def test_a_dry_run_changes_nothing(folders: tuple[Path, Path]) -> None:
    """Without --write no source file and no stored row changes; the diff and the results say what would."""
    applied(folders)  # the mapping of files and pages is saved once
    before = snapshot(folders[1]), snapshot(folders[0])
    result = applied(folders)
    assert (snapshot(folders[1]), snapshot(folders[0])) == before
    assert new_links(result) == {POT.id, TIN.id, WATER.id, BLACK_POT.id}
    assert (result.files, result.application) == (2, "")
    assert (
        "+Black tea is malty and strong. It likes a [clay pot](/shop/pot/), too, if you have one.\n"
        in result.diff
    )
    links = by_link(result)
    assert links[MISSING.id].reason is Refusal.NO_ANCHOR and links[BOX.id].outcome is ApplyOutcome.FOR_BOX
    assert (links[POT.id].file, links[POT.id].line) == ("blog/green.md", 5)
    assert len(links) == 6  # a rejected link is in no list


def test_what_the_dry_run_shows_is_written(folders: tuple[Path, Path]) -> None:
    """--write makes exactly the changes of the diff, and a second application finds them in place."""
    shown = applied(folders)
    result = applied(folders, write=True)
    assert (result.diff, result.files, result.gaps) == (shown.diff, 2, [])
    text = (folders[1] / "blog/green.md").read_text(encoding="utf-8")
    assert text.count("](") == 3 and "A [clay pot](/shop/pot/) keeps it warm for an hour" in text
    again = applied(folders, write=True)
    assert (again.files, again.application, again.diff) == (0, "", "")
    assert by_link(again)[POT.id].outcome is ApplyOutcome.IN_PLACE


SHAPES = {
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "BOM": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "no final newline": lambda text: text.rstrip("\n").encode(),
    "CRLF and BOM": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    "mixed line ends": lambda text: text.replace("\n", "\r\n", 3).encode(),
}


@POSIX
@pytest.mark.parametrize("shape", SHAPES)
def test_undo_is_exact(folders: tuple[Path, Path], shape: str) -> None:
    """Applied links leave line ends, BOM, final newline and mode; undo leaves every file byte-equal."""
    path = folders[1] / "blog/green.md"
    path.write_bytes(SHAPES[shape](text_of("blog/green")))
    path.chmod(0o640)
    before = contents(folders[1])
    result = applied(folders, write=True)
    written = path.read_bytes()
    assert len(written) > len(before["blog/green.md"][0]) and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert written.count(b"\r\n") == before["blog/green.md"][0].count(b"\r\n")
    assert written.startswith(b"\xef\xbb\xbf") == ("BOM" in shape)
    assert undone(folders, result.application).kept == []
    assert contents(folders[1]) == before


def test_each_file_that_was_written_has_its_row(folders: tuple[Path, Path]) -> None:
    before, began = (folders[1] / "blog/green.md").read_bytes(), datetime.now(UTC)
    result = applied(folders, write=True)
    with open_project(folders[0]).applications() as (_, store):
        [write] = store.writes(page=POT.source)
        assert store.former(write) == before
    after = (folders[1] / "blog/green.md").read_bytes()
    assert (write.hash_before, write.hash_after) == (content_hash(before), content_hash(after))
    assert (write.application, write.page_url, write.status) == (
        result.application,
        url("blog/green"),
        "applied",
    )
    assert (write.home, write.place) == (str(folders[1].resolve()), "blog/green.md")
    assert (
        set(write.links) == {POT.id, TIN.id, WATER.id}
        and write.by
        and write.at >= began.replace(microsecond=0)
    )


def test_what_changed_since_is_listed_and_stays(folders: tuple[Path, Path]) -> None:
    """A file that somebody edited after links were applied stays as it is; the others go back."""
    applied(folders, write=True)
    edited, gone = folders[1] / "blog/green.md", folders[1] / "blog/black.md"
    edited.write_text(edited.read_text(encoding="utf-8") + "More.\n", encoding="utf-8")
    kept = edited.read_bytes()
    gone.unlink()
    result = undone(folders)
    assert {Path(text.file).name: text.reason for text in result.kept} == {
        "green.md": UndoSkipReason.CHANGED,
        "black.md": UndoSkipReason.GONE,
    }
    assert result.restored == [] and edited.read_bytes() == kept and not gone.exists()
    gone.write_bytes(text_of("blog/black").encode())  # as it was before: nothing to do
    assert [Path(text.file).name for text in undone(folders).restored] == ["black.md"]


def test_undo_takes_a_page_or_an_application(folders: tuple[Path, Path]) -> None:
    """A page goes back through all its applications; an application goes back alone; then nothing is left."""
    before = contents(folders[1])
    first = applied(folders, write=True, only=[POT.id])
    second = applied(folders, write=True)
    assert new_links(second) == {TIN.id, WATER.id, BLACK_POT.id}
    # The first application can't go back while the second one stands on it.
    assert [text.reason for text in undone(folders, first.application).texts] == [UndoSkipReason.CHANGED]
    assert len(undone(folders, url("blog/green")).restored) == 2
    assert contents(folders[1])["blog/green.md"] == before["blog/green.md"]
    assert len(undone(folders, "last").restored) == 1
    assert contents(folders[1]) == before
    with pytest.raises(InputError, match="There is nothing to undo"):
        undone(folders)


def test_undo_names_what_it_does_not_know(folders: tuple[Path, Path]) -> None:
    applied(folders, write=True)
    with pytest.raises(InputError, match="neither an application nor a page with applied links"):
        undone(folders, url("care/water"))
    with pytest.raises(ConfigurationError, match="Name what to take back"):
        undone(folders, "")


def test_a_folder_that_moved_can_be_named(folders: tuple[Path, Path]) -> None:
    """Undo finds the files in another folder if --files names it."""
    before = contents(folders[1])
    applied(folders, write=True)
    moved = folders[1].rename(folders[1].with_name("moved"))
    assert {text.reason for text in undone(folders).texts} == {UndoSkipReason.NO_FOLDER}
    assert undone(folders, files=moved).kept == []
    assert contents(moved) == before


def test_a_link_that_leads_out_is_not_written_through(folders: tuple[Path, Path], tmp_path: Path) -> None:
    applied(folders, write=True)
    path, outside = folders[1] / "blog/black.md", tmp_path / "outside.md"
    outside.write_bytes(path.read_bytes())
    path.unlink()
    try:
        path.symlink_to(outside)
    except OSError:
        pytest.skip("this user can't make symbolic links")
    kept = outside.read_bytes()
    assert UndoSkipReason.CHANGED in {text.reason for text in undone(folders).texts}
    assert outside.read_bytes() == kept


@pytest.mark.parametrize("place", ["../outside.md", "blog/../../outside.md", "away/outside.md", "absolute"])
def test_undo_does_not_leave_the_folder(folders: tuple[Path, Path], tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"Theirs")
    if place == "absolute":
        place = str(outside)
    elif place.startswith("away"):
        try:
            (folders[1] / "away").symlink_to(tmp_path, target_is_directory=True)
        except OSError:
            pytest.skip("this user can't make symbolic links")
    row = PageWrite(
        application="hostile",
        page=POT.target,
        page_url=url("shop/pot"),
        home=str(folders[1].resolve()),
        place=place,
        links=(),
        hash_before=content_hash(b"spam"),
        hash_after=content_hash(b"Theirs"),
        by="Mallory",
        at=datetime.now(UTC),
        status="applied",
    )
    with open_project(folders[0]).applications(read_only=False) as (_, store):
        store.begin([(row, b"spam")])
    assert [text.reason for text in undone(folders, "hostile").texts] == [UndoSkipReason.OUTSIDE]
    assert outside.read_bytes() == b"Theirs"


@pytest.mark.parametrize("kind", ["file", pytest.param("server", marks=pytest.mark.long)])
def test_a_shared_store_chooses_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, kind: str
) -> None:
    """With a store that others may write, undo asks for the folder instead of taking the one of the row."""
    shared = f"sqlite:///{tmp_path / 'shared.sqlite3'}"
    monkeypatch.setenv(
        f"{ENV_PREFIX}STORE_URL", shared if kind == "file" else request.getfixturevalue("postgres")
    )
    folders = make_source_site(tmp_path / "site")
    before = contents(folders[1])
    applied(folders, write=True)
    with pytest.raises(ConfigurationError, match="name the folder of the source files with --files"):
        undone(folders)
    assert undone(folders, files=folders[1]).kept == [] and contents(folders[1]) == before


def test_a_page_gets_no_more_links_than_allowed(folders: tuple[Path, Path]) -> None:
    """--max-per-page takes the strongest; links that were applied and are not live yet count."""
    result = applied(folders, write=True, max_per_page=1)
    assert new_links(result) == {POT.id, BLACK_POT.id}
    assert by_link(result)[TIN.id].reason is HoldReason.FULL
    again = applied(folders, write=True, max_per_page=2)
    assert new_links(again) == {TIN.id}
    with open_project(folders[0]).graph(read_only=False) as (edges, _):
        edges.put([replace(each, status="live") for each in (POT, TIN)])
    assert new_links(applied(folders, max_per_page=2)) == {WATER.id}


@pytest.mark.parametrize(
    ("options", "links"),
    [
        ({"sections": ["/blog"]}, (POT, TIN, WATER, BLACK_POT, MISSING)),
        ({"sections": ["/blog=off"]}, (BOX,)),
        ({"tier": "sidebar"}, (BOX,)),
        ({"tier": "in the text"}, (POT, TIN, WATER, BLACK_POT, MISSING)),
        ({"only": [url("blog/black")]}, (BLACK_POT, MISSING)),
        ({"only": ["/blog/black/", TIN.id]}, (BLACK_POT, MISSING, TIN)),
        ({"only": ["www.leaves.example/blog/black"]}, (BLACK_POT, MISSING)),
    ],
)
def test_options_select_links(
    folders: tuple[Path, Path], options: dict[str, object], links: tuple[Edge, ...]
) -> None:
    """--section, --tier and --only take these links and no others."""
    assert {*by_link(applied(folders, **options))} == {link.id for link in links}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": [url("care/water")]}, "no accepted link has this id or starts at this page"),
        ({"only": ["0" * 20]}, "no accepted link has this id"),
        ({"sections": ["/blag"]}, "no page is in /blag"),
        ({"write": True, "patch": "x"}, "--write and --patch can't be used together"),
        ({"branch": "links"}, "is in no git work tree"),
    ],
)
def test_wrong_options_are_named(
    folders: tuple[Path, Path], options: dict[str, object], message: str
) -> None:
    before = contents(folders[1])
    with pytest.raises((ConfigurationError, InputError), match=message):
        applied(folders, **options)
    assert contents(folders[1]) == before


def test_files_must_be_named(folders: tuple[Path, Path]) -> None:
    """Without --files there is nothing to apply links to."""
    with pytest.raises(ConfigurationError, match="--files DIR"):
        apply(open_project(folders[0]), ApplyOptions(), Notes())


def test_only_one_command_at_a_time_writes(folders: tuple[Path, Path]) -> None:
    """A run that holds the project keeps apply --write and undo out; a dry run goes on."""
    project = open_project(folders[0])
    with project.lock():
        assert new_links(applied(folders))
        for writes in (lambda: applied(folders, write=True), lambda: undone(folders)):
            with pytest.raises(RunActive):
                writes()


def test_editors_anchors_go_into_the_text(folders: tuple[Path, Path]) -> None:
    edited = replace(WATER, status="edited", verdict="edited", anchor="green tea", tier="sidebar")
    with open_project(folders[0]).graph(read_only=False) as (edges, _):
        edges.put([edited])
    applied(folders, write=True)
    assert "[green tea](/care/water/)" in (folders[1] / "blog/green.md").read_text(encoding="utf-8")


def test_an_anchor_that_was_accepted_where_it_stands_goes_into_the_text(folders: tuple[Path, Path]) -> None:
    with open_project(folders[0]).graph(read_only=False) as (edges, _):
        edges.put([replace(WATER, tier="sidebar")])
    assert (
        WATER.chosen.verbatim
        and by_link(applied(folders, write=True))[WATER.id].outcome is ApplyOutcome.APPLIED
    )


def test_links_for_boxes_are_written_for_a_template(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """--links-json has the links of the tier "related box" by the page's path, and no source file changes for them."""
    box = tmp_path / "data" / "links.json"
    result = applied(folders, links_json=box)
    target = {"url": url("blog/green"), "title": "Green tea at home"}
    assert json.loads(box.read_text(encoding="utf-8")) == {"/shop/tin/": [target]}
    assert by_link(result)[BOX.id].outcome is ApplyOutcome.IN_BOX


def test_a_page_without_a_file_is_named(folders: tuple[Path, Path]) -> None:
    """Pages without a source file, and those of which several may be the source, get no links and say why."""
    (folders[1] / "blog/green.md").unlink()
    (folders[1] / "blog/black.md").unlink()
    for name in ("one", "two"):
        write(folders[1] / f"drafts/{name}.md", text_of("blog/black").encode())
    result = applied(folders)
    links = by_link(result)
    assert links[POT.id].reason is SkipReason.NO_FILE and links[BLACK_POT.id].reason is SkipReason.UNSURE
    assert [page for page, _ in result.unsure] == [url("blog/black")]
    # A person decides; from then on it is no question any more.
    table = folders[0] / "files/source_pages.csv"
    text = table.read_text(encoding="utf-8-sig")
    line = next(line for line in text.splitlines() if line.startswith(url("blog/black")))
    named = f"{url('blog/black')},drafts/two.md,{line.split(',', 2)[2]}"
    table.write_text(text.replace(line, named), encoding="utf-8")
    result = applied(folders)
    assert by_link(result)[BLACK_POT.id].file == "drafts/two.md" and not result.unsure


def test_a_renamed_file_is_found_again(folders: tuple[Path, Path]) -> None:
    applied(folders)
    (folders[1] / "blog/green").mkdir()
    (folders[1] / "blog/green.md").rename(folders[1] / "blog/green/index.md")
    assert by_link(applied(folders))[POT.id].file == "blog/green/index.md"


@POSIX
def test_files_that_cannot_be_written_are_gaps(folders: tuple[Path, Path]) -> None:
    """A write-protected file is refused with its reason; the other files are written, and no row is left behind."""
    path = folders[1] / "blog/green.md"
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        pytest.skip("this user may write any file")
    result = applied(folders, write=True)
    assert by_link(result)[POT.id].reason is SkipReason.UNWRITABLE and len(result.gaps) == 1
    with open_project(folders[0]).applications() as (_, store):
        assert [write.page for write in store.writes()] == [BLACK_POT.source]


def test_a_file_that_changes_meanwhile_is_a_gap(folders: tuple[Path, Path]) -> None:
    path = folders[1] / "blog/green.md"

    class Editor(Notes):
        def start(self, step: str, total: int, unit: str) -> None:
            if step == "Writing":
                path.write_bytes(b"Another text.\n")

    options = ApplyOptions(files=folders[1], write=True)
    result = apply(open_project(folders[0]), options, Editor())
    assert by_link(result)[POT.id].reason is SkipReason.CHANGED and result.files == 1
    assert result.gaps == [f"3 links not applied: {SkipReason.CHANGED}."]
    assert path.read_bytes() == b"Another text.\n"
    with open_project(folders[0]).applications() as (_, store):
        assert [write.page for write in store.writes()] == [BLACK_POT.source]


def test_a_run_finds_applied_links_live(folders: tuple[Path, Path]) -> None:
    """An applied link stays accepted until a crawl has it; then it is live, and no longer among those to apply."""
    applied(folders, write=True)
    found = [("Source", "Destination", "Anchor"), (url("blog/black"), url("shop/pot"), "clay pot")]
    for rows, live in ((found[:1], 0), (found, 1)):
        write_csv(folders[0] / "files/existing_links.csv", rows)
        assert command("run", "--no-serp", "--project", str(folders[0])) == 0
        [one] = applications(open_project(folders[0])).applications
        assert (one.applied, one.live, one.undone) == (4 - live, live, 0)
    assert BLACK_POT.id not in by_link(applied(folders))


# git


@pytest.fixture
def repository(folders: tuple[Path, Path]) -> tuple[Path, Path]:
    git(folders[1], "init", "-q", "-b", "main")
    git(folders[1], "config", "user.name", "Anna")
    git(folders[1], "config", "user.email", "anna@leaves.example")
    git(folders[1], "add", ".")
    git(folders[1], "commit", "-q", "-m", "Pages")
    return folders


def test_dirty_files_are_refused(repository: tuple[Path, Path]) -> None:
    path = repository[1] / "blog/green.md"
    path.write_text(path.read_text(encoding="utf-8") + "Draft.\n", encoding="utf-8")
    before = path.read_bytes()
    assert applied(repository).gaps == []
    result = applied(repository, write=True)
    assert by_link(result)[POT.id].reason is SkipReason.DIRTY and new_links(result) == {BLACK_POT.id}
    assert path.read_bytes() == before and result.gaps == [f"3 links not applied: {SkipReason.DIRTY}."]


def test_a_patch_holds_the_same_changes(repository: tuple[Path, Path], tmp_path: Path) -> None:
    """--patch changes no file and stores no row; git apply makes of it what --write writes."""
    before, patch = contents(repository[1]), tmp_path / "links.patch"
    result = applied(repository, patch=patch)
    assert contents(repository[1]) == before and result.application == ""
    assert by_link(result)[POT.id].outcome is ApplyOutcome.IN_PATCH
    git(repository[1], "apply", str(patch))
    patched = contents(repository[1])
    git(repository[1], "checkout", "-q", ".")
    applied(repository, write=True)
    assert contents(repository[1]) == patched != before
    assert applications(open_project(repository[0])).applications[0].texts == 2


def test_a_branch_has_a_commit_per_section(repository: tuple[Path, Path]) -> None:
    """--branch changes no file; each commit of the branch lists its links."""
    before = contents(repository[1])
    result = applied(repository, branch="links")
    assert contents(repository[1]) == before and git(repository[1], "status", "--porcelain") == ""
    assert by_link(result)[POT.id].outcome is ApplyOutcome.IN_BRANCH
    assert git(repository[1], "log", "--format=%s", "main..links").splitlines() == [
        "Add 4 internal links in /blog"
    ]
    message = git(repository[1], "log", "-1", "--format=%b", "links")
    assert f'{url("blog/black")}\n- "clay pot" -> {url("shop/pot")}' in message
    assert "[clay pot](/shop/pot/)" in git(repository[1], "show", "links:blog/black.md")


# Applications that end in the middle

_KILLED = """
import os, signal, sys
from pathlib import Path
from internal_linker.project.apply import apply
from internal_linker.project.options.decisions import ApplyOptions
from internal_linker.project.project import open_project
from internal_linker.model.progress import Tracker as Notes

class Killer(Notes):
    step = ""
    def start(self, step, total, unit):
        self.step = step
    def advance(self, count=1):
        if self.step == "Writing":
            os.kill(os.getpid(), signal.SIGKILL)

apply(open_project(Path(sys.argv[1])), ApplyOptions(files=Path(sys.argv[2]), write=True), Killer())
"""


@POSIX
def test_a_killed_application_is_continued(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """After kill -9 between two files no former text is lost; the next application goes on, and undo takes all back."""
    before, script = contents(folders[1]), tmp_path / "killed.py"
    script.write_text(_KILLED, encoding="utf-8")
    child = start(str(script), *map(str, folders), cwd=tmp_path)
    assert child.wait(timeout=120) == -signal.SIGKILL
    child.communicate()
    changed = [name for name, found in contents(folders[1]).items() if found != before[name]]
    assert changed == ["blog/black.md"]
    result = applied(folders, write=True)
    assert new_links(result) == {POT.id, TIN.id, WATER.id}
    assert by_link(result)[BLACK_POT.id].outcome is ApplyOutcome.IN_PLACE
    assert "was interrupted: it wrote 1 of 2 files" in " ".join(result.remarks)
    assert all(
        b"](/shop/pot/)" in (folders[1] / f"blog/{name}.md").read_bytes() for name in ("black", "green")
    )
    for one in reversed(applications(open_project(folders[0])).applications):
        assert undone(folders, one.application).kept == []
    assert contents(folders[1]) == before


@pytest.mark.parametrize(
    ("now", "status", "told"),
    [("before", None, "0 of 1"), ("after", "applied", "1 of 1"), ("other", "applied", "1 changed since")],
)
def test_a_kill_between_row_and_file_is_found_out(
    folders: tuple[Path, Path], now: str, status: str | None, told: str
) -> None:
    """A row whose file was never written is removed; a row whose file was, or that somebody edited since, stays."""
    project, path = open_project(folders[0]), folders[1] / "shop/pot.md"
    former = path.read_bytes()
    with project.applications(read_only=False) as (_, store):
        row = PageWrite(
            application="earlier",
            page=POT.target,
            page_url=url("shop/pot"),
            home=str(folders[1].resolve()),
            place="shop/pot.md",
            links=("f" * 20,),
            hash_before=content_hash(former),
            hash_after=content_hash(former + b"!"),
            by="Anna",
            at=datetime.now(UTC),
        )
        store.begin([(row, former)])
    path.write_bytes({"before": former, "after": former + b"!", "other": former + b"?"}[now])
    result = applied(folders, write=True)
    assert told in " ".join(result.remarks)
    with project.applications() as (_, store):
        assert [one.status for one in store.writes(application="earlier")] == ([status] if status else [])


def test_a_killed_application_can_be_taken_back_at_once(folders: tuple[Path, Path]) -> None:
    """Undo needs no further application after a kill: what was written goes back, the rest stays."""
    before = contents(folders[1])
    result = applied(folders, write=True)
    with open_project(folders[0]).applications(read_only=False) as (_, store):
        store.mark(store.writes(), "begun")
    (folders[1] / "blog/black.md").write_bytes(text_of("blog/black").encode())
    assert undone(folders, result.application).kept == []
    assert contents(folders[1]) == before


def test_a_damaged_former_text_is_not_written(folders: tuple[Path, Path]) -> None:
    applied(folders, write=True)
    after = contents(folders[1])
    engine = open_project(folders[0]).databases.store()
    transact(engine, lambda connection: connection.execute(APPLIED_LINKS.update().values(former=b"x")))
    engine.dispose()
    assert {text.reason for text in undone(folders).texts} == {UndoSkipReason.DAMAGED}
    assert contents(folders[1]) == after


def test_live_links_are_counted(folders: tuple[Path, Path]) -> None:
    first = applied(folders, write=True)
    with open_project(folders[0]).graph(read_only=False) as (edges, _):
        edges.put([replace(POT, status="live")])
    [one] = applications(open_project(folders[0])).applications
    assert (one.application, one.texts, one.applied, one.live, one.undone) == (first.application, 2, 3, 1, 0)
    undone(folders, url("blog/black"))
    [one] = applications(open_project(folders[0])).applications
    assert (one.applied, one.live, one.undone) == (2, 1, 1)


def test_results_are_tables(folders: tuple[Path, Path]) -> None:
    result = applied(folders, write=True)
    frame = result.to_frame()
    assert [*frame["result"].unique()][:2] == ["applied", "refused: the anchor is not in the text"]
    assert sum(result.frames["counts"]["links"]) == len(result.links) == len(frame)
    assert [*undone(folders).to_frame()["reason"]] == ["", ""]
    assert [*applications(open_project(folders[0])).to_frame()["undone"]] == [4]
    assert sys.getsizeof(repr(result)) < 1000
