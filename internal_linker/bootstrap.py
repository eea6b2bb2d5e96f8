"""Runs a command in the project's own environment (.venv), which it creates or repairs first.

`python internal_linker/bootstrap.py [--test] -- COMMAND ...` runs COMMAND with the environment's Python;
--test adds what the tests need. It needs only the standard library, since it runs before anything is installed.
"""

import csv
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
# Checksums of what the environment was made from, and the names that were in its folder of packages then.
STAMP = VENV / "internal_linker_ready"
# Locked while the environment changes. Words left in it mean that a start was stopped halfway.
LOCK = ROOT / ".venv.lock"
# What a run needs, and what the tests add; tests/lock.py writes them.
REQUIREMENTS = (Path("requirements.lock"), Path("tests/requirements.lock"))
WORKS = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
AGAIN = "then start again."
FAILED = "Internal Linker can't start."
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
# Options of the user's pip that say where packages come from. All others (PIP_TARGET, PIP_PYTHON, PIP_DRY_RUN, ...)
# would install them elsewhere, or others, or nothing.
PIP_SOURCES = frozenset(
    "CACHE_DIR CERT CLIENT_CERT CONFIG_FILE DEFAULT_TIMEOUT EXTRA_INDEX_URL FIND_LINKS INDEX_URL KEYRING_PROVIDER "
    "NO_CACHE_DIR NO_INDEX PROXY RESUME_RETRIES RETRIES TIMEOUT TRUSTED_HOST USE_DEPRECATED USE_FEATURE".split()
)
# These would make Python take other code than the environment's, or none.
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONUSERBASE", "PYTHONEXECUTABLE")
BAR = 24  # characters


def enter(command: list[str]) -> None:
    """Return if this Python can run the program; otherwise run the command in the project's environment instead.

    It can if it is the environment's own and `main` started it, or if it has all packages of requirements.lock, as
    after `pip install -r requirements.lock` in another environment.
    """
    own = Path(sys.prefix).resolve() == VENV.resolve()
    if own and sys.flags.isolated:
        return
    if (own and STAMP.exists()) or _missing(sys.path, test=False):
        main(["--", *command])


def main(arguments: list[str]) -> NoReturn:
    """Prepare the environment, then run the command in place of this process."""
    test = arguments[:1] == ["--test"]
    separator, *command = arguments[test:] or [""]
    if separator != "--" or not command:
        sys.exit("Usage: python internal_linker/bootstrap.py [--test] -- COMMAND ...")
    os.environ["PYTHONUTF8"] = "1"
    for name in FOREIGN:
        os.environ.pop(name, None)
    try:
        if not _ready(test):
            # A plain exit lets `_call` end pip as well.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
            lock = _wait_for_lock()
            if not _ready(test):  # or another start has done it while this one waited
                _prepare(test, lock)
            os.close(lock)
        _become([str(PYTHON), *_isolated(), *command])
    except OSError as error:
        sys.exit(f"{error}\n{_advice(str(error))}")
    except KeyboardInterrupt:
        sys.exit("Interrupted. The next start prepares the environment again.")


def explained(error: ImportError) -> str:
    """Return what to do about a package that can't be imported; the next start repairs the project's environment."""
    what = f"A package that Internal Linker needs can't be loaded ({' '.join(str(error).split())[:300]})."
    if Path(sys.prefix).resolve() != VENV.resolve() or not STAMP.exists():
        return f'{what} Install the packages again: "{sys.executable}" -m pip install -r "{ROOT / REQUIREMENTS[0]}"'
    if any(_damaged(test=False)):
        STAMP.unlink(missing_ok=True)
        return f"{what} Start again: the next start repairs the environment."
    return (
        f"{what} All its files are there, so the system may lack a library, or the computer memory: "
        f"correct that, or delete the folder .venv, {AGAIN}"
    )


def _isolated() -> list[str]:
    """Return the flags under which only the environment's own code runs; -I ignores all PYTHON variables."""
    kept = {"PYTHONUNBUFFERED": "-u", "PYTHONDONTWRITEBYTECODE": "-B"}
    return ["-I", "-X", "utf8", *(flag for name, flag in kept.items() if os.environ.get(name))]


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
    """Return whether the environment was made from today's files, and whether all is there that was there then."""
    try:
        known = set(STAMP.read_text(encoding="utf-8").splitlines())
        return (
            PYTHON.exists() and known.issuperset(_digests(test)) and set(_present()).issuperset(_names(known))
        )
    except (OSError, ValueError):
        return False


def _names(stamp: set[str]) -> Iterator[str]:
    return (line[1:] for line in stamp if line.startswith("/"))


def _present() -> Iterator[str]:
    """Yield the names in the environment's folder of packages, without versions: a user may take another."""
    for path in _packages().iterdir():
        if not path.name.startswith(("pip", "setuptools", "__pycache__", "~")):
            yield re.sub(r"-[^-]*\.dist-info$", ".dist-info", path.name)


def _packages() -> Path:
    """Return the environment's folder of packages.

    Raises:
        FileNotFoundError: it has none.
    """
    pattern = "Lib/site-packages" if os.name == "nt" else "lib/python3*/site-packages"
    for folder in VENV.glob(pattern):
        return folder
    raise FileNotFoundError(VENV / pattern)


def _digests(test: bool) -> list[str]:
    """Return a sha256 for each file of requirements, including everything else that the environment depends on."""
    files = [ROOT / "pyproject.toml", ROOT / "internal_linker/__init__.py", VENV / "pyvenv.cfg"]
    common = [file.read_bytes() for file in files] + [
        os.fsencode(os.path.realpath(PYTHON)),
        os.fsencode(ROOT),
    ]
    if os.name == "nt" and (home := re.search(r"(?m)^home = (.+?)\r?$", common[2].decode())):
        Path(home[1], "python.exe").lstat()  # the environment's own python.exe only starts this one
    parts = [[each.encode(), *common] for each in _requirements(test)]
    return [hashlib.sha256(b"".join(hashlib.sha256(p).digest() for p in some)).hexdigest() for some in parts]


def _requirements(test: bool) -> list[str]:
    return [(ROOT / name).read_text(encoding="utf-8") for name in REQUIREMENTS[: 1 + test]]


def _required(test: bool, *, everywhere: bool = True) -> set[str]:
    """Return the names of the required packages.

    Without `everywhere`, also of those that only some systems need. One with several entries is needed everywhere.
    """
    found = re.findall(r"(?m)^([\w.-]+)==[^\s;]+[ \t]*(;?)", "\n".join(_requirements(test)))
    names = [_normal(name) for name, _ in found]
    optional = {_normal(name) for name, marker in found if marker and names.count(_normal(name)) == 1}
    return set(names) - (optional if everywhere else set())


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _missing(folders: Sequence[str], *, test: bool) -> set[str]:
    """Return the names of required packages that are in none of these folders."""
    found = set[str]()
    for folder in folders:
        if Path(folder).is_dir():
            infos = (path.name for path in Path(folder).glob("*.dist-info"))
            found.update(_normal(name.partition("-")[0]) for name in infos)
    return _required(test) - found


def _damaged(*, test: bool) -> Iterator[Path]:
    """Yield the .dist-info folder of each required package that lacks a file, or has one of another size."""
    required = _required(test, everywhere=False)
    for folder in _packages().glob("*.dist-info"):
        if _normal(folder.name.partition("-")[0]) in required and not _whole(folder):
            yield folder


def _whole(folder: Path) -> bool:
    try:
        with (folder / "RECORD").open(encoding="utf-8", newline="") as record:
            rows = [row for row in csv.reader(record) if row and not row[0].endswith(".pyc")]
        found = [((folder.parent / row[0]).stat().st_size, row[2]) for row in rows]
        return (folder / "METADATA").exists() and all(size == int(known or size) for size, known in found)
    except (OSError, ValueError, IndexError):
        return False


def _prepare(test: bool, lock: int) -> None:
    incomplete = os.fstat(lock).st_size > 0
    usable = not incomplete and _usable()
    _say(
        "Updating the environment (usually a minute) ..."
        if usable
        else "Preparing the environment (first start, a few minutes) ..."
    )
    os.write(lock, b"incomplete: recreate .venv\n")
    STAMP.unlink(missing_ok=True)
    if usable:
        # Without this folder, pip takes a package for one that isn't there, and installs it.
        for folder in list(_damaged(test=test)):
            shutil.rmtree(folder)
    else:
        # Not a Python inside the .venv that is about to be cleared.
        base: str = getattr(sys, "_base_executable", None) or sys.executable
        _call([base, "-I", "-m", "venv", "--clear", str(VENV)], lock)
    requirements = VENV / "requirements.txt"
    requirements.write_text("".join(_requirements(test)), encoding="utf-8")
    progress = _Progress(len(_required(test)))
    _pip(["--require-hashes", "--only-binary", ":all:", "--requirement", str(requirements)], lock, progress)
    _pip(["--no-build-isolation", "--editable", str(ROOT)], lock)
    if missing := _missing([str(_packages())], test=test):
        sys.exit(
            f"{FAILED} pip ended well, but did not install {', '.join(sorted(missing)[:5])} into the folder .venv: "
            f"remove options such as target, prefix or python from its configuration (pip config list), {AGAIN}"
        )
    known = [*_digests(test), *(f"/{name}" for name in _present())]
    STAMP.with_suffix(".new").write_text("\n".join(known), encoding="utf-8")
    STAMP.with_suffix(".new").replace(STAMP)
    os.ftruncate(lock, 0)


def _usable() -> bool:
    """Return whether there is an environment whose Python runs, is new enough and has pip."""
    command = [str(PYTHON), "-I", "-c", WORKS]
    return PYTHON.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0


class _Progress:
    """What pip is doing: one line that changes on a terminal; elsewhere a line for each of its two phases."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._what = total, 0, ""
        self._installing, self._before = False, 0
        self._live = sys.stderr.isatty()

    def read(self, line: str) -> None:
        """Take a line of pip's output."""
        word, _, rest = line.strip().partition(" ")
        if word in ("Collecting", "Processing", "Requirement"):
            if not self._done and not self._live:
                _say(f"Downloading {_packages_of(self._total)} ...")
            self._done += 1
            self._what = re.split("[=<>! ]", rest)[0] if word == "Collecting" else ""
        elif line.startswith("Installing collected packages: "):
            self._installing, self._done = True, 0
            self._total = line.count(",") + 1
            self._before = self._folders()
            if not self._live:
                _say(f"Installing {_packages_of(self._total)} ...")

    def show(self) -> None:
        """Show how far pip is; called a few times a second."""
        if not self._live:
            return
        if self._installing:
            # pip is silent in this phase, but a package that is done has its folder.
            self._done = max(self._done, self._folders() - self._before)
        done = min(self._done, self._total)
        bar = f"[{'#' * (BAR * done // max(1, self._total)):.<{BAR}}] {done} of {self._total}"
        what = "installing" if self._installing else f"downloading {self._what}".rstrip()
        sys.stderr.write(f"\r{f'  {bar}  {what}':<{self._width()}.{self._width()}}")
        sys.stderr.flush()

    def close(self) -> None:
        """Remove the line."""
        if self._live:
            sys.stderr.write(f"\r{'':{self._width()}}\r")
            sys.stderr.flush()

    @staticmethod
    def _width() -> int:
        return shutil.get_terminal_size().columns - 1

    @staticmethod
    def _folders() -> int:
        return sum(1 for _ in _packages().glob("*.dist-info"))


def _packages_of(count: int) -> str:
    return "1 package" if count == 1 else f"{count} packages"


def _pip(arguments: list[str], lock: int, progress: _Progress | None = None) -> None:
    # The lock is complete: nothing to resolve. The user's own registry, proxy and cache stay in force.
    options = ["--no-input", "--disable-pip-version-check", "--no-deps"]
    options += ["--progress-bar", "off"] if progress else ["--quiet"]
    _call([str(PYTHON), "-I", "-X", "utf8", "-m", "pip", "install", *options, *arguments], lock, progress)


def _call(command: list[str], lock: int, progress: _Progress | None = None) -> None:
    """Run a command; show its output if it fails, without the lines that `progress` reads.

    The command inherits the lock, so that no other start interferes while it outlives this one (SIGKILL).
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PIP_") or name[4:] in PIP_SOURCES
    }
    # The same options in the user's configuration file make no sense inside an environment, and fail.
    environment = {**kept, "PIP_USER": "0", "PIP_REQUIRE_HASHES": "0"}
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            pass_fds=() if os.name == "nt" else (lock,),
            encoding="utf-8",
            errors="replace",
        ) as child,
    ):
        lines = list[str]()
        reader = threading.Thread(
            target=_read, args=(child.stdout, progress.read if progress else lines.append), daemon=True
        )
        reader.start()
        try:
            _wait(child, progress)
        except BaseException:  # Ctrl-C, SIGTERM
            child.kill()
            raise
        reader.join()
        errors.seek(0)
        output = f"{''.join(lines)}{errors.read().decode('utf-8', 'replace')}".strip()
    if child.returncode:
        sys.exit(f"{output}\n{_advice(output)}")


def _read(stream: Iterable[str], take: Callable[[str], None]) -> None:
    for line in stream:
        take(line)


def _wait(child: subprocess.Popen[str], progress: _Progress | None) -> None:
    if progress is None:
        child.wait()
        return
    try:
        while child.poll() is None:
            progress.show()
            with suppress(subprocess.TimeoutExpired):
                child.wait(0.2)
    finally:
        progress.close()


def _advice(output: str) -> str:
    fitting = (advice for words, advice in CAUSES if re.search(words, output))
    return f"{FAILED} {next(fitting, f'Fix the error above, {AGAIN}')}"


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
