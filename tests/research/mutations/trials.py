"""Whether the quick tier notices a mutation, tested in a copy of the project by the tests that reach the change."""

import ast
import compileall
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

from coverage import CoverageData

from tests.research.mutations.mutants import PACKAGE, Mutation
from tests.research.mutations.recorder import FOLDER

PYTEST = (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider")
# A trial may take this many times as long as its tests took while they were mapped, plus these seconds.
PATIENCE_S, PATIENCE = 60.0, 5.0
# The longest that the tests of one mutation may have taken while they were mapped.
_MOST_S = 30.0
# A test or two may depend on the hour or on a busy computer; more of them are a broken program.
_MOST_FAILED = 5
_LEFT_OUT = (".git", ".venv", ".mutations", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis", "dist")


@dataclass(frozen=True)
class Verdict:
    """The result of a mutation: `killed`, `timeout` or `survived`, the number of tests run, and the failing test."""

    outcome: str
    tests: int
    killer: str


class Copy:
    """A copy of the project in which files may change."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def of(cls, project: Path, root: Path) -> "Copy":
        """Copy a project; compiled code is matched by content, so that a change within a second counts."""
        shutil.copytree(project, root, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        compileall.compile_dir(
            root / PACKAGE, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH, workers=1
        )
        return cls(root)

    def pytest(
        self, arguments: Iterable[str], variables: Mapping[str, str], longest: float | None = None
    ) -> tuple[int, str]:
        """Run pytest, and return the exit code, -1 if it took too long, and its output."""
        process = subprocess.Popen(
            [*PYTEST, *arguments],
            cwd=self.root,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(self.root), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=longest)
            return process.returncode, said
        except subprocess.TimeoutExpired:
            return -1, ""
        finally:
            _end(process)

    def judge(self, mutation: Mutation, tests: Sequence[str], longest: float) -> Verdict:
        """Change the file, run the tests until one fails, and change it back."""
        if not tests:
            return Verdict("survived", 0, "")
        file = self.root / mutation.path
        source = file.read_bytes()
        file.write_bytes(mutation.apply(source))
        try:
            code, said = self._run(tests, longest)
            outcome = {-1: "timeout", 0: "survived"}.get(code, "killed")
            return Verdict(outcome, len(tests), _killer(said) if outcome == "killed" else "")
        finally:
            file.write_bytes(source)

    def check(self, tests: Sequence[str]) -> None:
        """See that pytest finds these tests where nothing is mutated, or every mutation would count as killed.

        Raises:
            SystemExit: it does not.
        """
        code, said = self._run(["--collect-only", *tests], None)
        if code:
            raise SystemExit(f"{said}\nThe tests are not found where nothing is mutated.")

    def _run(self, tests: Sequence[str], longest: float | None) -> tuple[int, str]:
        chosen = self.root.with_suffix(".tests")
        chosen.write_text("\n".join(tests), encoding="utf-8")
        return self.pytest(["-x", "--tb=no", "-rfE", f"@{chosen}"], {}, longest)


@dataclass(frozen=True)
class Reach:
    """Which tests reach which code.

    Attributes:
        by_line: tests by file and line; line 0 has all tests that reach any line of a function in the file.
        seconds: each test's processor seconds, in the order in which they ran.
        starters: tests that start processes, so that what they reach is unknown.
        users: files by the files that they import from.
    """

    by_line: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]
    starters: set[str]
    users: dict[str, set[str]]

    @classmethod
    def measure(cls, copy: Copy, folder: Path) -> "Reach":
        """Run the quick tier once on all cores.

        Raises:
            SystemExit: a test fails without any mutation.
        """
        folder.mkdir(parents=True)
        options = ["-p", "tests.research.mutations.recorder", "-n", "logical", "--tb=short", "-rfE"]
        options += [f"--cov={PACKAGE}", "--cov-context=test", "--cov-report="]
        variables = {FOLDER: str(folder), "COVERAGE_FILE": str(folder / "coverage")}
        code, said = copy.pytest(options, variables)
        failed = {line.split(" ")[1] for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))}
        if code not in (0, 1) or len(failed) > _MOST_FAILED:
            raise SystemExit(f"{said}\nThe quick tier fails without any mutation: mend it first.")
        for name in sorted(failed):
            print(f"Left out, since it fails without any mutation: {name}", flush=True)
        data = CoverageData(str(folder / "coverage"))
        data.read()
        records = [
            json.loads(line)
            for file in folder.glob("*.jsonl")
            for line in file.read_text("utf-8").splitlines()
        ]
        seconds = {name: float(took) for name, took, *_ in records if name.split(" ")[0] not in failed}
        # What a fixture starts may be there for all tests of the file.
        files = {name.partition("::")[0] for name, _, _, prepared in records if prepared}
        starters = {name for name, _, started, _ in records if started or name.partition("::")[0] in files}
        return cls(_by_line(copy.root, data, seconds), seconds, starters, _users(copy.root))

    def tests(self, mutation: Mutation) -> list[str]:
        """Return the first tests that reach the change, as many as fit into `_MOST_S`.

        Every test of a module, and of modules that import from it, reaches code that runs at import. Tests that start
        processes are taken only if no other test reaches the change. Further tests might notice more mutations, so the
        share of noticed ones is a lower bound.
        """
        lines = self.by_line.get(mutation.path, {})
        reached = [lines.get(line, set()) for line in range(mutation.line, mutation.last_line + 1)]
        first = set[str]().union(*reached)
        if not first:
            files = {mutation.path, *self.users.get(mutation.path, ())}
            first = set[str]().union(*(self.by_line.get(file, {}).get(0, set()) for file in files))
        tests, took = self._in_order(first or self.starters, mutation.room), 0.0
        for count, test in enumerate(tests):
            took += self.seconds[test]
            if took > _MOST_S:
                return tests[: count + 1]
        return tests

    def longest(self, tests: Iterable[str]) -> float:
        """Return the seconds that these tests may take."""
        return PATIENCE_S + PATIENCE * sum(self.seconds[test] for test in tests)

    def _in_order(self, tests: set[str], room: str) -> list[str]:
        """Sort tests by file, as pytest would: the package's own files first, then the fastest."""
        of_file = defaultdict[str, list[str]](list)
        for test in self.seconds:
            if test in tests:
                of_file[test.partition("::")[0]].append(test)

        def place(file: str) -> tuple[bool, float, str]:
            own = file.startswith(f"tests/{room}/")
            return not own, sum(self.seconds[test] for test in of_file[file]), file

        return [test for file in sorted(of_file, key=place) for test in of_file[file]]


def _by_line(root: Path, data: CoverageData, seconds: dict[str, float]) -> dict[str, dict[int, set[str]]]:
    """Return tests by file and line; a fixture's work counts for all tests of the file that may share it."""
    of_file = defaultdict[str, set[str]](set)
    for test in seconds:
        of_file[test.partition("::")[0]].add(test)
    found: dict[str, dict[int, set[str]]] = {}
    for measured in data.measured_files():
        if not measured.endswith(".py"):  # a template that was compiled
            continue
        path = Path(measured).relative_to(root).as_posix()
        lines = found.setdefault(path, defaultdict(set))
        inside = _lines_of_functions(root / path)
        for line, contexts in data.contexts_by_lineno(measured).items():
            if line not in inside:
                continue
            for context in filter(None, contexts):
                test, _, phase = context.rpartition("|")
                reaching = {test} & seconds.keys() if phase == "run" else of_file[test.partition("::")[0]]
                lines[line] |= reaching
                lines[0] |= reaching
    return found


def _lines_of_functions(file: Path) -> set[int]:
    """Return the lines that run whenever a function is called: neither at import nor for the first caller only."""
    lines = set[int]()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_cached(node):
            lines.update(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return lines


def _is_cached(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("cache" in ast.unparse(decorator) for decorator in function.decorator_list)


def _users(root: Path) -> dict[str, set[str]]:
    """Return files of the package by the files that they import names from."""
    users = defaultdict[str, set[str]](set)
    for file in (root / PACKAGE).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                path = str(node.module).replace(".", "/")
                for one in (f"{path}.py", *(f"{path}/{name.name}.py" for name in node.names)):
                    users[one].add(file.relative_to(root).as_posix())
    return users


def _killer(said: str) -> str:
    """Return the test that failed, or how pytest ended."""
    lines = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return (lines or said.strip().splitlines() or [""])[0].partition(" - ")[0]


def _end(process: subprocess.Popen[str]) -> None:
    """End whatever a test has left running."""
    if os.name == "posix":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
