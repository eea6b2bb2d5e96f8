"""The command `calibrate`: pairs to label in files/labels.csv, and thresholds from the labels."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.insight.evaluation.labels import LabelsCsv
from internal_linker.model.errors import ExitCode
from internal_linker.project.calibrate import LEAST_LABELS
from tests.support.sites import make_project, read_csv
from tests.support.small_project import command, snapshot, write_csv, write_text

ROWS = re.compile(r"^(\d\d?|100) +(\d+) +(\d\.\d{3}|-).*$", re.M)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample site without a model."""
    return make_project(tmp_path_factory.mktemp("site"), 30, {"embedding_provider": "lsa"})


@pytest.fixture
def folder(sample: Path) -> Path:
    """A copy of the sample site without drawn pairs."""
    (sample / "files/labels.csv").unlink(missing_ok=True)
    (sample / "files/existing_links.csv").unlink(missing_ok=True)
    return sample


def calibrate(folder: Path, *options: str) -> int:
    return command("calibrate", "--project", str(folder), *options)


def label(folder: Path, sure: float, doubtful: float) -> None:
    """Label every pair by its strength alone: good, borderline or bad by two bounds."""
    rows = read_csv(folder / "files/labels.csv")
    for row in rows:
        strength = int(row["Score"]) / 100
        row["Label"] = "Good " if strength >= sure else "borderline" if strength >= doubtful else "BAD"
    write_rows(folder, rows)


def write_rows(folder: Path, rows: list[dict[str, str]]) -> None:
    write_csv(folder / "files/labels.csv", [list(rows[0]), *(list(row.values()) for row in rows)])


def test_labels_are_never_lost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """New pairs are appended after the others, which keep their labels, notes and foreign columns.

    The same pairs are drawn again for a file that was deleted, and none for one that has enough, or that has them
    in another form of the host.
    """
    path, before = folder / "files/labels.csv", snapshot(folder)
    assert calibrate(folder, "--pairs", "10") == ExitCode.SUCCESS
    first = path.read_bytes()
    path.unlink()
    for _ in range(2):
        assert calibrate(folder, "--pairs", "10") == ExitCode.SUCCESS
        assert path.read_bytes() == first
    rows = read_csv(path)
    pairs = {(row["Source"], row["Target"]) for row in rows}
    for at, row in enumerate(rows):
        row |= {"Label": ("good", "bad", "")[at % 3], "My notes": f"note {at}"}
        row |= {name: row[name].replace("https://www.", "http://") for name in ("Source", "Target")}
    write_rows(folder, rows)
    capsys.readouterr()
    assert calibrate(folder, "--pairs", "60") == ExitCode.SUCCESS
    assert "holds 60 pairs, 7 of them labelled; 50 are new" in capsys.readouterr().out
    assert read_csv(path)[:10] == rows
    new = read_csv(path)[10:]
    assert len({(row["Source"], row["Target"]) for row in new} - pairs) == len(new) == 50
    assert all(row["Source Title"] and row["Target Title"] and row["Score"] for row in new)
    assert all(row["Source"] != row["Target"] and not row["Label"] for row in new)
    assert {row["Band"] for row in new} >= {"35 to 50", "50 to 65", "65 to 80", "80 to 90"}
    assert len({row["Section"] for row in new}) >= 3
    changed = {name for name, content in snapshot(folder).items() if before.get(name) != content}
    assert {name for name in changed if "cache" not in name} == {"files/labels.csv"}


def test_labels_give_thresholds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs are good from 0.75 and borderline from 0.6; without good ones, the setting's line says what to do."""
    calibrate(folder, "--pairs", "80")
    label(folder, 0.75, 0.6)
    capsys.readouterr()
    assert calibrate(folder, "--pairs", "0", "--sidebar-precision", "0.98") == 0
    out = capsys.readouterr().out
    assert "80 of them labelled; none were added" in out
    assert "tier_sidebar = 0.6\n" in out
    precision = {threshold: share for threshold, _, share in ROWS.findall(out)}
    assert precision["75"] == "1.000" and precision["70"] != "1.000"
    assert len(precision) == 19
    label(folder, 2, 2)
    assert calibrate(folder, "--pairs", "0") == ExitCode.SUCCESS
    assert re.search(r"^# tier_sidebar: no score .* Label more pairs", capsys.readouterr().out, re.M)


def test_existing_links_serve_until_there_are_labels(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrate(folder, "--pairs", str(LEAST_LABELS))
    out = capsys.readouterr().out
    assert f"of {LEAST_LABELS} more rows, and start `" in out and "existing links" not in out
    assert "keep tier_sidebar = 0.7." in out and "precision" not in out
    pages = read_csv(folder / "files/urls_rawdata.csv")
    pairs = [(pages[at]["URL"], pages[at + 1]["URL"]) for at in range(0, 28, 2)]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), *pairs])
    assert calibrate(folder) == ExitCode.SUCCESS
    out = capsys.readouterr().out
    assert re.search(r"^  \d+% have a score of at least 70 \(tier_sidebar\)$", out, re.M)
    label(folder, 0.75, 0.6)
    assert calibrate(folder) == ExitCode.SUCCESS
    assert "Computed from the labels" in capsys.readouterr().out


def test_a_labelled_pair_that_was_linked_since_still_counts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrate(folder, "--pairs", "60")
    label(folder, 0.75, 0.6)
    labels = read_csv(folder / "files/labels.csv")
    strong = [row for row in labels if int(row["Score"]) >= 60][:3]
    links = [(row["Source"], row["Target"]) for row in strong]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), *links])
    capsys.readouterr()
    assert calibrate(folder, "--pairs", "0") == ExitCode.SUCCESS
    out = capsys.readouterr().out
    told = re.search(r"^(\d+) of the labelled pairs are no longer candidates", out, re.M)
    # Known links also change the order of others: some may leave a page's first candidates.
    assert told and int(told[1]) >= 3
    counts = [int(count) for _, count, _ in ROWS.findall(out)]
    others = [tuple(row.values()) for row in labels if row not in strong]
    write_csv(folder / "files/labels.csv", [tuple(labels[0]), *others])
    assert calibrate(folder, "--pairs", "0") == ExitCode.SUCCESS
    without = [int(count) for _, count, _ in ROWS.findall(capsys.readouterr().out)]
    assert [count - fewer for count, fewer in zip(counts[:12], without[:12], strict=True)] == [3] * 12


A, B = "https://a.example/x", "https://a.example/y"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("Label", "Source", "Target"), ("perhaps", A, B)], "row 2: the label is 'perhaps'"),
        ([("Label", "Source", "Target"), ("good", "x", B)], "row 2: Source: not a full URL"),
        ([("Label", "Source", "Target"), ("good", B, "")], "row 2: Target: the URL is empty"),
        (
            # Spellings of a URL are one page, and equal labels of a pair count once.
            [("Label", "Source", "Target"), ("good", A, B)]
            + [(word, f"{A}/", f"{B}?utm_source=mail") for word in ("good", "bad")],
            "row 4: this pair is bad, and good in a row above. Delete one of them.",
        ),
        ([("Source", "Target")], "the header row has no column 'Label'"),
    ],
)
def test_what_can_not_be_used_is_named(
    rows: list[tuple[str, ...]], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(folder / "files/labels.csv", rows)
    before = (folder / "files/labels.csv").read_bytes()
    assert calibrate(folder) == ExitCode.INPUT
    assert message in capsys.readouterr().err
    assert (folder / "files/labels.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("column", "value", "strength", "kept"),
    [("Score", "84", 0.84, 0.84), ("Similarity;Strength", "0,4;0,8412", 0.8412, 0.84)],
)
def test_a_file_of_a_spreadsheet_program_or_an_earlier_version_is_read(
    column: str, value: str, strength: float, kept: float, tmp_path: Path
) -> None:
    """An earlier version's Strength, 0 to 1, counts; rows that are added have a score from 0 to 100."""
    rows = f"Target;Source;Label;{column}\nhttps://a.example/2;https://a.example/1;Good ;{value}\n"
    write_text(tmp_path / "labels.csv", rows)
    file = LabelsCsv(tmp_path / "labels.csv")
    (old,) = file.read()
    ends = ("https://a.example/1", "https://a.example/2")
    assert (old.source, old.target, old.label, old.strength, old.band) == (
        *ends,
        "good",
        strength,
        "80 to 90",
    )
    new = replace(old, ends=(old.ends[1], old.ends[0]), source=old.target, target=old.source, label="")
    assert file.append([new]) == []
    first, second = file.read()
    assert first == old and (second.source, second.label, second.strength) == (old.target, "", kept)


def test_precisions_that_make_no_sense_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for share in ("1.2", "0", "nan"):
        assert calibrate(folder, "--sidebar-precision", share) == 2
        assert "it must be above 0 and below 1" in capsys.readouterr().err
    assert not (folder / "files/labels.csv").exists()
