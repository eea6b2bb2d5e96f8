"""What key files with more than a key say: accounts, protected sites, addresses for alerts; and warnings about them."""

import difflib
import ipaddress
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.redact import SHORTEST_SECRET
from internal_linker.project.notifications.channels import open_channels
from internal_linker.project.settings.sources import KEY_FILES, secrets_in
from internal_linker.sources.sites.wordpress import KEY_FILE, Account
from internal_linker.sources.web.access import SiteAccess, origin_of

_FILE = KEY_FILES["site_access"][0].as_posix()
_TEXTS = ("user", "password", "key", "proxy")
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


def wordpress_account(text: str) -> Account | None:
    """Return the account that the text has; None if it is empty.

    Raises:
        ConfigurationError: the text is wrong; the message repeats nothing of it.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    address = lines[0] if "://" in lines[0] else f"https://{lines[0]}"
    origin = origin_of(address.lower())
    if len(lines) != 3 or not origin or "@" in urlsplit(address).netloc or ":" in lines[1]:
        raise ConfigurationError(
            f"{KEY_FILE} must have three lines: the site's address such as https://www.example.com, the user's login "
            "name, and the application password."
        )
    return Account(address.rstrip("/"), origin, lines[1], lines[2])


# Who the messages are from.
PROGRAM = "Internal Linker"
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.[a-z]{2,}", re.IGNORECASE)


def notify_addresses(text: str) -> Iterator[tuple[int, str]]:
    """Yield each address with the number of its line, from 1; empty lines and those that begin with # are comments."""
    for number, line in enumerate(text.splitlines(), 1):
        address = line.strip()
        if address and not address.startswith("#"):
            yield number, address


def require_addresses(text: str) -> None:
    """Refuse a text for config/notify.txt with a line that is no address.

    Raises:
        ConfigurationError: there is one; the message names the line, and nothing of it but the scheme.
    """
    _, problems = open_channels(notify_addresses(text), KEY_FILES["notify"][0].as_posix(), PROGRAM)
    if problems:
        raise ConfigurationError(problems[0])


def notify_secrets(text: str) -> list[str]:
    """Return what no log may have of config/notify.txt: whole addresses, passwords, tokens.

    A part of an address counts as a token if it has a digit or a capital letter: a log needs ordinary words and hosts.
    """
    found = list[str]()
    for _, address in notify_addresses(text):
        rest = address.partition("://")[2]
        parts = re.split(r"[/:@?&=,#]", rest)
        tokens = [part for part in parts if len(part) >= SHORTEST_SECRET and not _HOST.fullmatch(part)]
        # A log needs the names of hosts.
        more = [rest] if re.search(r"[/@?]", rest.rstrip("/")) else []
        # Up to the path alone, since a mail address may follow.
        login = re.split(r"[/?]", rest)[0]
        found += [address, *more, *secrets_in(f"://{login}"), *secrets_in(address)]
        found += [part for part in tokens if part != part.lower() or any(map(str.isdigit, part))]
    return found


def exposed_keys(project: Path) -> Iterator[str]:
    """Yield a warning for each key file that other users of this computer can read; not checked on Windows."""
    for file, _ in KEY_FILES.values():
        path = project / file
        if os.name == "posix" and path.is_file():
            facts = path.stat()
            if facts.st_size and facts.st_mode & (stat.S_IRGRP | stat.S_IROTH):
                yield (
                    f"{file.as_posix()} can be read by other users of this computer. "
                    f"To restrict access, run: chmod 600 {file.as_posix()}"
                )


def unencrypted(addresses: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each service, by its setting, that would get keys and texts unencrypted."""
    for setting, address in addresses.items():
        parts = urlsplit(address)
        if parts.scheme == "http" and not _is_here(parts.hostname or ""):
            yield (
                f"{setting} begins with http://: keys and texts go to {parts.hostname} unencrypted. "
                "Use https:// if the server supports it."
            )


def unencrypted_sites(accesses: Mapping[str, SiteAccess]) -> Iterator[str]:
    """Yield a warning for each site, by its origin, that would get a password or headers unencrypted."""
    for origin, access in accesses.items():
        parts = urlsplit(origin)
        if parts.scheme == "http" and (access.sent or access.key) and not _is_here(parts.hostname or ""):
            yield (
                f"config/site_access.toml: {origin} gets its password, headers and key unencrypted. "
                "Use https:// if the site supports it."
            )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
