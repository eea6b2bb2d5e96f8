"""Brands at the end of titles: found where most titles have them, taken off, and nothing else."""

import pytest

from internal_linker.analysis.similarity.brands import found_brands, without_brands


@pytest.mark.parametrize("sign", [" | ", " - ", " – ", " — ", " · ", "| ", " : ", " » "])
def test_a_part_that_most_titles_end_in_is_the_brand(sign: str) -> None:
    """Whatever parts it from the title, and however it is capitalised."""
    titles = [f"Cold brew{sign}Slow Kettle", f"Chemex{sign}Slow Kettle", f"Milk{sign}SLOW  KETTLE", "Imprint"]
    assert found_brands(titles) == ["Slow Kettle"]
    assert [without_brands(title, ["Slow Kettle"]) for title in titles] == [
        "Cold brew",
        "Chemex",
        "Milk",
        "Imprint",
    ]


def test_several_brands_go_from_the_outside_in() -> None:
    """A section's name before the brand goes too, where most titles have it; else it stays."""
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
        ["One | Shop", "Two | Shop"],  # two titles are a chance meeting
        ["One | A", "Two | B", "Three | C"],
        [],
        ["", "", ""],
        ["| Slow Kettle", "| Slow Kettle", "| Slow Kettle"],
    ],
)
def test_what_is_no_brand_stays(titles: list[str]) -> None:
    """Hyphens in words, ends that differ, few titles, none at all, and titles that are nothing but a brand."""
    kept = [without_brands(title, found_brands(titles)) for title in titles]
    assert kept == titles


def test_a_brand_in_another_script_is_found() -> None:
    """Right-to-left titles end in it, too; so does a full-width bar."""
    assert found_brands([f"{name} | کتری آرام" for name in ("قهوه", "شیر", "آب")]) == ["کتری آرام"]
    assert found_brands([f"{name}｜静かなケトル" for name in ("珈琲", "牛乳", "水")]) == ["静かなケトル"]
