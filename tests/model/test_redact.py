"""What is shown has no secrets, however a server encodes them, and no character that a terminal obeys."""

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.redact import escape_control_chars, redactor

KEY = 'sk-0123456789/abc+def="ghi"'
ENCODED: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "quoted": lambda key: quote(key, safe=""),
    "json": json.dumps,
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "bearer": lambda key: base64.b64encode(b"Bearer " + key.encode() + b"\n").decode(),
    "basic": lambda key: base64.urlsafe_b64encode(b"user:" + key.encode() + b"!").decode(),
}


@pytest.mark.parametrize("form", ENCODED)
def test_no_form_of_a_key_is_shown(form: str) -> None:
    """A key that a server repeats, plain or encoded, becomes ***; at most two bits of each end remain."""
    sent = ENCODED[form](KEY)
    shown = redactor([KEY])(f"the key {sent} is wrong")
    assert "***" in shown and shown.startswith("the key ") and shown.endswith(" is wrong")
    rest = shown.removeprefix("the key ").removesuffix(" is wrong").replace("***", "").strip('"')
    # What is left of Base64 stands for the bytes around the key.
    assert len(rest) <= 13 and KEY[:3] not in rest


@given(st.text(min_size=8, max_size=40), st.binary(max_size=5), st.binary(max_size=5))
def test_base64_is_recognised_at_any_place(key: str, before: bytes, after: bytes) -> None:
    raw = key.encode("utf-8", "surrogatepass")
    text = base64.b64encode(before + raw + after).decode()
    assert "***" in redactor([key])(text)


@pytest.mark.parametrize("secrets", [["abcdefgh", "abcdefgh-12345"], ["abcdefgh-12345", "abcdefgh"]])
def test_a_secret_within_another_leaves_no_rest(secrets: list[str]) -> None:
    assert redactor(secrets)("key abcdefgh-12345, key abcdefgh") == "key ***, key ***"


def test_no_secret_changes_nothing() -> None:
    assert redactor(["", "ab"])("tab YWI= 6162") == "t*** YWI= 6162"


def test_control_characters_are_shown() -> None:
    """Escape sequences, C1 and bidirectional controls become visible; tabs, line breaks and all letters stay."""
    kept = "tea\tchā\nقهوه\u200cای 茶 \U0001f469\u200d\U0001f373 \u200fx"
    assert escape_control_chars(kept) == kept
    assert (
        escape_control_chars("\x1b[2J\x9b31m\x07\r\x00\x7f") == r"\u001b[2J\u009b31m\u0007\u000d\u0000\u007f"
    )
    assert escape_control_chars("a\u202eb\u2066c\u2028") == r"a\u202eb\u2066c\u2028"


@given(st.text())
def test_json_keeps_its_meaning(text: str) -> None:
    """JSON whose control characters are shown is the same JSON."""
    assert json.loads(escape_control_chars(json.dumps(text, ensure_ascii=False))) == text
