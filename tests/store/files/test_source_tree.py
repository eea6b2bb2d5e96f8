"""A source tree is read byte by byte as it is, stays within its folder, and is written without any other change."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from internal_linker.model.errors import InputError
from internal_linker.store.files.source_tree import read_tree, write_file


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def reasons(folder: Path) -> dict[str, str]:
    return {one.path: one.reason for one in read_tree(folder).left_out}


@pytest.mark.parametrize(
    "raw", [b"a\r\nb\r\n", b"a\nb", b"a\rb\r", b"\xef\xbb\xbfa\r\nb", b"", "\u2028متن\x0c\n".encode()]
)
def test_bytes_stay(tmp_path: Path, raw: bytes) -> None:
    put(tmp_path, {"a.md": raw})
    file = read_tree(tmp_path).files["a.md"]
    assert file.encoded() == raw
    written = write_file(tmp_path, file, file.text + "x")
    assert (tmp_path / "a.md").read_bytes() == raw + b"x" == written.encoded()
    if os.name == "posix":
        (tmp_path / "a.md").chmod(0o755)
        write_file(tmp_path, written, "y")
        assert (tmp_path / "a.md").stat().st_mode & 0o777 == 0o755


def test_formats_by_suffix(tmp_path: Path) -> None:
    names = ["a.md", "b.markdown", "c.MDX", "d.html", "e.htm", "f.rst", "g.adoc", "h.rst", "i.png", "j.txt"]
    tree = read_tree(put(tmp_path, dict.fromkeys(names, "x")))
    assert {path: file.text_format for path, file in tree.files.items()} == {
        "a.md": "markdown",
        "b.markdown": "markdown",
        "c.MDX": "mdx",
        "d.html": "html",
        "e.htm": "html",
    }
    assert tree.unsupported == {".adoc": 1, ".rst": 2}


def test_hidden_folders_packages_and_outputs_are_passed_over(tmp_path: Path) -> None:
    """Settings of the generator are read; a section that is only named like an output is none."""
    settings = {"hugo.toml": "a = 1", "config/_default/languages.toml": "b = 1", "website/mkdocs.yml": "c: 1"}
    hidden = [".git/x.md", "node_modules/p/README.md"]
    outputs = [f"{path}/index.html" for path in ("public/a", "public/b", "site/_site")]
    tree = put(tmp_path / "one", {**dict.fromkeys([*hidden, "content/a.md", *outputs], "x"), **settings})
    assert list(read_tree(tree).files) == ["content/a.md"] and read_tree(tree).settings == settings
    assert reasons(tree) == {"public": "a build output (2 files)", "site": "a build output (1 files)"}
    for names in (["docs/b.md", "docs/build/a.md"], ["public/a.html", "public/index.html"]):
        assert list(read_tree(put(tmp_path / names[0], dict.fromkeys(names, "x"))).files) == names


@pytest.mark.skipif(os.name != "posix", reason="Windows lets few users make links")
def test_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, {"secret/s.md": "secret", "tree/a.md": "x"})
    tree = tmp_path / "tree"
    (tree / "out").symlink_to(tmp_path / "secret")
    (tree / "s.md").symlink_to(tmp_path / "secret" / "s.md")
    (tree / "circle").symlink_to(tree)
    assert list(read_tree(tree).files) == ["a.md"]
    assert reasons(tree) == dict.fromkeys(["circle", "out", "s.md"], "a link to another file or folder")


def test_what_cannot_be_a_page_is_listed(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "ok", "b.md": b"line\nna\xefve", "c.md": b"a\0", "d.md": "long" * 10})
    tree = read_tree(tmp_path, most_bytes=20)
    assert list(tree.files) == ["a.md"]
    assert [(one.path, one.reason) for one in tree.left_out] == [
        ("b.md", "not a text in UTF-8 (line 2): save it as UTF-8"),
        ("c.md", "not a text in UTF-8"),
        ("d.md", "larger than 20 bytes"),
    ]


def test_a_folder_that_is_no_site_is_refused(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "x", "b.md": "x"})
    with pytest.raises(InputError, match="not found: check the path"):
        read_tree(tmp_path / "no")
    with pytest.raises(InputError, match="is a file, not a folder"):
        read_tree(tmp_path / "a.md")
    with pytest.raises(InputError, match="more than 1 source files"):
        read_tree(tmp_path, most_files=1)


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    path = put(tmp_path, {"a.md": "x", "other/b.md": "x"}) / "a.md"
    other = tmp_path / "other" / "b.md"
    file = read_tree(tmp_path).files["a.md"]
    changes: list[Callable[[], object]] = [lambda: path.write_text("edited"), path.unlink]
    if os.name == "posix":
        changes.append(lambda: path.symlink_to(other))
    for change in changes:
        change()
        before = path.read_text() if path.exists() else None
        with pytest.raises(InputError, match="has changed since it was read"):
            write_file(tmp_path, file, "y")
        assert (path.read_text() if path.exists() else None) == before
    assert other.read_text() == "x"
