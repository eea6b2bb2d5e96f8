"""The real program, killing itself at its n-th boundary: a step, or the writing, syncing or naming of a file.

    python -m tests.end_to_end.doomed N FILE run --project DIR

With N = 0 it survives and writes the number of boundaries into FILE.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

passed = 0


def main() -> None:
    """Wrap the boundaries, then run the program."""
    doom, tally = int(sys.argv[1]), Path(sys.argv[2])

    def boundary(work: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(work)
        def wrapped(*args: Any, **options: Any) -> Any:
            reached(doom)
            result = work(*args, **options)
            reached(doom)
            return result

        return wrapped

    # Wrapped before the program is imported, since its defaults are these functions.
    os.replace, os.fsync = boundary(os.replace), boundary(os.fsync)
    from internal_linker.faces.cli import main as program
    from internal_linker.project.console import Reporter

    for name in ("start", "finish"):
        setattr(Reporter, name, boundary(getattr(Reporter, name)))
    try:
        program(sys.argv[3:])
    finally:
        if not doom:
            tally.write_text(str(passed), encoding="utf-8")


def reached(doom: int) -> None:
    """Count a boundary, and die at the requested one."""
    global passed  # noqa: PLW0603 - the count is what this program is for
    passed += 1
    if passed == doom:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
