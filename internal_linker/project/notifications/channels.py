"""Channels for messages to people, by their addresses as Apprise reads them; nothing said about one has its address."""

import logging
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from uuid import uuid4

from internal_linker.model.cli_commands import needs_extra
from internal_linker.model.redact import redactor
from internal_linker.store.files.plain_text import shortened

if TYPE_CHECKING:
    from apprise import NotifyBase

# Seconds for all channels together. Apprise gives each connection four (mail: fifteen) to be made.
LONGEST_S = 30.0
# Characters of a library's reason that a message repeats, and of the shortest part of an address that it hides.
_MOST_REASON, _LEAST_HIDDEN = 200, 4
_LOGGER = logging.getLogger("apprise")
# Logs the path of each request, which is a webhook's secret, for developers.
_HTTP_LOGGER = logging.getLogger("urllib3")


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel that can be sent to, by Apprise's object for it."""

    place: str  # of its address: "config/notify.txt, line 2"
    service: str  # "Slack"
    plugin: "NotifyBase" = field(repr=False)
    address: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.place} ({self.service})"


def open_channels(
    addresses: Iterable[tuple[int, str]], where: str, program: str
) -> tuple[list[Channel], list[str]]:
    """Return the channels of some addresses, and a sentence for each address that is none; nothing is contacted.

    Each address has the number of its line in `where`, such as a file; `program` is the sender's name.
    """
    found, problems = list[Channel](), list[str]()
    with _unheard(), needs_extra("alerts", "Sending alerts"):
        from apprise import Apprise
        from apprise.common import OverflowMode

        asset = _asset(program)
        for line, address in addresses:
            place = f"{where}, line {line}"
            plugin = Apprise.instantiate(address, asset=asset)
            if plugin is None:
                problems.append(f"{place}: {_why_none(address)}")
                continue
            if plugin.overflow_mode == OverflowMode.UPSTREAM:
                # A chat that takes less text gets its beginning; the default is an error.
                plugin.overflow_mode = OverflowMode.TRUNCATE
            found.append(Channel(place, str(plugin.service_name), plugin, address))
    return found, problems


def send(
    channels: Sequence[Channel], title: str, body: str, *, failed: bool, longest: float = LONGEST_S
) -> list[str]:
    """Send one message to each channel at the same time; return for each why it did not take it, "" if it did.

    Args:
        title: one line, a mail's subject.
        body: plain text; a channel that needs HTML or Markdown gets it with every special character escaped.
        failed: whether the message is about a failure, which some chats show in red.
        longest: seconds after which nobody waits any more.
    """
    if not channels:
        return []
    with _unheard() as heard:
        # Daemons: a server that never ends its answer must not keep the process from ending.
        sent = [_Sending(channel, title, body, failed) for channel in channels]
        until = time.monotonic() + longest
        for one in sent:
            one.start()
        for one in sent:
            one.join(max(0.0, until - time.monotonic()))
        return [_outcome(one, heard, longest) for one in sent]


class _Sending(threading.Thread):
    """A message on its way to one channel."""

    def __init__(self, channel: Channel, title: str, body: str, failed: bool) -> None:
        # A number of a thread that has ended is given to another one; this name is not.
        super().__init__(daemon=True, name=f"notification {uuid4()}")
        self.channel, self.delivered, self.error = channel, False, ""
        self._title, self._body, self._failed = title, body, failed

    def run(self) -> None:
        from apprise import Apprise, NotifyFormat, NotifyType

        kind = NotifyType.FAILURE if self._failed else NotifyType.INFO
        try:
            one = Apprise(asset=self.channel.plugin.asset)
            one.add(self.channel.plugin)
            self.delivered = bool(
                one.notify(self._body, self._title, notify_type=kind, body_format=NotifyFormat.TEXT.value)
            )
        except Exception as error:  # a plugin of nearly two hundred may raise anything
            self.error = f"{type(error).__name__}: {error}"


def _outcome(sending: _Sending, heard: "_Heard", longest: float) -> str:
    """Return why a channel did not take the message, in a sentence; "" if it did."""
    if sending.is_alive():
        return f"{sending.channel}: it did not take the message within {longest:g} seconds."
    if sending.delivered:
        return ""
    reasons = [*heard.messages(sending.name), sending.error]
    return f"{sending.channel}: the message was not delivered{_because(sending.channel, reasons)}."


def _asset(program: str) -> Any:
    """Return Apprise's options: no redirects, no pictures of its own site, no files, and no pool of threads."""
    from apprise import AppriseAsset

    return AppriseAsset(
        app_id=program,
        app_desc=program,
        app_url="",
        image_url_mask=False,
        image_url_logo="",
        http_redirects=False,
        async_mode=False,
        service_timeout=0,
        pgp_autogen=False,
        pem_autogen=False,
    )


def _why_none(address: str) -> str:
    """Return why an address is none of a channel, without any of it but the scheme."""
    scheme = re.match(r"([a-z][a-z0-9]{0,19})://", address, re.IGNORECASE)
    if scheme is None:
        return "it is not an address such as mailto://... or slack://...: docs/alerts.md has examples."
    if scheme[1].lower() in ("http", "https"):
        return (
            f"it begins with {scheme[1]}://, which is no service: for a webhook write json{scheme[1][4:]}:// instead. "
            "docs/alerts.md has examples."
        )
    return (
        f"it begins with {scheme[1]}://, but there is no such service, or a part of the address is missing: "
        "docs/alerts.md has examples."
    )


def _because(channel: Channel, reasons: Iterable[str]) -> str:
    """Return the library's reasons in brackets, with *** for whatever they repeat of the address."""
    rest = channel.address.partition("://")[2]
    parts = {rest, *re.split(r"[/:@?&=,#]+", rest)}
    hidden = redactor(each for part in parts for each in (part, unquote(part)) if len(each) >= _LEAST_HIDDEN)
    told = "; ".join(dict.fromkeys(hidden(reason).strip().rstrip(".") for reason in reasons if reason))
    return f" ({shortened(told, _MOST_REASON)})" if told else ""


class _Heard(logging.Handler):
    """Keeps what each thread logs about a failure."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self._kept: list[tuple[str | None, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        # What a mail server answered is only in a message for developers; those about HTTP say less than the warning.
        answer = message.startswith("Socket Exception") and "ConnectionPool" not in message
        if record.levelno >= logging.WARNING or answer:
            self._kept.append((record.threadName, message))

    def messages(self, thread: str) -> Iterator[str]:
        """Yield what the thread of this name logged."""
        return (message for of, message in self._kept if of == thread)


@contextmanager
def _unheard() -> Iterator[_Heard]:
    """Keep the libraries' logs to ourselves while the block runs: their messages can have addresses and tokens."""
    heard, level, http_level = _Heard(), _LOGGER.level, _HTTP_LOGGER.level
    _LOGGER.propagate = False
    _HTTP_LOGGER.setLevel(logging.INFO)
    # Without a handler, Python prints warnings; a thread that nobody waits for may log later, too.
    if not any(isinstance(each, logging.NullHandler) for each in _LOGGER.handlers):
        _LOGGER.addHandler(logging.NullHandler())
    _LOGGER.setLevel(logging.DEBUG)
    _LOGGER.addHandler(heard)
    try:
        yield heard
    finally:
        _LOGGER.removeHandler(heard)
        _LOGGER.setLevel(level)
        _HTTP_LOGGER.setLevel(http_level)
