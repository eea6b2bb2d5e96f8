"""LibreOffice opens the tool's files and shows every text as it was written."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.small_project import SITE, command, make_project, write_csv

SOFFICE = shutil.which("soffice") or ""
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not SOFFICE, reason="LibreOffice is not installed"),
]

TITLES = (
    "قهوهٔ سرد دم‌کشیده",  # Persian, with a zero-width non-joiner
    "القهوة الباردة المقطّرة",
    "קפה קר בבית",
    "水出しコーヒー、その作り方",
    "☕️ Cold brew 👩🏽‍🍳",
    '=HYPERLINK("http://evil.example")',
    'A "quoted", cold; brew',
)


def opened(path: Path, folder: Path) -> list[list[str]]:
    """Return the first sheet as LibreOffice shows it; its CSV dialog, hidden from tests, defaults to UTF-8."""
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    # Convert to tab-separated UTF-8 with cells as shown.
    form = "csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,true,false"
    given = ["--infilter=CSV:44,34,76,1"] if path.suffix == ".csv" else []
    call = [SOFFICE, profile, "--headless", *given, "--convert-to", form, "--outdir", str(folder / "out")]
    subprocess.run([*call, str(path)], check=True, capture_output=True, timeout=180)
    with (folder / "out" / f"{path.stem}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, delimiter="\t"))


@pytest.mark.parametrize("name", ["pairs.xlsx", "pairs.csv"])
def test_titles_in_any_script_are_what_they_were(name: str, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    pages = [(f"{SITE}/{at}/", title, "cold brew coffee", "") for at, title in enumerate(TITLES)]
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Lang"), *pages])
    assert command("pairs", "--project", str(project), "--min-similarity", "0.1", "--max-per-page", "0") == 0
    rows = opened(project / "files" / name, tmp_path)
    assert len(rows) == 1 + len(TITLES) * (len(TITLES) - 1) // 2
    shown = {(row[at], row[at + 1]) for row in rows[1:] for at in (0, 2)}
    kept = dict(enumerate(TITLES)) | ({5: "'" + TITLES[5]} if name.endswith(".csv") else {})
    assert shown == {(f"{SITE}/{at}/", title) for at, title in kept.items()}
