"""Uploads are judged by their content, bounded, and kept in the project until they are imported."""

import io
import os
import time
import zipfile
from copy import copy
from pathlib import Path

import pytest

from internal_linker.model.errors import InputError
from internal_linker.project import uploads as module
from internal_linker.project.project import Project, open_project
from internal_linker.project.uploads import Upload, delete_uploads, path_of, received, upload, uploads
from tests.support.crawls import PAGES, empty_project, workbook
from tests.support.small_project import snapshot

CSV = b"URL,Title\nhttps://a.example/,Tea\n"
HTML = (
    b"<!DOCTYPE html><html><head><link rel=canonical href=https://a.example/x></head><body>Tea</body></html>"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return open_project(empty_project(tmp_path / "project"))


def put(project: Project, name: str, content: bytes, most: int = 1_000_000) -> Upload:
    """Upload a file in pieces."""
    with received(project, name, most) as receiver:
        for start in range(0, len(content), 1000):
            receiver.write(content[start : start + 1000])
    assert receiver.upload
    return receiver.upload


def zipped(parts: dict[str, bytes]) -> bytes:
    """Return a zip of these files, the same at any time: the names of tests are made of it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def test_an_upload_survives_and_says_what_it_is(project: Project) -> None:
    given = put(project, "crawl.csv", CSV)
    assert (given.name, given.kind, given.size) == ("crawl.csv", "csv", len(CSV))
    assert uploads(project) == [given] and path_of(project, given).read_bytes() == CSV
    delete_uploads(project, [given.id, "../../config"])
    assert uploads(project) == []
    with pytest.raises(InputError, match="Upload it again"):
        upload(project, given.id)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("pages.xlsx", CSV, "csv"),
        ("page.csv", HTML, "pages"),
        ("data", b"\n <!-- saved -->\n<HTML lang=de><body>Tee</body></HTML>", "pages"),
        ("export.csv", zipped({"blog/x.html": HTML, "style.css": b"a{}"}), "pages"),
    ],
)
def test_content_decides_not_the_name(project: Project, name: str, content: bytes, kind: str) -> None:
    assert put(project, name, content).kind == kind


def test_a_workbook_names_its_sheets(project: Project, tmp_path: Path) -> None:
    book = Path(workbook(tmp_path / "b.xlsx", [["Notes"], ["none"]], PAGES, []))
    given = put(project, "b.xlsx", book.read_bytes())
    assert (given.kind, given.sheets, given.sheet) == ("xlsx", ("Sheet1", "Sheet2"), "Sheet2")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\xd0\xcf\x11\xe0 old", "Save it as .xlsx"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "is a picture, not a CSV file. Export the table as"),
        (b"%PDF-1.7", "is a PDF, not a CSV file. Export the table as"),
        (zipped({"word/document.xml": b"x", "a.html": HTML}), "is a Word document .* Export the table as"),
        (b"x" + bytes(range(1, 9)) * 20, "is a binary file, not a CSV file. Export the table as"),
        (zipped({"a.txt": b"x"}), "has no HTML files"),
        (zipped({"a.html": HTML})[:60], "can't be unpacked"),
        (zipped({"xl/workbook.xml": b"x"}), "can't be read"),
        (CSV * 100_000, "larger than 1 MB"),
    ],
)
def test_what_cannot_be_imported_leaves_nothing_behind(project: Project, content: bytes, words: str) -> None:
    before = snapshot(project.root)
    with pytest.raises(InputError, match=words) as caught:
        put(project, "thing.bin", content)
    assert "thing.bin" in str(caught.value) and str(project.root) not in str(caught.value)
    assert snapshot(project.root) == before


@pytest.mark.parametrize(
    "name", ["../../../evil.html", "/etc/evil.html", "C:\\evil.html", "a/../../evil.html"]
)
def test_no_name_leads_out_of_the_folder(project: Project, name: str) -> None:
    given = put(project, name, zipped({name: HTML}))
    written = [path for path in project.root.parent.rglob("*evil*") if path.is_file()]
    assert written and all(path.is_relative_to(path_of(project, given)) for path in written)
    assert "/" not in given.name and "\\" not in given.name


def test_a_zip_that_unpacks_to_too_much_is_refused(project: Project) -> None:
    """A zip bomb is refused before anything is unpacked; a part of it that is too large for a page is left out."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.html", bytes(9_999_999))
        # All names lead to the same bytes, which makes the bomb small.
        for number in range(1, 501):
            again = copy(archive.filelist[0])
            again.filename = f"{number}.html"
            archive.filelist.append(again)
    bomb = file.getvalue()
    with pytest.raises(InputError, match=r"unpacks to 501 pages of 5,009 MB"):
        put(project, "bomb.zip", bomb, 10_000_000)
    given = put(project, "site.zip", zipped({"a.html": HTML, "b.html": bytes(10_000_001), "c.js": b""}))
    assert (given.pages, given.left_out) == (1, 2)


def listed(entries: int) -> bytes:
    """Return a zip whose list repeats a file, and that declares to have a single one."""
    archive = zipped({"a.html": HTML})
    at = int.from_bytes(archive[-6:-2], "little")
    entry, end = archive[at:-22], bytearray(archive[-22:])
    end[12:16] = (len(entry) * entries).to_bytes(4, "little")
    return archive[:at] + entry * entries + end


def test_a_zip_that_lists_too_many_files_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(project.root)
    monkeypatch.setattr(module, "_MOST_ENTRIES", 100)
    with pytest.raises(InputError, match="lists more than 100 files"):
        put(project, "list.zip", listed(101))
    assert snapshot(project.root) == before
    assert put(project, "list.zip", listed(100)).pages == 100
    monkeypatch.setattr(module, "_MOST_LIST_BYTES", 1_000)
    with pytest.raises(InputError, match="names that are too long"):
        put(project, "list.zip", listed(100))


def test_waiting_uploads_are_bounded_together(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits and what arrives counts, unpacked; after one is deleted, there is room again."""
    monkeypatch.setattr(module, "_MOST_WAITING_BYTES", 50_000)
    monkeypatch.setattr(module, "_CHECKED_BYTES", 1_000)
    site = zipped({f"{number}.html": HTML + bytes(9_000) for number in range(4)})
    given = put(project, "site.zip", site)
    assert given.size < 5_000 and given.stored > 36_000
    for content in (site, CSV * 1_000):
        before = snapshot(project.root)
        with pytest.raises(InputError, match="Import or remove some"):
            put(project, "more", content)
        assert snapshot(project.root) == before
    with received(project, "first.csv") as receiver:
        receiver.write(CSV * 300)
        with pytest.raises(InputError, match="Import or remove some"):
            put(project, "second.csv", CSV * 400)
    delete_uploads(project, [given.id])
    assert put(project, "site.zip", site).pages == 4


def test_forgotten_uploads_are_deleted(project: Project) -> None:
    old = put(project, "old.csv", CSV)
    a_day_ago = time.time() - 90_000
    os.utime(path_of(project, old).parent, (a_day_ago, a_day_ago))
    new = put(project, "new.csv", CSV)
    assert uploads(project) == [new]


def test_a_broken_upload_is_deleted(project: Project) -> None:
    def broken() -> None:
        with received(project, "x.csv") as receiver:
            receiver.write(CSV)
            raise ConnectionError

    with pytest.raises(ConnectionError):
        broken()
    assert uploads(project) == [] and not [*project.file("uploads").iterdir()]
