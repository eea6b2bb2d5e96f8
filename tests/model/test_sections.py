"""Sections of a site by their paths."""

import re

import pytest

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.sections import NamedSections, Sections, chosen, section_of, verify


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("/blog", ["/blog", "/blog/a", "/blog/a?p=1"], ["/blogs", "/", "/en/blog"]),
        ("blog/", ["/blog", "/blog/a"], ["/blogs"]),
        ("/", ["/", "/a", "/a/b"], []),
        ("/*/medical/*", ["/en/medical/a", "/en/x/medical/a/b"], ["/medical/a", "/en/medical"]),
        ("/a*", ["/a", "/about"], ["/b/a"]),
        ("/kaffee und/müll", ["/kaffee%20und/m%C3%BCll/a"], ["/kaffee"]),
        ("/%d9%85", ["/%D9%85/a"], []),
    ],
)
def test_a_part_holds_what_lies_in_it(pattern: str, inside: list[str], outside: list[str]) -> None:
    part = Sections([pattern])
    assert [path for path in (*inside, *outside) if part.hold(f"https://a.example{path}")] == inside


def test_a_query_is_in_no_part() -> None:
    """A query belongs to no section, even if it looks like a path; without sections nothing belongs to one."""
    assert not Sections(["/", "/*"]).hold("/blog and more")
    assert not Sections([]) and not Sections([]).hold("https://a.example/")
    assert Sections(["/a"])


@pytest.mark.parametrize(
    ("key", "section"),
    [
        ("https://a.example/", "/"),
        ("https://a.example/page", "/"),
        ("https://a.example/blog/a/b", "/blog"),
        ("https://a.example/blog/a?x=/y/z", "/blog"),
        ("how to steam milk", ""),
    ],
)
def test_a_section_is_the_first_folder(key: str, section: str) -> None:
    """A page's section is its first folder; pages at the root are a section of their own."""
    assert section_of(key) == section


def test_flags_choose_some_sections_and_all_but_some() -> None:
    """A path stands for itself, with or without a slash; "=off" leaves it out; a query is in no section."""
    some = chosen(["blog", "/shop=off"])
    assert some and not chosen([])
    paths = ["/blog/a", "/shop/a", "/x"]
    assert [path for path in paths if some.hold(f"https://a.example{path}")] == ["/blog/a"]
    rest = chosen(["/shop=off"])
    assert [path for path in paths if rest.hold(f"https://a.example{path}")] == ["/blog/a", "/x"]
    assert rest.hold("green tea") and not some.hold("green tea")
    assert (str(some), str(rest)) == ("/blog but /shop", "all but /shop")


KEYS = [f"https://a.example{path}" for path in ("/blog/a", "/blog/b", "/m%C3%BCll/a", "/")]


def test_a_section_without_a_page_is_named_as_it_was_written() -> None:
    """An option needs a page in each section, some settings in one of them; others only warn. No pages, no check."""
    both = Sections(["/blog", "/öl"])
    sentence = "--x: no page is in /öl. The largest sections are /blog (2), / (1), /müll (1)."
    with pytest.raises(ConfigurationError, match=re.escape(sentence)):
        verify([NamedSections("--x", both)], KEYS)
    told: list[str] = []
    verify([NamedSections("x", both, "one"), NamedSections("y", Sections(["öl"]), "none")], KEYS, told.append)
    assert told == [sentence.removeprefix("--"), sentence.removeprefix("--").replace("x:", "y:")]
    with pytest.raises(ConfigurationError, match="x: no page is in /öl"):
        verify([NamedSections("x", Sections(["/öl"]), "one")], KEYS)
    verify([NamedSections("--x", both), NamedSections("--y", Sections())], [])
    verify([NamedSections("--x", Sections(["/blog", "/müll"]))], KEYS)
