"""The sources of settings (settings.toml, key files, environment), and messages about what is wrong in them."""

import difflib
import math
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator

from internal_linker.match.encoders import encoder_kinds
from internal_linker.model.errors import ConfigurationError
from internal_linker.project.option_records import plain
from internal_linker.store.files.plain_text import plain_text, shortened

ENV_PREFIX = "INTERNAL_LINKER_"
# A password in an address goes on to the last @: drivers take one with / or @ in it.
_LOGIN = re.compile(r"(://[^/@:\s]*):(\S+)@")
_SECRET = re.compile(r"([?&]\w*(?:pass(?:word|wd)?|pwd|token|secret|key))=([^&\s]+)", re.IGNORECASE)
SETTINGS_FILE = Path("config/settings.toml")
# The modules of sources/serp with a search service, in the order in which serp_provider = "auto" tries them.
SEARCH_PROVIDERS = ("serper", "serpapi")
API_KEYS = tuple(f"{name}_api_key" for name in (*SEARCH_PROVIDERS, "openai"))
# Each secret's file, and the environment variable that other tools use for it.
KEY_FILES = {
    **{name: (Path(f"config/{name}.txt"), name.upper()) for name in API_KEYS},
    "service_account": (Path("config/service_account.txt"), "GOOGLE_SERVICE_ACCOUNT"),
    "store_password": (Path("config/store_password.txt"), "PGPASSWORD"),
    "wordpress": (Path("config/wordpress.txt"), "WORDPRESS_ACCOUNT"),
    "site_access": (Path("config/site_access.toml"), "SITE_ACCESS"),
    "notify": (Path("config/notify.txt"), "NOTIFY_URLS"),
}
# Replacements for pydantic's messages, which are for programmers, by the first word of its error type.
_PLAIN_WORDS = {
    "int": "it must be a whole number",
    "float": "it must be a number, with a point as in 0.5",
    "finite": "it must be a number, with a point as in 0.5",
    "string": 'it must be a text in double quotes, as in "text"',
    "bool": "it must be true or false",
    "tuple": 'it must be a list of texts, as in ["/blog", "/shop"]',
}
# What follows the name of each encoder.
_ENCODERS = {"auto": "", "openai": "", **{name: kind.argument for name, kind in encoder_kinds().items()}}
# Messages truncate longer values: a pasted document must not hide the sentence around it.
_MOST_SHOWN = 80


def _address(value: str) -> str:
    if not re.match(r"https?://[^\s/]+", value):
        raise ValueError("it must be an address that begins with https:// or http://")
    return value


def _scheduler(value: str) -> str:
    # It can't contain a name or password, so messages may show it.
    if value and not re.fullmatch(r"(tcp|tls)://([\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}", value):
        raise ValueError("it must be an address such as tcp://10.0.0.5:8786 or tls://10.0.0.5:8786")
    return value


def _country(value: str) -> str:
    if value and not re.fullmatch(r"[A-Za-z]{2}", value):
        raise ValueError("it must be a two-letter country code, such as us or de")
    return value.lower()


def provider(value: str) -> str:
    """Check the name of an encoder, and return it.

    Raises:
        ValueError: there is none of this name.
    """
    name, _, argument = value.partition(":")
    if name in _ENCODERS and (argument.strip() if _ENCODERS[name] else value == name):
        return value
    near = difflib.get_close_matches(re.split("[:/]", value)[0].lower(), _ENCODERS, n=1)
    meant = near[0] + _ENCODERS[near[0]] if near else ""
    every = [name + rest for name, rest in _ENCODERS.items()]
    hint = f"; did you mean {meant}?" if meant else ""
    raise ValueError(f"it must be {', '.join(every[:-1])} or {every[-1]}{hint}")


# It reads a folder of hundreds of files.
_zones = cache(available_timezones)


def _zone(value: str) -> str:
    zones = _zones()
    if value and value not in zones:
        tail = value.casefold().replace(" ", "_")
        near = sorted(zone for zone in zones if zone.casefold().endswith(tail))
        raise ValueError(f"it must be a time zone such as {near[0] if near else 'Europe/Berlin'}")
    return value


def _auto_or_number(value: object) -> float | str:
    # -1 was the default of version 0.1, and is in the settings files that it wrote.
    if str(value).strip() in ("auto", "-1", "-1.0"):
        return "auto"
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError('it must be "auto" or a number, 0 or more')
    return number


Url = Annotated[str, AfterValidator(_address)]
AutoOrNumber = Annotated[float | Literal["auto"], BeforeValidator(_auto_or_number)]
Scheduler = Annotated[str, AfterValidator(_scheduler)]
Provider = Annotated[str, AfterValidator(provider)]
Country = Annotated[str, AfterValidator(_country)]
Zone = Annotated[str, AfterValidator(_zone)]


def toml_values(project: Path) -> dict[str, Any]:
    """Read settings.toml; a missing file is empty.

    Raises:
        ConfigurationError: it can't be read.
    """
    path = project / SETTINGS_FILE
    if not path.exists():
        return {}
    try:
        return tomllib.loads(plain_text(path, SETTINGS_FILE.as_posix()))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{SETTINGS_FILE.as_posix()} can't be read: {shortened(str(error), 200)}. "
            "Put text in double quotes, with / instead of \\; numbers need no quotes."
        ) from None


def key_texts(project: Path) -> dict[str, str]:
    """Read each secret from its environment variable or else its file; "" without one.

    Raises:
        ConfigurationError: a file can't be read.
    """
    return {name: key_text(project, name).strip() for name in KEY_FILES}


def key_text(project: Path, name: str) -> str:
    """Read one secret from its environment variable or else its file, line by line as it is there; "" without one.

    Raises:
        ConfigurationError: the file can't be read.
    """
    file, variable = KEY_FILES[name]
    text = os.environ.get(variable, "")
    if not text.strip() and (project / file).exists():
        text = plain_text(project / file, file.as_posix())
    return text


def given_key(project: Path, name: str) -> tuple[str, str]:
    """Return the text of a secret as it counts, line by line, and where it is: a file or an environment variable.

    Raises:
        ConfigurationError: its file can't be read.
    """
    ours = f"{ENV_PREFIX}{name.upper()}"
    overriding = next((text for variable, text in os.environ.items() if variable.upper() == ours), None)
    return (key_text(project, name) if overriding is None else overriding), _where(name)


def unknown_names(names: Iterable[str], known: Iterable[str], where: str, prefix: str = "") -> Iterator[str]:
    """Yield a sentence for each of `names` (those with `prefix`, in any case) that is no setting; name the nearest."""
    settings = list(known)
    for name in names:
        if not name.upper().startswith(prefix):
            continue
        bare = name[len(prefix) :].lower() if prefix else name
        if bare not in settings:
            near = difflib.get_close_matches(bare.lower(), settings, n=1, cutoff=0.5)
            hint = f" Did you mean {prefix}{near[0].upper() if prefix else near[0]}?" if near else ""
            yield f"{where}: there is no setting '{shortened(name)}'.{hint}"


def problem(item: dict[str, Any]) -> str:
    """Turn one of pydantic's errors into a sentence: where, what is wrong, and the value unless it is secret."""
    message = plain(str(item["msg"]).removeprefix("Value error, "))
    if not item["loc"]:  # of several settings together
        return f"{SETTINGS_FILE.as_posix()}: {message}."
    name = str(item["loc"][0])
    words = _PLAIN_WORDS.get(str(item["type"]).partition("_")[0], message)
    if name in KEY_FILES:
        return f"{_where(name)}: {words}."
    shown = repr(item["input"])
    shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."
    return f"{_where(name)}: {words} (it is {re.sub('//[^/@ ]*@', '//***@', shown)})."


def _where(name: str) -> str:
    variable = f"{ENV_PREFIX}{name.upper()}"
    if variable in map(str.upper, os.environ):
        return f"environment variable {variable}"
    if name not in KEY_FILES:
        return f"{SETTINGS_FILE.as_posix()}: {name}"
    file, plain = KEY_FILES[name]
    return f"environment variable {plain}" if os.environ.get(plain) else file.as_posix()


def secrets_in(address: str) -> list[str]:
    """Return what nobody may read of an address, with the signs around it: `:password@`, and `=secret` of a query."""
    passwords = [f":{found[2]}@" for found in _LOGIN.finditer(address)]
    return [*passwords, *(f"={found[2]}" for found in _SECRET.finditer(address))]


def masked(address: str) -> str:
    """Return an address with *** in place of each secret."""
    return _SECRET.sub(r"\1=***", _LOGIN.sub(r"\1:***@", address))
