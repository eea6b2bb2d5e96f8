"""The rows of the review: the order in which editors see links, and the anchor's place in its sentence."""

import pytest

from internal_linker.model.edges import Edge, Status, Tier
from internal_linker.model.evidence import Evidence
from internal_linker.review.rows import anchor_span, by_page


def edge(
    name: str, strength: float, status: Status = "proposed", *, tier: Tier = "review", reservation: int = 0
) -> Edge:
    """Return a link named by the last letters of its pages, such as "ab".

    Args:
        reservation: the place in `evidence.RESERVATIONS`.
    """
    source, target = (f"https://shop.com/{letter}" for letter in name)
    evidence = Evidence(last_resort=reservation)
    return Edge(
        source, target, source, target, strength=strength, status=status, tier=tier, evidence=evidence
    )


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


def test_links_in_the_text_come_first_and_those_of_poor_pages_last() -> None:
    """The related box is a list of its own, behind all links in the text, whatever its pages have there."""
    edges = [
        edge("ax", 0.3, tier="sidebar"),
        edge("ay", 0.4, tier="inline"),
        edge("az", 0.5, "accepted", tier="inline"),
        edge("bx", 0.2, tier="review"),
        edge("dy", 0.9, tier="inline", reservation=2),
        edge("dz", 0.31, tier="sidebar", reservation=2),
        edge("cx", 0.6, tier="inline", reservation=1),
        edge("cy", 0.32, tier="sidebar", reservation=3),
    ]
    names = [one.source[-1] + one.target[-1] for one in by_page(edges)]
    assert names == ["cx", "ay", "az", "dy", "cy", "ax", "bx", "dz"]


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
