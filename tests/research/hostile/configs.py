"""Settings, keys and patterns that are damaged, absurd or of another kind."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.research.hostile.cases import Hostile, holds
from tests.standins.google_token import make_service_account

SETTINGS, PATTERNS = "config/settings.toml", "config/excluded_urls.txt"
ACCOUNT, SERPER, OPENAI = (
    "config/service_account.txt",
    "config/serper_api_key.txt",
    "config/openai_api_key.txt",
)
DEEP = 100_000


def patterns() -> Iterator[Hostile]:
    """Yield patterns that would hang, explode, or that are something else."""
    mad = (
        *("(a+)+$", "(a|a)*$", "(.*)*x", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a{1,1000}){1,1000}"),
        *("((a{100}){100}){100}", "a{1000000}", "a{2,1}", "[", "]", "(", ")", "*", "+", "?", "a**", "\\"),
        *(
            "(?=tea)",
            "(?<=tea)",
            "(?!tea)",
            r"(tea)\1",
            "(?P<x>a)(?P<x>b)",
            "(?P<",
            "(?i",
            "(?R)",
            r"\p{Nothing}",
        ),
        *(
            r"\x{110000}",
            r"\Q",
            r"[z-a]",
            "[[:tea:]]",
            r"\C",
            "(?#tea)",
            ".",
            "^",
            "$",
            "tea\x00",
            "\ufeff(",
            "☃",
        ),
        *("(" * 1000 + ")" * 1000, "(" * DEEP, "a" * 1_000_000, "a|" * 200_000, "[^" + "a" * 10_000 + "]"),
    )
    for number, pattern in enumerate(mad):
        yield holds(f"pattern {number}, {pattern[:30]!r}", PATTERNS, f"{pattern}\n")
    yield holds("a million patterns", PATTERNS, "tea\n" * 100_000)
    yield holds("bytes", PATTERNS, b"\xff\xfe\x00(\xd8")
    yield holds("a workbook", PATTERNS, b"PK\x03\x04\xff\xff\xff")


def settings() -> Iterator[Hostile]:
    """Yield damaged settings.toml files."""
    mad: dict[str, bytes | str] = {
        "empty": "",
        "no TOML": "links_per_page: 5",
        "a line without an end": 'search_query_template = "site:',
        "a text for a number": 'links_per_page = "five"',
        "a number for a text": "google_sheet_id = 5",
        "a negative number": "links_per_page = -1",
        "a huge number": f"links_per_page = {10**400}",
        "many digits": f"links_per_page = {'9' * 5000}",
        "infinity": "max_cost_usd = inf",
        "not a number": "max_cost_usd = nan",
        "a table": "[links_per_page]\na = 1",
        "a list": "links_per_page = [5]",
        "a date": "links_per_page = 2026-01-01",
        "a name twice": "links_per_page = 5\nlinks_per_page = 6",
        "an unknown name": "link_per_page = 5",
        "an empty name": '"" = 5',
        "a name of 100 KB": f"{'a' * 100_000} = 5",
        "a name with line breaks": '"links\\nper page" = 5',
        "lists in lists": f"links_per_page = {'[' * DEEP}",
        "tables in tables": f"links_per_page = {'{a=' * DEEP}",
        "dots in dots": f"{'a.' * DEEP}a = 1",
        "a template without its place": 'search_query_template = "site:www.tiny.example"',
        "a template with other places": 'search_query_template = "site:{0} {main_query} {x!r:>{y}}"',
        "a template of 1 MB": f'search_query_template = "site:www.tiny.example {{main_query}} {"x" * 1_000_000}"',
        "a NUL": 'google_sheet_name = "a\0b"',
        "an escaped NUL": 'google_sheet_name = "a\\u0000b"',
        "half a surrogate pair": 'google_sheet_name = "\\ud800"',
        "control characters": 'google_sheet_name = "\x1b[31m"',
        "UTF-16": 'links_per_page = "ä"'.encode("utf-16"),
        "Latin-1": 'google_sheet_name = "ä"'.encode("latin-1"),
        "binary": bytes(range(256)),
        "curly quotation marks": "google_sheet_name = “Main”",
        "an address that is none": 'serper_url = "not an address"',
        "a file as an address": 'serper_url = "file:///etc/passwd"',
        "a store nowhere": 'store_url = "nosuch://a/b"',
        "a store in no folder": 'store_url = "sqlite:////nonexistent/folder/cache.sqlite3"',
        "a cron that is none": 'schedule = "every now and then"',
    }
    for name, content in mad.items():
        yield holds(name, SETTINGS, content)


def keys() -> Iterator[Hostile]:
    """Yield key files with something else in them."""
    good = make_service_account("https://oauth2.googleapis.com")
    pem = good["private_key"]
    accounts: dict[str, bytes | str] = {
        "blank": " \n\t",
        "a list of keys": json.dumps([good, good]),
        "a list of private keys": json.dumps([pem]),
        "a number": "5",
        "null": "null",
        "lists in lists": "[" * DEEP,
        "objects in objects": '{"a":' * DEEP,
        "half of it": json.dumps(good)[:700],
        "two of them": json.dumps(good) * 2,
        "no type": json.dumps({**good, "type": None}),
        "a client's secret": json.dumps({"installed": {"client_id": "x", "client_secret": "y"}}),
        "a user's key": json.dumps({**good, "type": "authorized_user"}),
        "a truncated key": json.dumps({**good, "private_key": pem[: len(pem) // 2]}),
        "a key without its end": json.dumps({**good, "private_key": pem.replace("-----END", "")}),
        "a key without line breaks": json.dumps({**good, "private_key": pem.replace("\n", "")}),
        "a key with its line breaks escaped": json.dumps({**good, "private_key": pem.replace("\n", "\\n")}),
        "a public key": json.dumps({**good, "private_key": pem.replace("PRIVATE", "PUBLIC")}),
        "an empty key": json.dumps({**good, "private_key": ""}),
        "a list for a key": json.dumps({**good, "private_key": [pem]}),
        "a number for an address": json.dumps({**good, "client_email": 5}),
        "a token address that is none": json.dumps({**good, "token_uri": "not an address"}),
        "a token address in a file": json.dumps({**good, "token_uri": "file:///etc/passwd"}),
        "the PEM alone": pem,
        "UTF-16": json.dumps(good).encode("utf-16")[:900],
        "Latin-1": json.dumps(good)[:-1].encode() + b"\xe4}",
        "binary": bytes(range(256)) * 10,
        "10 MB": "x" * 10_000_000,
        "a web page": "<!doctype html><title>Sign in</title>",
    }
    sheet = ("run", "--dry-run")
    for name, content in accounts.items():
        case = holds(name, ACCOUNT, content, arguments=sheet)
        # A key without its line breaks is still readable.
        file = "" if name == "a key without line breaks" else case.file
        yield Hostile(
            case.name, _beside(case, 'google_sheet_id = "x"\nquery_source = "sheet"\n'), file, sheet
        )
    plain: dict[str, bytes | str] = {
        "two keys": "abcdefgh12345678\nabcdefgh12345679",
        "a line break inside": "abcdefgh\x0012345678",
        "letters of no key": "schlüssel-schlüssel",
        "a space inside": "abcdefgh 12345678",
        "UTF-16": "abcdefgh12345678".encode("utf-16")[:-1],
        "binary": bytes(range(256)),
        "1 MB": "abcdefg " * 131_072,
        "JSON": json.dumps({"key": "abcdefgh12345678"}, indent=1),
    }
    for file in (SERPER, OPENAI):
        for name, content in plain.items():
            yield holds(name, file, content, arguments=sheet)


def _beside(case: Hostile, more: str) -> Callable[[Path], None]:
    def put(project: Path) -> None:
        case.put(project)
        path = project / SETTINGS
        path.write_text(path.read_text(encoding="utf-8") + "\n" + more, encoding="utf-8")

    return put
