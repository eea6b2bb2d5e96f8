"""Runs commands on a project and records what each of them prints, writes and stores."""

import contextlib
import difflib
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.golden.shown import NOT_SHOWN, Masks, file_text, logged_text, printed_text, stored_texts
from tests.support.small_project import command

STEP, PART = "=" * 4, "-" * 4
# Characters of a text that are recorded; of the links all.
LONGEST = 9_000
WHOLE = "files/links.csv"


class Recorder:
    """The record of a project: a part for everything that a step changed.

    A text that is there already is recorded by its lines that went and came, so that a change is seen once.

    Args:
        folder: the project.
        others: more folders whose files are recorded, by the name that the record has for them.
        names: as of `Masks`.
        ids: as of `Masks`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        others: Mapping[str, Path] | None = None,
        names: Mapping[str, str] | None = None,
        ids: bool = False,
    ) -> None:
        self.folder = folder
        self._folders = {"": folder, **(others or {})}
        given = {str(path): f"<{name or 'project'}>" for name, path in self._folders.items()}
        self.masks = Masks({**given, **(names or {})}, ids=ids)
        self._lines: list[str] = []
        self._texts: dict[str, str] = {}
        self._bytes: dict[Path, bytes] = {}
        self._log = ""
        self.look()

    def look(self) -> None:
        """Take the files as they are for known: what a test writes itself is not recorded."""
        for _ in self._changed():
            pass

    def run(self, *arguments: str, say: str = "") -> str:
        """Run a command, record what it did, and return what it printed.

        Args:
            arguments: the command line, without --project.
            say: stands for the command line in the record.
        """
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command(*arguments, "--project", str(self.folder))
        self.step(say or " ".join(arguments))
        self.part("exit code", str(code))
        self.part("printed", printed_text(out.getvalue()))
        self.part("printed as an error", printed_text(err.getvalue()))
        for name, text in self._changed():
            self.change(name, text)
        for name, text in stored_texts(self.folder):
            self.change(f"table {name}", text)
        log = self.folder / "logfile.txt"
        text = log.read_text("utf-8") if log.exists() else ""
        if "Run starts" in text.removeprefix(self._log):
            self.part("summary in the log", logged_text(text))
        self._log = text
        return out.getvalue()

    def step(self, title: str) -> None:
        """Begin a step of the record."""
        self._lines += ["", self.masks.masked(f"{STEP} {title}").replace("\n", " ")]

    def part(self, name: str, text: str) -> None:
        """Record a text, unless it is empty."""
        if text := self.masks.masked(text).strip("\n"):
            self._lines += [
                f"{PART} {name}",
                *(text.split("\n") if name == WHOLE else shortened(text.split("\n"))),
            ]

    def text(self) -> str:
        """Return the whole record."""
        return "\n".join(self._lines).strip() + "\n"

    def change(self, name: str, text: str) -> None:
        """Record what changed in a text that is known by its name: a file, a table, a tab, a post."""
        # Whose run it is would change each row of a file.
        text = re.sub(r"<run \d+>", "<run>", self.masks.masked(text))
        before = self._texts.get(name)
        self._texts[name] = text
        if before is None:
            self.part(name, text)
        elif before != text:
            self.part(f"{name}, changed", "\n".join(changes(before, text)))

    def _changed(self) -> Iterator[tuple[str, str]]:
        """Yield each new or changed file that people see, and each that is gone."""
        there = set[Path]()
        for name, folder in self._folders.items():
            for path in sorted(folder.rglob("*")):
                local = path.relative_to(folder).as_posix()
                if not path.is_file() or (not name and NOT_SHOWN.match(local)) or ".git/" in local:
                    continue
                there.add(path)
                content = path.read_bytes()
                if self._bytes.get(path) != content:
                    self._bytes[path] = content
                    yield self.masks.masked(f"{name}/{local}".lstrip("/")), file_text(path)
        for path in sorted(self._bytes.keys() - there):
            del self._bytes[path]
            yield path.name, "<gone>"


def changes(before: str, after: str) -> Iterable[str]:
    """Return the lines that went, with a minus sign, and those that came, with a plus sign."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def shortened(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines; of a long text the beginning, and a digest of the rest without its fractions."""
    size = 0
    for place, line in enumerate(lines):
        size += len(line)
        if size > LONGEST:
            rest = re.sub(r"\d+\.\d{3,}", "#", "\n".join(lines[place:]))
            digest = hashlib.sha256(rest.encode()).hexdigest()[:16]
            return [*lines[:place], f"... and {len(lines) - place} more lines: {digest}"]
    return lines
