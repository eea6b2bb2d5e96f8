"""The command `calibrate`: pairs to label in files/labels.csv, and thresholds from the labels."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.core.errors import ExitCode
from internal_linker.evaluation.labels import LabelsCsv
from internal_linker.usecases.calibrate import LEAST_LABELS
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


def test_pairs_are_drawn_from_all_bands_and_sections(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(folder)
    assert calibrate(folder, "--pairs", "60") == ExitCode.SUCCESS
    assert "holds 60 pairs, 0 of them labelled; 60 are new" in capsys.readouterr().out
    rows = read_csv(folder / "files/labels.csv")
    assert len({(row["Source"], row["Target"]) for row in rows}) == len(rows) == 60
    assert all(row["Source Title"] and row["Target Title"] and row["Score"] for row in rows)
    assert all(row["Source"] != row["Target"] and not row["Label"] for row in rows)
    assert {row["Band"] for row in rows} >= {"35 to 50", "50 to 65", "65 to 80", "80 to 90"}
    assert len({row["Section"] for row in rows}) >= 3
    new = {name for name in snapshot(folder) if before.get(name) != snapshot(folder)[name]}
    assert {name for name in new if "cache" not in name} == {"files/labels.csv"}


def test_labels_are_never_lost(folder: Path) -> None:
    path = folder / "files/labels.csv"
    assert calibrate(folder, "--pairs", "10") == ExitCode.SUCCESS
    first = path.read_bytes()
    path.unlink()
    for _ in range(2):
        assert calibrate(folder, "--pairs", "10") == ExitCode.SUCCESS
        assert path.read_bytes() == first
    rows = read_csv(path)
    for at, row in enumerate(rows):
        row |= {"Label": ("good", "bad", "")[at % 3], "My notes": f"note {at}"}
    write_rows(folder, rows)
    assert calibrate(folder, "--pairs", "25") == ExitCode.SUCCESS
    after = read_csv(folder / "files/labels.csv")
    assert after[:10] == rows
    assert len({(row["Source"], row["Target"]) for row in after}) == len(after) == 25


def test_labels_hold_in_another_form_of_the_host(folder: Path) -> None:
    assert calibrate(folder, "--pairs", "10") == ExitCode.SUCCESS
    rows = read_csv(folder / "files/labels.csv")
    pairs = {(row["Source"], row["Target"]) for row in rows}
    for row in rows:
        row |= {name: row[name].replace("https://www.", "http://") for name in ("Source", "Target")}
    write_rows(folder, rows)
    assert calibrate(folder, "--pairs", "20") == ExitCode.SUCCESS
    after = read_csv(folder / "files/labels.csv")
    assert after[:10] == rows
    assert not pairs & {(row["Source"], row["Target"]) for row in after[10:]}


def test_labels_give_thresholds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calibrate(folder, "--pairs", "80")
    label(folder, 0.75, 0.6)
    capsys.readouterr()
    assert calibrate(folder, "--pairs", "0", "--precision", "0.99", "--sidebar-precision", "0.98") == 0
    out = capsys.readouterr().out
    assert "80 of them labelled; none were added" in out
    assert "tier_inline = 0.75\n" in out and "tier_sidebar = 0.6\n" in out
    precision = {threshold: share for threshold, _, share in ROWS.findall(out)}
    assert precision["75"] == "1.000" and precision["70"] != "1.000"
    assert len(precision) == 19


def test_a_precision_that_is_not_reached_proposes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrate(folder, "--pairs", "60")
    label(folder, 2, 0.5)
    capsys.readouterr()
    assert calibrate(folder) == ExitCode.SUCCESS
    out = capsys.readouterr().out
    assert re.search(r"^# tier_inline: no score .* Label more pairs", out, re.M)
    assert re.search(r"^tier_sidebar = 0\.\d+$", out, re.M)


def test_existing_links_serve_until_there_are_labels(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrate(folder, "--pairs", str(LEAST_LABELS))
    out = capsys.readouterr().out
    assert f"of {LEAST_LABELS} more rows, and start `" in out and "existing links" not in out
    assert "keep tier_inline = 0.7 and tier_sidebar = 0.7." in out and "precision" not in out
    pages = read_csv(folder / "files/urls_rawdata.csv")
    pairs = [(pages[at]["URL"], pages[at + 1]["URL"]) for at in range(0, 28, 2)]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), *pairs])
    assert calibrate(folder) == ExitCode.SUCCESS
    out = capsys.readouterr().out
    assert re.search(r"^  \d+% have a score of at least 70 \(tier_inline\)$", out, re.M)
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


BAD = {
    "perhaps": ("perhaps", "https://a.example/x", "https://a.example/y", "row 2: the label is 'perhaps'"),
    "no URL": ("good", "x", "https://a.example/y", "row 2: Source: not a full URL"),
    "empty": ("good", "https://a.example/y", "", "row 2: Target: the URL is empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_row_that_can_not_be_used_is_named(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    *row, message = BAD[case]
    write_csv(folder / "files/labels.csv", [("Label", "Source", "Target"), row])
    before = (folder / "files/labels.csv").read_bytes()
    assert calibrate(folder) == ExitCode.INPUT
    assert f"files/labels.csv, {message}" in capsys.readouterr().err
    assert (folder / "files/labels.csv").read_bytes() == before


def test_a_pair_with_two_labels_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = ("https://a.example/x", "https://a.example/y")
    other = ("https://a.example/x/", "https://a.example/y?utm_source=mail")
    rows = [("Label", "Source", "Target"), ("good", *pair), ("good", *other), ("bad", *other)]
    write_csv(folder / "files/labels.csv", rows)
    assert calibrate(folder) == ExitCode.INPUT
    assert "row 4: this pair is bad, and good in a row above. Delete one of them." in capsys.readouterr().err


def test_a_file_without_a_needed_column_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_text(folder / "files/labels.csv", "Source,Target\n")
    assert calibrate(folder) == ExitCode.INPUT
    assert "files/labels.csv: the header row has no column 'Label'" in capsys.readouterr().err


def test_a_file_as_a_spreadsheet_program_saves_it_is_read(tmp_path: Path) -> None:
    rows = "Target;Source;Label;Score\nhttps://a.example/2;https://a.example/1;Good ;84\n"
    write_text(tmp_path / "labels.csv", rows)
    file = LabelsCsv(tmp_path / "labels.csv")
    (old,) = file.read()
    assert (old.source, old.target, old.label, old.strength) == (
        "https://a.example/1",
        "https://a.example/2",
        "good",
        0.84,
    )
    new = replace(old, ends=(old.ends[1], old.ends[0]), source=old.target, target=old.source, label="")
    assert file.append([new]) == []
    first, second = file.read()
    assert first == old and (second.source, second.label, second.strength) == (old.target, "", 0.84)


def test_a_file_of_an_earlier_version_keeps_its_labels(tmp_path: Path) -> None:
    write_text(
        tmp_path / "labels.csv",
        "Label;Source;Target;Similarity;Strength\ngood;https://a.example/1;https://a.example/2;0,4;0,8412\n",
    )
    file = LabelsCsv(tmp_path / "labels.csv")
    (old,) = file.read()
    assert (old.label, old.strength, old.band) == ("good", 0.8412, "80 to 90")
    new = replace(old, ends=(old.ends[1], old.ends[0]), source=old.target, target=old.source, label="")
    assert file.append([new]) == []
    first, second = file.read()
    assert first == old and second.strength == 0.84
    assert read_csv(tmp_path / "labels.csv")[1]["Score"] == "84"


@pytest.mark.parametrize("shares", [("1.2", "0.5"), ("0.5", "0.6"), ("0.8", "0"), ("nan", "0.5")])
def test_precisions_that_make_no_sense_are_refused(
    shares: tuple[str, str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrate(folder, "--precision", shares[0], "--sidebar-precision", shares[1]) == 2
    assert "both must be above 0 and below 1" in capsys.readouterr().err
    assert not (folder / "files/labels.csv").exists()
