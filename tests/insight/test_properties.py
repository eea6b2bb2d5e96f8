"""Properties are named as Search Console spells them, and tell which URLs are theirs."""

import pytest

from internal_linker.insight.page_keys import holds, property_of


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("sc-domain:A.example", "sc-domain:a.example"),
        ("SC-Domain:a.example/", "sc-domain:a.example"),
        ("https://www.A.example", "https://www.a.example/"),
        (" http://a.example/Blog/ ", "http://a.example/Blog/"),
    ],
)
def test_a_property_is_spelt_as_search_console_does(given: str, meant: str) -> None:
    assert property_of(given) == meant


@pytest.mark.parametrize("given", ["www.a.example", "a.example/blog", "ftp://a.example/", "sc-domain:", ""])
def test_anything_else_is_told_with_both_spellings(given: str) -> None:
    with pytest.raises(
        ValueError, match="sc-domain:.+ for a domain property, or https://.+/ for a URL prefix"
    ):
        property_of(given)


@pytest.mark.parametrize(
    ("property_", "url", "inside"),
    [
        ("sc-domain:a.example", "https://blog.a.example/x", True),
        ("sc-domain:a.example", "http://www.a.example/", True),
        ("sc-domain:a.example", "https://aa.example/", False),
        ("https://www.a.example/", "http://a.example/x?y=1", True),
        ("https://www.a.example/", "https://blog.a.example/", False),
        ("https://a.example/blog/", "https://a.example/blog", True),
        ("https://a.example/blog/", "https://a.example/blogs/x", False),
        ("https://a.example/blog/", "android-app://a.example/blog/", False),
    ],
)
def test_a_property_knows_its_urls(property_: str, url: str, inside: bool) -> None:
    """Domain properties have subdomains, URL prefixes have not."""
    assert holds(property_, url) is inside
