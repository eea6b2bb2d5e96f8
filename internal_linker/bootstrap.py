"""Runs a command in the project's own environment (.venv), which it makes first.

`python internal_linker/bootstrap.py [--test] -- COMMAND ...` runs COMMAND with the environment's Python; --test adds
what the tests need. It needs only the standard library, since it runs before anything is installed.
"""

import hashlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
# Digests of what the environment was made from; a lock; a file that is there while .venv must be made from scratch.
READY, BUSY, INCOMPLETE = VENV / "internal_linker_ready", ROOT / ".venv.busy", ROOT / ".venv.incomplete"
# What a run needs, and what the tests add; tests/lock.py writes them.
REQUIREMENTS = ("requirements.txt", "tests/requirements.lock")
# Words in the output of pip and venv and what to do about it; the first match is printed.
CAUSES = {
    r"No space left|Errno 28|not enough space": "The disk is full: free some space",
    r"NewConnection|NameResolution|ConnectTimeout|ReadTimeout|ProxyError|SSLError|ConnectionError": (
        "The package registry can't be reached: check the internet connection (or the proxy)"
    ),
    r"No matching distribution|not a supported wheel": "A package has no wheel for this Python: install Python 3.13",
    r"Permission denied|Access is denied|unable to open|WinError": "The folder can't be written to: stop other runs",
    r"ensurepip|No module named '?(venv|pip)": "Python lacks its venv module: install it (apt install python3-venv)",
}


def enter(command: list[str]) -> None:
    """Return if this Python can run the program; otherwise run the command in the project's environment instead.

    It can if it has all packages in the version ranges of pyproject.toml.
    """
    if sys.flags.isolated:  # `main` started it
        return
    try:
        from packaging.requirements import Requirement

        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        needed = map(Requirement, project["dependencies"])
        satisfied = all(each.specifier.contains(metadata.version(each.name)) for each in needed)
    except ImportError:  # a package is missing, `packaging` or another one
        satisfied = False
    if not satisfied:
        main(["--", *command])


def main(arguments: list[str]) -> NoReturn:
    """Prepare the environment, then run the command in place of this process."""
    test, command = arguments[0] == "--test", arguments[arguments.index("--") + 1 :]
    # The same options in the user's configuration of pip make no sense inside an environment, and fail.
    os.environ |= {"PYTHONUTF8": "1", "PIP_USER": "0", "PIP_REQUIRE_HASHES": "0"}
    try:
        if not _is_ready(test):
            # The system frees this lock if its process is killed.
            with closing(sqlite3.connect(BUSY, timeout=3600, isolation_level=None)) as lock:
                lock.execute("BEGIN EXCLUSIVE")
                if not _is_ready(test):  # or another start has made it while this one waited
                    _make(test)
        # -I ignores all PYTHON variables, so that only the environment's own code runs.
        options = ["-I", "-X", "utf8", *["-u"] * bool(os.environ.get("PYTHONUNBUFFERED"))]
        command = [str(PYTHON), *options, *command]
        if os.name != "nt":
            os.execv(command[0], command)  # the same process: signals and exit code are the command's own
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command gets it too, and decides
        sys.exit(subprocess.call(command))
    except (OSError, sqlite3.Error) as error:
        sys.exit(f"{error}\n{_advice(str(error))}")
    except KeyboardInterrupt:
        sys.exit("Interrupted. The next start makes the environment again.")


def explained(error: ImportError) -> str:
    """Return what to do about a package that can't be imported; the next start rebuilds the project's environment."""
    what = f"A package that Internal Linker needs can't be loaded ({' '.join(str(error).split())[:300]})."
    if Path(sys.prefix).resolve() != VENV.resolve() or not READY.exists():
        return f'{what} Install the packages again: "{sys.executable}" -m pip install -r "{ROOT / REQUIREMENTS[0]}"'
    INCOMPLETE.touch()
    READY.unlink()
    return f"{what} Start again: the next start rebuilds the environment. If that fails, the system lacks a library."


def _is_ready(test: bool) -> bool:
    try:
        return PYTHON.exists() and READY.read_text(encoding="utf-8").split()[: 1 + test] == _digests(test)
    except OSError:
        return False


def _digests(test: bool) -> list[str]:
    """Return a digest for each file of requirements, with everything else that the environment depends on."""
    common = os.fsencode(ROOT) + (ROOT / "pyproject.toml").read_bytes() + (VENV / "pyvenv.cfg").read_bytes()
    parts = [common + (ROOT / name).read_bytes() for name in REQUIREMENTS[: 1 + test]]
    return [hashlib.sha256(part).hexdigest() for part in parts]


def _make(test: bool) -> None:
    works = [str(PYTHON), "-I", "-c", "import pip, sys; sys.exit(sys.version_info < (3, 11))"]
    usable = (
        PYTHON.exists()
        and not INCOMPLETE.exists()
        and not subprocess.run(works, check=False, capture_output=True).returncode
    )
    what = "Updating the environment" if usable else "Preparing the environment (first start, a few minutes)"
    print(f"{what} ...", file=sys.stderr, flush=True)
    INCOMPLETE.touch()
    if not usable:
        # Not a Python inside the .venv that is about to be cleared.
        _call([getattr(sys, "_base_executable", sys.executable), "-I", "-m", "venv", "--clear", str(VENV)])
    # The lock is complete: nothing to resolve. The user's own registry, proxy and cache stay in force.
    options = "--no-deps --no-input --disable-pip-version-check --progress-bar off"
    pip = [str(PYTHON), *f"-I -X utf8 -m pip install {options}".split()]
    files = [option for name in REQUIREMENTS[: 1 + test] for option in ("--requirement", str(ROOT / name))]
    _call([*pip, "--require-hashes", "--only-binary", ":all:", *files])
    _call([*pip, "--no-build-isolation", "--editable", str(ROOT)])
    READY.write_text("\n".join(_digests(test)), encoding="utf-8")
    INCOMPLETE.unlink()


def _call(command: list[str]) -> None:
    """Run a command; a terminal shows the last line of its output, and a failure all of it."""
    output, live = "", sys.stderr.isatty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        for line in child.stdout or ():
            output += line.decode("utf-8", "replace")
            sys.stderr.write(f"\r{output.splitlines()[-1].strip():<78.78}\r" if live else "")
    if child.returncode:
        sys.exit(f"{output.strip()}\n{_advice(output)}")


def _advice(output: str) -> str:
    fitting = (advice for words, advice in CAUSES.items() if re.search(words, output))
    return f"Internal Linker can't start. {next(fitting, 'Fix the error above')}, then start again."


if __name__ == "__main__":
    main(sys.argv[1:])
