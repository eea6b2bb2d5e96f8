"""The rows of the review: the order in which editors see links, and the anchor's place in its sentence."""

import pytest

from internal_linker.core.edges import Edge, Status
from internal_linker.review.rows import anchor_span, by_page


def edge(name: str, strength: float, status: Status = "proposed") -> Edge:
    """Return a link named by the last letters of its pages, such as "ab"."""
    source, target = (f"https://shop.com/{letter}" for letter in name)
    return Edge(source, target, source, target, strength=strength, status=status)


def test_pages_with_strong_waiting_links_come_first() -> None:
    """Pages come by their strongest waiting link; of a page, waiting links before decided ones, strong ones first."""
    edges = [
        edge("ab", 0.5),
        edge("ac", 0.99, "accepted"),
        edge("ad", 0.7),
        edge("bc", 0.4),
        edge("bd", 0.8),
        edge("ca", 0.95, "rejected"),
        edge("da", float("nan")),
    ]
    names = [one.source[-1] + one.target[-1] for one in by_page(edges)]
    assert names == ["bd", "bc", "ad", "ab", "ac", "da", "ca"]


@pytest.mark.parametrize(
    ("sentence", "anchor", "found"),
    [
        ("part of the art", "art", (12, 15)),
        ("smart", "art", (2, 5)),
        ("我喜欢绿茶和咖啡", "绿茶", (3, 5)),
        ("green tea", "green tea", (0, 9)),
        ("green tea", "kettle", None),
        ("green tea", "", None),
    ],
)
def test_the_anchor_is_found_in_its_sentence(
    sentence: str, anchor: str, found: tuple[int, int] | None
) -> None:
    """Whole words count before parts of words; scripts without spaces have no such bounds."""
    assert anchor_span(sentence, anchor) == found
