"""Commands in messages, written so that a person can type them where the program was started."""

import os
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from shutil import which

from internal_linker.model.errors import ConfigurationError

# The folder of run_main and pyproject.toml, unless the package was installed without them.
CHECKOUT = Path(__file__).resolve().parents[2]
_SPECIAL = re.compile(r"[^\w./\\:-]")


def command(words: str, *, anywhere: bool = False) -> str:
    """Return a command of this program, such as "check", with what starts the program: ./run_main.sh check.

    With `anywhere` it has whole paths, for a scheduler, which has no current folder and may know no other programs.
    """
    return f"{_program(anywhere=anywhere)} {words}"


def project_command(words: str, folder: Path) -> str:
    """Return a command for a project folder: with --project, unless the program takes the folder anyway."""
    is_main = Path(sys.argv[0] if sys.argv else "").name == "main.py"
    taken = CHECKOUT if is_main else Path.cwd()
    return (
        command(words)
        if folder.resolve() == taken.resolve()
        else f"{command(words)} --project {typed_path(folder)}"
    )


def installation(extra: str, *, again: bool = False) -> str:
    """Return the command that installs an extra's packages into this Python, `again` if they are damaged."""
    options = ["--force-reinstall", "--no-deps"] if again else []
    return " ".join([typed_path(sys.executable), "-m pip install", *options, *map(_quoted, _packages(extra))])


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn a failed import of an extra's package into a sentence on how to install it; its subject is `what`.

    Raises:
        ConfigurationError: the package is missing or can't be loaded.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("internal_linker"):
            raise
        raise ConfigurationError(
            f"{what} requires the extra `{extra}` ({error}). Install it: {installation(extra)}"
        ) from None


def typed_path(path: str | Path, here: str = "", *, anywhere: bool = False) -> str:
    """Return a path as a person types it: relative to the current folder, after `here`, if inside; else whole."""
    # Not resolved: an environment's Python is a link to another one.
    whole = Path(path).absolute()
    inside = not anywhere and whole.is_relative_to(Path.cwd())
    return _quoted(f"{here}{whole.relative_to(Path.cwd())}" if inside else str(whole))


def _program(*, anywhere: bool) -> str:
    started = Path(sys.argv[0] if sys.argv else "")
    if started.name == "main.py":
        if Path(sys.prefix).resolve() != CHECKOUT / ".venv":
            python = typed_path(sys.executable, anywhere=True) if anywhere else "python"
            return f"{python} {typed_path(started, anywhere=anywhere)}"
        # PowerShell and Unix shells run a program in the current folder only with this prefix.
        return typed_path(
            CHECKOUT / ("run_main.bat" if os.name == "nt" else "run_main.sh"),
            here=f".{os.sep}",
            anywhere=anywhere,
        )
    if started.parts[-2:] == ("internal_linker", "__main__.py"):
        return f"{typed_path(sys.executable, anywhere=anywhere)} -m internal_linker"
    found = which("internal-linker")
    if started.stem == "internal-linker" and not found:
        return typed_path(started, anywhere=anywhere)
    return typed_path(found, anywhere=True) if anywhere and found else "internal-linker"


def _quoted(text: str) -> str:
    return f'"{text}"' if _SPECIAL.search(text) else text


def _packages(extra: str) -> list[str]:
    try:
        if (CHECKOUT / "pyproject.toml").exists():
            project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            return [each.replace(" ", "") for each in project["optional-dependencies"][extra]]
        known = (each.partition(";") for each in metadata.requires("internal-linker") or ())
        return [
            name.strip()
            for name, _, marker in known
            if re.search(f"extra == ['\"]{re.escape(extra)}", marker)
        ]
    except (OSError, metadata.PackageNotFoundError):
        return [f"internal-linker[{extra}]"]
