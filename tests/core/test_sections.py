"""Sections of a site by their paths."""

import pytest

from internal_linker.core.sections import Sections, section_of


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("/blog", ["/blog", "/blog/a", "/blog/a?p=1"], ["/blogs", "/", "/en/blog"]),
        ("blog/", ["/blog", "/blog/a"], ["/blogs"]),
        ("/", ["/", "/a", "/a/b"], []),
        ("/*/medical/*", ["/en/medical/a", "/en/x/medical/a/b"], ["/medical/a", "/en/medical"]),
        ("/a*", ["/a", "/about"], ["/b/a"]),
    ],
)
def test_a_part_holds_what_lies_in_it(pattern: str, inside: list[str], outside: list[str]) -> None:
    """A section is a folder with everything below it, or a pattern of the whole path."""
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
