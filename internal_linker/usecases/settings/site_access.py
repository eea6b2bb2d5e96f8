"""config/site_access.toml: headers, passwords and proxies for protected sites that `import` fetches."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from internal_linker.core.errors import ConfigurationError
from internal_linker.ingest.web.access import SiteAccess, origin_of
from internal_linker.usecases.settings.sources import KEY_FILES

_FILE = KEY_FILES["site_access"][0].as_posix()
_TEXTS = ("user", "password", "proxy")
_KNOWN = (*_TEXTS, "headers", "ignore_robots")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\x20-\x7e]{1,8000}")
# Headers by which the client itself says what it sends and takes.
_OWN = frozenset(
    "accept-encoding connection content-length host if-modified-since if-none-match proxy-authorization te trailer "
    "transfer-encoding upgrade".split()
)


def site_accesses(text: str) -> dict[str, SiteAccess]:
    """Return what each origin, such as https://staging.example.com, needs.

    Args:
        text: the content of config/site_access.toml.

    Raises:
        ConfigurationError: the text is wrong; the message repeats nothing of it but names.
    """
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        place = re.search(r"\(at [^)]*\)", str(error))
        raise _wrong(f"it can't be read as TOML {place[0] if place else ''}".strip()) from None
    return {_origin(name): _access(name, table) for name, table in tables.items()}


def _origin(name: str) -> str:
    address = name if "://" in name else f"https://{name}"
    origin = origin_of(address.lower())
    parts = urlsplit(address) if origin else None
    if parts is None or parts.path.strip("/") or parts.query or "@" in name:
        raise _wrong('each table is named by a site, as in ["https://staging.example.com"]')
    return origin


def _access(name: str, table: Any) -> SiteAccess:
    if not isinstance(table, Mapping):
        raise _wrong(
            f'{name[:40]} stands outside of a table: begin with a line such as ["https://staging.example.com"]'
        )
    if unknown := next((key for key in table if key not in _KNOWN), ""):
        near = difflib.get_close_matches(unknown.lower(), _KNOWN, n=1)
        raise _wrong(f"there is no {unknown[:40]} in {name}" + (f"; did you mean {near[0]}?" if near else ""))
    texts = {key: table.get(key, "") for key in _TEXTS}
    if wrong := next((key for key, value in texts.items() if not isinstance(value, str)), ""):
        raise _wrong(f"{wrong} of {name} must be a text in double quotes")
    if ":" in texts["user"] or (texts["password"] and not texts["user"]):
        raise _wrong(f"{name} needs a user without a colon, and a password")
    if not isinstance(table.get("ignore_robots", False), bool):
        raise _wrong(f"ignore_robots of {name} must be true or false")
    headers = table.get("headers", {})
    if not isinstance(headers, Mapping) or not all(isinstance(value, str) for value in headers.values()):
        raise _wrong(f'headers of {name} must be written as in headers = {{ "X-Token" = "..." }}')
    _check_headers(name, headers, taken={"authorization"} if texts["user"] else set())
    _check_proxy(name, texts["proxy"])
    return SiteAccess(dict(headers), **texts, ignore_robots=table.get("ignore_robots", False))


def _check_headers(name: str, headers: Mapping[str, str], taken: set[str]) -> None:
    for header, value in headers.items():
        if not _HEADER.fullmatch(header) or header.lower() in _OWN | taken:
            raise _wrong(f"the header {header[:40]} of {name} can't be set")
        if not _VALUE.fullmatch(value):
            raise _wrong(f"the value of the header {header} of {name} must be ASCII on one line")


def _check_proxy(name: str, proxy: str) -> None:
    # A proxy's port has no default: 80 and 443 would surprise.
    try:
        parts = urlsplit(proxy)
        whole = not proxy or (parts.scheme in ("http", "https") and bool(parts.hostname) and bool(parts.port))
    except ValueError:
        whole = False
    if not whole:
        raise _wrong(f"proxy of {name} must be an address such as http://proxy.example.com:3128")


def _wrong(problem: str) -> ConfigurationError:
    return ConfigurationError(f"{_FILE}: {problem}{'' if problem.endswith('?') else '.'}")
