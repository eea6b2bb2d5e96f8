"""The blind reading: the sample is fair, fixed and blind, and the figures of filled sheets are right."""

import csv
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from internal_linker.model.edges import Anchor, Edge, Tier
from internal_linker.model.errors import InputError
from internal_linker.model.records import Page
from tests.research.quality.reading import judge, sample
from tests.research.quality.reading.judge import kappa, wilson
from tests.research.quality.reading.sample import KEY, SHEET, Suggestion, draw, marked
from tests.support.corpora import ROOT

LSA = 'embedding_provider = "lsa"\nserp_provider = "none"\n'
TEXT = "One sentence.\nThe soft\nwater makes tea. Another one."


def suggestion(site: str, number: int, tier: Tier, lang: str = "en") -> Suggestion:
    source, target = (f"https://{site}.example/{lang}/{end}" for end in (number // 2, f"target-{number}"))
    anchor = Anchor("soft\nwater", start=TEXT.index("soft"))
    edge = Edge(source, target, source, target, tier=tier, strength=0.9, anchors=(anchor,))
    return Suggestion(
        site, edge, Page(source, source, content=TEXT, lang=lang), Page(target, target, lang=lang)
    )


def many(site: str, languages: Sequence[str]) -> list[Suggestion]:
    """Return 100 suggestions a language on 50 pages: 60 inline, 30 sidebar and 10 review ones."""
    tiers: dict[int, Tier] = {2: "sidebar", 4: "sidebar", 6: "sidebar", 9: "review"}
    return [
        suggestion(site, number, tiers.get(number % 10, "inline"), lang)
        for lang in languages
        for number in range(100)
    ]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_sample_is_fair() -> None:
    """Sites and languages have equal parts, tiers theirs as they occur, and no page has two suggestions."""
    drawn = draw({"one": many("one", ["en"]), "two": many("two", ["ar", "fa"])}, 60, 7)
    assert Counter((one.site, one.source.lang) for one in drawn) == {
        ("one", "en"): 30,
        ("two", "ar"): 15,
        ("two", "fa"): 15,
    }
    assert len({one.source.key for one in drawn}) == 60
    english = Counter(one.edge.tier for one in drawn if one.source.lang == "en")
    assert english == {"inline": 18, "sidebar": 9, "review": 3}
    assert [one.site for one in drawn] != sorted(one.site for one in drawn)


def test_a_seed_fixes_the_sample() -> None:
    """Equal seeds draw equal samples in equal order, whatever the order of the suggestions; others differ."""
    some = many("one", ["en"])
    first = draw({"one": some}, 20, 1)
    assert draw({"one": some[::-1]}, 20, 1) == first
    assert draw({"one": some}, 20, 2) != first


def test_too_few_pages_are_told() -> None:
    """More suggestions than pages can't be drawn."""
    with pytest.raises(InputError, match="Only 50 of 51 suggestions can be drawn"):
        draw({"one": many("one", ["en"])}, 51, 1)


def test_the_anchor_is_marked_in_its_sentence() -> None:
    """The sentence is one line with the anchor in brackets; without an anchor in the text, there is none."""
    one = suggestion("one", 1, "inline")
    assert marked(one) == "The ⟦soft water⟧ makes tea."
    bare = Edge(one.edge.source, one.edge.target, "", "", anchors=(Anchor("A title", verbatim=False),))
    assert marked(Suggestion("one", bare, one.source, one.target)) == ""


def test_a_sample_of_the_sample_site_is_blind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The readers' folder has no score and no URL; the key has them; a second draw with the seed is the same."""
    arguments = ["--seed", "3", "--count", "8", "--sites", "sample", "--settings", LSA]
    for folder in ("a", "b"):
        assert sample.main([*arguments, "--out", str(tmp_path / folder)]) == 0
    assert "8 suggestions are in" in capsys.readouterr().out
    readers = tmp_path / "a/readers"
    assert sorted(path.name for path in readers.iterdir()) == ["INSTRUCTIONS.md", "reading.csv"]
    assert (readers / "reading.csv").read_bytes() == (tmp_path / "b/readers/reading.csv").read_bytes()
    assert (readers / "reading.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    sheet, key = rows(readers / "reading.csv"), rows(tmp_path / "a/key.csv")
    assert tuple(sheet[0]) == SHEET and tuple(key[0]) == KEY
    assert [row["ID"] for row in sheet] == [row["ID"] for row in key]
    text = (readers / "reading.csv").read_text(encoding="utf-8")
    assert not any(row[name] in text for row in key for name in ("Strength", "Source", "Target") if row[name])
    for row, hidden in zip(sheet, key, strict=True):
        assert (hidden["In text"] == "yes") == (f"⟦{' '.join(hidden['Anchor'].split())}⟧" in row["Sentence"])
        assert row["Pair"] == row["Comment"] == ""
        assert row["Anchor"] == ("" if hidden["In text"] == "yes" else "none")
    assert (
        sample.main([*arguments[:3], "4", *arguments[4:], "--tier", "inline", "--out", str(tmp_path / "b")])
        == 0
    )
    assert [row["Tier"] for row in rows(tmp_path / "b/key.csv")] == ["inline"] * 4


def test_a_folder_in_the_project_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Texts of other people's sites must not get into the repository."""
    assert sample.main(["--seed", "1", "--out", str(ROOT / "files")]) == 2
    assert "is inside the project" in capsys.readouterr().err


# Tier, strength, whether an anchor is in the text, and both readers' verdicts on pair and anchor.
READ = [
    ("inline", "0.9500", "yes", ("good", "good"), ("good", "acceptable")),
    ("inline", "0.9300", "yes", ("good", "bad"), ("good", "good")),
    ("inline", "0.8500", "yes", ("acceptable", "good"), ("acceptable", "good")),
    ("sidebar", "0.7000", "no", ("good", "-"), ("acceptable", "-")),
    ("review", "", "yes", ("bad", "bad"), ("good", "bad")),
]


@pytest.fixture
def sheets(tmp_path: Path) -> list[Path]:
    """A key and two filled sheets."""
    names = [f"S{number:03}" for number in range(1, 1 + len(READ))]
    keys = [
        {
            **dict.fromkeys(KEY, ""),
            "ID": name,
            "Site": "one",
            "Tier": tier,
            "Strength": strength,
            "In text": there,
        }
        for name, (tier, strength, there, *_) in zip(names, READ, strict=True)
    ]
    write(tmp_path / "key.csv", KEY, keys)
    for reader in (0, 1):
        filled = [
            {
                **dict.fromkeys(SHEET, ""),
                "ID": name,
                "Pair": given[3 + reader][0],
                "Anchor": given[3 + reader][1],
            }
            for name, given in zip(names, READ, strict=True)
        ]
        write(tmp_path / f"{reader}.csv", SHEET, filled)
    return [tmp_path / "key.csv", tmp_path / "0.csv", tmp_path / "1.csv"]


def write(path: Path, header: Sequence[str], some: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        writer.writerows(some)


def judged(sheets: Sequence[Path]) -> int:
    key, *both = map(str, sheets)
    return judge.main(["--key", key, *both])


def test_figures_of_two_filled_sheets(sheets: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Both readers must agree for a suggestion to count; a related box is judged by its pair."""
    assert judged(sheets) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| publishable unedited | all suggestions (5) | 60% | 23% to 88% |" in lines
    assert "| publishable unedited | `inline` ones (3) | 67% | 21% to 94% |" in lines
    assert "| usable pair | all suggestions (5) | 80% | 38% to 96% |" in lines
    assert "| fitting anchor | anchors in the text (4) | 50% | 15% to 85% |" in lines
    assert "| publishable unedited | one (5) | 60% | 23% to 88% |" in lines
    assert "| pair | 60% | 0.29 | 3 good, 1 acceptable, 1 bad | 3 good, 2 acceptable, 0 bad |" in lines
    assert "| anchor | 50% | 0.20 | 2 good, 0 acceptable, 2 bad | 2 good, 1 acceptable, 1 bad |" in lines
    assert "| 90 to 100 | 2 | 94 | 50% | 9% to 91% |" in lines
    assert "| 65 to 80 | 1 | 70 | 100% | 21% to 100% |" in lines


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"Pair": "fine"},
            "row 3: 'fine' is not a verdict in the column Pair. Write good, acceptable or bad.",
        ),
        (
            {"Anchor": ""},
            "row 3: the verdict is missing in the column Anchor. Write good, acceptable or bad.",
        ),
        (
            {"ID": "S099"},
            "row 3: the ID 'S099' is not in the key. Use the sheet that was drawn with this key.",
        ),
        ({"ID": "S001"}, "row 3: S001 has a second row. Delete one of them."),
        (None, "lacks 1 suggestions, such as S002. Restore their rows."),
    ],
)
def test_a_sheet_that_can_not_be_used_is_named(
    sheets: list[Path], change: Mapping[str, str] | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """File, row and remedy are in one sentence, and no figure is printed."""
    some = rows(sheets[2])
    some[1:2] = [] if change is None else [{**some[1], **change}]
    write(sheets[2], SHEET, some)
    assert judged(sheets) == 3
    told = capsys.readouterr()
    assert message in told.err and str(sheets[2]) in told.err
    assert told.out == ""


def test_a_sheet_without_a_column_is_named(sheets: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A lost header has its own sentence."""
    write(sheets[1], ("ID", "Pair"), [{"ID": "S001", "Pair": "good"}])
    assert judged(sheets) == 3
    assert "lacks the column Anchor" in capsys.readouterr().err


def test_a_sheet_as_a_spreadsheet_program_saves_it_is_read(sheets: list[Path]) -> None:
    """Semicolons, capitals and blanks are fine."""
    some = rows(sheets[1])
    lines = [";".join(SHEET), *(";".join(cell.upper() + " " for cell in row.values()) for row in some)]
    sheets[1].write_text("\r\n".join(lines), encoding="utf-8-sig")
    assert judged(sheets) == 0


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (lambda: wilson(0, 10)[0], 0.0),
        (lambda: wilson(42, 60)[0], 0.575),
        (lambda: wilson(42, 60)[1], 0.801),
        (lambda: kappa(["good", "bad"], ["good", "bad"]), 1.0),
        (lambda: kappa(["good", "bad"], ["bad", "good"]), -1.0),
        (lambda: kappa(["good", "good", "bad", "bad"], ["good", "bad", "good", "bad"]), 0.0),
    ],
)
def test_textbook_values(figure: Callable[[], float], expected: float) -> None:
    """Wilson's interval and Cohen's kappa are those of the textbooks."""
    assert figure() == pytest.approx(expected, abs=0.001)


def test_figures_of_nothing_are_nan() -> None:
    """Without verdicts, or with a single word throughout, there is nothing to compare."""
    assert math.isnan(wilson(0, 0)[0])
    assert math.isnan(kappa([], []))
    assert math.isnan(kappa(["good"], ["good"]))
