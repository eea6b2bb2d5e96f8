"""The resident scheduler: cron's weekdays, the wall clock, one run at a time, and no half-finished run at its end."""

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import time_machine
from apscheduler.schedulers.base import BaseScheduler
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.errors import ConfigurationError
from internal_linker.project.project import open_project
from internal_linker.project.schedule import STATE_FILE, Timetable, next_run, run_schedule, timetable
from internal_linker.project.settings.settings import Settings
from tests.support.small_project import finish, make_project, start

NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
SUNDAY = datetime(2026, 3, 1, tzinfo=UTC)  # midnight; no change of clocks in UTC
Stop = Callable[[], bool]


@st.composite
def parts_of_a_weekday_field(draw: st.DrawFn) -> tuple[str, set[int]]:
    """Return a part of a cron weekday field and the days it means (Sunday is 0)."""
    step = draw(st.sampled_from([1, 1, 2, 3]))
    suffix = f"/{step}" if step > 1 else ""
    if draw(st.booleans()) and step > 1:
        return f"*{suffix}", set(range(0, 7, step))
    first = draw(st.integers(0, 7))
    last = draw(st.integers(first, 7))
    days = {day % 7 for day in range(first, last + 1, step)}
    if first == last:
        return _written(draw, first), days
    # The whole week is 0-7 or 0-6; SUN-SUN would be one day.
    ending = "7" if (first, last) == (0, 7) else _written(draw, last)
    return f"{_written(draw, first)}-{ending}{suffix}", days


def _written(draw: st.DrawFn, day: int) -> str:
    """Return a day as a digit, or as a name in any case."""
    return draw(st.sampled_from([str(day), NAMES[day % 7], NAMES[day % 7].lower()]))


@given(st.lists(parts_of_a_weekday_field(), min_size=1, max_size=3))
def test_a_weekday_field_fires_on_crons_days(parts: list[tuple[str, set[int]]]) -> None:
    """Digits, names, ranges, steps and lists fire on cron's days over four weeks: 0 and 7 are Sunday."""
    field = ",".join(text for text, _ in parts)
    wanted = set().union(*(days for _, days in parts))
    times = timetable(f"0 3 * * {field}", "UTC")
    fired, now, end = set(), SUNDAY, SUNDAY + timedelta(weeks=4)
    while (now := times.after(now) or end) < end:
        fired.add((now - SUNDAY).days)
    assert fired == {day for day in range(28) if day % 7 in wanted}


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "but has 0"),
        ("0 0 3 * * SUN", "but has 6"),
        ("60 3 * * *", "the last value (60) is higher than the maximum value (59)"),
        ("0 3 * * 8", "'8' is not a weekday. Write MON, TUE, ... or MON-FRI"),
        ("0 3 * * */0", "'*/0' is not a weekday"),
        ("0 3 * * 5-1", "matches no weekday. Write MON-FRI or FRI,SAT,MON"),
        ("0 3 1 * MON", "names a day of the month and a weekday. Write * for one of the two"),
        ("0 3 30 2 *", "never occurs. Choose a date that exists"),
    ],
)
def test_a_wrong_expression_is_a_configuration_error(expression: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        timetable(expression, "UTC")
    assert words in str(caught.value) and str(caught.value).startswith("schedule_cron: ")


def test_times_are_those_of_the_time_zone() -> None:
    times = timetable("0 3 * * SUN", "Europe/Berlin")
    found = [times.after(datetime(2026, month, 1, tzinfo=UTC)) for month in (1, 7)]
    assert {each.hour for each in found if each} == {1, 2}
    following = next_run(times)
    assert following and (following.weekday(), following.hour) == (6, 3)


@pytest.mark.parametrize(
    ("expression", "day", "expected"),
    [
        (
            "30 2 * * *",
            "2026-03-29",
            ["2026-03-28T02:30+01:00", "2026-03-29T03:30+02:00", "2026-03-30T02:30+02:00"],
        ),
        (
            "30 2 * * *",
            "2026-10-25",
            ["2026-10-24T02:30+02:00", "2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"],
        ),
        ("0 0 29,30 * *", "2026-03-29", ["2026-03-29T00:00+01:00", "2026-03-30T00:00+02:00"]),
    ],
)
def test_a_time_comes_once_a_day_where_the_clocks_change(
    expression: str, day: str, expected: list[str]
) -> None:
    times, zone = timetable(expression, "Europe/Berlin"), ZoneInfo("Europe/Berlin")
    wanted = [datetime.fromisoformat(each) for each in expected]
    start = datetime.fromisoformat(f"{day}T00:00").replace(tzinfo=zone).astimezone(UTC) - timedelta(days=1)
    found = set()
    for minutes in range(0, 3 * 24 * 60, 7):
        following = times.after(start + timedelta(minutes=minutes))
        assert following and following > start + timedelta(minutes=minutes)
        found.add(following)
    assert [each for each in sorted(found) if each <= wanted[-1]] == wanted


class Stepped(BaseScheduler):  # type: ignore[misc]
    """A scheduler that does what is due when it is woken, and waits for the run to end."""

    def shutdown(self, wait: bool = True) -> None:
        super().shutdown(wait)

    def wakeup(self) -> None:
        self.look()
        self._lookup_executor("default").shutdown()

    def look(self) -> None:
        self._process_jobs()


@dataclass
class Computer:
    """A computer whose clock a test moves while the scheduler pauses."""

    folder: Path
    now: datetime  # when the scheduler starts
    cron: str = "30 3 * * *"
    zone: str = "Europe/Berlin"
    grace: int = 60
    runs: list[datetime] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def live(self, *later: timedelta | datetime, takes: timedelta = timedelta(), dies: bool = False) -> None:
        """Start the scheduler; each pause moves the clock by the next step; after the last one it is stopped.

        Args:
            later: durations, or times that the clock is set to.
            takes: how long each run takes.
            dies: whether the computer dies in the middle of a run: what it wrote at its end is not there.
        """
        steps, scheduler, state = iter(later), Stepped(timezone=UTC), self.folder / STATE_FILE
        kept = list[bytes]()
        settings = {
            "schedule_cron": self.cron,
            "schedule_timezone": self.zone,
            "schedule_grace_minutes": self.grace,
        }
        with time_machine.travel(self.now, tick=False) as clock:

            def pause(_: float) -> None:
                step = next(steps, None)
                if step is None:
                    os.kill(os.getpid(), signal.SIGTERM)
                elif isinstance(step, datetime):
                    clock.move_to(step)
                else:
                    clock.shift(step)

            def job(should_stop: Stop) -> None:
                self.runs.append(datetime.now(UTC))
                kept[:] = [state.read_bytes()] if dies else []
                clock.shift(takes)
                scheduler.look()

            run_schedule(
                Settings.model_validate(settings),
                job,
                self.lines.append,
                self.folder,
                scheduler=scheduler,
                pause=pause,
            )
            if kept:
                state.write_bytes(kept[0])
            self.now = datetime.now(UTC)

    def times(self) -> list[str]:
        """Return when runs started, in local time."""
        return [f"{run.astimezone(ZoneInfo(self.zone)):%d %H:%M}" for run in self.runs]


MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
MOMENT = timedelta(milliseconds=10)
EVENING = datetime(2026, 11, 20, 22, 0, tzinfo=UTC)  # 23:00 in Berlin


def test_a_run_starts_at_its_time_every_day(tmp_path: Path) -> None:
    computer = Computer(tmp_path, EVENING)
    computer.live(*[10 * MINUTE] * (3 * 24 * 6))
    assert computer.times() == ["21 03:30", "22 03:30", "23 03:30"]
    assert computer.lines[0] == "Next run: Saturday 2026-11-21 03:30 CET"


def test_a_computer_that_slept_makes_up_its_run(tmp_path: Path) -> None:
    """Asleep from 3:27 to 4:00, the run of 3:30 starts at 4:00; asleep until 5:00, it is skipped."""
    computer = Computer(tmp_path, EVENING)
    computer.live(4 * HOUR + 27 * MINUTE, 33 * MINUTE, MINUTE, 23 * HOUR, 2 * HOUR, MINUTE)
    assert computer.times() == ["21 04:00"]
    assert "The run planned for Saturday 2026-11-21 03:30 CET starts 30 minutes late." in computer.lines
    skipped = [line for line in computer.lines if "skipped" in line]
    assert skipped == [
        "The run planned for Sunday 2026-11-22 03:30 CET was skipped: the computer was asleep, or the scheduler was "
        "not running, at that time."
    ]
    assert "Next run: Monday 2026-11-23 03:30 CET" in computer.lines


@pytest.mark.parametrize(("minutes", "made_up"), [(59, True), (61, False)])
def test_a_restart_makes_up_a_missed_run(minutes: int, made_up: bool, tmp_path: Path) -> None:
    """A scheduler that was down at 3:30 starts the run after its restart, within the grace time, and only once."""
    computer = Computer(tmp_path, EVENING)
    computer.live(HOUR)
    computer.now = datetime(2026, 11, 21, 2, 30, tzinfo=UTC) + minutes * MINUTE
    computer.live(MINUTE)
    computer.live(MINUTE)
    assert len(computer.runs) == made_up
    assert any("skipped" in line for line in computer.lines) is not made_up


def test_the_first_start_makes_up_nothing(tmp_path: Path) -> None:
    """Without an earlier start, or with other times since then, nothing was missed."""
    computer = Computer(tmp_path, datetime(2026, 11, 21, 2, 35, tzinfo=UTC))
    computer.live(MINUTE)
    computer.cron = "33 3 * * *"
    computer.live(MINUTE)
    assert computer.runs == [] and not any("skipped" in line for line in computer.lines)


def test_a_run_that_broke_off_is_started_again(tmp_path: Path) -> None:
    """A computer that dies in a run starts it again within the grace time; after the grace time it does not."""
    computer = Computer(tmp_path, EVENING)
    computer.live(4 * HOUR + 30 * MINUTE, takes=10 * MINUTE, dies=True)
    computer.live(MINUTE, takes=MINUTE)
    assert computer.times() == ["21 03:30", "21 03:40"]
    computer.live(MINUTE, DAY - 11 * MINUTE, takes=2 * HOUR, dies=True)
    assert computer.times()[2:] == ["22 03:32"]
    computer.live(MINUTE)
    assert len(computer.runs) == 3


def test_a_wrong_clock_does_not_stop_the_schedule(tmp_path: Path) -> None:
    """After a clock that showed 2036, before or after a restart, runs go on; a small correction repeats none."""
    computer = Computer(tmp_path, EVENING)
    at = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)
    computer.live(datetime(2036, 1, 1, 12, tzinfo=UTC), EVENING + HOUR, at, at - 2 * MINUTE, at + MINUTE)
    assert computer.times() == ["21 03:30"]
    computer.now = datetime(2036, 1, 1, 12, tzinfo=UTC)
    computer.live(MINUTE)
    computer.now = at + HOUR
    computer.live(DAY - HOUR, MINUTE)
    assert computer.times() == ["21 03:30", "22 03:30"]


def test_a_time_that_comes_during_a_run_is_skipped(tmp_path: Path) -> None:
    """Runs never overlap: the scheduler skips the times that come while a run is still active, and says so."""
    computer = Computer(tmp_path, EVENING, cron="0 * * * *")
    computer.live(HOUR, HOUR, takes=90 * MINUTE)
    assert computer.times() == ["21 00:00", "21 02:30"]
    assert any(line.endswith("was skipped: the previous run was still active.") for line in computer.lines)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"expression": 1}'])
def test_a_damaged_file_of_times_is_made_anew(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / STATE_FILE
    path.parent.mkdir()
    path.write_bytes(content)
    computer = Computer(tmp_path, EVENING)
    computer.live(4 * HOUR + 30 * MINUTE, MINUTE)
    assert computer.times() == ["21 03:30"]
    assert json.loads(path.read_text(encoding="utf-8"))["expression"] == "30 3 * * * Europe/Berlin"


def test_times_that_can_not_be_kept_are_said_once(tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).mkdir(parents=True)
    computer = Computer(tmp_path, EVENING)
    computer.live(4 * HOUR + 30 * MINUTE, DAY, MINUTE)
    assert computer.times() == ["21 03:30", "22 03:30"]
    assert sum("would not be made up" in line for line in computer.lines) == 1


class Soon(Timetable):
    """Times that begin a moment after the first one that is asked about: `runs` of them, then none for long."""

    def __init__(self, runs: int) -> None:
        self.zone, self._runs, self._first = ZoneInfo("UTC"), runs, datetime.max.replace(tzinfo=UTC)

    def after(self, moment: datetime) -> datetime | None:
        self._first = min(self._first, moment + MOMENT)
        number = max(0, (moment - self._first) // MOMENT + 1)
        return self._first + number * MOMENT if number < self._runs else datetime(2100, 1, 1, tzinfo=UTC)


def scheduled(job: Callable[[Stop], None], folder: Path) -> list[str]:
    """Run `job` again and again until it sends the end signal itself, and return the printed lines."""
    lines: list[str] = []
    settings = Settings.model_validate({})
    run_schedule(settings, job, lines.append, folder, times=Soon(20_000), pause=lambda _: time.sleep(0.001))
    return lines


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    assert before == {number: signal.getsignal(number) for number in before}, "a handler was left behind"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_end_signal_lets_the_step_in_progress_finish(number: signal.Signals, tmp_path: Path) -> None:
    """On SIGTERM and Ctrl-C the scheduler asks the job to stop and waits for it."""
    seen: list[bool] = []

    def job(should_stop: Stop) -> None:
        seen.append(should_stop())
        os.kill(os.getpid(), number)
        while not should_stop():  # the main thread takes the signal
            time.sleep(0.001)
        seen.append(should_stop())

    lines = scheduled(job, tmp_path)
    assert seen == [False, True]
    assert re.fullmatch(r"Next run: \w+ \d{4}-\d\d-\d\d \d\d:\d\d UTC", lines[0])
    assert lines[-1] == "Stopping after the current step."


def test_a_second_ctrl_c_does_not_wait_for_the_step(tmp_path: Path) -> None:
    never = threading.Event()

    def job(should_stop: Stop) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        while not should_stop():
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
        never.wait()

    with pytest.raises(KeyboardInterrupt):
        scheduled(job, tmp_path)
    never.set()


def test_a_failing_run_does_not_end_the_scheduler(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    runs: list[int] = []

    def job(should_stop: Stop) -> None:
        runs.append(1)
        if len(runs) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            while not should_stop():
                time.sleep(0.001)
            return
        raise RuntimeError("with a secret in it")

    lines = scheduled(job, tmp_path)
    at = lines.index("The run failed (RuntimeError).")
    assert len(runs) == 2 and any(line.startswith("Next run: ") for line in lines[at + 1 :])
    assert capfd.readouterr().err == ""


@pytest.mark.long
def test_the_command_shows_the_next_run_and_ends_on_sigterm(tmp_path: Path) -> None:
    """`internal-linker schedule` waits without a terminal, and SIGTERM ends it with success."""
    folder = make_project(tmp_path, {"schedule_cron": "30 4 * * 1", "schedule_timezone": "UTC"})
    process = start("-m", "internal_linker", "schedule", cwd=folder)
    assert process.stdout
    first = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    code, _, err = finish(process)
    assert re.fullmatch(r"Next run: Monday \d{4}-\d\d-\d\d 04:30 UTC\n", first)
    assert (code, err) == (0, "")


SCHEDULED_RUN = """
import internal_linker.project.schedule as scheduling
from internal_linker.faces.cli import main
from tests.project.test_schedule import Soon
real = scheduling.run_schedule
scheduling.run_schedule = lambda *given: real(*given, times=Soon(1))
main(["schedule"])
"""


@pytest.mark.long
def test_a_scheduled_run_is_stopped_between_two_steps(tmp_path: Path) -> None:
    """SIGTERM during a real run lets the current step finish, starts no other, and is logged."""
    pages = "".join(
        f'https://www.tiny.example/{n},Page {n},"{"tea and water " * 40}{n}"\n' for n in range(1500)
    )
    folder = make_project(tmp_path)
    (folder / "files/urls_rawdata.csv").write_text(f"URL,Title,Main Content\n{pages}", encoding="utf-8")
    process = start("-c", SCHEDULED_RUN, cwd=folder)
    assert process.stdout
    for line in process.stdout:
        if line.startswith("Input:"):
            break
    process.send_signal(signal.SIGTERM)
    code, _, err = finish(process)
    log = (folder / "logfile.txt").read_text(encoding="utf-8")
    assert code == 0
    message = "stopped between two steps"
    assert message in log.splitlines()[-1] and message in err
    assert not (folder / "files/Output.csv").exists()
    assert not (folder / "files/.internal_linker.project.run").exists()


@pytest.mark.long
def test_a_scheduled_run_gives_way_to_another(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    with open_project(folder).lock():
        process = start("-c", SCHEDULED_RUN, cwd=folder)
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        code, _, err = finish(process)
    assert code == 0 and [line.partition(":")[0] for line in lines] == ["Next run", "Next run"]
    assert f"A run is already active in this folder: process {os.getpid()} on " in err
    assert not (folder / "files/Output.csv").exists()
