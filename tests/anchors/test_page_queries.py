"""Search queries by which people find a page are names of it, which its title and URL lack."""

from collections.abc import Sequence

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.model.edges import Anchor
from tests.support.builders import collected, page, url

SOURCE, TARGET = url("source"), url("target")
QUERY = "clean the kettle with vinegar"
TEXT = f"Welcome to our shop in town. Put the pot on the table. Once a month we {QUERY}, and rinse it."


def anchoring(*queries: str, others: Sequence[str] = ("Something else",), text: str = TEXT) -> Anchoring:
    """Return what finds anchors on a site in which people find the target by these queries."""
    target = page("target", "White crusts come off with an acid. Rinse twice.", title="White crusts")
    more = [page(f"other{number}", f"{title} is here.", title=title) for number, title in enumerate(others)]
    site = collected([page("source", text, title="Our shop"), target, *more])
    return Anchoring(CountedSite(site, page_queries=lambda _: {TARGET: queries} if queries else {}))


def proposed(site: Anchoring) -> list[tuple[str, bool]]:
    """Return the words in the text for the link to the target, and whether they are a query."""
    (found,) = site.propose(SOURCE, [TARGET])
    return [(each.text, each.is_query) for each in found if each.verbatim]


def test_a_query_is_a_place_that_no_other_name_finds() -> None:
    assert proposed(anchoring()) == []
    assert proposed(anchoring(QUERY)) == [(QUERY, True)]


def test_a_query_that_says_no_more_than_the_title_is_no_news() -> None:
    text = "Welcome to our shop in town. Put the pot on the table. Nobody likes white crusts in it."
    assert proposed(anchoring("white crusts", text=text)) == [("white crusts", False)]


def test_the_name_of_another_page_stays_its_own() -> None:
    """Whatever people click, words that are another page's title lead to that page."""
    assert proposed(anchoring(QUERY, others=["Clean the kettle with vinegar"])) == []


def test_a_link_without_a_place_is_looked_at_again_when_its_text_has_a_query() -> None:
    title, words = (Anchor("White crusts", verbatim=False),), (Anchor("the pot"),)
    assert anchoring().obeys(SOURCE, TARGET, title)
    assert anchoring("limescale").obeys(SOURCE, TARGET, title)
    assert not anchoring(QUERY).obeys(SOURCE, TARGET, title)
    assert anchoring(QUERY).obeys(SOURCE, TARGET, words)
