"""Every reader of outside data answers any input with what it read or with one of our errors."""

import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from internal_linker.sources.http.limits import retry_after
from tests.research.hostile.readers import READERS, read
from tests.research.hostile.seeds import SEEDS
from tests.support.small_project import REPOSITORY, finish, start

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["data", "index", "embedding"]), inner),
)
KEYS = ("choices", "content", "credits", "data", "details", "error", "link", "message", "organic", "usage")
# Inputs found by fuzzers, each of which once ended a run in a traceback.
FOUND = {
    "google": [b"\x09" + b"[" * 100_000, b"\x092\x1e", b"\x00{}", b"\x00[]", b'\x00{"values": 5}'],
    "openai": [
        b"\x00" + json.dumps({"data": [{"index": at, "embedding": [10**400]} for at in (0, 1)]}).encode()
    ],
    "headers": [f"1 Oct 0 7:{'5' * 50}".encode()],
}


@st.composite
def damaged(draw: st.DrawFn, name: str) -> bytes:
    """Return a good input with pieces cut out, doubled, exchanged or inserted."""
    raw = bytearray(draw(st.sampled_from(SEEDS[name])))
    for _ in range(draw(st.integers(1, 5))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(raw))] * 2)))
        put = st.binary(max_size=9) | st.sampled_from(
            [b'"', b"\r\n", b"\0", b"\xff\xfe", bytes(raw[start:end]) * 2]
        )
        raw[start:end] = draw(put)
    return bytes(raw)


@pytest.mark.parametrize("name", READERS)
def test_any_bytes_have_an_answer(name: str) -> None:
    """Random bytes and damaged good inputs raise only our errors, lose no row silently, and never hang."""

    @settings(derandomize=True)
    @given(st.binary() | damaged(name))
    @example(b"")
    @example(b"\x00")
    def tried(raw: bytes) -> None:
        read(name, raw)

    for raw in (*SEEDS[name], *FOUND.get(name, [])):
        read(name, raw)
    tried()


@pytest.mark.parametrize("name", ["serper", "openai", "google"])
def test_any_json_has_an_answer(name: str) -> None:
    """Services' answers may be any JSON, without any of the promised fields."""

    @settings(derandomize=True)
    @given(st.integers(0, 255), JSON | st.dictionaries(st.sampled_from(KEYS), JSON))
    def tried(status: int, answer: object) -> None:
        read(name, bytes([status]) + json.dumps(answer).encode())

    tried()


def test_a_moment_that_is_none_asks_for_no_pause() -> None:
    """A Retry-After in the hour 5 times 10^49 is ignored."""
    assert retry_after({"retry-after": FOUND["headers"][0].decode()}) is None


@pytest.mark.long
@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="atheris has no wheel for this system"
)
@pytest.mark.parametrize("name", READERS)
def test_the_code_guides_a_fuzzer_to_no_other_answer(name: str, tmp_path: Path) -> None:
    """Some hundred inputs, each grown from those that reached more of a reader's code, get good answers."""
    bounds = ("--runs", "2000", "--seconds", "2", "--seed", "1", "--corpus", str(tmp_path))
    code, _, said = finish(start("-m", "tests.research.hostile.fuzz", name, *bounds, cwd=REPOSITORY))
    assert code == 0, said[-3000:]
    assert "DONE" in said
