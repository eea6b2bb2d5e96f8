"""Patches apply, branches are made beside what is checked out, and uncommitted files are known."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from internal_linker.model.errors import InputError
from internal_linker.model.source_files import SourceFile
from internal_linker.store.files.git import Change, Commit, WorkTree, find_work_tree, patch_of, write_patch
from internal_linker.store.files.source_tree import read_tree

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for setting in ("user.name=Ada", "user.email=ada@example.com", "core.autocrlf=false"):
        git(folder, "config", *setting.split("="))
    return folder


def commit(folder: Path, files: dict[str, bytes]) -> WorkTree:
    """Commit the files; return the work tree of the folder `site`, or of the repository."""
    for name, raw in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "start")
    tree = find_work_tree(folder / "site" if (folder / "site").exists() else folder)
    assert tree is not None
    return tree


def test_a_folder_outside_of_git_has_no_work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert find_work_tree(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_work_tree(tmp_path) is None


def test_uncommitted_files_are_dirty(repository: Path) -> None:
    """Changed, staged and new files are dirty, named from the folder that was given; ignored files are not."""
    commit(repository, {f"site/{name}": b"x" for name in ("a.md", "b.md", "نام.md", ".gitignore")})
    tree = commit(repository, {"site/.gitignore": b"i.md\n"})
    assert tree.prefix == "site/"
    assert not tree.dirty()
    for name in ("a.md", "نام.md", "new folder/c.md", "i.md"):
        (repository / "site" / name).parent.mkdir(exist_ok=True)
        (repository / "site" / name).write_text("y")
    git(repository, "add", "site/a.md")
    assert tree.dirty() == {"a.md", "نام.md", "new folder/c.md"}


CASES = {
    "a.md": (b"one\ntwo\nthree", b"one\n[two](/b/)\nthree"),
    "b.md": (b"one\ntwo", b"one\n[two](/b/)"),
    "c.md": (b"one\r\ntwo\r\n", b"one\r\n[two](/b/)\r\n"),
    "d.md": ("\ufeffone\n".encode(), "\ufeff[one](/b/)\n".encode()),
    "with space.md": (b"one\n", b"[one](/b/)\n"),
    "نام.md": ("متن\u2028دیگر\x0c\n".encode(), "[متن](/b/)\u2028دیگر\x0c\n".encode()),
    "e/f.html": (b"<p>one</p>\n" * 30, b"<p>one</p>\n" * 29 + b'<p><a href="/b/">one</a></p>\n'),
}
if os.name == "posix":
    CASES['quo"te\\tab\t.md'] = (b"one\n", b"[one](/b/)\n")


def test_a_patch_applies(repository: Path, tmp_path: Path) -> None:
    """`git apply` turns each file into its new text, byte by byte: CRLF, no final newline, BOM, any name."""
    commit(repository, {f"site/{name}": old for name, (old, _) in CASES.items()})
    files = read_tree(repository / "site").files
    changes = [
        Change(files[name], new.decode("utf-8-sig" if files[name].bom else "utf-8"))
        for name, (_, new) in CASES.items()
    ]
    write_patch(tmp_path / "links.patch", changes, "site/")
    git(repository, "apply", str(tmp_path / "links.patch"))
    assert {name: (repository / "site" / name).read_bytes() for name in CASES} == {
        name: new for name, (_, new) in CASES.items()
    }


LINES = st.lists(st.sampled_from(["a", "b", "", "c\r", "\x0c", "\ufeff", "-- x"]), max_size=12).map("\n".join)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, LINES)
def test_any_patch_applies(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "a.md").write_bytes(old.encode())
    patch = patch_of(SourceFile("a.md", old), new)
    assert bool(patch) == (old != new)
    if patch:
        subprocess.run(
            ["git", "apply", "--whitespace=nowarn"],
            cwd=tmp_path,
            input=patch.encode(),
            check=True,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
        )
        left = (tmp_path / "a.md").read_bytes() if (tmp_path / "a.md").exists() else b""
        assert left == new.encode()


def test_a_branch_leaves_the_rest_alone(repository: Path) -> None:
    """A branch has one commit per section with its message; files, index and the branch checked out stay."""
    tree = commit(repository, {"site/a.md": b"one\r\n", "site/b/c.md": b"two", "other.md": b"x"})
    (repository / "site" / "a.md").chmod(0o755)
    git(repository, "commit", "-q", "-a", "--allow-empty", "-m", "mode")
    (repository / "other.md").write_text("edited")
    git(repository, "add", "other.md")
    head, status = git(repository, "rev-parse", "main"), git(repository, "status", "--porcelain")
    files = read_tree(repository / "site").files
    tree.write_branch(
        "links/week",
        [
            Commit("Links in /a\n\n- one -> /b/\n", [Change(files["a.md"], "[one](/b/)\r\n")]),
            Commit("Links in /b\n", [Change(files["b/c.md"], "[two](/a/)")]),
        ],
    )
    assert (git(repository, "rev-parse", "main"), git(repository, "status", "--porcelain")) == (head, status)
    subjects = git(repository, "log", "--format=%s", "main..links/week")
    assert subjects.splitlines() == ["Links in /b", "Links in /a"]
    assert "- one -> /b/" in git(repository, "log", "--format=%B", "links/week~1", "-1")
    assert git(repository, "diff", "--stat", "--summary", "main", "links/week").count("|") == 2
    call = ["git", "show", "links/week:site/a.md"]
    assert subprocess.run(call, cwd=repository, check=True, capture_output=True).stdout == b"[one](/b/)\r\n"
    if os.name == "posix":
        assert git(repository, "ls-tree", "links/week", "site/a.md").startswith("100755 ")


def test_a_branch_that_cannot_be_made_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git complains about, such as an unknown author, is in the error."""
    empty = find_work_tree(repository)
    assert empty is not None
    with pytest.raises(InputError, match="has no git commit yet"):
        empty.write_branch("links", [])
    tree = commit(repository, {"a.md": b"one"})
    missing = [Commit("x", [Change(SourceFile("no.md", "a"), "b")])]
    for name, commits, why in (
        ("main", [], "exists already"),
        ("a..b", [], "can't be the name of a git branch"),
        ("links", missing, "not in the last git commit"),
    ):
        with pytest.raises(InputError, match=why):
            tree.write_branch(name, commits)
    git(repository, "config", "user.useConfigOnly", "true")
    git(repository, "config", "--unset", "user.email")
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(repository))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="git failed in .*email"):
        tree.write_branch("links", [Commit("x", [Change(SourceFile("a.md", "one"), "two")])])
    assert git(repository, "branch", "--list", "links") == ""
