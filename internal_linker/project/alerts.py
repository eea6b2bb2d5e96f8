"""Alerts: after a run over the whole site, one message about what happened, to the addresses in config/notify.txt."""

import json
import platform
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from internal_linker.model.errors import ConfigurationError, InternalLinkerError, Interrupted, OutputError
from internal_linker.model.ports import Progress
from internal_linker.model.redact import SHORTEST_SECRET, escape_control_chars, redactor
from internal_linker.project.alert_events import EVENTS, Ended, Event, Told
from internal_linker.project.log import LOGGER, new_run_id, run_log
from internal_linker.project.notifications.channels import Channel, open_channels, send
from internal_linker.project.options.links import RunOptions
from internal_linker.project.pipeline.report import Report
from internal_linker.project.project import Project
from internal_linker.project.settings.accounts import PROGRAM, notify_addresses, notify_secrets
from internal_linker.project.settings.sources import given_key
from internal_linker.store.files.atomic import replace_whole

# What earlier messages reported survives here.
STATE_FILE = "files/.internal_linker.alerts.json"
# Examples of an event, and characters of one and of a whole message: Telegram takes 4,096. One event always fits.
_EXAMPLES, _EXAMPLE_LONG, _MESSAGE_LONG = 5, 300, 3_500
# Events in a subject.
_IN_SUBJECT = 3


@dataclass(frozen=True, slots=True)
class Message:
    """A message to people."""

    subject: str  # one line
    text: str  # plain text
    failed: bool = False  # whether it is about a failure


def concerns(options: RunOptions) -> bool:
    """Return whether a run with these options sends alerts: not a trial, nor one over some rows."""
    return not (options.limit or options.only)


def announce(
    project: Project,
    options: RunOptions,
    progress: Progress,
    run_id: str,
    *,
    report: Report | None = None,
    summary: Sequence[tuple[str, str]] = (),
    error: Exception | None = None,
) -> None:
    """Send what a run has to report, if config/notify.txt has addresses; nothing here makes a run fail.

    Args:
        progress: gets a sentence for each address that did not take the message.
        report: what it did; None: it failed.
    """
    settings = project.settings
    wanted = concerns(options) and any(notify_addresses(settings.notify.get_secret_value()))
    if isinstance(error, Interrupted) or not wanted:
        return
    with ExitStack() as stack:
        # The log itself may be why the run failed.
        with suppress(OutputError):
            stack.enter_context(run_log(project.root, run_id, settings.secrets))
        try:
            told = _told(project.root)
            events = _events(Ended(project, report, error, told), progress)
            if events or settings.notify_always:
                message = _message(_site(project), project.root, run_id, events, summary)
                sent, problems = _send(project.root, message, settings.secrets)
                for problem in problems:
                    progress.warn(problem)
                if not sent:
                    return
            # An event counts as reported only once a message has been sent.
            _keep(project.root, told)
        except InternalLinkerError as problem:
            progress.warn(f"Alerts: {problem}")
        # A failing alert must not fail a run whose links are already delivered.
        except Exception:
            LOGGER.exception("The alerts of the run ended unexpectedly")
            progress.warn("Alerts: unexpected error; logfile.txt has it. Please report it.")


def announce_unopened(root: Path, options: RunOptions, error: ConfigurationError) -> list[str]:
    """Send that a run could not start, because the project's settings are wrong; return what went wrong with that."""
    run_id = new_run_id()
    try:
        text, _ = given_key(root, "notify")
        if not (concerns(options) and any(notify_addresses(text))):
            return []
        hidden = notify_secrets(text)
        events = _events(Ended(None, None, error, Told()), None)
        with ExitStack() as stack:
            with suppress(OutputError):
                stack.enter_context(run_log(root, run_id, hidden))
            _, problems = _send(root, _message(root.name, root, run_id, events, ()), hidden)
            for problem in problems:
                LOGGER.warning("%s", problem)
        return problems
    except InternalLinkerError as problem:
        return [f"Alerts: {problem}"]
    except Exception as problem:  # the error that the run ended with must still be said
        return [f"Alerts: unexpected error ({type(problem).__name__}). Please report it."]


def check_addresses(root: Path) -> tuple[list[str], list[str]]:
    """Return the addresses that can be sent to, each by its place and service, and a sentence for each other one.

    Nothing is contacted.
    """
    channels, problems = _channels(root)
    return [*map(str, channels)], problems


def send_test(project: Project) -> tuple[list[str], list[str]]:
    """Send a test message to each address; return those that took it, and a sentence for each other one."""
    channels, problems = _channels(project.root)
    subject = f"{_site(project)}: test message"
    text = f"This is a test of the alerts of {PROGRAM}. You get a message when a run has something to report."
    refused = send(channels, subject, text, failed=False)
    took = [str(channel) for channel, why in zip(channels, refused, strict=True) if not why]
    return took, [*problems, *filter(None, refused)]


def _events(ended: Ended, progress: Progress | None) -> list[Event]:
    """Return what the run has to report; what can't be found out is said, and hides nothing else."""
    found = list[Event]()
    for event in EVENTS:
        try:
            if one := event(ended):
                found.append(one)
        except InternalLinkerError as error:
            if progress:
                progress.warn(f"Alerts: {error}")
    return found


def _message(
    site: str, root: Path, run_id: str, events: Sequence[Event], summary: Sequence[tuple[str, str]]
) -> Message:
    """Write the message: counts, up to five examples of each event, and what to do next."""
    subjects = [event.subject for event in events[:_IN_SUBJECT]] or ["nothing to report"]
    more = [f"{len(events) - _IN_SUBJECT} more"] if len(events) > _IN_SUBJECT else []
    figures = dict(summary)
    known = [f"{name}: {figures[name]}" for name in ("Pages", "Links") if name in figures]
    tail = [f"Run {run_id} in the folder {root.name} on {platform.node() or 'this computer'}.", *known]
    end = "\n".join([*tail, "logfile.txt has every step."])
    parts, left = list[str](), _MESSAGE_LONG - len(end)
    for at, event in enumerate(events):
        part = _part(event)
        if len(part) > left:
            rest = ", ".join(each.subject for each in events[at:])
            parts.append(f"There was no room for the details of: {rest}.")
            break
        parts.append(part)
        left -= len(part) + 2
    subject = escape_control_chars(f"{site}: {', '.join([*subjects, *more])}")
    return Message(
        subject, escape_control_chars("\n\n".join([*parts, end])), any(event.failed for event in events)
    )


def _site(project: Project) -> str:
    """Return the site's name for the subject; a table that can't be read may be why the run failed."""
    with suppress(InternalLinkerError):
        return project.site or project.root.name
    return project.root.name


def _part(event: Event) -> str:
    shown = [f"- {_line(each)}" for each in event.examples[:_EXAMPLES]]
    if len(event.examples) > _EXAMPLES:
        shown.append(f"and {len(event.examples) - _EXAMPLES:,} more")
    advice = [f"Next: {event.advice}"] if event.advice else []
    return "\n".join([event.subject.upper(), _line(event.sentence, 1_000), *shown, *advice])


def _line(text: str, most: int = _EXAMPLE_LONG) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}..."


def _channels(root: Path) -> tuple[list[Channel], list[str]]:
    text, where = given_key(root, "notify")
    return open_channels(notify_addresses(text), where, PROGRAM)


def _send(root: Path, message: Message, secrets: Sequence[str]) -> tuple[int, list[str]]:
    """Send a message; return how many addresses took it, and a sentence for each other one."""
    channels, problems = _channels(root)
    hidden = redactor(secret for secret in secrets if len(secret) >= SHORTEST_SECRET)
    refused = send(channels, hidden(message.subject), hidden(message.text), failed=message.failed)
    sent = refused.count("")
    if sent:
        LOGGER.info("Alert sent to %d of %d addresses: %s", sent, len(channels), message.subject)
    return sent, [*problems, *filter(None, refused)]


def _told(root: Path) -> Told:
    """Return what earlier messages reported; nothing if the file can't be believed."""
    try:
        kept = json.loads((root / STATE_FILE).read_bytes())
        return Told({kind: frozenset(map(str, marks)) for kind, marks in kept.items()})
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return Told()


def _keep(root: Path, told: Told) -> None:
    if told.now == told.before:
        return

    def write(file: TextIO) -> None:
        json.dump({kind: sorted(marks) for kind, marks in told.now.items()}, file)

    replace_whole(root / STATE_FILE, write)
