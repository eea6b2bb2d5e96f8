"""Reading a brief: what a title, an outline or a draft in any format becomes, and what is refused."""

import io
import os
import time
from pathlib import Path

import pytest

from internal_linker.core.briefs import Brief
from internal_linker.core.errors import InputError
from internal_linker.ingest.drafts import read_brief
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


def test_a_line_is_a_title() -> None:
    """A text of one line is the title, and there is no more of the page."""
    assert read("  How to steam\u00a0milk ") == Brief("How to steam milk")


def test_half_a_character_is_replaced() -> None:
    """What no encoding can hold comes with a command line and goes no further."""
    assert read("milk \udce4").title == "milk ?"


def test_a_text_begins_with_its_title() -> None:
    """The first line that holds anything is the title, the others are the text."""
    brief = read("\n\nSteaming milk\r\n\r\nCool milk first.\nThen steam.")
    assert (brief.title, brief.text) == ("Steaming milk", "Cool milk first.\nThen steam.")


def test_a_title_that_is_given_leaves_the_text_whole() -> None:
    """With a title, the first line is text like the others."""
    brief = read("Cool milk first.\nThen steam.", title=" Steaming  milk ")
    assert (brief.title, brief.text) == ("Steaming milk", "Cool milk first.\nThen steam.")


def test_a_paragraph_is_no_title() -> None:
    """A text that begins with a long line has no title, and none of it is lost."""
    brief = read("milk " * 100)
    assert brief.title == "" and brief.text == ("milk " * 100).strip()
    assert brief.name


def test_markdown_is_read_without_its_marks(tmp_path: Path) -> None:
    """Headings are known as such, links with their addresses; of lists, tables and code the words stay."""
    brief = read(write(tmp_path / "draft.MD", MARKDOWN.encode()))
    lines = brief.text.split("\n")
    assert brief.title == "How to steam milk"
    assert lines[0] == "Cool milk makes finer foam, says our guide to steam wands."
    assert [lines[at] for at in brief.headings] == ["What you need"]
    assert brief.links == (("/milk/guide/", "our guide"),)
    assert {"a jug", "a thermometer", "oat", "fine", "purge --wand"} <= set(lines)


def test_front_matter_names_the_title(tmp_path: Path) -> None:
    """What site generators keep above the text is no text, and its title is the page's."""
    front = b'---\ndate: 2026-01-02\ntitle: "Milk: cold"\n---\n# Steaming\n\nCool milk.\n'
    brief = read(write(tmp_path / "draft.md", front))
    assert (brief.title, brief.text, brief.headings) == ("Milk: cold", "Steaming\nCool milk.", (0,))


def test_html_is_read_without_menus(tmp_path: Path) -> None:
    """The first heading is the title; scripts and menus are no text."""
    page = "<!doctype html><nav>Home</nav><p>By Ann</p><h1>Milk</h1><script>x</script><p>Cool <a href=/a/>it</a>."
    brief = read(write(tmp_path / "draft.html", page.encode()))
    assert (brief.title, brief.text) == ("Milk", "By Ann\nMilk\nCool it.")
    assert (brief.headings, brief.links) == ((1,), (("/a/", "it"),))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("by", ["file", "stdin"])
def test_any_encoding_is_understood(encoding: str, by: str, tmp_path: Path) -> None:
    """As in tables: UTF-8, UTF-16, Windows-1252, from a file or standard input."""
    raw = "Café crème\nMilk for a café crème is cold.".encode(encoding)
    brief = read("-", stdin=raw) if by == "stdin" else read(write(tmp_path / "draft.txt", raw))
    assert (brief.title, brief.text) == ("Café crème", "Milk for a café crème is cold.")
    assert bool(brief.remarks) == (encoding == "cp1252")


def test_a_right_to_left_draft_keeps_its_letters(tmp_path: Path) -> None:
    """Persian text, with the joiners within its words, comes through as it was written."""
    text = "طرز تهیه قهوه\nقهوه را آسیاب می‌کنیم و آب را می‌جوشانیم."
    for name in ("draft.txt", "draft.md"):
        brief = read(write(tmp_path / name, text.replace("\n", "\n\n").encode()))
        assert brief.title == "طرز تهیه قهوه"
        assert brief.text == "قهوه را آسیاب می‌کنیم و آب را می‌جوشانیم."


# -- Word --------------------------------------------------------------------------------------------


def test_a_word_document_is_read_with_its_headings(tmp_path: Path) -> None:
    """Word's title is the title, styles in any language are headings, links keep their addresses."""
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
    """What an editor inserted is read, what was deleted isn't; text in content controls and tables is."""
    changed = (
        "<w:p><w:ins w:id='1' w:author='a'><w:r><w:t>Cool oat milk</w:t></w:r></w:ins>"
        "<w:del w:id='2' w:author='a'><w:r><w:delText>Warm milk</w:delText></w:r></w:del></w:p>"
    )
    control = f"<w:sdt><w:sdtContent>{paragraph('In a control')}</w:sdtContent></w:sdt>"
    table = f"<w:tbl><w:tr><w:tc>{paragraph('In a')}</w:tc><w:tc>{paragraph('table')}</w:tc></w:tr></w:tbl>"
    brief = read(write_docx(tmp_path / "draft.docx", paragraph("Milk"), changed, control, table))
    assert brief.text == "Cool oat milk\nIn a control\nIn a\ntable"


def _deep(path: Path) -> Path:
    return write_docx(path, "<w:ins>" * 3000 + "</w:ins>" * 3000)


def _many(path: Path) -> Path:
    return write_docx(path, "<w:r/>" * 500_000)


def _fields(path: Path) -> Path:
    return write_docx(path, "<w:p>", '<w:r><w:fldChar w:fldCharType="begin"/></w:r>' * 40_000, "</w:p>")


def _large(path: Path) -> Path:
    return write_docx(path, paragraph("milk " * 10_000_000))


def _growing(path: Path) -> Path:
    names = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "milk"}">' for n in range(12))
    return write_docx(path, paragraph("&e11;"), head=f"<!DOCTYPE w [{names}]>")


def _cut(path: Path) -> Path:
    return write(path, write_docx(path, paragraph("Milk")).read_bytes()[:-60])


def _text(path: Path) -> Path:
    return write(path, b"Milk")


def _other_zip(path: Path) -> Path:
    return write(path, zipped({"milk.txt": "Milk"}))


def _broken(path: Path) -> Path:
    return write_docx(path, "<w:p>")


@pytest.mark.parametrize("make", [_deep, _many, _fields, _large, _growing, _cut, _text, _other_zip, _broken])
def test_a_document_that_is_none_is_one_sentence(make: object, tmp_path: Path) -> None:
    """Bombs of any kind, cut and foreign files: refused in two seconds, with a remedy."""
    assert callable(make)
    path = make(tmp_path / "draft.docx")
    began = time.process_time()
    with pytest.raises(InputError, match="save it again as .docx"):
        read(path)
    assert time.process_time() - began < 2


def test_no_part_of_a_document_escapes_the_look(tmp_path: Path) -> None:
    """A document that keeps its text in a part by another name is refused, and that part is never unpacked."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    named = f'<Relationship Id="a" Type="{kind}" Target="word/a.png"/>'
    parts: dict[str, str | bytes] = {
        "_rels/.rels": f'<Relationships xmlns="{space}">{named}</Relationships>',
        "word/a.png": b"<a/>" * 25_000_000,
    }
    path = write(tmp_path / "draft.docx", zipped(parts))
    began = time.process_time()
    with pytest.raises(InputError, match="not a Word document"):
        read(path)
    assert time.process_time() - began < 2


# -- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["", "  \n", "?!", "-"])
def test_nothing_to_read_is_refused(given: str) -> None:
    """An empty text, white space, marks alone, an empty standard input: there are no words."""
    with pytest.raises(InputError, match="no words"):
        read(given, stdin=b"\xef\xbb\xbf \n")


def test_a_title_alone_will_do() -> None:
    """With --title the text may be empty."""
    assert read("", title="Milk") == Brief("Milk")


def test_a_file_that_is_not_there_is_no_title() -> None:
    """The name of a draft that does not exist is not taken for the page's title."""
    with pytest.raises(InputError, match=r"nix\.docx not found"):
        read("nix.docx")


@pytest.mark.parametrize("name", ["draft.pdf", "draft.doc", "draft"])
def test_another_kind_of_file_is_refused(name: str, tmp_path: Path) -> None:
    """What can't be read is named, with the formats that can."""
    with pytest.raises(InputError, match=r"Save the draft as \.docx, \.md, \.html or \.txt"):
        read(write(tmp_path / name, b"Milk"))


@pytest.mark.parametrize("content", [bytes(range(256)) * 20, b"PK\x03\x04....", b"%PDF-1.7"])
def test_a_binary_file_is_no_text(content: bytes, tmp_path: Path) -> None:
    """Whatever its name says."""
    with pytest.raises(InputError, match=r"not a draft\. Save"):
        read(write(tmp_path / "draft.txt", content))


def test_a_folder_is_no_draft(tmp_path: Path) -> None:
    """It is told from a file and from a text."""
    with pytest.raises(InputError, match="is a folder, not a draft"):
        read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes.")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """It would never end."""
    os.mkfifo(tmp_path / "draft.txt")
    with pytest.raises(InputError, match="a pipe or a device"):
        read(tmp_path / "draft.txt")


@pytest.mark.parametrize("by", ["file", "stdin"])
def test_fifty_megabytes_are_no_page(by: str, tmp_path: Path) -> None:
    """They are refused before they are read."""
    path = tmp_path / "draft.md"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(InputError, match="larger than 10,000,000 bytes"):
        read("-", stdin=path.read_bytes()) if by == "stdin" else read(path)


@pytest.mark.parametrize("name", ["draft.txt", "draft.md"])
def test_a_text_longer_than_any_page_is_cut(name: str, tmp_path: Path) -> None:
    """As a page's is, and that is told."""
    brief = read(write(tmp_path / name, b"Milk\n\n" + b"milk " * 300_000))
    assert len(brief.text) < 1_000_000 and "longer than 1,000,000 characters" in brief.remarks[0]
