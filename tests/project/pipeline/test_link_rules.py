"""A whole run obeys config/link_rules.csv: phrases that always or never link to a page, and preferred ones."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from internal_linker.model.errors import ConfigurationError
from internal_linker.project.check import check_project
from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.run import run
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import HEADER, SITE, write_csv, write_settings, write_text

HEAD = ("Phrase", "URL", "Mode", "Max pages", "Section")
FILLER = "Our shop opens at nine in the morning and closes late. "
OFFER = f"{SITE}/offer/"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a site with an offer that nothing else is like, and pages on green tea that mention a winter sale."""
    pages = [
        (OFFER, "Discounts", "Everything costs half of its price until the end of March."),
        (f"{SITE}/green/", "Green tea", "Green tea is steamed after the harvest. " + FILLER * 3),
        (f"{SITE}/black/", "Black tea", "Black tea is oxidised after the harvest. " + FILLER * 3),
    ]
    for number in range(4):
        text = (
            f"Many people drink green tea number {number} in the afternoon. {FILLER}"
            f"During the winter sale we ship it at once. {FILLER} Green tea leaves are steamed, not oxidised."
        )
        pages.append((f"{SITE}/{'blog' if number % 2 else 'shop'}/{number}/", f"Notes {number}", text))
    write_csv(tmp_path / "files/urls_rawdata.csv", [HEADER, *pages])
    write_settings(tmp_path, {"links_per_page": 3, "min_inlinks": 0})
    return tmp_path


def links(
    project: Path, *rules: tuple[str, ...], told: Told | None = None
) -> Mapping[tuple[str, str], dict[str, str]]:
    """Run by these rules, and return the rows of links.csv by source and target."""
    write_csv(project / "config/link_rules.csv", [HEAD, *rules])
    assert not run(open_project(project), RunOptions(), told or Told()).failure
    return {(row["Source"], row["Target"]): row for row in read_csv(project / "files/links.csv")}


def test_always_comes_first_wherever_the_phrase_stands(project: Path) -> None:
    found = links(project, ("Winter  sale", OFFER, "always", "", ""))
    ruled = {
        source: row for (source, target), row in found.items() if target == OFFER and row["Origin"] == "rule"
    }
    assert sorted(ruled) == [f"{SITE}/blog/1/", f"{SITE}/blog/3/", f"{SITE}/shop/0/", f"{SITE}/shop/2/"]
    for row in ruled.values():
        assert (row["Rank"], row["Anchor"]) == ("1", "winter sale")
        assert row["Why"].startswith("By a rule in config/link_rules.csv")


def test_always_keeps_to_its_section_and_number_of_pages(project: Path) -> None:
    def sources(*rule: str) -> list[str]:
        found = links(project, ("winter sale", OFFER, "always", *rule))
        return sorted(source for (source, target), row in found.items() if row["Origin"] == "rule")

    assert sources("", "/blog") == [f"{SITE}/blog/1/", f"{SITE}/blog/3/"]
    assert len(sources("3", "")) == 3
    assert sources("1", "/shop") == [f"{SITE}/shop/0/"]


def test_pages_that_link_already_count_for_the_number_of_pages(project: Path) -> None:
    linking = (f"{SITE}/shop/2/", OFFER, "winter sale")
    write_csv(project / "files/existing_links.csv", [("Source", "Destination", "Anchor"), linking])
    found = links(project, ("winter sale", OFFER, "always", "2", ""))
    assert len([row for row in found.values() if row["Origin"] == "rule"]) == 1


def test_never_applies_to_the_links_of_earlier_runs_too(project: Path) -> None:
    green = f"{SITE}/green/"

    def wordings(*rules: tuple[str, ...]) -> set[str]:
        return {row["Anchor"] for (_, target), row in links(project, *rules).items() if target == green}

    assert "green tea" in {words.casefold() for words in wordings()}
    found = wordings(("green tea", green, "never", "", ""))
    assert found and "green tea" not in {words.casefold() for words in found}
    found = wordings(("green tea", "", "never", "", "/blog"))
    assert "green tea" in {words.casefold() for words in found}


def test_a_rule_for_an_unknown_page_is_named_and_left_out(project: Path) -> None:
    told = Told()
    found = links(project, ("winter sale", f"{SITE}/ofer/", "always", "", ""), told=told)
    assert found and all(row["Origin"] != "rule" for row in found.values())
    (warning,) = [text for text in told.warnings if "link_rules.csv" in text]
    assert warning.startswith(f"config/link_rules.csv, row 2 is left out: {SITE}/ofer/ is neither in")
    assert "Did you mean" in warning


def test_rules_without_effect_are_named(project: Path) -> None:
    """Nobody waits for links that never come: excluded pages, phrases outside body texts, sections without a page."""
    write_text(project / "config/excluded_urls.txt", "/black/\n")
    told = Told()
    links(
        project,
        ("black tea", "/black/?utm_source=mail", "prefer", "", ""),
        ("WINTER SALE", f"{OFFER}?utm_source=mail#top", "always", "2", "/shop"),
        ("winter sale", OFFER, "always", "2", "/blgo"),
        ("Notes", OFFER, "always", "", ""),
        told=told,
    )
    assert [
        text.removeprefix("config/link_rules.csv, ") for text in told.warnings if "link_rules" in text
    ] == [
        "row 4: no page is in /blgo. The largest sections are / (3), /blog (2), /shop (2).",
        f"row 2 has no effect: no link may lead to {SITE}/black (excluded by /black/).",
        "row 4 has no effect: no page that may link has 'winter sale' in its body text.",
        "row 5 has no effect: no page that may link has 'Notes' in its body text.",
    ]


def test_the_limit_of_new_links_holds_for_rules(project: Path) -> None:
    write_settings(project, {"links_per_page": 3, "min_inlinks": 0, "max_new_inlinks": 2})
    found = links(project, ("winter sale", OFFER, "always", "", ""))
    assert len([row for row in found.values() if row["Origin"] == "rule"]) == 2


def test_a_page_gets_as_many_links_as_its_goal_says(project: Path) -> None:
    assert sum(target == OFFER for _, target in links(project)) > 2
    write_csv(
        project / "config/link_targets.csv",
        [("URL", "Least", "Most"), ("/offer/", "1", "2"), ("/x/", "1", "")],
    )
    told = Told()
    assert sum(target == OFFER for _, target in links(project, told=told)) == 2
    (warning,) = [text for text in told.warnings if "link_targets.csv" in text]
    assert warning.startswith("config/link_targets.csv, row 3 is left out: /x/ is neither in")


def test_a_check_counts_the_rules_and_names_wrong_rows(project: Path) -> None:
    def said() -> tuple[bool | None, str]:
        return next(
            (fact.ok, fact.text) for fact in check_project(project) if fact.name == "Rules of the house"
        )

    write_csv(project / "config/link_rules.csv", [HEAD, ("tea", "/green/", "never", "", "")])
    assert said() == (True, "1 rule for links and 0 goals of pages in config/")
    write_csv(project / "config/link_rules.csv", [HEAD, ("tea", "/green/", "nevr", "", "")])
    assert said() == (False, "config/link_rules.csv, row 2: Mode is 'nevr'. Write always, never or prefer.")
    with pytest.raises(ConfigurationError, match="row 2"):
        run(open_project(project), RunOptions(), Told())
