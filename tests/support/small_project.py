"""A project folder with a site of six pages, and the ways to run a command on it."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from internal_linker.faces.cli import main
from internal_linker.project.settings.settings import ENV_PREFIX, KEY_FILES

REPOSITORY = Path(__file__).parents[2]
SITE = "https://www.tiny.example"
TOPICS = {
    "green-tea": "Green tea leaves are steamed, so that the cup stays fresh, grassy and light.",
    "black-tea": "Black tea leaves are oxidised, which gives the cup a dark colour and malty taste.",
    "white-tea": "White tea leaves are only dried: the cup is pale, light and a little sweet.",
    "tea-pots": "A tea pot of clay keeps the water hot while black tea leaves draw.",
    "water": "Soft water lets light tea taste fresh; hard water makes the cup dull and dark.",
    "storage": "Leaves keep their fresh taste in a dark tin, away from light and hot water.",
}
URLS = [f"{SITE}/{slug}/" for slug in TOPICS]
HEADER = ("URL", "Title", "Main Content")


def make_project(folder: Path, settings: Mapping[str, object] | None = None) -> Path:
    """Write pages, queries and settings; without other settings the project needs no key, network or model."""
    write_csv(folder / "files/urls_rawdata.csv", [HEADER, *_pages()])
    queries = [(url, slug.replace("-", " ")) for url, slug in zip(URLS, TOPICS, strict=True)]
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *queries])
    write_settings(folder, settings or {})
    return folder


def write_settings(folder: Path, settings: Mapping[str, object]) -> None:
    """Write settings.toml with the site's own template and no model, except where `settings` differ."""
    given = {
        "embedding_provider": "lsa",
        "search_query_template": "site:www.tiny.example {main_query}",
        **settings,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in given.items()]
    write_text(folder / "config/settings.toml", "\n".join(lines))


def write_csv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a CSV file, and create its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def write_text(path: Path, text: str) -> None:
    """Write a text file, and create its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file's content and modification time (ns), by its path."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def command(*arguments: str) -> int:
    """Run a command in this process and return its exit code."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    for number, handler in before.items():
        signal.signal(number, handler)
    return int(str(ended.value.code))


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without any setting or key, plus `more`; the package can be imported."""
    ours = {variable for _, variable in KEY_FILES.values()}
    kept = {name: text for name, text in os.environ.items() if not _is_setting(name) and name not in ours}
    return {**kept, "PYTHONPATH": str(REPOSITORY), **more}


def forget_settings() -> None:
    """Remove settings and keys from this process's environment."""
    for name in os.environ.keys() - environment().keys():
        del os.environ[name]


def start(*arguments: str, cwd: Path, **more: str) -> subprocess.Popen[str]:
    """Start Python with these arguments, its output in pipes and without any setting in its environment."""
    with _heeded_interrupts():
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=cwd,
            env=environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )


@contextmanager
def _heeded_interrupts() -> Iterator[None]:
    """Let processes that are started here heed Ctrl-C, even if the tests were told to ignore it, as by nohup."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if not ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    # A handler becomes the default in a new process; that something is ignored is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def finish(process: subprocess.Popen[str], longest: float = 60.0) -> tuple[int, str, str]:
    """Wait for the end within a time limit; return exit code, stdout and stderr."""
    out, err = process.communicate(timeout=longest)
    return process.returncode, out, err


def _pages() -> list[tuple[str, str, str]]:
    return [
        (url, slug.replace("-", " ").capitalize(), text)
        for url, (slug, text) in zip(URLS, TOPICS.items(), strict=True)
    ]


def _is_setting(name: str) -> bool:
    return name.upper().startswith(ENV_PREFIX)


def summary(project: Path) -> dict[str, str]:
    """Return the whole summary of the last run, as logfile.txt has it."""
    text = (project / "logfile.txt").read_text(encoding="utf-8").rpartition("Summary: Run: ")[2]
    return dict(re.findall(r"Summary: ([^:]+): (.*)", text))
