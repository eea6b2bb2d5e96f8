"""Bad input is an answer, not a crash: hundreds of inputs that nobody should have, each run by the real program."""

from collections import Counter

import pytest

from tests.hostile.judge import ALONE, KINDS
from tests.support.small_project import REPOSITORY, start


def test_a_hostile_input_of_each_kind_has_a_good_answer() -> None:
    """A documented exit code, one sentence with the file's name where it fails, in 10 seconds and 1 GB."""
    kinds = [kind for kind in KINDS if kind not in ALONE]
    process = start("-m", "tests.hostile", *kinds, "--some", "1", "--seed", "2", cwd=REPOSITORY)
    said, errors = process.communicate(timeout=600)
    assert process.returncode == 0, said + errors


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_hostile_input_has_a_good_answer(kind: str) -> None:
    """The same of all there are."""
    # Of those that take long some are tried.
    part = ("--some", "9", "--seed", "1") if kind in ALONE else ()
    process = start("-m", "tests.hostile", kind, *part, cwd=REPOSITORY)
    said, errors = process.communicate(timeout=600)
    assert process.returncode == 0, said + errors


@pytest.mark.long
def test_there_are_enough_of_them() -> None:
    """More than 500, all different."""
    names = Counter(case.name for kind in KINDS for case in KINDS[kind]())
    assert len(names) > 500
    assert max(names.values()) == 1
