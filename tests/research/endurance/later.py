"""The real program on a later day.

python -m tests.research.endurance.later DAYS run --project DIR
"""

import sys
from datetime import UTC, datetime, timedelta

import time_machine

from internal_linker.faces.cli import main as program


def main() -> None:
    """Move the clock, then run the program."""
    with time_machine.travel(datetime.now(UTC) + timedelta(days=int(sys.argv[1]))):
        program(sys.argv[2:])


if __name__ == "__main__":
    main()
