"""A resident scheduler: runs a job at the times of a cron expression by the wall clock, until it is stopped."""

import json
import logging
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import FrameType
from typing import Any

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobExecutionEvent,
    JobSubmissionEvent,
)
from apscheduler.executors.base import BaseExecutor, run_job
from apscheduler.job import Job
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.schedulers.base import BaseScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger

from internal_linker.model.errors import ConfigurationError, OutputError
from internal_linker.model.progress import Stop
from internal_linker.project.settings.settings import Settings
from internal_linker.store.files.atomic import replace_whole

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
# A clock that goes back further than a correction was wrong before, and so is a time that lies further ahead.
_WRONG_CLOCK = timedelta(days=1)
# Where the last time survives a restart.
STATE_FILE = "files/.internal_linker.schedule.json"
# Seconds between two looks at the wall clock: waits stand still while the computer sleeps, and signals interrupt none.
_LOOK_S = 0.5
_STOPPING = "Stopping after the current step."


class Timetable(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """The times of a cron expression in a time zone, each local time once, also where the clocks change."""

    def __init__(self, zone: tzinfo, cron: CronTrigger) -> None:
        self.zone = zone
        self._cron = cron  # in UTC, which stands for the local time

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time after a moment, in UTC; None if there is none.

        A local time that the clocks skip comes later by as much as they skip; one that they repeat comes once.
        """
        local = moment.astimezone(self.zone).replace(tzinfo=UTC, fold=0) - _CLOCK_CHANGE
        while following := self._cron.get_next_fire_time(None, local):
            found: datetime = following.replace(tzinfo=self.zone).astimezone(UTC)
            if found > moment:
                return found
            local = following + timedelta(seconds=1)
        return None

    def get_next_fire_time(self, previous: datetime | None, now: datetime) -> datetime | None:
        """Return the time after the previous one, as APScheduler asks for it."""
        return self.after(previous or now)


def timetable(expression: str, timezone: str) -> Timetable:
    """Return the times of a five-field cron expression, with weekdays as in cron.

    Raises:
        ConfigurationError: the expression is wrong, or means a time that never comes.
    """
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


def next_run(times: Timetable) -> datetime | None:
    """Return the next planned time, in the time zone of the times."""
    following = times.after(datetime.now(UTC))
    return following.astimezone(times.zone) if following else None


def run_schedule(
    settings: Settings,
    job: Callable[[Stop], None],
    say: Callable[[str], None],
    root: Path,
    *,
    times: Timetable | None = None,
    scheduler: BaseScheduler | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Run `job` at the times of schedule_cron until SIGTERM or Ctrl-C; a run in progress ends its step first.

    Of the times that were missed, while the computer slept or the scheduler was down, the last one is made up if it is
    not longer ago than schedule_grace_minutes.

    Args:
        job: gets a function that returns whether to stop between two steps; an error ends only that run.
        times: replace those of schedule_cron.
        scheduler: waits for them; by default in a thread of its own.

    Raises:
        ConfigurationError: schedule_cron is wrong.
    """
    times = times or timetable(settings.schedule_cron, settings.schedule_timezone)
    expression = f"{settings.schedule_cron} {settings.schedule_timezone}".strip()
    # What it logs is said here, without tracebacks.
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
    with _stop_signals() as stopped:

        def work() -> None:
            if not stopped():  # a time may come while the scheduler ends
                job(stopped)

        runs = _Runs(times, timedelta(minutes=settings.schedule_grace_minutes), say, stopped)
        runs.keep_in(root / STATE_FILE, expression)
        scheduler = scheduler or BackgroundScheduler(timezone=UTC)
        scheduler.add_executor(_DaemonThreads(runs))
        scheduler.add_listener(runs.pass_over, EVENT_JOB_MAX_INSTANCES)
        planned = scheduler.add_job(
            work,
            times,
            coalesce=True,
            misfire_grace_time=settings.schedule_grace_minutes * 60,
            next_run_time=times.after(runs.done),
        )
        runs.announce()
        scheduler.start()
        seen, in_order = datetime.now(UTC), False
        try:
            while not stopped():
                now = datetime.now(UTC)
                if now < seen - _WRONG_CLOCK:
                    runs.keep(now)
                    planned.modify(next_run_time=times.after(now))
                seen = now
                scheduler.wakeup()
                pause(_LOOK_S)
            say(_STOPPING)
            in_order = True
        finally:
            scheduler.shutdown(wait=in_order)


class _DaemonThreads(BaseExecutor):  # type: ignore[misc]  # APScheduler has no types
    """Runs each job in a daemon thread, so that a second Ctrl-C need not wait for the step in progress."""

    def __init__(self, runs: "_Runs") -> None:
        super().__init__()
        self._runs = runs
        self._thread = threading.Thread()

    def _do_submit_job(self, job: Job, run_times: list[datetime]) -> None:
        self._thread = threading.Thread(target=self._run, args=(job, run_times), daemon=True)
        self._thread.start()

    def _run(self, job: Job, run_times: list[datetime]) -> None:
        self._runs.begin(run_times[-1])
        events = run_job(job, job._jobstore_alias, run_times, self._logger.name)
        self._runs.end(events[-1])  # before the next one may begin
        self._run_job_success(job.id, events)

    def shutdown(self, wait: bool = True) -> None:
        if wait and self._thread.is_alive():
            self._thread.join()


class _Runs:
    """Says what becomes of planned runs, and keeps the time up to which all is dealt with."""

    def __init__(self, times: Timetable, grace: timedelta, say: Callable[[str], None], stopped: Stop) -> None:
        self._times, self._grace, self._say, self._stopped = times, grace, say, stopped
        self._path, self._expression, self._writable = Path(), "", True
        self.done = datetime.now(UTC)

    def keep_in(self, path: Path, expression: str) -> None:
        """Keep the time in a file, and start from what it has for these times; what can't be believed is ignored."""
        self._path, self._expression = path, expression
        with suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
            kept = json.loads(path.read_bytes()) if path.is_file() else {}
            done = datetime.fromisoformat(kept["done"]).astimezone(UTC)
            if kept["expression"] == expression and done < self.done + _WRONG_CLOCK:
                self.done = done
        self.keep(self.done)

    def keep(self, done: datetime) -> None:
        """Keep that all times up to this one are dealt with."""
        self.done = done
        kept = {"expression": self._expression, "done": str(done)}
        try:
            replace_whole(self._path, lambda file: json.dump(kept, file))
        except OutputError as error:
            if self._writable:
                self._say(f"After a restart, a missed run would not be made up: {error}")
            self._writable = False

    def announce(self) -> None:
        if following := self._times.after(max(self.done, datetime.now(UTC))):
            self._say(f"Next run: {self._shown(following)}")

    def begin(self, planned: datetime) -> None:
        """Say if a run begins late; one that is later than the grace time does not begin."""
        late = datetime.now(UTC) - planned
        if timedelta(minutes=1) <= late <= self._grace:
            minutes = late // timedelta(minutes=1)
            self._say(f"The run planned for {self._shown(planned)} starts {minutes} minutes late.")

    def end(self, event: JobExecutionEvent) -> None:
        """Say what became of a run; one that was stopped broke off, and is due again after a restart."""
        if self._stopped():
            return
        if event.code == EVENT_JOB_MISSED:
            why = "the computer was asleep, or the scheduler was not running, at that time"
            self._skip(event.scheduled_run_time, why)
        elif event.code == EVENT_JOB_ERROR:
            self._say(f"The run failed ({type(event.exception).__name__}).")  # the last net
        self.keep(max(self.done, datetime.now(UTC)))
        self.announce()

    def pass_over(self, event: JobSubmissionEvent) -> None:
        """Say that a time came during a run."""
        self._skip(event.scheduled_run_times[-1], "the previous run was still active")

    def _skip(self, planned: datetime, why: str) -> None:
        self._say(f"The run planned for {self._shown(planned)} was skipped: {why}.")

    def _shown(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._times.zone):%A %Y-%m-%d %H:%M %Z}"


@contextmanager
def _stop_signals() -> Iterator[Stop]:
    """Yield the function that says whether SIGTERM or Ctrl-C came; a second one acts as it did before."""
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
