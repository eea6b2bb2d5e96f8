"""The program does what the committed record says."""

import os
import subprocess
import sys

import pytest

from tests.golden.compare import differences, equal
from tests.golden.recorder import changes, shortened
from tests.support.small_project import REPOSITORY


@pytest.mark.long
def test_nothing_that_people_see_has_changed() -> None:
    """`python -m tests.golden` finds the committed record, whatever Python's hashes and the number of threads are."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONHASHSEED": "3", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_difference_names_its_step_and_shows_the_first_line() -> None:
    """Of each part that differs the first line is shown, as it was and as it is; the last digit may differ."""
    old = "==== run\n---- exit code\n0\n---- files/a.csv\na,0.1234\nb,1\nc,2\n---- gone.csv\nx\n"
    new = "==== run\n---- exit code\n0\n---- files/a.csv\na,0.1235\nb,9\nc,8\n---- new.csv\ny\n"
    assert [*differences(old, old)] == []
    assert [*differences(old, new)] == [
        "step 1: run > files/a.csv, line 2 of 3 (now 3)\n  old: b,1\n  new: b,9",
        "step 1: run > gone.csv\n  is gone",
        "step 1: run > new.csv\n  is new: y",
    ]
    assert equal("a 0.1234", "a 0.1236") and not equal("a 0.1234", "a 0.1237") and not equal("a 1", "a 2")


def test_a_record_is_short() -> None:
    assert changes("a\nb\nc", "a\nx\nc") == ["-b", "+x"]
    lines = [f"{number} 0.12345" for number in range(3000)]
    assert shortened(lines[:5]) == lines[:5]
    rest = shortened(lines)[-1]
    assert rest.startswith("... and ") and shortened([*lines[:-1], "2999 0.54321"])[-1] == rest
    assert shortened([*lines[:-1], "another line"])[-1] != rest
