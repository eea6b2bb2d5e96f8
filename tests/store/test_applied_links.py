"""The store keeps each former text until it is taken back, and which targets were drawn for experiments."""

import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from internal_linker.model.applied_links import PageWrite, content_hash, link_states
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.experiments import DrawnTarget, held_targets
from internal_linker.store.applied_links import APPLIED_LINKS, AppliedLinks, Experiments, waste
from internal_linker.store.engine import open_database, transact

FORMER = b"\xef\xbb\xbfGreen tea.\r\nA pot\x00."
WRITE = PageWrite(
    application="20261125-090000-abcd",
    page="https://a.example/tea",
    page_url="https://www.a.example/tea/",
    home="/srv/site",
    place="content/tea.md",
    links=("0123456789abcdef0123", "0123456789abcdef4567"),
    hash_before=content_hash(FORMER),
    hash_after=content_hash(b"other"),
    by="Anna",
    at=datetime(2026, 11, 25, 9, 0, tzinfo=UTC),
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_database("sqlite:///store.sqlite3", tmp_path)
    yield engine
    engine.dispose()


def test_a_write_and_its_former_text_come_back_as_they_were(engine: Engine) -> None:
    store = AppliedLinks(engine, "a.example")
    [first] = store.begin([(WRITE, FORMER)])
    [second] = store.begin([(replace(WRITE, application="later", page="https://a.example/pot"), FORMER)])
    assert (first, second.number) == (replace(WRITE, number=1), 2)
    assert store.writes() == [first, second]
    assert store.writes(application="later") == store.writes(page="https://a.example/pot") == [second]
    assert store.former(second) == FORMER
    assert AppliedLinks(engine, "b.example").writes() == []


def test_a_write_is_marked_or_forgotten_alone(engine: Engine) -> None:
    store = AppliedLinks(engine, "a.example")
    first, second, third = store.begin([(WRITE, FORMER)] * 3)
    store.mark([second], "applied")
    store.forget([third])
    assert store.writes() == [first, replace(second, status="applied")]


def test_paths_that_no_database_takes_can_be_stored(engine: Engine) -> None:
    """A path of undecodable bytes is stored in another spelling instead of failing."""
    store = AppliedLinks(engine, "a.example")
    assert store.begin([(replace(WRITE, place="t\udce9a.md"), FORMER)])
    assert [one.place for one in store.writes()] == ["t\\udce9a.md"]


def test_another_text_is_not_taken_for_the_former_one(engine: Engine) -> None:
    """Each former text has its digest; the other writes can still be read."""
    store = AppliedLinks(engine, "a.example")
    [write] = store.begin([(WRITE, FORMER)])
    cells = {"former": zlib.compress(b"tea")}
    transact(engine, lambda connection: connection.execute(update(APPLIED_LINKS).values(**cells)))
    with pytest.raises(ConfigurationError, match="former text of https://www.a.example/tea/ is damaged"):
        store.former(write)
    assert store.writes() == [write]


def test_only_old_undone_writes_are_waste(engine: Engine) -> None:
    """A former text that is in its place again is removed some day; one that may be needed never is."""
    store = AppliedLinks(engine, "a.example")
    for status in ("begun", "applied", "undone"):
        store.mark(store.begin([(WRITE, FORMER)]), status)

    def old(before: datetime) -> list[str]:
        [found] = waste(before)
        wanted = found.table.select().where(found.rows)
        return [row.status for row in transact(engine, lambda connection: connection.execute(wanted).all())]

    assert old(WRITE.at + timedelta(days=1)) == ["undone"]
    assert old(WRITE.at) == []


def test_the_latest_state_of_a_link_counts() -> None:
    a, b = "a" * 20, "b" * 20
    writes = [replace(WRITE, links=(a, b), status="applied"), replace(WRITE, links=(a,), status="undone")]
    assert link_states(writes, []) == {a: "undone", b: "applied"}
    assert link_states([*writes, replace(WRITE, links=(a,), status="applied")], [b]) == {
        a: "applied",
        b: "live",
    }
    assert link_states([replace(WRITE, status="begun")], WRITE.links) == {}


FIRST, UNTIL = date(2026, 6, 1), date(2026, 6, 29)


def drawn(target: str, **more: object) -> DrawnTarget:
    facts: dict[str, object] = {"experiment": "one", "links": 2, "held": True, "first": FIRST, "until": UNTIL}
    return DrawnTarget(target=target, **{**facts, **more})  # type: ignore[arg-type]


def test_targets_are_kept_by_site(engine: Engine) -> None:
    store, other = Experiments(engine, "a.example"), Experiments(engine, "b.example")
    later = [drawn("c", experiment="two", first=date(2026, 7, 1), until=date(2026, 7, 29))]
    store.put(later)
    store.put([drawn("b"), drawn("a", held=False)])
    assert store.drawn() == [drawn("b"), drawn("a", held=False), *later]
    assert other.drawn() == []


def test_release_ends_what_is_running(engine: Engine) -> None:
    """Ended experiments keep their last day, since what was measured until then stays usable."""
    store = Experiments(engine, "a.example")
    ended = drawn("a", experiment="zero", first=date(2026, 1, 1), until=date(2026, 1, 29))
    store.put([ended])
    store.put([drawn("b")])
    store.release(date(2026, 6, 10))
    assert store.drawn() == [ended, drawn("b", until=date(2026, 6, 10))]


def test_targets_are_held_until_the_last_day() -> None:
    some = [drawn("a"), drawn("b", held=False)]
    assert held_targets(some, date(2026, 5, 31)) == {}
    assert held_targets(some, FIRST) == {"a": UNTIL}
    assert held_targets(some, date(2026, 6, 28)) == {"a": UNTIL}
    assert held_targets(some, UNTIL) == {}
