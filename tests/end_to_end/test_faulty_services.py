"""Failing services change only a run's duration: the short form of `python -m tests.research.endurance`."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from internal_linker.model.errors import ExitCode
from tests.end_to_end.faulty_services import SERVICES, asked_for, with_faults
from tests.end_to_end.worlds import Outcome, World, world
from tests.standins import Reset
from tests.support.sheets import WRITE
from tests.support.small_project import command

SEED, PAGES = 1, 30


@pytest.fixture(scope="module")
def fair(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    with world(tmp_path_factory.mktemp("fair"), pages=PAGES) as of:
        code, said = of.run()
        assert code == 0, said
        return of.outcome()


@pytest.mark.long
def test_three_of_ten_answers_may_go_wrong(fair: Outcome, tmp_path: Path) -> None:
    spoilt = [done.spoilt for done in with_faults(fair, SERVICES, [SEED], tmp_path, pages=PAGES)]
    assert sum(spoilt) > 0


@pytest.mark.parametrize(
    ("service", "on"),
    [
        ("openai", ""),
        pytest.param("serper", "", marks=pytest.mark.long),
        pytest.param("google", WRITE, marks=pytest.mark.long),
    ],
)
def test_a_service_that_is_gone_leaves_the_others_their_work(
    service: str, on: str, fair: Outcome, tmp_path: Path
) -> None:
    """The other services' results are in the files and paid for once; the next run fills the gaps."""
    with world(tmp_path, pages=PAGES) as of:
        gone = getattr(of, service)
        gone.script_on = on
        gone.fail_at_random(1.0, [Reset()])
        assert command("run", "--project", str(tmp_path)) in (ExitCode.GAPS, ExitCode.SERVICE)
        assert (tmp_path / "files/Output.csv").exists()
        gone.fail_at_random(0.0, [])
        assert command("run", "--project", str(tmp_path)) == ExitCode.SUCCESS
        # Anchors may differ, since none is used twice.
        now = of.outcome()
        assert (now.results["Output.csv"], now.sheet) == (fair.results["Output.csv"], fair.sheet)
        assert {*of.embedded().values(), *of.searched().values()} == {1}


def _revoke(of: World) -> None:
    of.google.tokens.revoked = True


def _unshare(of: World) -> None:
    of.google.shared_with.clear()


def _only_view(of: World) -> None:
    of.google.shared_with.update(dict.fromkeys(of.google.shared_with, "reader"))


def _rename(of: World) -> None:
    of.google.tab("Main").title = "Old"


def _other_serper_key(of: World) -> None:
    of.serper.api_key = "another"


def _no_credits(of: World) -> None:
    of.serper.balance = 0


def _other_openai_key(of: World) -> None:
    of.openai.api_key = "another"


def _no_quota(of: World) -> None:
    of.openai.quota_tokens = 0


@pytest.mark.parametrize(
    ("spoil", "service", "words", "code"),
    [
        pytest.param(_revoke, "google", "Make a new key", ExitCode.SERVICE, marks=pytest.mark.long),
        (_unshare, "google", "click Share and add this address", ExitCode.SERVICE),
        pytest.param(
            _only_view, "google", "make this address an Editor", ExitCode.SERVICE, marks=pytest.mark.long
        ),
        (_rename, "google", "there is no such tab", ExitCode.INPUT),
        pytest.param(
            _other_serper_key, "serper", "config/serper_api_key.txt", ExitCode.GAPS, marks=pytest.mark.long
        ),
        (_no_credits, "serper", "Buy more", ExitCode.GAPS),
        (_other_openai_key, "openai", "config/openai_api_key.txt", ExitCode.GAPS),
        pytest.param(_no_quota, "openai", "Add some", ExitCode.GAPS, marks=pytest.mark.long),
    ],
)
def test_what_no_second_try_can_help_has_none(
    spoil: Callable[[World], None],
    service: str,
    words: str,
    code: ExitCode,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A rejected key, an empty account, a missing right or tab is not retried: one sentence names the remedy."""
    with world(tmp_path, settings={"google_sheet_name": "Main"}, pages=PAGES) as of:
        spoil(of)
        assert command("run", "--project", str(tmp_path)) == code
        said = capsys.readouterr()
        assert words in said.out + said.err
        assert "Traceback" not in said.out + said.err
        calls = getattr(of, service).ledger
        refused = [call for call in calls if call.status >= 400 and "/allowedLocations" not in call.path]
        if service == "google":
            assert len(refused) <= 2
        else:
            asked = Counter(one for call in refused for one in asked_for(call))
            assert set(asked.values()) == {1}
        others = {"serper": of.openai, "openai": of.serper}
        if service in others:
            assert others[service].units
            assert (tmp_path / "files/Output.csv").exists()
