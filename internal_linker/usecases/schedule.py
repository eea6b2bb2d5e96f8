"""A resident scheduler: runs a job at the times of a cron expression, one at a time, until it is stopped."""

import logging
import re
import signal
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from internal_linker.core.errors import ConfigurationError
from internal_linker.usecases.settings.settings import Settings

if TYPE_CHECKING:
    from apscheduler.triggers.base import BaseTrigger
    from apscheduler.triggers.cron import CronTrigger

# Our own messages replace its messages about late runs.
logging.getLogger("apscheduler").addHandler(logging.NullHandler())
# cron counts weekdays from Sunday = 0 (or 7), APScheduler from Monday = 0; names mean the same in both.
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAY = rf"[0-7]|{'|'.join(_WEEKDAYS)}"
_DAYS = re.compile(rf"(?:(\*)|({_DAY})(?:-({_DAY}))?)(?:/([1-7]))?")


def weekday_names(field: str) -> str:
    """Expand cron's weekday field into single names: "1-5" and "MON-FRI" become "mon,tue,wed,thu,fri".

    Raises:
        ConfigurationError: it is not what cron knows, or names no day.
    """
    if field == "*":
        return field
    days: dict[str, None] = {}
    for part in field.lower().split(","):
        found = _DAYS.fullmatch(part)
        if not found:
            raise ConfigurationError(
                f"schedule_cron: '{part}' is not a weekday. Write MON, TUE, ... or MON-FRI."
            )
        star, first, last, step = found.groups()
        low, high = (0, 6) if star else (_number(first), _number(last or ("7" if step else first)))
        if high == 0 < low:  # SAT-SUN: Sunday as the end of a week
            high = 7
        days |= dict.fromkeys(_WEEKDAYS[day % 7] for day in range(low, high + 1, int(step or 1)))
    if not days:
        raise ConfigurationError(
            f"schedule_cron: '{field}' matches no weekday. Write MON-FRI or FRI,SAT,MON."
        )
    return ",".join(days)


def _number(day: str) -> int:
    return int(day) if day.isdigit() else _WEEKDAYS.index(day)


def cron_trigger(expression: str, timezone: str) -> "CronTrigger":
    """Return the trigger of a five-field cron expression, with weekdays as in cron.

    Raises:
        ConfigurationError: the expression is wrong, or means a time that never comes.
    """
    from apscheduler.triggers.cron import CronTrigger

    fields = expression.split()
    if len(fields) != 5:
        raise ConfigurationError(
            f"schedule_cron: '{expression}' must have five fields (minute, hour, day, month, weekday) "
            f"but has {len(fields)}."
        )
    weekdays = weekday_names(fields[4])
    if not fields[2].startswith("*") and not fields[4].startswith("*"):
        # cron would run on days that match either field, APScheduler on days that match both; people expect either.
        raise ConfigurationError(
            f"schedule_cron: '{expression}' names a day of the month and a weekday. "
            "Write * for one of the two."
        )
    try:
        trigger = CronTrigger.from_crontab(" ".join([*fields[:4], weekdays]), timezone=timezone or None)
    except ValueError as error:
        raise ConfigurationError(f"schedule_cron: '{expression}' can't be read ({error}).") from None
    if next_run(trigger) is None:
        raise ConfigurationError(f"schedule_cron: '{expression}' never occurs. Choose a date that exists.")
    return trigger


def next_run(trigger: "CronTrigger") -> datetime | None:
    """Return when `trigger` fires next, in its own time zone."""
    found: datetime | None = trigger.get_next_fire_time(None, datetime.now(trigger.timezone))
    return found


def run_schedule(
    settings: Settings,
    job: Callable[[Callable[[], bool]], None],
    say: Callable[[str], None],
    *,
    trigger: "BaseTrigger | None" = None,
) -> None:
    """Run `job` at the times of schedule_cron until SIGTERM or Ctrl-C; a run in progress ends its step first.

    Args:
        settings: for schedule_cron, schedule_timezone and schedule_grace_minutes.
        job: gets a function that returns whether to stop between two steps; an error ends only that run.
        say: prints one line.
        trigger: replaces the times of schedule_cron.

    Raises:
        ConfigurationError: schedule_cron is wrong.
    """
    from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED
    from apscheduler.schedulers.background import BackgroundScheduler

    cron = cron_trigger(settings.schedule_cron, settings.schedule_timezone)
    stop = threading.Event()
    scheduler = BackgroundScheduler(timezone=cron.timezone)

    def announce() -> None:
        following = next_run(cron)
        if following and not stop.is_set():
            say(f"Next run: {following:%A %Y-%m-%d %H:%M %Z}")

    def work() -> None:
        try:
            job(stop.is_set)
        except Exception as error:  # the last net: the next run may do better
            say(f"The run failed ({type(error).__name__}).")
        announce()

    def left_out(event: Any) -> None:
        late = event.code == EVENT_JOB_MISSED
        why = "the computer was asleep at its time" if late else "the previous run is still active"
        say(f"A run was skipped: {why}.")
        announce()

    scheduler.add_listener(left_out, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
    grace = 60 * settings.schedule_grace_minutes
    scheduler.add_job(work, trigger or cron, max_instances=1, coalesce=True, misfire_grace_time=grace)
    previous = {
        number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)
    }
    scheduler.start()
    announce()
    try:
        # Short waits, since Ctrl-C can't interrupt an endless wait on Windows.
        while not stop.wait(0.5):
            pass
        say("Stopping after the current step.")
    finally:
        scheduler.shutdown(wait=True)
        for number, handler in previous.items():
            signal.signal(number, handler)
