"""config/notify.txt: the addresses that get alerts, one per line, and what nobody may read of them."""

import re
from collections.abc import Iterator

from internal_linker.adapters.notifications.channels import open_channels
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.shown import SHORTEST_SECRET
from internal_linker.usecases.settings.sources import KEY_FILES, secrets_in

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
