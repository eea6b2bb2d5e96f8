"""What users and log files see: whole lines, in any encoding, with and without a terminal."""

import io
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from internal_linker.faces.cli.command import Start, guarded
from internal_linker.faces.cli.output import marked, print_columns, print_lookup, print_rows
from internal_linker.match.embed import Embedded
from internal_linker.model.errors import InputError
from internal_linker.model.reasons import FewLinks, NoTarget, Reason
from internal_linker.model.records import (
    Candidate,
    Collected,
    Link,
    Recommendation,
    Searched,
    Shortage,
    Source,
    Usage,
)
from internal_linker.project.console import PlainConsole, Reporter, open_console
from internal_linker.project.pipeline.report import Report, summary_rows
from internal_linker.project.run import PageLinks
from internal_linker.rank.adaptation import TOO_FEW
from tests.support.sites import read_csv
from tests.support.small_project import (
    REPOSITORY,
    SITE,
    TOPICS,
    command,
    environment,
    finish,
    make_project,
    start,
    summary,
    write_csv,
)

SKIPPED = (
    "Note: The search step is skipped because config/serper_api_key.txt contains no key: "
    "links come from the pages' content alone."
)


def test_piped_output_has_whole_plain_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal, lines are never broken or cut; --project accepts a relative path with spaces."""
    folder, elsewhere = make_project(tmp_path / "my site"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("COLUMNS", "40")
    assert command("run", "--figures", "--project", "../my site") == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == "" and SKIPPED in lines and "\x1b" not in out and out.isascii()
    assert "  Found: 30 links for 6 pages" in lines
    assert re.fullmatch(r"Input: +6 pages, 6 queries, .*, 0 merged \(\d+\.\d s\)", lines[0])
    assert summary(folder)["Ranker"] == TOO_FEW
    links = read_csv(folder / "files/links.csv")
    assert len(links) == 30 and all(0 <= float(link["Probability"]) <= 1 for link in links)
    assert not list(elsewhere.iterdir())


@pytest.mark.long
def test_any_script_survives_an_old_consoles_encoding(tmp_path: Path) -> None:
    """A Persian query or a Chinese URL never ends a command on a console that can't show it."""
    folder = make_project(tmp_path)
    more = [(f"{SITE}/茶/{slug}/", "چای", text) for slug, text in TOPICS.items()]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *more])
    process = start("-m", "internal_linker", "lookup", "چای سبز tea", cwd=folder, PYTHONIOENCODING="cp1252")
    code, out, err = finish(process)
    assert code == 0 and "Unexpected" not in err
    assert out.count(f"{SITE}/?/") == 5


@pytest.mark.parametrize("options", [["--dry-run", "--limit", "1"], pytest.param([], marks=pytest.mark.long)])
def test_main_py_without_a_command_is_a_run_of_its_own_folder(tmp_path: Path, options: list[str]) -> None:
    """`python main.py`, with or without options, runs the folder of main.py from any current folder."""
    folder = make_project(tmp_path / "site")
    (folder / "main.py").write_bytes((REPOSITORY / "main.py").read_bytes())
    code, out, _ = finish(start(str(folder / "main.py"), *options, cwd=tmp_path))
    assert code == 0
    assert ("Pipeline completed successfully!" in out) is (not options)
    assert (folder / "files/Output.csv").exists() is (not options)


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_without_unicode_shows_bars_and_tables(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    ours, theirs = os.openpty()
    more = {"PYTHONIOENCODING": "cp1252", "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-m", "internal_linker", "run"],
        cwd=folder,
        env=environment(**more),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    text = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", shown.decode("cp1252"))
    assert process.wait(timeout=60) == 0
    assert "Pipeline completed successfully!" in text
    assert "?" not in text and "pages/s" in text and "+----" in text and "| Found" in text


def test_a_step_of_unknown_length_shows_that_it_goes_on() -> None:
    """A step of unknown length has a moving bar without figures; a new step replaces one that never ended."""
    console, out = printed(terminal=True)
    reporter = Reporter(console)
    reporter.start("Input", 0, "pages")
    reporter.start("Writing", 0, "")
    reporter.finish("audit.xlsx")
    text = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", out.getvalue())
    assert "| Input " in text or "/ Input " in text or "- Input " in text
    assert "Writing:        audit.xlsx" in text and "0/" not in text


def printed(width: int = 40, terminal: bool = False) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    console = open_console()
    made = PlainConsole(
        file=out, width=width, force_terminal=terminal, markup=False, emoji=False, highlight=False
    )
    made.soft_wrap = console.soft_wrap
    return made, out


@pytest.mark.parametrize("message", ["", "two: in one; and {} more"])
def test_the_summary_counts_reasons_however_they_are_worded(
    message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reason has one line with its count, even if messages contain colons or are equal."""
    kinds = [FewLinks.NO_CONTENT, FewLinks.NO_TARGET, FewLinks.NO_CONTENT]
    if message:
        for kind in (*FewLinks, *NoTarget):
            monkeypatch.setattr(kind, "message", message)
    short = [Shortage(1, 5, Reason(kind)) for kind in kinds]
    source = Source("", "", "tea", None, in_sheet=False)
    items = [Recommendation(source, (), "no search: down", shortage=one) for one in short]
    made = report([*items, Recommendation(source, ())])
    made.excluded = Counter({Reason(NoTarget.REJECTED): 2, Reason(NoTarget.ALREADY_LINKED): 3})
    rows = summary_rows(made, {}, 5)
    at = rows.index(("Rows with fewer than 5 links", "3"))
    told = {f"  {Reason(kind)}" for kind in kinds}
    assert {name for name, _ in rows[at + 1 : at + 3]} == told
    assert sorted(count for _, count in rows[at + 1 : at + 3]) == ["1", "2"]
    name, excluded = rows[at + 3]
    assert name == "Excluded targets"
    first, second = (str(Reason(kind)) for kind in (NoTarget.ALREADY_LINKED, NoTarget.REJECTED))
    assert excluded.startswith(f"3 {first} pairs of pages, 2 {second} (")


def report(items: list[Recommendation]) -> Report:
    """Return the report of a run without pages."""
    embedded = Embedded(np.zeros((0, 1), np.float32), 0, 0, 0, Usage(), [])
    return Report("1", Collected((), (), (), 0), Searched(), embedded, items, None)


def test_texts_are_printed_as_they_are() -> None:
    """Lines, titles and tables print square brackets and :tea: literally."""
    name = "[red] tea [/b] :tea:"
    source = Source("", "", name, None, in_sheet=False)
    link = Link(Candidate("k", f"{SITE}/[a]/", 1.5, 0.5, float("nan")), 1, "semantic")
    console, out = printed()
    found = Recommendation(source, (link,), f"1 of 5 links: {name}")
    print_lookup(console, PageLinks(report([found])))
    Reporter(console).warn(name)
    for terminal in (False, True):
        to, table = printed(80, terminal)
        print_rows(to, "Summary", [("Query", name)])
        assert name in table.getvalue()
    assert out.getvalue().splitlines() == [
        f"Links for {name}",
        f" 1    -  {SITE}/[a]/",
        "         Similar page.",
        f"Note: 1 of 5 links: {name}",
        f"Note: {name}",
    ]


def test_a_terminal_obeys_nothing_in_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    evil, seen = "tea \x1b[2J\x9b31m\u202emilk", "tea \\u001b[2J\\u009b31m\\u202emilk"
    for terminal in (False, True):
        console, out = printed(120, terminal)
        print_rows(console, evil, [("Query", evil)])
        print_columns(console, ["title"], [[evil]])
        Reporter(console).warn(evil)
        console.print(marked(console, f"{evil} and {evil}", evil))
        assert out.getvalue().count(seen) == 6 and not {"\x9b", "\u202e"} & {*out.getvalue()}
        assert "\x1b[2J" not in out.getvalue()

    def refused() -> None:
        raise InputError(evil)

    assert guarded(refused, Start()) == 3
    assert capsys.readouterr().err == f"Error: {seen}\n"
