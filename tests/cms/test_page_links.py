"""Links of a page are put into its text up to a limit, the most wanted first."""

from internal_linker.cms.insertion import Held, PlacedLink, Placement, Refusal, place_links

TEXT = "Green tea likes soft water.\n\nA clay pot keeps it warm.\n\nA dark tin keeps it fresh.\n"


def wanted(*anchors: str) -> list[tuple[str, Placement]]:
    """Return a link for each anchor, whose id is the anchor."""
    links = []
    for anchor in anchors:
        href = f"/{anchor.replace(' ', '-')}/"
        links.append((anchor, Placement(f"https://a.example{href}", href, anchor, "", href.__eq__)))
    return links


def test_lines_are_those_of_the_new_text() -> None:
    """Each link tells the line on which it stands in the end, whatever the order in which they were put in."""
    placed = place_links(TEXT, "markdown", wanted("dark tin", "soft water", "clay pot"), most=3)
    assert [(link.id, link.line) for link in placed.links] == [
        ("dark tin", 5),
        ("soft water", 1),
        ("clay pot", 3),
    ]
    assert placed.text == (
        "Green tea likes [soft water](/soft-water/).\n\nA [clay pot](/clay-pot/) keeps it warm.\n\n"
        "A [dark tin](/dark-tin/) keeps it fresh.\n"
    )


def test_the_limit_holds() -> None:
    """A page gets no more links than the limit; one that can't be placed leaves its place to the next."""
    placed = place_links(TEXT, "markdown", wanted("rain water", "clay pot", "dark tin"), most=1)
    assert [link.refusal for link in placed.links] == [Refusal.NO_ANCHOR, None, Held.FULL]
    assert placed.text.count("](") == 1


def test_links_that_still_stand_in_the_text_count() -> None:
    """Of links that were applied earlier, those that are still there count, wherever they are in the order."""
    text = TEXT.replace("dark tin", "[dark tin](/dark-tin/)")
    links = wanted("clay pot", "dark tin")
    assert [
        link.refusal for link in place_links(text, "markdown", links, most=1, applied={"dark tin"}).links
    ] == [
        Held.FULL,
        Refusal.LINKED,
    ]
    # One that somebody linked by hand is no link of ours.
    assert place_links(text, "markdown", links, most=1).links[0] == PlacedLink("clay pot", None, 3)
    removed = place_links(TEXT, "markdown", links, most=1, applied={"dark tin"})
    assert [link.refusal for link in removed.links] == [Held.FULL, None]
