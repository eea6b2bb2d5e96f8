"""Mutation testing: which code changes, which tests run, and what the table shows."""

from pathlib import Path

import pytest

from tests.research.mutations.__main__ import ROOT
from tests.research.mutations.mutants import ROOMS, mutations, sample
from tests.research.mutations.table import write
from tests.research.mutations.trials import Copy, Reach, Verdict

CODE = '''"""A module."""

LIMIT = 3


def first(items: list[int], *, least: int = 0) -> int:
    """Return the first that is large enough."""
    found = [one for one in items if one > least and one - 1]
    if not found:
        raise ValueError("none")
    items.append(max(found, default=7))
    return found[0]
'''
TESTS = """
from internal_linker.model.tiny import first

def test_first():
    assert first([0, 2, 3]) == 2

def test_nothing_at_all():
    pass
"""


def changed(kind: str) -> set[tuple[str, str]]:
    found = mutations("internal_linker/model/tiny.py", CODE.encode())
    return {(one.before, one.after) for one in found if one.kind == kind}


def test_each_kind_of_mutation_is_found() -> None:
    """Every kind of mutation is found; types in signatures and docstrings stay unchanged."""
    assert changed("constant") == {("3", "4"), ("0", "1"), ("1", "2"), ('"none"', '""'), ("7", "8")}
    assert changed("comparison") == {("one > least", "(one >= least)")}
    assert changed("arithmetic") == {("one - 1", "(one + 1)")}
    assert ("one > least and one - 1", "(one > least or one - 1)") in changed("boolean")
    assert changed("return value") == {("found[0]", "None")}
    assert changed("swapped branches") == {("not found", "(not (not found))")}
    assert changed("deleted keyword") == {("max(found, default=7)", "(max(found))")}
    assert changed("deleted statement") == {
        ('raise ValueError("none")', "pass"),
        ("items.append(max(found, default=7))", "pass"),
    }


def test_a_sample_is_the_same_for_a_seed_and_can_be_compiled() -> None:
    """Each package has its share, no line has two mutations, and each changed file still compiles."""
    rooms = ("model", "anchors")
    drawn = sample(ROOT, 30, 1, rooms)
    assert drawn == sample(ROOT, 30, 1, rooms) != sample(ROOT, 30, 2, rooms)
    assert len({(one.path, one.line) for one in drawn}) == 30
    assert {one.room for one in drawn} == {*rooms} < {*ROOMS}
    for one in drawn:
        source = (ROOT / one.path).read_bytes()
        assert one.apply(source) != source
        compile(one.apply(source), one.path, "exec")


@pytest.fixture
def project(tmp_path: Path) -> Copy:
    """Return a copy of a tiny project: one module, and two tests of which one calls it."""
    root = tmp_path / "project"
    for name, text in (
        ("internal_linker/__init__.py", ""),
        ("internal_linker/model/__init__.py", ""),
        ("internal_linker/model/tiny.py", CODE),
        ("tests/model/test_tiny.py", TESTS),
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['.']\n"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Copy.of(root, tmp_path / "copy")


def test_a_mutation_is_killed_or_survives(project: Copy) -> None:
    """The tests that reach the line decide, and the file is restored afterwards."""
    name, file = "tests/model/test_tiny.py::test_first", "internal_linker/model/tiny.py"
    reach = Reach({file: {0: {name}, 12: {name}}}, {name: 0.1}, set(), {})
    found = {one.after: one for one in mutations(file, CODE.encode())}
    for after, verdict in (
        ("None", Verdict("killed", 1, f"FAILED {name}")),
        ("4", Verdict("survived", 1, "")),
    ):
        tests = reach.tests(found[after])
        assert tests == [name]
        assert project.judge(found[after], tests, 60.0) == verdict
        assert (project.root / file).read_text("utf-8") == CODE


def test_the_table_counts(tmp_path: Path) -> None:
    """A timeout counts as noticed, and each survivor is listed with its location."""
    drawn = sample(ROOT, 20, 3, ("model",))
    outcomes = ["survived", "timeout", *["killed"] * 18]
    write(
        tmp_path / "R.md",
        ROOT,
        3,
        [(one, Verdict(how, 1, "")) for one, how in zip(drawn, outcomes, strict=True)],
    )
    said = (tmp_path / "R.md").read_text("utf-8")
    assert "| **all** | 20 | 18 | 1 | 1 | 0 | 95% |" in said
    survivors = said.partition("## Survived\n\n")[2].partition("\n\n##")[0].splitlines()
    assert len(survivors) == 1 and f"`{drawn[0].path}:{drawn[0].line}`" in survivors[0]
