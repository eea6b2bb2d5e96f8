"""config/link_rules.csv: right rows become rules, and every wrong one is named with what to write instead."""

from pathlib import Path

import pytest

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.house_rules import LinkRule, TargetGoal
from internal_linker.project.settings.link_rules import goals_of, read_table, rules_of

HEAD = "Phrase;URL;Mode;Max pages;Section"


def rules(folder: Path, *rows: str, head: str = HEAD) -> tuple[LinkRule, ...]:
    path = folder / "link_rules.csv"
    path.write_text("\n".join([head, *rows]), "utf-8-sig")
    return rules_of(read_table(path))


def test_rows_become_rules(tmp_path: Path) -> None:
    assert rules_of(read_table(tmp_path / "link_rules.csv")) == ()
    found = rules(tmp_path, "green  tea;/tea/;Always;3;/blog", "", "click here;;never;;", "té;/te/;prefer")
    assert found == (
        LinkRule(2, "green tea", "/tea/", "always", 3, "/blog"),
        LinkRule(4, "click here", "", "never"),
        LinkRule(5, "té", "/te/", "prefer"),
    )
    assert rules(tmp_path, "tea,always,/tea/", head="phrase,MODE,url") == (
        LinkRule(2, "tea", "/tea/", "always"),
    )


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("tea;/tea/;allways;;", "row 3: Mode is 'allways'. Write always, never or prefer."),
        (";/tea/;never;;", "row 3: Phrase is empty. Write the words of the link."),
        ("tea;;prefer;;", "row 3: URL is empty. Write the page that 'tea' links to; only never needs none."),
        (
            "tea;/tea/;always;-2;",
            "row 3: Max pages is '-2'. Write a whole number from 1, or nothing for all pages.",
        ),
        (
            "tea;/tea/;always;0;",
            "row 3: Max pages is '0'. Write a whole number from 1, or nothing for all pages.",
        ),
        ("tea;/tea/;prefer;2;", "row 3: Max pages is '2', but only always has a limit. Empty the cell."),
    ],
)
def test_wrong_rows_are_named(tmp_path: Path, row: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        rules(tmp_path, "coffee;/coffee/;always;;", row)
    assert str(error.value) == f"config/link_rules.csv, {problem}"


def test_a_table_without_a_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match="config/link_rules.csv: the header row has no column 'Mode'"
    ):
        rules(tmp_path, "tea;/tea/", head="Phrase;URL")


def test_only_some_wrong_rows_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"row 6: .* 2 more rows are wrong\.$"):
        rules(tmp_path, *["tea;/tea/;x"] * 7)


def test_a_rule_binds_links_of_its_section_to_its_page() -> None:
    rule = LinkRule(2, "Green tea", "https://a.example/tea", "never", section="/blog")
    assert rule.binds("https://a.example/blog/1", "https://a.example/tea")
    assert not rule.binds("https://a.example/shop/1", "https://a.example/tea")
    assert not rule.binds("https://a.example/blog/1", "https://a.example/other")


def goals(folder: Path, *rows: str) -> tuple[TargetGoal, ...]:
    path = folder / "link_targets.csv"
    path.write_text("\n".join(["URL,Least,Most", *rows]), "utf-8")
    return goals_of(read_table(path))


def test_rows_become_goals(tmp_path: Path) -> None:
    assert goals_of(read_table(tmp_path / "link_targets.csv")) == ()
    assert goals(tmp_path, "/tea/,3,8", "/pots/,,2", "/cups/,4") == (
        TargetGoal(2, "/tea/", 3, 8),
        TargetGoal(3, "/pots/", 0, 2),
        TargetGoal(4, "/cups/", 4),
    )


def test_wrong_goals_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as error:
        goals(tmp_path, "/tea/,many,", ",1,2", "/pots/,3,2", "/cups/,0,0")
    said = str(error.value)
    assert said.startswith("config/link_targets.csv, row 2: Least is 'many'. Write a whole number")
    assert "row 3: URL is empty." in said
    assert "row 4: Most is '2'." in said and "row 5: Most is '0'." in said
