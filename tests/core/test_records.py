"""What was collected is found by its keys."""

from tests.support.builders import collected, page, source, url


def test_keys_lead_to_rows_and_pages() -> None:
    """Each key gives the number of its page, and the page; one that is not listed gives none."""
    site = collected([page("a"), page("b")])
    assert site.rows == {url("a"): 0, url("b"): 1}
    assert site.page(url("b")) is site.find(url("b")) is site.pages[1]
    assert site.find(url("c")) is None


def test_a_page_is_asked_for_by_its_first_query() -> None:
    """Of several main queries the first row's counts; a query without a URL is nobody's."""
    rows = [source("a"), source("a", "tea"), source("a", "coffee"), source("", "milk")]
    assert collected([page("a")], sources=rows).queries == {url("a"): "tea"}
