"""Brands at the end of titles: found if most titles have them, and removed without touching anything else."""

import pytest

from internal_linker.analysis.similarity.brands import found_brands, without_brands


@pytest.mark.parametrize("sign", [" | ", " - ", " – ", " — ", " · ", "| ", " : ", " » "])
def test_a_part_that_most_titles_end_in_is_the_brand(sign: str) -> None:
    """The part that most titles end in is the brand, with any separator and capitalisation."""
    titles = [f"Cold brew{sign}Slow Kettle", f"Chemex{sign}Slow Kettle", f"Milk{sign}SLOW  KETTLE", "Imprint"]
    assert found_brands(titles) == ["Slow Kettle"]
    assert [without_brands(title, ["Slow Kettle"]) for title in titles] == [
        "Cold brew",
        "Chemex",
        "Milk",
        "Imprint",
    ]


def test_several_brands_go_from_the_outside_in() -> None:
    """A section name before the brand is removed too if most titles have it; otherwise it stays."""
    titles = [f"{name} | Blog | Slow Kettle" for name in ("Cold brew", "Chemex", "Milk")] + [
        "Shop | Slow Kettle"
    ]
    assert found_brands(titles) == ["Slow Kettle", "Blog"]
    assert without_brands(titles[0], ["Slow Kettle", "Blog"]) == "Cold brew"
    assert found_brands([f"{name} | {name} tips | Slow Kettle" for name in "abc"]) == ["Slow Kettle"]


@pytest.mark.parametrize(
    "titles",
    [
        ["Cold brew", "Chemex", "Milk"],
        ["Drip-coffee", "Pour-coffee", "Filter-coffee"],
        ["One | Shop", "Two | Shop"],  # two titles may match by chance
        ["One | A", "Two | B", "Three | C"],
        [],
        ["", "", ""],
        ["| Slow Kettle", "| Slow Kettle", "| Slow Kettle"],
    ],
)
def test_what_is_no_brand_stays(titles: list[str]) -> None:
    """Hyphenated words, differing endings, few or no titles, and titles that consist of a brand stay unchanged."""
    kept = [without_brands(title, found_brands(titles)) for title in titles]
    assert kept == titles


def test_a_brand_in_another_script_is_found() -> None:
    """A brand is found in right-to-left titles and after a full-width bar."""
    assert found_brands([f"{name} | کتری آرام" for name in ("قهوه", "شیر", "آب")]) == ["کتری آرام"]
    assert found_brands([f"{name}｜静かなケトル" for name in ("珈琲", "牛乳", "水")]) == ["静かなケトル"]
