"""Runs a command in the project's own environment (.venv), which it creates or repairs first.

`python internal_linker/bootstrap.py [--test] -- COMMAND ...` runs COMMAND with the environment's Python;
--test adds what the tests need. It needs only the standard library, since it runs before anything is installed.
"""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "internal_linker_ready"
# Locked while the environment changes. Words left in it mean that a start was stopped halfway.
LOCK = ROOT / ".venv.lock"
TEST_MARKER = "# ---- what the tests add ----"  # tests/lock.py writes it
WORKS = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
AGAIN = "then start again."
# Words in the output of pip and venv and what to do about it; the first match is printed.
CAUSES = (
    (r"No space left|Errno 28|not enough space", f"The disk is full: free some space, {AGAIN}"),
    (
        r"DO NOT MATCH THE HASHES",
        f"A download does not match its hash in requirements.lock: try another network, {AGAIN}",
    ),
    (
        r"NewConnection|NameResolution|ConnectTimeout|ReadTimeout|ProxyError|SSLError|ConnectionError",
        f"The package registry can't be reached: check the internet connection (or the proxy), {AGAIN}",
    ),
    (
        r"No matching distribution|not a supported wheel",
        "A package has no wheel for this Python on this computer: "
        f"install Python 3.13 (64 bit), delete the folder .venv, {AGAIN}",
    ),
    (
        r"Permission denied|Access is denied|Errno 13|WinError (5|32)\b",
        f"Files can't be written: stop other runs of Internal Linker, check that the folder is yours, {AGAIN}",
    ),
    (
        r"ensurepip|No module named '?(venv|pip)",
        f"Python lacks its venv module (Debian, Ubuntu: apt install python3-venv): install it, {AGAIN}",
    ),
)


def main(arguments: list[str]) -> NoReturn:
    """Prepare the environment, then run the command in place of this process."""
    test = arguments[:1] == ["--test"]
    separator, *command = arguments[test:] or [""]
    if separator != "--" or not command:
        sys.exit("Usage: python internal_linker/bootstrap.py [--test] -- COMMAND ...")
    os.environ.setdefault("PYTHONUTF8", "1")
    try:
        if not _ready(test):
            # A plain exit lets subprocess.run end pip as well.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
            lock = _wait_for_lock()
            if not _ready(test):  # or another start has done it while this one waited
                _prepare(test, lock)
            os.close(lock)
        _become([str(PYTHON), *command])
    except OSError as error:
        sys.exit(f"{error}\n{_advice(str(error))}")
    except KeyboardInterrupt:
        sys.exit("Interrupted. The next start prepares the environment again.")


def _become(command: list[str]) -> NoReturn:
    if os.name != "nt":
        os.execv(command[0], command)  # the same process: signals and exit code are the command's own
    with subprocess.Popen(command) as child:
        while True:
            try:
                sys.exit(child.wait())
            except KeyboardInterrupt:  # the command has got it too, and decides
                continue


def _ready(test: bool) -> bool:
    try:
        done = STAMP.read_text(encoding="ascii").split()
        return PYTHON.exists() and all(digest in done for digest in _digests(test))
    except (OSError, ValueError):
        return False


def _digests(test: bool) -> list[str]:
    """Return a sha256 for each section of the lock, including everything else that the environment depends on."""
    files = [ROOT / "pyproject.toml", ROOT / "internal_linker/__init__.py", VENV / "pyvenv.cfg"]
    common = [file.read_bytes() for file in files] + [
        os.fsencode(os.path.realpath(PYTHON)),
        os.fsencode(ROOT),
    ]
    if os.name == "nt" and (home := re.search(r"(?m)^home = (.+?)\r?$", common[2].decode())):
        Path(home[1], "python.exe").lstat()  # the environment's own python.exe only starts this one
    parts = [[section.encode(), *common] for section in _sections(test)]
    return [hashlib.sha256(b"".join(hashlib.sha256(p).digest() for p in some)).hexdigest() for some in parts]


def _sections(test: bool) -> list[str]:
    base, _, added = (ROOT / "requirements.lock").read_text(encoding="utf-8").partition(TEST_MARKER)
    return [base, added] if test else [base]


def _prepare(test: bool, lock: int) -> None:
    _say("Preparing the environment (first start, a few minutes) ...")
    incomplete = os.fstat(lock).st_size > 0
    os.write(lock, b"incomplete: recreate .venv\n")
    STAMP.unlink(missing_ok=True)
    if incomplete or not _usable():
        # Not a Python inside the .venv that is about to be cleared.
        base: str = getattr(sys, "_base_executable", None) or sys.executable
        _call([base, "-I", "-m", "venv", "--clear", str(VENV)], lock)
    requirements = VENV / "requirements.txt"
    requirements.write_text("".join(_sections(test)), encoding="utf-8")
    _pip(["--require-hashes", "--only-binary", ":all:", "--requirement", str(requirements)], lock)
    _pip(["--no-build-isolation", "--editable", str(ROOT)], lock)
    STAMP.with_suffix(".new").write_text("\n".join(_digests(test)), encoding="ascii")
    STAMP.with_suffix(".new").replace(STAMP)
    os.ftruncate(lock, 0)


def _usable() -> bool:
    """Return whether there is an environment whose Python runs, is new enough and has pip."""
    command = [str(PYTHON), "-I", "-c", WORKS]
    return PYTHON.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0


def _pip(arguments: list[str], lock: int) -> None:
    # The lock is complete: nothing to resolve. The user's own registry, proxy and cache stay in force.
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]
    _call([str(PYTHON), "-I", "-X", "utf8", "-m", "pip", "install", *options, *arguments], lock)


def _call(command: list[str], lock: int) -> None:
    """Run a command silently; show its output if it fails.

    The command inherits the lock, so that no other start interferes while it outlives this one (SIGKILL).
    """
    # These two of the user's options make no sense inside an environment, and fail.
    environment = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_HASHES": "0"}
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        pass_fds=() if os.name == "nt" else (lock,),
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        output = f"{done.stdout}{done.stderr}".strip()
        sys.exit(f"{output}\n{_advice(output)}")


def _advice(output: str) -> str:
    fitting = (advice for words, advice in CAUSES if re.search(words, output))
    return f"Internal Linker can't start. {next(fitting, f'Fix the error above, {AGAIN}')}"


def _wait_for_lock() -> int:
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    if not _locked(lock):
        _say("Another start is preparing the environment; waiting for it ...")
        while not _locked(lock):
            time.sleep(0.2)
    return lock


def _locked(lock: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(lock, 1_000, os.SEEK_SET)  # past the words
            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError | PermissionError):
            return False
        raise
    return True


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
