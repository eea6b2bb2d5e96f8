"""Reading a brief from a title, an outline or a draft in any supported format, and refusing other input."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from internal_linker.model.briefs import Brief
from internal_linker.model.errors import InputError
from internal_linker.sources.drafts import read_brief
from tests.support.drafts import paragraph, style, write_docx, zipped

MARKDOWN = """# How to *steam* milk

Cool milk makes **finer** foam, says [our guide](/milk/guide/) to `steam wands`.

## What you need

- a jug
- a thermometer

| milk | foam |
|---|---|
| oat | fine |

    purge --wand
"""


def read(given: object, title: str = "", stdin: bytes = b"") -> Brief:
    return read_brief(str(given), lambda: io.BytesIO(stdin), title)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("given", "asked", "title", "text"),
    [
        ("  How to steam\u00a0milk ", "", "How to steam milk", ""),
        ("milk \udce4", "", "milk ?", ""),
        (
            "\n\nSteaming milk\r\n\r\nCool milk first.\nThen steam.",
            "",
            "Steaming milk",
            "Cool milk first.\nThen steam.",
        ),
        (
            "Cool milk first.\nThen steam.",
            " Steaming  milk ",
            "Steaming milk",
            "Cool milk first.\nThen steam.",
        ),
        ("", "Milk", "Milk", ""),
        ("milk " * 100, "", "", ("milk " * 100).strip()),
    ],
    ids=["a line", "half a character", "a text", "a given title", "a title alone", "a paragraph"],
)
def test_the_first_line_is_the_title_if_none_is_given(given: str, asked: str, title: str, text: str) -> None:
    brief = read(given, asked)
    assert brief == Brief(title, text) and brief.name


def test_markdown_is_read_without_its_marks(tmp_path: Path) -> None:
    """Markdown headings and links with their URLs are recognised; lists, tables and code keep only their words."""
    brief = read(write(tmp_path / "draft.MD", MARKDOWN.encode()))
    lines = brief.text.split("\n")
    assert brief.title == "How to steam milk"
    assert lines[0] == "Cool milk makes finer foam, says our guide to steam wands."
    assert [lines[at] for at in brief.headings] == ["What you need"]
    assert "purge --wand" in [lines[at] for at in brief.closed]
    assert brief.links == (("/milk/guide/", "our guide"),)
    assert {"a jug", "a thermometer", "oat", "fine", "purge --wand"} <= set(lines)


def test_markdown_needs_no_file() -> None:
    for brief in (read("-", stdin=MARKDOWN.encode()), read(MARKDOWN)):
        assert brief.title == "How to steam milk" and "#" not in brief.text
    assert read("-", stdin=b"\n## Only a section\n\nCool milk.").title == "Only a section"
    assert read("-", stdin=b"---\ntitle: Milk\n---\nCool milk.").title == "Milk"
    assert read("The #1 rule\nCool milk.").title == "The #1 rule"


def test_front_matter_names_the_title(tmp_path: Path) -> None:
    front = b'---\ndate: 2026-01-02\ntitle: "Milk: cold"\n---\n# Steaming\n\nCool milk.\n'
    brief = read(write(tmp_path / "draft.md", front))
    assert (brief.title, brief.text, brief.headings) == ("Milk: cold", "Steaming\nCool milk.", (0,))


def test_html_is_read_without_menus(tmp_path: Path) -> None:
    """The first heading of HTML is the title; scripts and menus are dropped."""
    page = "<!doctype html><nav>Home</nav><p>By Ann</p><h1>Milk</h1><script>x</script><p>Cool <a href=/a/>it</a>."
    brief = read(write(tmp_path / "draft.html", page.encode()))
    assert (brief.title, brief.text) == ("Milk", "By Ann\nMilk\nCool it.")
    assert (brief.headings, brief.links) == ((1,), (("/a/", "it"),))


@pytest.mark.parametrize(
    ("encoding", "by"),
    [
        ("utf-8", "file"),
        ("utf-8-sig", "stdin"),
        ("utf-16", "file"),
        ("utf-16-le", "stdin"),
        ("cp1252", "file"),
    ],
)
def test_any_encoding_is_understood(encoding: str, by: str, tmp_path: Path) -> None:
    """Drafts in UTF-8, UTF-16 and Windows-1252 are read from files and standard input."""
    raw = "Café crème\nMilk for a café crème is cold.".encode(encoding)
    brief = read("-", stdin=raw) if by == "stdin" else read(write(tmp_path / "draft.txt", raw))
    assert (brief.title, brief.text) == ("Café crème", "Milk for a café crème is cold.")
    assert bool(brief.remarks) == (encoding == "cp1252")


def test_a_right_to_left_draft_keeps_its_letters(tmp_path: Path) -> None:
    text = "طرز تهیه قهوه\nقهوه را آسیاب می‌کنیم و آب را می‌جوشانیم."
    for name in ("draft.txt", "draft.md"):
        brief = read(write(tmp_path / name, text.replace("\n", "\n\n").encode()))
        assert brief.title == "طرز تهیه قهوه"
        assert brief.text == "قهوه را آسیاب می‌کنیم و آب را می‌جوشانیم."


# -- Word --------------------------------------------------------------------------------------------


def test_a_word_document_is_read_with_its_headings(tmp_path: Path) -> None:
    link = '<w:p><w:hyperlink r:id="rId1"><w:r><w:t>our guide</w:t></w:r></w:hyperlink></w:p>'
    body = [
        paragraph("Steaming milk", "Titel"),
        paragraph("Cool milk &amp; a jug."),
        paragraph("What you need", "berschrift2"),
        link,
    ]
    styles = style("Title", "Titel") + style("heading 2", "berschrift2")
    brief = read(write_docx(tmp_path / "draft.docx", *body, styles=styles, link="https://a.example/guide/"))
    assert (brief.title, brief.text) == ("Steaming milk", "Cool milk & a jug.\nWhat you need\nour guide")
    assert (brief.headings, brief.links) == ((1,), (("https://a.example/guide/", "our guide"),))


def test_tracked_changes_count_as_accepted(tmp_path: Path) -> None:
    """Inserted text is read and deleted text isn't; text in content controls and tables is read."""
    changed = (
        "<w:p><w:ins w:id='1' w:author='a'><w:r><w:t>Cool oat milk</w:t></w:r></w:ins>"
        "<w:del w:id='2' w:author='a'><w:r><w:delText>Warm milk</w:delText></w:r></w:del></w:p>"
    )
    control = f"<w:sdt><w:sdtContent>{paragraph('In a control')}</w:sdtContent></w:sdt>"
    table = f"<w:tbl><w:tr><w:tc>{paragraph('In a')}</w:tc><w:tc>{paragraph('table')}</w:tc></w:tr></w:tbl>"
    brief = read(write_docx(tmp_path / "draft.docx", paragraph("Milk"), changed, control, table))
    assert brief.text == "Cool oat milk\nIn a control\nIn a\ntable"


ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "milk"}">' for n in range(12))
DOCUMENTS: dict[str, Callable[[Path], Path]] = {
    "deep": lambda path: write_docx(path, "<w:ins>" * 100 + "</w:ins>" * 100),
    "many parts": lambda path: write_docx(path, "<w:r/>" * 101_000),
    "many fields": lambda path: write_docx(
        path, "<w:p>", '<w:r><w:fldChar w:fldCharType="begin"/></w:r>' * 100, "</w:p>"
    ),
    "large": lambda path: write_docx(path, paragraph("milk " * 2_000_001)),
    "growing": lambda path: write_docx(path, paragraph("&e11;"), head=f"<!DOCTYPE w [{ENTITIES}]>"),
    "cut off": lambda path: write(path, write_docx(path, paragraph("Milk")).read_bytes()[:-60]),
    "a text": lambda path: write(path, b"Milk"),
    "another archive": lambda path: write(path, zipped({"milk.txt": "Milk"})),
    "broken": lambda path: write_docx(path, "<w:p>"),
}


@pytest.mark.parametrize("make", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_that_is_none_is_one_sentence(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """Zip and XML bombs, truncated files and foreign files are refused with a remedy."""
    path = make(tmp_path / "draft.docx")
    with pytest.raises(InputError, match="save it again as .docx"):
        read(path)


def test_no_part_of_a_document_escapes_the_look(tmp_path: Path) -> None:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    named = f'<Relationship Id="a" Type="{kind}" Target="word/a.png"/>'
    parts: dict[str, str | bytes] = {
        "_rels/.rels": f'<Relationships xmlns="{space}">{named}</Relationships>',
        "word/a.png": b"<a/>" * 1_000,
    }
    path = write(tmp_path / "draft.docx", zipped(parts))
    with pytest.raises(InputError, match="not a Word document"):
        read(path)


# -- refused input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["", "  \n", "?!", "-"])
def test_nothing_to_read_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="no words"):
        read(given, stdin=b"\xef\xbb\xbf \n")


SAVE = r"Save the draft as \.docx, \.md, \.html or \.txt"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("nix.docx", None, r"nix\.docx not found"),
        *((name, b"Milk", SAVE) for name in ("draft.pdf", "draft.doc", "draft")),
        *(
            ("draft.txt", content, r"not a draft\. Save")
            for content in (bytes(range(256)) * 20, b"%PDF-1.7", b"{\\rtf1")
        ),
        ("", None, "is a folder, not a draft"),
    ],
)
def test_another_kind_of_file_is_refused(
    name: str, content: bytes | None, reason: str, tmp_path: Path
) -> None:
    if content is not None:
        write(tmp_path / name, content)
    with pytest.raises(InputError, match=reason):
        read(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes.")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A named pipe is refused, because reading it would never end."""
    os.mkfifo(tmp_path / "draft.txt")
    with pytest.raises(InputError, match="a pipe or a device"):
        read(tmp_path / "draft.txt")


@pytest.mark.parametrize("by", ["file", "stdin"])
def test_fifty_megabytes_are_no_page(by: str, tmp_path: Path) -> None:
    path = tmp_path / "draft.md"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(InputError, match="larger than 10,000,000 bytes"):
        read("-", stdin=path.read_bytes()) if by == "stdin" else read(path)


@pytest.mark.parametrize("name", ["draft.txt", "draft.md"])
def test_a_text_longer_than_any_page_is_cut(name: str, tmp_path: Path) -> None:
    brief = read(write(tmp_path / name, b"Milk\n\n" + b"milk " * 300_000))
    assert len(brief.text) < 1_000_000 and "longer than 1,000,000 characters" in brief.remarks[0]
