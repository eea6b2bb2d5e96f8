"""Links are applied in steps: exactly what a person saw is written, and only into the folder of the settings."""

from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.progress import Tracker as Notes
from internal_linker.model.source_files import SourceFile
from internal_linker.project.apply import ChangesDiffer, apply
from internal_linker.project.apply_steps import (
    ShownChanges,
    apply_shown,
    file_diffs,
    show_changes,
    undo_application,
)
from internal_linker.project.edit_settings import change_settings
from internal_linker.project.options.decisions import ApplyOptions
from internal_linker.project.project import open_project
from internal_linker.project.source_folder import choose_source_folder, source_folder
from internal_linker.project.undo_links import applications
from internal_linker.store.files.git import patch_of
from tests.support.source_site import BLACK_POT, POT, TIN, WATER, contents, make_source_site, text_of


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    project, sources = make_source_site(tmp_path)
    choose_source_folder(open_project(project), str(sources))
    return project, sources


def shown(folders: tuple[Path, Path], **options: object) -> ShownChanges:
    return show_changes(open_project(folders[0]), "files", ApplyOptions(**options), Notes())  # type: ignore[arg-type]


def test_what_was_shown_is_written_and_taken_back(folders: tuple[Path, Path]) -> None:
    project, before = open_project(folders[0]), contents(folders[1])
    found = shown(folders)
    assert [(page.file, page.links) for page in found.pages] == [("blog/black.md", 1), ("blog/green.md", 3)]
    assert "+Black tea is malty and strong. It likes a [clay pot](/shop/pot/)" in found.pages[0].diff
    assert contents(folders[1]) == before
    done = apply_shown(project, found, Notes(), by="Anna")
    assert done.files == 2 and done.diff == found.result.diff
    (application,) = applications(project).applications
    assert (application.by, application.applied) == ("Anna", 4)
    undone = undo_application(project, application.application, Notes())
    assert undone.kept == [] and contents(folders[1]) == before


def test_the_command_takes_the_folder_of_the_settings(folders: tuple[Path, Path]) -> None:
    """Without --files, apply puts links into the folder that was chosen."""
    assert apply(open_project(folders[0]), ApplyOptions(), Notes()).files == 2


def test_links_that_were_not_shown_are_not_applied(folders: tuple[Path, Path]) -> None:
    project = open_project(folders[0])
    with project.graph(read_only=False) as (edges, _):
        edges.put([replace(BLACK_POT, status="proposed", verdict="")])
    found = shown(folders)
    with project.graph(read_only=False) as (edges, _):
        edges.put([BLACK_POT])
    done = apply_shown(project, found, Notes())
    assert {link.link_id for link in done.links} == {POT.id, TIN.id, WATER.id} and done.files == 1


@pytest.mark.parametrize("change", ["file", "decision", "anchor", "folder"])
def test_nothing_is_written_if_something_changed_since(folders: tuple[Path, Path], change: str) -> None:
    project, sources = open_project(folders[0]), folders[1]
    found = shown(folders)
    if change == "file":
        (sources / "blog/black.md").write_text(text_of("blog/black").replace("malty", "mild"))
    elif change == "folder":
        (sources.parent / "other").mkdir()
        choose_source_folder(project, str(sources.parent / "other"))
        project = open_project(folders[0])
    else:
        changed = {"status": "rejected"} if change == "decision" else {"anchor": "clay"}
        with project.graph(read_only=False) as (edges, _):
            edges.put([replace(BLACK_POT, **changed)])  # type: ignore[arg-type]
    before = contents(sources)
    with pytest.raises(ChangesDiffer, match="show the changes again"):
        apply_shown(project, found, Notes())
    assert contents(sources) == before and not applications(project).applications


def test_a_folder_is_kept_without_links_in_its_path(folders: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folders[1])
    project = open_project(folders[0])
    assert choose_source_folder(project, str(tmp_path / "link")) == folders[1].resolve()
    assert source_folder(open_project(folders[0])) == folders[1].resolve()


def test_a_relative_folder_starts_at_the_project(folders: tuple[Path, Path]) -> None:
    change_settings(folders[0], {"source_folder": "../sources"})
    assert source_folder(open_project(folders[0])) == folders[1].resolve()


def test_a_link_in_the_place_of_the_folder_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    found = shown(folders)
    folders[1].rename(tmp_path / "moved")
    folders[1].symlink_to(tmp_path / "moved")
    with pytest.raises(ConfigurationError, match="a link to another folder"):
        apply_shown(open_project(folders[0]), found, Notes())
    assert contents(tmp_path / "moved")["blog/green.md"][0] == text_of("blog/green").encode()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("sources", "not a whole path"),
        ("~nobody-of-this-name/x", "no path of a folder"),
        ("/\0", "no path of a folder"),
        ("/", "far more than one site"),
        ("~", "far more than one site"),
        ("{root}/missing", "not found"),
        ("{root}/project/files/urls_rawdata.csv", "is a file"),
        ("{root}/project/files", "the project's own"),
        ("{root}/" + "x" * 300, "can't be read"),
    ],
)
def test_what_is_no_folder_of_sources_is_refused(folders: tuple[Path, Path], given: str, why: str) -> None:
    before = (folders[0] / "config/settings.toml").read_bytes()
    with pytest.raises((ConfigurationError, InputError), match=why):
        choose_source_folder(open_project(folders[0]), given.format(root=folders[0].parent))
    assert (folders[0] / "config/settings.toml").read_bytes() == before


def test_links_of_another_folder_are_not_looked_for_in_this_one(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """While the folder of an application is there, it must be chosen for the undo; after a move, the new one."""
    project = open_project(folders[0])
    application = apply_shown(project, shown(folders), Notes()).application
    (tmp_path / "other").mkdir()
    choose_source_folder(project, str(tmp_path / "other"))
    with pytest.raises(ConfigurationError, match="choose that folder"):
        undo_application(open_project(folders[0]), application, Notes())
    folders[1].rename(tmp_path / "moved")
    choose_source_folder(project, str(tmp_path / "moved"))
    assert len(undo_application(open_project(folders[0]), application, Notes()).restored) == 2
    assert contents(tmp_path / "moved")["blog/green.md"][0] == text_of("blog/green").encode()
    with pytest.raises(InputError, match="not found"):
        undo_application(open_project(folders[0]), "20200101-000000", Notes())


def test_a_patch_is_split_by_its_counts() -> None:
    odd = "--- a/x\n+++ b/x\ndiff --git a/x b/x\n@@ -1,1 +1,1 @@\nend"
    texts = [
        (SourceFile(f"{name}.md", odd), odd.replace("end", f"{name}\n-- end")) for name in ("one", "two")
    ]
    first, second = file_diffs("".join(patch_of(file, text) for file, text in texts))
    assert first.splitlines()[0] == "@@ -2,4 +2,5 @@" and first.splitlines()[1] == " +++ b/x"
    assert "+one" in first and "+two" not in first and "+two" in second
    assert first.count("\\ No newline") == 2 and [*file_diffs("")] == []
