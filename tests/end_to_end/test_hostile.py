"""Bad input gives an error message, not a crash: hundreds of hostile inputs, each run by the real program."""

from collections import Counter

import pytest

from tests.hostile.judge import ALONE, KINDS
from tests.support.small_project import REPOSITORY, start

pytestmark = pytest.mark.long


@pytest.mark.parametrize("kind", KINDS)
def test_every_hostile_input_has_a_good_answer(kind: str) -> None:
    """A failure has a documented exit code and a sentence with the file's name, within 10 seconds and 1 GB."""
    # Of the slow kinds only some inputs are tried.
    part = ("--some", "9", "--seed", "1") if kind in ALONE else ()
    process = start("-m", "tests.hostile", kind, *part, cwd=REPOSITORY)
    said, errors = process.communicate(timeout=600)
    assert process.returncode == 0, said + errors


def test_there_are_enough_of_them() -> None:
    """The hostile inputs are more than 500 and all different."""
    names = Counter(case.name for kind in KINDS for case in KINDS[kind]())
    assert len(names) > 500
    assert max(names.values()) == 1
