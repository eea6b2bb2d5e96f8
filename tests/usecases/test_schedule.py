"""The resident scheduler: cron's weekdays, one run at a time, and no half-finished run at its end."""

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from apscheduler.triggers.interval import IntervalTrigger
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.core.errors import ConfigurationError
from internal_linker.usecases.project import open_project
from internal_linker.usecases.schedule import cron_trigger, next_run, run_schedule
from internal_linker.usecases.settings.settings import Settings
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
    trigger = cron_trigger(f"0 3 * * {field}", "UTC")
    fired, now, end = set(), SUNDAY, SUNDAY + timedelta(weeks=4)
    while (following := trigger.get_next_fire_time(None, now)) and following < end:
        fired.add((following - SUNDAY).days)
        now = following + timedelta(seconds=1)
    assert fired == {day for day in range(28) if day % 7 in wanted}


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "but has 0"),
        ("@weekly", "but has 1"),
        ("0 0 3 * * SUN", "but has 6"),
        ("60 3 * * *", "the last value (60) is higher than the maximum value (59)"),
        ("0 3 * * 8", "'8' is not a weekday. Write MON, TUE, ... or MON-FRI"),
        ("0 3 * * SUNDAY", "'sunday' is not a weekday"),
        ("0 3 * * MON#2", "'mon#2' is not a weekday"),
        ("0 3 * * */0", "'*/0' is not a weekday"),
        ("0 3 * * MON,", "'' is not a weekday"),
        ("0 3 * * 5-1", "matches no weekday. Write MON-FRI or FRI,SAT,MON"),
        ("0 3 1 * MON", "names a day of the month and a weekday. Write * for one of the two"),
        ("0 3 30 2 *", "never occurs. Choose a date that exists"),
    ],
)
def test_a_wrong_expression_is_a_configuration_error(expression: str, words: str) -> None:
    """An invalid expression is rejected before the scheduler waits, with the correct syntax."""
    with pytest.raises(ConfigurationError) as caught:
        cron_trigger(expression, "UTC")
    assert words in str(caught.value) and str(caught.value).startswith("schedule_cron: ")


def test_times_are_those_of_the_time_zone() -> None:
    """Three o'clock is three o'clock in Berlin, in summer and in winter."""
    trigger = cron_trigger("0 3 * * SUN", "Europe/Berlin")
    hours = {
        trigger.get_next_fire_time(None, datetime(2026, month, 1, tzinfo=UTC)).astimezone(UTC).hour
        for month in (1, 7)
    }
    assert hours == {1, 2}
    following = next_run(trigger)
    assert following and (following.weekday(), following.hour) == (6, 3)


def scheduled(job: Callable[[Stop], None], seconds: float = 0.05) -> list[str]:
    """Run `job` every `seconds` until it sends the end signal itself, and return the printed lines."""
    lines: list[str] = []
    run_schedule(Settings.model_validate({}), job, lines.append, trigger=IntervalTrigger(seconds=seconds))
    return lines


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    assert before == {number: signal.getsignal(number) for number in before}, "a handler was left behind"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_end_signal_lets_the_step_in_progress_finish(number: signal.Signals) -> None:
    """On SIGTERM and Ctrl-C the scheduler asks the job to stop and waits for it."""
    seen: list[bool] = []

    def job(should_stop: Stop) -> None:
        seen.append(should_stop())
        os.kill(os.getpid(), number)
        threading.Event().wait(0.7)
        seen.append(should_stop())

    lines = scheduled(job)
    assert seen == [False, True]
    assert re.fullmatch(r"Next run: Sunday \d{4}-\d\d-\d\d 03:00 \S+", lines[0])
    assert "Stopping after the current step." in lines


def test_a_failing_run_does_not_end_the_scheduler(capfd: pytest.CaptureFixture[str]) -> None:
    """After a failed run the scheduler prints one line and the next time, and runs again."""
    runs: list[int] = []

    def job(should_stop: Stop) -> None:
        runs.append(1)
        if len(runs) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            return
        raise RuntimeError("with a secret in it")

    lines = scheduled(job)
    at = lines.index("The run failed (RuntimeError).")
    assert len(runs) == 2 and lines[at + 1].startswith("Next run: ")
    assert capfd.readouterr().err == ""


def test_runs_never_overlap() -> None:
    """The scheduler skips runs while an earlier one is still in progress, and says so."""
    running, most, runs = 0, 0, 0

    def job(should_stop: Stop) -> None:
        nonlocal running, most, runs
        running, runs = running + 1, runs + 1
        most = max(most, running)
        threading.Event().wait(0.3)
        running -= 1
        if runs == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    lines = scheduled(job)
    assert most == 1
    assert "A run was skipped: the previous run is still active." in lines


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
from datetime import datetime, timedelta
from apscheduler.triggers.date import DateTrigger
import internal_linker.usecases.schedule as scheduling
from internal_linker.cli import main
real = scheduling.run_schedule
at = DateTrigger(datetime.now() + timedelta(seconds=0.3))
scheduling.run_schedule = lambda *given: real(*given, trigger=at)
main(["schedule"])
"""


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
    assert not (folder / "files/.internal_linker.usecases.run").exists()


def test_a_scheduled_run_gives_way_to_another(tmp_path: Path) -> None:
    """While another run locks the folder, the scheduled run names its process and prints the next time."""
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
