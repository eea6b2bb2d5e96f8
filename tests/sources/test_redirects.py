"""Pages that redirect, duplicate another page or contain HTML, and the links to them."""

import pytest

from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.sources.collect import collect
from tests.support.builders import pages_table, url

A, B, C, D = url("a"), url("b"), url("c"), url("d")
HEADER = ("URL", "Main Content", "Status Code", "Redirect URL", "Canonical", "Indexability")


def site(*rows: tuple[str, ...]) -> Collected:
    """Collect the pages of a table with the columns of HEADER; short rows are padded with empty cells."""
    return collect(None, pages_table(*rows, header=HEADER), queries_in_sheet=False)


def reasons(found: Collected) -> dict[str, str]:
    return {page.key: str(page.issue or "") for page in found.pages}


@pytest.mark.parametrize(
    ("status", "redirect", "reason", "alias"),
    [
        ("301", B, "status 301", B),
        ("", B, "redirects to another page", B),
        ("200", "/b", "redirects to another page", B),
        ("301", "", "status 301", None),
        ("301", A + "/", "status 301", None),
        ("200", A + "/?utm_source=x", "", None),
        *[("200", text, "", None) for text in ("-", "no", "n/a", "0")],
        ("", "https://not a url", "its redirect is not a URL", None),
        ("", "https://o.example/x", "redirects to another page", "https://o.example/x"),
    ],
)
def test_a_page_that_redirects_is_no_target(
    status: str, redirect: str, reason: str, alias: str | None
) -> None:
    """A page with an absolute or relative redirect to another page isn't a target; the reason names a known status."""
    found = site((A, "text", status, redirect))
    assert reasons(found) == {A: reason}
    assert found.aliases == ({A: alias} if alias else {})


@pytest.mark.parametrize("name", ["Redirect URL", "redirect_uri", "Umleitungs-URL", "URL de redirección"])
def test_a_redirect_column_is_found_by_its_names(name: str) -> None:
    found = collect(None, pages_table([A, "x", B], header=("URL", "Text", name)), queries_in_sheet=False)
    assert found.aliases == {A: B}


def test_a_copy_leads_to_its_canonical() -> None:
    """A page with another canonical is an alias and gets that reason, though crawlers also mark it "not indexable"."""
    found = site((A, "text", "200", "", B, "Non-Indexable"), (B, "text", "200", "", B, "Non-Indexable"))
    assert reasons(found) == {A: "canonicalised to another page", B: "not indexable"}
    assert found.aliases == {A: B}


def test_an_error_page_leads_nowhere() -> None:
    found = site((A, "text", "404", "", B), (C, "text", "301", D, B))
    assert found.aliases == {C: D}


def test_chains_are_followed_to_their_end() -> None:
    rows = [(A, "", "301", B), (C, "", "200", "", D), (B, "", "302", C), (D, "text", "200")]
    for order in (rows, rows[::-1]):
        assert site(*order).aliases == {A: D, B: D, C: D}


def test_a_circle_leads_nowhere() -> None:
    """A redirect loop, and every chain into it, resolves to no page; other chains still resolve."""
    found = site((A, "", "301", B), (B, "", "301", C), (C, "", "301", B), (D, "", "301", url("e")))
    assert found.aliases == {D: url("e")}


def test_a_long_chain_is_followed() -> None:
    rows = [(url(n), "", "301", url(n + 1)) for n in range(1_500)]
    for order in (rows, rows[::-1]):
        assert set(site(*order).aliases.values()) == {url(1_500)}


def test_a_page_that_answers_leads_nowhere_though_another_row_redirects() -> None:
    """If /a redirects in one row and answers with 200 in another, the answering page counts."""
    found = site((A, "", "302", B), (A + "/", "text", "200"))
    assert (reasons(found), found.aliases) == ({A: ""}, {})


def test_content_in_html_becomes_text_and_links() -> None:
    """HTML content becomes text; page links are resolved, also through redirects, and other links are dropped."""
    html = (
        '<p>Green <a href="../b/?utm_source=x">black tea</a>, <a href="//shop.example/old" rel="nofollow">'
        'pots</a></p><a href="#top">top</a> <a href="mailto:x@y.example">m</a> <a href="tel:1">t</a>'
        ' <a href="javascript:void(0)">j</a> <a href="http://[x">broken</a> <a href="">self</a>'
        ' <a href="https://o.example/">other</a>'
    )
    found = site((url("a/"), html), (url("old"), "", "301", C))
    page, words = found.pages[0], "black tea|pots|top|m|t|j|broken|self|other"
    assert page == Page(
        A, url("a/"), content="Green black tea, pots\ntop m t j broken self other", taken=page.taken
    )
    text, ends = str(page.content), zip(page.taken[::2], page.taken[1::2], strict=True)
    assert "|".join(text[start:end] for start, end in ends) == words
    assert found.links == (
        ExistingLink(A, B, "black tea"),
        ExistingLink(A, C, "pots", followed=False),
        ExistingLink(A, "https://o.example/", "other"),
    )


def test_plain_text_stays_as_it_is() -> None:
    """A plain text with characters like those of HTML stays unchanged."""
    text = "1 < 2 &amp; 3 > 2\n  <title> is a tag"
    found = site((A, text))
    assert (found.pages[0].content, found.links) == (text, ())


def test_an_own_redirect_is_followed_for_links_of_the_page_itself() -> None:
    """A link to a URL that redirects back to the linking page doesn't count as a link."""
    found = site((A, '<a href="/old">x</a>'), (url("old"), "", "301", A))
    assert found.links == ()
