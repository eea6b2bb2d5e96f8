"""Looking up collected records by their keys."""

from tests.support.builders import collected, page, source, url


def test_keys_lead_to_rows_and_pages() -> None:
    """Each key gives its page's index and the page; an unlisted key gives none."""
    site = collected([page("a"), page("b")])
    assert site.rows == {url("a"): 0, url("b"): 1}
    assert site.page(url("b")) is site.find(url("b")) is site.pages[1]
    assert site.find(url("c")) is None


def test_a_page_is_asked_for_by_its_first_query() -> None:
    """A page's query is that of its first row with one; a query without a URL belongs to no page."""
    rows = [source("a"), source("a", "tea"), source("a", "coffee"), source("", "milk")]
    assert collected([page("a")], sources=rows).queries == {url("a"): "tea"}
