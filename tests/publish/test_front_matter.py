"""Front matter is read in all three notations, and what cannot be read is named with its line."""

import pytest

from internal_linker.publish.front_matter import MOST, parse_front_matter, read_front_matter


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\ntitle: A b\ndate: 2026-01-31\nslug: 12\n---\nBody", "Body"),
        ("---\r\ntitle: A b\r\ndate: 2026-01-31\r\nslug: '12'\r\n---\r\nBody", "Body"),
        ("---  \ntitle: A b\ndate: 2026-01-31\nslug: 12\n...\nBody", "Body"),
        ('+++\ntitle = "A b"\ndate = 2026-01-31\nslug = 12\n+++\nBody', "Body"),
        ('{"title": "A b", "date": "2026-01-31", "slug": 12}\nBody', "\nBody"),
        ('---json\n{"title": "A b", "date": "2026-01-31", "slug": 12}\n---\nBody', "Body"),
    ],
)
def test_notations(text: str, body: str) -> None:
    found = read_front_matter(text)
    assert [found.text(name) for name in ("title", "date", "slug", "no")] == ["A b", "2026-01-31", "12", ""]
    assert text[found.end :] == body
    assert not found.problem


@pytest.mark.parametrize(
    "text", ["", "Text", "---", "---\nA rule and no end", "{{< note >}}", "{a}", "----\na: b\n----\n"]
)
def test_texts_without_front_matter(text: str) -> None:
    found = read_front_matter(text)
    assert (dict(found.values), found.end, found.problem) == ({}, 0, "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\ntitle: A\nb: [1\n---\nBody", "line 4: "),
        ("---\ntitle: A: b\n---\nBody", "line 2: "),
        ('+++\ntitle = "A"\nb = \n+++\nBody', "line 3: "),
        ("---json\n{\n1}\n---\nBody", "line 3: "),
        ("---\n- a\n---\nBody", "line 2: not a mapping"),
        ("---js\n{}\n---\nBody", "line 1: front matter in js"),
        (f"---\na: {'b' * MOST}\n---\nBody", "line 2: longer than"),
    ],
)
def test_broken_front_matter_names_its_line(text: str, line: str) -> None:
    found = read_front_matter(text)
    assert found.problem.startswith(line), found.problem
    assert text[found.end :] == "Body"


@pytest.mark.parametrize("kind", ["yaml", "toml", "json"])
@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "a: &a [b]\nc: *d",
        "a: !!python/object/apply:os.system [ls]",
        "\x00",
        "a: " + "{" * 9_000,
    ],
)
def test_hostile_values_do_no_harm(kind: str, text: str) -> None:
    values, problem = parse_front_matter(text, kind)
    assert isinstance(values, dict)
    assert problem or values == {"a": ["ls"]}


def test_null_is_no_text() -> None:
    """A value of null, a list or a mapping has no text; a list has its texts, a text its words."""
    found = read_front_matter("---\na: null\nb: ~\nc: [x, y z]\nd: {e: f}\ng: h i\ntoc: true\n---\n")
    assert [found.text(name) for name in "abcd"] == [""] * 4
    assert (found.texts("c"), found.texts("g"), found.text("toc")) == (["x", "y z"], ["h", "i"], "true")
