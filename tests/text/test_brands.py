"""Brands at the end of titles: found if most titles have them, and removed without touching anything else."""

import pytest

from internal_linker.text.brands import found_brands, without_brands


@pytest.mark.parametrize("sign", [" | ", " - ", " – ", " — ", " · ", "| ", " : ", " » "])
def test_a_part_that_most_titles_end_in_is_the_brand(sign: str) -> None:
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


def test_a_site_may_have_two_brands() -> None:
    forum = [f"Question {number} | Physics Forums" for number in range(30)]
    insights = [f"Essay {number} | PF Insights" for number in range(8)]
    plain = ["Imprint", "Rules"]
    assert found_brands([*forum, *insights, *plain]) == ["Physics Forums", "PF Insights"]
    found = found_brands([*forum, *(f"{title} | Physics Forums" for title in insights)])
    assert found == ["Physics Forums", "PF Insights"]
    assert without_brands("Essay 1 | PF Insights | Physics Forums", found) == "Essay 1"


def test_a_topic_is_no_brand() -> None:
    titles = [f"Drink {number} - Cold brew" for number in range(8)]
    others = ["Cold brew at home", "A jar for cold brew", *(f"Bean {number}" for number in range(20))]
    assert found_brands([*titles, *others]) == []


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
    kept = [without_brands(title, found_brands(titles)) for title in titles]
    assert kept == titles


def test_a_brand_in_another_script_is_found() -> None:
    assert found_brands([f"{name} | کتری آرام" for name in ("قهوه", "شیر", "آب")]) == ["کتری آرام"]
    assert found_brands([f"{name}｜静かなケトル" for name in ("珈琲", "牛乳", "水")]) == ["静かなケトル"]
