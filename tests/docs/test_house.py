"""The program stays as small as it is."""

from tests.house import figures, limits


def test_no_figure_is_above_its_limit() -> None:
    """Each limit in pyproject.toml is that of a figure, which is not above it: see `python -m tests.house`."""
    found, allowed = figures(), limits()
    assert allowed.keys() <= found.keys()
    assert {name: found[name] for name in allowed if found[name] > allowed[name]} == {}
