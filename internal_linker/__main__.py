"""`python -m internal_linker` is the console script `internal-linker`."""

import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None, default_project: Path | None = None) -> None:
    """Run the command line; without its packages, say what to do."""
    try:
        from internal_linker.faces.cli import main as run
    except ImportError as error:
        from internal_linker import bootstrap

        sys.stderr.write(f"Error: {bootstrap.explained(error)}\n")
        sys.exit(2)
    run(arguments, default_project)


if __name__ == "__main__":
    main()
