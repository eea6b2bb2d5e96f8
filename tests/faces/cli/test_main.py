"""The command line: what each command prints and writes, and its exit code."""

import csv
import gc
import importlib
import os
import re
import signal
import time
from pathlib import Path

import pytest

from internal_linker import bootstrap
from internal_linker.faces.cli.command import Start, guarded
from internal_linker.model.version import __version__
from internal_linker.project.project import open_project
from tests.standins import SerperStandIn
from tests.support.sites import read_csv
from tests.support.small_project import (
    REPOSITORY,
    SITE,
    URLS,
    command,
    finish,
    make_project,
    snapshot,
    start,
    write_csv,
    write_settings,
    write_text,
)

COMMANDS = (
    *"run app lookup content-brief import check pairs clusters review history diff rollback audit evaluate".split(),
    *("backtest", "calibrate", "init", "export-vectors", "schedule", "mcp", "store copy"),
)
HEAVY = (
    "numpy",
    "sklearn",
    "scipy",
    "onnxruntime",
    "openai",
    "gspread",
    "sqlalchemy",
    "pydantic",
    "rich",
    "fastapi",
    "uvicorn",
    "mcp",
)
KEY = "sk-secret-0123456789"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "site")


def output_rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "files/Output.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def log_text(folder: Path) -> str:
    return (folder / "logfile.txt").read_text(encoding="utf-8")


# -- help ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command has help in whole sentences within 80 columns, by --help and -h, without types or formulas."""
    texts = []
    for option in ("--help", "-h"):
        assert command(*name.split(), option) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] and not re.search(r"<\w+|x[<>]=|[<>]=x", texts[0])
    lines = texts[0].splitlines()
    assert max(map(len, lines)) <= 80 and not any(line.endswith("...") for line in lines[1:])
    described = (
        {each.split()[0] for each in COMMANDS} | {"Exit codes:"}
        if not name
        else {"--project", "Default: the current folder"}
    )
    assert all(words in " ".join(texts[0].split()) for words in described)


def test_help_comes_without_the_heavy_libraries(tmp_path: Path) -> None:
    """--help imports no numpy, database or service client, and is the same however the program is started."""
    texts = []
    for arguments, name in (
        ((str(REPOSITORY / "main.py"),), "main.py"),
        (("-X", "importtime", "-m", "internal_linker"), "python -m internal_linker"),
    ):
        code, out, err = finish(start(*arguments, "--help", cwd=tmp_path))
        assert code == 0
        texts.append(out.replace(name, "NAME"))
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in err.splitlines()}
    assert "typer" in imported and not imported & set(HEAVY)
    assert texts[0] == texts[1] and "Usage: NAME [OPTIONS] COMMAND" in texts[0]


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """--version prints name and version."""
    assert command("--version") == 0
    assert capsys.readouterr().out == f"internal-linker {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Usage:"),
        (("run", "--bogus"), "No such option: --bogus"),
        (("run", "--limit", "x"), "'--limit': it must be a whole number"),
        (("run", "--limit", "-1"), "'--limit': it must be 0 or more"),
        (("pairs", "--min-similarity", "2"), "'--min-similarity': it must be 1 or less"),
        (
            ("calibrate", "--sidebar-precision", "x"),
            "'--sidebar-precision': it must be a number, with a point as in 0.5",
        ),
        (("evaluate", "--anchors", "--hide", "half"), "--anchors measures the anchors of all links"),
        (("audit", "--path", "a", "b", "--no-report"), "--path prints a path and writes nothing"),
        (("lookup",), "Missing argument"),
        (("nix",), "nix"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong command line ends with 2 and the usage, never with an unexpected error."""
    assert command(*arguments) == 2
    said = "".join(capsys.readouterr())
    assert words in said and "Unexpected" not in said and "Input should" not in said


@pytest.mark.parametrize("name", ["store copy"])
def test_a_group_takes_the_project_before_its_command(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--project stands before the command of a group or after it."""
    first, second = name.split()
    more = ("a.sqlite3", "b.sqlite3") if second == "copy" else ()
    found = []
    for words in (
        (first, "--project", str(folder), second, *more),
        (first, second, *more, "--project", str(folder)),
    ):
        found.append((command(*words), "".join(capsys.readouterr())))
    assert found[0] == found[1] and "No such option" not in found[0][1]
    assert command(first, "--project", "/nowhere", second, *more) == 2
    assert "Project folder" in capsys.readouterr().err


# -- exit codes ------------------------------------------------------------------------------------


def test_a_run_succeeds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run ends with 0: every page and query is in Output.csv, and the final line is printed and logged."""
    assert command("run", "--project", str(folder)) == 0
    printed = capsys.readouterr()
    assert printed.out.endswith("Pipeline completed successfully!\n") and printed.err == ""
    assert [row["URL"] for row in output_rows(folder)] == URLS
    assert log_text(folder).endswith("Pipeline completed successfully!\n")


def break_settings(folder: Path) -> None:
    write_settings(folder, {"max_serp_page": 3})


def break_pattern(folder: Path) -> None:
    write_text(folder / "config/excluded_urls.txt", "(")


def break_header(folder: Path) -> None:
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Notes"), (URLS[0], "x")])


@pytest.mark.parametrize(
    ("break_it", "code", "words"),
    [
        (break_settings, 2, "Did you mean max_serp_pages?"),
        (break_pattern, 2, "excluded_urls.txt, line 1"),
        (break_header, 3, "Name a column 'Main Content'"),
    ],
)
def test_a_fault_of_the_project_ends_a_run(
    folder: Path, break_it: object, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Configuration errors end with 2, input errors with 3: one line on stderr and in the log, no links."""
    assert callable(break_it)
    break_it(folder)
    assert command("run", "--project", str(folder)) == code
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1 and words in errors[0]
    assert log_text(folder).count(errors[0].removeprefix("Error: ")) == 1
    assert not (folder / "files/Output.csv").exists()


def test_a_run_with_gaps_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run without its failed search ends with 6: the links exist, and the reason is printed and logged."""
    with SerperStandIn(lambda words, site: URLS) as serper:
        write_settings(folder, {"serper_url": serper.url})
        write_text(folder / "config/serper_api_key.txt", KEY)
        assert command("run", "--project", str(folder)) == 6
    out = capsys.readouterr().out
    assert "Note: Serper: the key was refused" in out and out.endswith("with gaps: see the notes above.\n")
    assert "Serper: the key was refused" in log_text(folder)
    assert KEY not in out + log_text(folder) and len(output_rows(folder)) == len(URLS)


def test_a_folder_that_is_none_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped project path ends with 2 and creates nothing."""
    assert command("run", "--project", str(tmp_path / "nix")) == 2
    assert f"{tmp_path / 'nix'} not found: check" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="Windows knows no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_run_can_be_interrupted(tmp_path: Path, number: int) -> None:
    """Ctrl-C ends a run with 130: one line on the terminal, one in the log, and the folder is unlocked."""
    with SerperStandIn(lambda words, site: [], latency=0.5) as serper:
        settings = {"serper_url": serper.url, "serp_requests_in_flight": 1, "max_serp_pages": 10}
        folder = make_project(tmp_path, settings)
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
        process = start("-m", "internal_linker", "run", cwd=folder)
        assert process.stdout and process.stdout.readline().startswith("Input:")
        process.send_signal(number)
        code, _, err = finish(process)
        assert len(serper.ledger) <= 2
    assert (code, err) == (130, "Interrupted. Everything fetched or embedded so far is in the cache.\n")
    assert log_text(folder).endswith("Interrupted.\n")
    assert not (folder / "files/.internal_linker.project.run").exists()


@pytest.mark.skipif(os.name != "posix", reason="Windows knows no such signals")
@pytest.mark.long
def test_any_number_of_interrupts_leaves_no_traceback(tmp_path: Path) -> None:
    """Ctrl-C pressed again and again ends a run at once with 130, and no traceback reaches the terminal."""
    with SerperStandIn(lambda words, site: [], latency=2) as serper:
        settings = {"serper_url": serper.url, "serp_requests_in_flight": 4, "max_serp_pages": 10}
        folder = make_project(tmp_path, settings)
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
        process = start("-m", "internal_linker", "run", cwd=folder)
        assert process.stdout and process.stdout.readline().startswith("Input:")
        began = time.monotonic()
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        code, out, err = finish(process)
        assert time.monotonic() - began < 30
    # A signal in the last moment of the interpreter kills it; shells call that 130, too.
    assert code in (130, -signal.SIGINT) and "Traceback" not in out + err and "Exception ignored" not in err
    assert "Interrupted" in err
    assert command("run", "--no-serp", "--project", str(folder)) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("logfile.txt", 3, "logfile.txt is a pipe, not a file: move or delete it and run again."),
        pytest.param(
            "files/review.xlsx", 6, "review.xlsx is a pipe or a device, not a file.", marks=pytest.mark.long
        ),
        pytest.param("files/cache.sqlite3", 2, "it is a pipe, not a file", marks=pytest.mark.long),
        pytest.param("files/.internal_linker.project.run", 0, "", marks=pytest.mark.long),
    ],
)
def test_a_pipe_in_a_files_place_is_named(tmp_path: Path, name: str, code: int, said: str) -> None:
    """A pipe in the place of a file ends a run with a sentence, or is replaced; nothing waits for its other end."""
    folder = make_project(tmp_path)
    os.mkfifo(folder / name)
    ended, out, err = finish(start("-m", "internal_linker", "run", cwd=folder))
    assert ended == code and said in out + err and "Traceback" not in out + err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_log_on_a_full_disk_hides_no_message(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With no room for the log, a run ends as it would with a log, and so does an error."""
    (folder / "logfile.txt").symlink_to("/dev/full")
    assert command("run", "--no-serp", "--project", str(folder)) == 0
    (folder / "files/urls_rawdata.csv").write_bytes(b"")
    (folder / "files/main_queries.csv").unlink(missing_ok=True)
    capsys.readouterr()
    assert command("run", "--no-serp", "--project", str(folder)) == 3
    said = capsys.readouterr().err
    assert "urls_rawdata.csv" in said and "Unexpected" not in said


@pytest.mark.parametrize(
    "arguments",
    [("run",), *(pytest.param(other, marks=pytest.mark.long) for other in [("lookup", "tea"), ("check",)])],
)
def test_an_unexpected_error_is_one_line_and_a_logged_traceback(
    tmp_path: Path, folder: Path, arguments: tuple[str, ...]
) -> None:
    """A bug ends with 1 and one line; the traceback is in logfile.txt, without keys."""
    package = "apscheduler" if arguments == ("check",) else "py3langid"
    write_text(tmp_path / package / "__init__.py", f"raise RuntimeError('boom with {KEY}')")
    write_text(folder / "config/serper_api_key.txt", KEY)
    path = os.pathsep.join((str(tmp_path), str(REPOSITORY)))
    options = () if arguments == ("check",) else ("--no-serp",)
    code, out, err = finish(start("-m", "internal_linker", *arguments, *options, cwd=folder, PYTHONPATH=path))
    last = err.splitlines()[-1]
    assert code == 1 and last.startswith("Unexpected error (RuntimeError). Please report it")
    assert "Traceback" not in out + err and KEY not in out + err + log_text(folder)
    assert log_text(folder).count("Traceback") == 1 and "boom with ***" in log_text(folder)


def test_a_package_that_cant_be_loaded_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A package that was lost after the start ends a command with 2 and with what to do, without a traceback."""
    monkeypatch.setattr(bootstrap, "READY", Path("nowhere"))  # else the next start rebuilds the environment

    def call() -> None:
        importlib.import_module("nowhere_to_be_found")

    assert guarded(call, Start()) == 2
    told = capsys.readouterr().err
    assert told.startswith("Error: A package that Internal Linker needs can't be loaded (No module named")
    assert '-m pip install -r "' in told and told.count("\n") == 1


# -- selection and output -------------------------------------------------------------


def test_a_trial_changes_nothing_but_its_own_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """run --limit prints links with anchors and writes files/trial; results, review and stored links stay."""
    where = ("--project", str(folder))
    assert command("run", *where) == 0
    with open_project(folder).graph() as (edges, runs):
        before = [*edges.each()], runs.versions()
    kept = {name: snapshot(folder)[f"files/{name}"] for name in ("Output.csv", "links.csv", "review.xlsx")}
    capsys.readouterr()
    assert command("run", "--limit", "2", *where) == 0
    out = capsys.readouterr().out
    trial = read_csv(folder / "files/trial/links.csv")
    assert [row["URL"] for row in read_csv(folder / "files/trial/Output.csv")] == URLS[:2]
    for row in trial:
        assert row["Target"] in out and f'"{row["Anchor"]}"' in out
    assert {row["Source"] for row in trial} == {*URLS[:2]} and any(row["Anchor"] for row in trial)
    assert "Trial finished: its links are in files/trial only." in out
    assert kept == {name: snapshot(folder)[f"files/{name}"] for name in kept}
    with open_project(folder).graph() as (edges, runs):
        assert before == ([*edges.each()], runs.versions())


def test_a_dry_run_leaves_no_trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run prints what a run would do, and writes no file or log entry and costs nothing."""
    with SerperStandIn(lambda words, site: URLS) as serper:
        write_settings(folder, {"serper_url": serper.url})
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
        assert command("run", "--no-serp", "--project", str(folder)) == 0
        before = snapshot(folder)
        capsys.readouterr()
        assert command("run", "--dry-run", "--project", str(folder)) == 0
        assert snapshot(folder) == before and not serper.ledger
    out = capsys.readouterr().out
    assert "Dry run: nothing was spent or written" in out
    # One page each, and half of the second pages, as nothing is known yet; at most two pages and an empty one again.
    assert "SERP credits: about 9, at most 18" in out and "Time: about " in out


def test_a_lookup_without_its_search_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If the search fails, the links come from the content, the reason is printed, and the exit code is 6."""
    with SerperStandIn(lambda words, site: []) as serper:
        write_settings(folder, {"serper_url": serper.url})
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
        serper.balance = 0
        assert command("lookup", "dark tea", "--project", str(folder)) == 6
    printed = capsys.readouterr()
    assert printed.out.count(SITE) == 5 and "Note: no search: Serper:" in printed.out
    assert "Output.csv" not in printed.out + printed.err


def test_lookup_of_nothing_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("lookup", "  ", "--project", str(folder)) == 2
    assert "URL-OR-QUERY is empty" in capsys.readouterr().err


def test_a_path_of_two_hosts_is_no_guess(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that two hosts have names both pages instead of choosing one."""
    rows = [
        ("URL", "Main Query"),
        *((f"https://{host}.example/a/", f"{host} tea") for host in ("one", "two")),
    ]
    write_csv(folder / "files/main_queries.csv", rows)
    assert command("lookup", "/a/", "--project", str(folder)) == 3
    assert "several pages: use the whole URL, https://one.example/a or https://two.example/a." in (
        capsys.readouterr().err
    )


def test_a_program_that_calls_a_command_keeps_its_garbage_collector(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    for words in (["lookup", URLS[0]], ["audit", "--no-report"]):
        command(*words, "--project", str(folder))
        assert gc.isenabled(), words
