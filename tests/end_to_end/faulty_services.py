"""Let three of ten answers fail in every possible way, and compare the run with an undisturbed one."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.end_to_end.worlds import PAGES, Outcome, World, world
from tests.standins import CutOff, Drip, Fault, Reply, Reset, Stall
from tests.standins.base import Call, StandIn
from tests.standins.openai import NAN_VECTOR, NO_DATA, ONE_MISSING, SAME_INDEX

SERVICES = ("google", "openai", "serper")
PROBABILITY = 0.3
BUSY = {"message": "Too many requests", "error": {"message": "Too many requests"}}
# Failures that any service may have.
FAULTS: tuple[Fault, ...] = (
    Reply(429, json=BUSY, headers={"Retry-After": "1"}),
    Reply(429, json=BUSY),
    Reply(500, json={"message": "Internal error"}),
    Reply(503, html="<html><h1>Service Unavailable</h1></html>"),
    Reply(200, html="<html><h1>Sign in to this network</h1></html>"),
    Reset(),
    Reset(after_work=True),
    CutOff(),
    CutOff(honest=True),
    Drip(2.0),
)
# Longer than any client waits for an answer.
SILENCE = Stall(130.0, after_work=True)
VECTORS: tuple[Fault, ...] = (ONE_MISSING, SAME_INDEX, NAN_VECTOR, NO_DATA)
# Limits in all cases: tries per call and seconds per run.
MOST_TRIES, LONGEST_S = 12, 600.0


@dataclass(frozen=True)
class FaultyRun:
    """A run with failing services: seconds, calls, failed answers, and how many of those were charged."""

    when: str
    seconds: float
    calls: int
    spoilt: int
    charged: int


def fail_services(of: World, services: Iterable[str], seed: int, more: Sequence[Fault] = ()) -> None:
    """Make these services fail at random from now on, signing in included."""
    for name in services:
        service: StandIn = getattr(of, name)
        service.script_on = ""
        kinds = (*FAULTS, *more, *(VECTORS if name == "openai" else ()))
        service.fail_at_random(PROBABILITY, kinds, seed)


def with_faults(
    fair: Outcome,
    services: Sequence[str],
    seeds: Iterable[int],
    folder: Path,
    more: Sequence[Fault] = (),
    settings: Mapping[str, object] | None = None,
    pages: int = PAGES,
) -> Iterator[FaultyRun]:
    """Run a first week while these services fail.

    Args:
        fair: the outcome without failures.
        services: names from `SERVICES`.
        seeds: one run for each seed.
        folder: an empty folder.
        more: failures besides the usual ones.
        settings: the run's settings besides the usual ones.
        pages: the pages of the site.

    Raises:
        AssertionError: the outcome differs from the one without failures, or the run paid twice for a complete
            answer; the message names the seed.
    """
    for seed in seeds:
        when = f"{' and '.join(services)} failing, seed {seed}"
        with world(folder / when, settings=settings, pages=pages) as of:
            fail_services(of, services, seed, more)
            began = time.monotonic()
            code, said = of.run(longest=LONGEST_S)
            seconds = time.monotonic() - began
            assert code == 0, f"{when}: {said}"
            assert "Traceback" not in said, f"{when}: {said}"
            assert not (other := of.outcome().differs(fair)), f"{when}: {other}"
            yield looked_at(of, when, seconds)


def looked_at(of: World, when: str, seconds: float) -> FaultyRun:
    """Check the servers' ledgers and return the run's figures.

    Raises:
        AssertionError: a complete answer was paid for again, or requested too often.
    """
    calls = [*of.serper.ledger, *of.openai.ledger, *of.google.ledger]
    paid = [*of.serper.calls("search"), *of.openai.calls("embeddings|chat")]
    whole = Counter[str]()
    tries = Counter[str]()
    for call in paid:
        for one in asked_for(call):
            tries[one] += 1
            whole[one] += bool(call.units) and not is_spoilt(call)
    assert set(whole.values()) == {1}, f"{when}: paid for again: {[one for one in whole if whole[one] != 1]}"
    assert max(tries.values()) <= MOST_TRIES, f"{when}: {tries.most_common(1)}"
    spoilt = [call for call in calls if is_spoilt(call)]
    return FaultyRun(when, seconds, len(calls), len(spoilt), sum(bool(call.units) for call in spoilt))


def is_spoilt(call: Call) -> bool:
    """Return whether the client can't have used the answer, however good it was originally."""
    return not (type(call.fault) is Fault or isinstance(call.fault, Drip))


def asked_for(call: Call) -> list[str]:
    """Return the texts that a request embeds, the result page it searches, or what it asks a chat model."""
    body = call.body
    if "messages" in body:
        return [str(body["messages"])]
    return list(body["input"]) if "input" in body else [f"{body['q']} {body['page']}"]
