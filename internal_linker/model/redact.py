"""Texts of others, made fit to be shown in a terminal or a log: without secrets and without control characters."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote, quote_plus

# Shorter texts also occur in ordinary words; no service has keys this short.
SHORTEST_SECRET = 8
# Characters that a terminal obeys instead of showing them, or that change the order of what is shown: C0 without tab
# and line break, DEL, C1, separators of lines, and Unicode's embeddings, overrides and isolates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def escape_control_chars(text: str) -> str:
    r"""Return the text with control characters as escapes such as \u001b, which JSON reads as the same characters."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def redactor(secrets: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces each secret by ***, as it is or as a server could encode it.

    Secrets shorter than `SHORTEST_SECRET` characters count only as they are.
    """
    # A secret may contain another one, so the longer ones come first: else the rest of the longer one would be shown.
    forms = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)

    def redacted(text: str) -> str:
        for form in forms:
            text = text.replace(form, "***")
        return text

    return redacted


def _forms(secret: str) -> Iterator[str]:
    """Yield the forms in which a text can have a secret.

    The @ that ends the password of an address is not part of what is sent in Base64.
    """
    if not secret:
        return
    yield secret
    raw = secret.encode("utf-8", "surrogatepass")
    plain = (" ".join(secret.splitlines()), json.dumps(secret)[1:-1], repr(secret)[1:-1])
    in_urls = (quote(raw, safe=""), quote_plus(raw))
    for form in (*plain, *in_urls, raw.hex(), raw.hex().upper(), *_in_base64(raw.rstrip(b"@"))):
        if len(form) >= SHORTEST_SECRET:
            yield form


def _in_base64(secret: bytes) -> Iterator[str]:
    """Yield the part that every Base64 text with the secret has, for each place that the secret can begin at."""
    for before in range(3):
        text = base64.b64encode(bytes(before) + secret).decode().rstrip("=")
        # The first and the last characters also depend on the bytes around the secret.
        certain = text[before and before + 1 : len(text) - bool((before + len(secret)) % 3)]
        yield certain
        yield certain.translate(str.maketrans("+/", "-_"))
