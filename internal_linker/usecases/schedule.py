"""A resident scheduler: runs a job at the times of a cron expression by the wall clock, until it is stopped."""

import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from internal_linker.adapters.files.atomic import replace_whole
from internal_linker.core.errors import ConfigurationError, OutputError
from internal_linker.usecases.settings.settings import Settings

if TYPE_CHECKING:
    from apscheduler.triggers.cron import CronTrigger

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


# Clocks change by up to three hours at once.
_CLOCK_CHANGE = timedelta(hours=3)
# A time further ahead than a correction of the clock was stored while the clock was wrong.
_AHEAD = timedelta(days=1)
# Where the times survive a restart.
STATE_FILE = "files/.internal_linker.schedule.json"
# Seconds between two looks at the clock: waits stand still while the computer sleeps, and signals interrupt none.
_PAUSE_S = 0.5
_STOPPING = "Stopping after the current step."

Stopped = Callable[[], bool]


class Times(Protocol):
    """The times at which runs are planned."""

    @property
    def zone(self) -> tzinfo:
        """The time zone in which people see them."""

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time after a moment, in UTC; None if there is none."""


@dataclass(frozen=True)
class Timetable:
    """The times of a cron expression, each local time once, also where the clocks change.

    Attributes:
        zone: the time zone.
        cron: the expression, in UTC, which stands for the local time.
    """

    zone: tzinfo
    cron: "CronTrigger"

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time after a moment, in UTC; None if there is none.

        A local time that the clocks skip comes later by as much as they skip; one that they repeat comes once.
        """
        local = moment.astimezone(self.zone).replace(tzinfo=UTC, fold=0) - _CLOCK_CHANGE
        while following := self.cron.get_next_fire_time(None, local):
            found: datetime = following.replace(tzinfo=self.zone).astimezone(UTC)
            if found > moment:
                return found
            local = following + timedelta(seconds=1)
        return None


def timetable(expression: str, timezone: str) -> Timetable:
    """Return the times of a five-field cron expression, with weekdays as in cron.

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
    crontab = " ".join([*fields[:4], weekdays])
    try:
        zone = CronTrigger.from_crontab(crontab, timezone=timezone or None).timezone
        times = Timetable(zone, CronTrigger.from_crontab(crontab, timezone=UTC))
    except ValueError as error:
        raise ConfigurationError(f"schedule_cron: '{expression}' can't be read ({error}).") from None
    if next_run(times) is None:
        raise ConfigurationError(f"schedule_cron: '{expression}' never occurs. Choose a date that exists.")
    return times


def next_run(times: Times) -> datetime | None:
    """Return the next planned time, in the time zone of the times."""
    following = times.after(datetime.now(UTC))
    return following.astimezone(times.zone) if following else None


def run_schedule(
    settings: Settings,
    job: Callable[[Callable[[], bool]], None],
    say: Callable[[str], None],
    root: Path,
    *,
    times: Times | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Run `job` at the times of schedule_cron until SIGTERM or Ctrl-C; a run in progress ends its step first.

    The wall clock counts, so that a computer that slept starts the run that it missed, and a file keeps the last
    planned and finished times, so that a restart does so, too; both within schedule_grace_minutes.

    Args:
        settings: for schedule_cron, schedule_timezone and schedule_grace_minutes.
        job: gets a function that returns whether to stop between two steps; an error ends only that run.
        say: prints one line.
        root: the project folder.
        times: replace those of schedule_cron.
        pause: waits for so many seconds.

    Raises:
        ConfigurationError: schedule_cron is wrong.
    """
    planned = times or timetable(settings.schedule_cron, settings.schedule_timezone)
    grace = timedelta(minutes=settings.schedule_grace_minutes)
    expression = f"{settings.schedule_cron} {settings.schedule_timezone}".strip()
    with _stop_signals() as stopped:
        schedule = _Schedule(planned, grace, say, root / STATE_FILE, expression)
        schedule.announce()
        while not stopped():
            if due := schedule.due():
                schedule.start(due)
                _work(job, say, stopped)
                if stopped():
                    return
                schedule.finish()
                schedule.announce()
            pause(_PAUSE_S)
        say(_STOPPING)


def _work(job: Callable[[Callable[[], bool]], None], say: Callable[[str], None], stopped: Stopped) -> None:
    """Run the job in a thread, so that a signal is answered while a step is in progress."""
    ended: list[BaseException] = []

    def work() -> None:
        try:
            job(stopped)
        except BaseException as error:
            ended.append(error)

    # A daemon, so that a second Ctrl-C need not wait for the step.
    thread, told = threading.Thread(target=work, daemon=True), False
    thread.start()
    while thread.is_alive():
        thread.join(_PAUSE_S)
        if stopped() and not told:
            say(_STOPPING)
            told = True
    for error in ended:
        if not isinstance(error, Exception):
            raise error
        say(f"The run failed ({type(error).__name__}).")  # the last net: the next run may do better


@contextmanager
def _stop_signals() -> Iterator[Stopped]:
    """Return the function that says whether SIGTERM or Ctrl-C came; a second one acts as it did before."""
    # A plain list: the lock of an event could be held by the very code that the signal interrupts.
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        came.append(number)
        before = previous.get(number)
        if len(came) > 1 and callable(before):
            before(number, frame)
        elif len(came) > 1 and number == signal.SIGINT:
            # Under nohup, Ctrl-C was ignored before.
            raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGINT)
    previous: dict[int, Any] = {}
    previous |= {number: signal.signal(number, stop) for number in numbers}
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@dataclass(frozen=True)
class _Kept:
    """What survives a restart.

    Attributes:
        expression: the times that the rest is about.
        planned: the last planned time that was dealt with, in UTC.
        finished: when its run ended, in UTC; before `planned` if it did not.
    """

    expression: str
    planned: datetime
    finished: datetime


class _Schedule:
    """Says when a run is due, by the wall clock and by what is kept on disk.

    Args:
        times: the planned times.
        grace: how late a run may start.
        say: prints one line.
        path: the file for what is kept.
        expression: names the times.
    """

    def __init__(
        self, times: Times, grace: timedelta, say: Callable[[str], None], path: Path, expression: str
    ) -> None:
        self._times, self._grace, self._say, self._path = times, grace, say, path
        now = datetime.now(UTC)
        self._kept = _read(path, expression) or _Kept(expression, now, now)
        if self._kept.finished < self._kept.planned and now - self._kept.planned <= grace:
            # Its run broke off: it is due again.
            self._kept = replace(self._kept, planned=self._kept.planned - timedelta(seconds=1))
        self._following = times.after(self._kept.planned)
        self._writable = True
        self._write()

    def due(self) -> datetime | None:
        """Return the planned time of the run that should start now, or None; say which runs come too late."""
        now = datetime.now(UTC)
        if self._kept.planned > now + _AHEAD:
            self._pass(now, now)
        if self._following is None or self._following > now:
            return None
        late = self._last(max(self._kept.planned, now - self._grace), now)
        if late is None:
            self._skip(
                self._following, "the computer was asleep, or the scheduler was not running, at that time"
            )
            self._pass(now, now)
            self.announce()
        elif now - late >= timedelta(minutes=1):
            minutes = (now - late) // timedelta(minutes=1)
            self._say(f"The run planned for {self._shown(late)} starts {minutes} minutes late.")
        return late

    def start(self, planned: datetime) -> None:
        """Keep that the run of a planned time has started."""
        self._pass(planned, min(self._kept.finished, planned - timedelta(seconds=1)))

    def finish(self) -> None:
        """Keep that the run has ended; the times that came meanwhile have no run."""
        now = datetime.now(UTC)
        if self._following and self._following <= now:
            self._skip(self._following, "the previous run was still active")
        self._pass(max(now, self._kept.planned), max(now, self._kept.planned))

    def announce(self) -> None:
        """Say when the next run is."""
        following = self._times.after(max(self._kept.planned, datetime.now(UTC)))
        if following:
            self._say(f"Next run: {self._shown(following)}")

    def _last(self, after: datetime, until: datetime) -> datetime | None:
        """Return the last planned time after one moment and not after another."""
        found, following = None, self._times.after(after)
        while following and following <= until:
            found, following = following, self._times.after(following)
        return found

    def _pass(self, planned: datetime, finished: datetime) -> None:
        self._kept = replace(self._kept, planned=planned, finished=finished)
        self._following = self._times.after(planned)
        self._write()

    def _skip(self, planned: datetime, why: str) -> None:
        self._say(f"The run planned for {self._shown(planned)} was skipped: {why}.")

    def _shown(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._times.zone):%A %Y-%m-%d %H:%M %Z}"

    def _write(self) -> None:
        kept = {name: str(value) for name, value in vars(self._kept).items()}
        try:
            replace_whole(self._path, lambda file: json.dump(kept, file))
        except OutputError as error:
            if self._writable:
                self._say(f"After a restart, a missed run would not be made up: {error}")
            self._writable = False


def _read(path: Path, expression: str) -> _Kept | None:
    """Return what was kept for these times; None if there is nothing that can be believed."""
    try:
        if not path.is_file():
            return None
        told = json.loads(path.read_bytes())
        kept = _Kept(
            told["expression"], *(datetime.fromisoformat(told[name]) for name in ("planned", "finished"))
        )
        ahead = max(kept.planned, kept.finished) > datetime.now(UTC) + _AHEAD
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return None if ahead or kept.expression != expression else kept
