"""The store keeps which targets were drawn for experiments."""

from datetime import date
from pathlib import Path

from internal_linker.adapters.database.applied_links import Experiments
from internal_linker.adapters.database.engine import open_database
from internal_linker.core.experiments import DrawnTarget, held_targets

FIRST, UNTIL = date(2026, 6, 1), date(2026, 6, 29)


def drawn(target: str, **more: object) -> DrawnTarget:
    facts: dict[str, object] = {"experiment": "one", "links": 2, "held": True, "first": FIRST, "until": UNTIL}
    return DrawnTarget(target=target, **{**facts, **more})  # type: ignore[arg-type]


def test_targets_are_kept_by_site(tmp_path: Path) -> None:
    """In the order of experiments, and of targets as they were given."""
    engine = open_database("sqlite:///store.sqlite3", tmp_path)
    store, other = Experiments(engine, "a.example"), Experiments(engine, "b.example")
    later = [drawn("c", experiment="two", first=date(2026, 7, 1), until=date(2026, 7, 29))]
    store.put(later)
    store.put([drawn("b"), drawn("a", held=False)])
    assert store.drawn() == [drawn("b"), drawn("a", held=False), *later]
    assert other.drawn() == []
    engine.dispose()


def test_release_ends_what_is_running(tmp_path: Path) -> None:
    """Ended experiments keep their last day, since what was measured until then stays usable."""
    engine = open_database("sqlite:///store.sqlite3", tmp_path)
    store = Experiments(engine, "a.example")
    ended = drawn("a", experiment="zero", first=date(2026, 1, 1), until=date(2026, 1, 29))
    store.put([ended])
    store.put([drawn("b")])
    store.release(date(2026, 6, 10))
    assert store.drawn() == [ended, drawn("b", until=date(2026, 6, 10))]
    engine.dispose()


def test_targets_are_held_until_the_last_day() -> None:
    """From the first day on, and not those that were drawn to go live."""
    some = [drawn("a"), drawn("b", held=False)]
    assert held_targets(some, date(2026, 5, 31)) == {}
    assert held_targets(some, FIRST) == {"a": UNTIL}
    assert held_targets(some, date(2026, 6, 28)) == {"a": UNTIL}
    assert held_targets(some, UNTIL) == {}
