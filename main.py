"""`python main.py` is `internal-linker run`, on the folder that this file lies in."""

import sys
from pathlib import Path

from internal_linker.cli import main

if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help", "--version")):
        arguments = ["run", *arguments]
    main(arguments, default_project=Path(__file__).resolve().parent)
