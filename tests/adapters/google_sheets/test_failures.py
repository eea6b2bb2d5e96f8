"""Google fails: a transient failure goes unnoticed, and a permanent one says what to do."""

import json
import re
from collections.abc import Callable
from contextlib import closing

import pytest

from internal_linker.adapters.google_sheets.client import Refusals
from internal_linker.adapters.google_sheets.queries_tab import GoogleSheet
from internal_linker.core.errors import (
    ConfigurationError,
    CredentialsRefused,
    InputError,
    InternalLinkerError,
    OutputError,
    ServiceError,
)
from tests.standins import CutOff, Fault, GoogleStandIn, Reply, Reset, make_service_account
from tests.standins.google_token import EMAIL
from tests.support.sheets import (
    READ,
    SITE,
    WRITE,
    a_to_c,
    before,
    sheet,
    shown,
)

# -- transient failures ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        Reply(429, json={"error": {"code": 429, "message": "Quota"}}, headers={"Retry-After": "0"}),
        Reply(429, html="<h1>Slow down</h1>", headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        Reply(503, html="<h1>Service Unavailable</h1>"),
        Reply(500, json={"error": "not Google's shape"}),
        Reply(200, html="<h1>Sign in to the hotel's network</h1>"),
        CutOff(),
        CutOff(honest=True),
        Reset(),
    ],
)
def test_a_passing_failure_passes_unseen(google: GoogleStandIn, fault: Fault) -> None:
    google.script(fault, on=READ)
    assert len(sheet(google).read().rows) == 3
    assert google.script_left == 0


@pytest.mark.parametrize(
    "fault", [Reply(200, html="<h1>Sign in to the hotel's network</h1>"), Reply(200, json=[])]
)
def test_a_sign_in_that_a_proxy_answers_passes_unseen(google: GoogleStandIn, fault: Fault) -> None:
    google.script(fault, on="POST /token")
    assert len(sheet(google).read().rows) == 3
    assert google.script_left == 0


def test_an_expired_token_is_renewed_without_a_word(google: GoogleStandIn) -> None:
    ours = sheet(google)
    ours.read()
    google.tokens.expire_tokens()
    assert ours.deliver(a_to_c(), "run") == []
    assert len(google.calls("POST /token")) == 2


# -- permanent failures ----------------------------------------------------------------------------

SKEW = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."


def _refused(status: int, message: str, word: str = "INVALID_ARGUMENT") -> Reply:
    return Reply(status, json={"error": {"code": status, "message": message, "status": word}})


def _not_shared(google: GoogleStandIn) -> None:
    google.shared_with.clear()


def _disabled(google: GoogleStandIn) -> None:
    google.api_enabled = False


def _revoked(google: GoogleStandIn) -> None:
    google.tokens.revoked = True


def _skewed(google: GoogleStandIn) -> None:
    answer = {"error": "invalid_grant", "error_description": SKEW}
    google.script(Reply(400, json=answer), on="POST /token")


def _unauthorised(google: GoogleStandIn) -> None:
    google.script(*[_refused(401, "Request had ya29.secret credentials")] * 3)


def _excel(google: GoogleStandIn) -> None:
    google.script(_refused(400, "This operation is not supported for this document", "FAILED_PRECONDITION"))


def _proxy(google: GoogleStandIn) -> None:
    google.script(Reply(404, html="<h1>Not here</h1>"))


def _odd(google: GoogleStandIn) -> None:
    google.script(_refused(400, "Something new about ya29.secret " + "and on " * 99))


def _tab_gone(google: GoogleStandIn) -> None:
    google.tab("Main").title = "Other"


@pytest.mark.parametrize(
    ("trouble", "kind", "remedy"),
    [
        (_not_shared, CredentialsRefused, f"not shared with {re.escape(EMAIL)}.*Editor"),
        (_disabled, ServiceError, r"sheets\.googleapis\.com\?project=standin, click Enable"),
        (_revoked, CredentialsRefused, "Make a new key for .*config/service_account.txt"),
        (_skewed, ServiceError, "clock is wrong. Let the computer set date"),
        (_unauthorised, CredentialsRefused, "did not accept the sign-in. Make a new key"),
        (_excel, InputError, "File > Save as Google Sheets"),
        (_proxy, ServiceError, "Check google_api_url"),
        (_odd, ServiceError, r'the message "Something new about \*\*\* and on'),
        (_tab_gone, InputError, "no such tab. The spreadsheet's tabs are: Other"),
    ],
)
def test_a_lasting_failure_says_what_to_do(
    google: GoogleStandIn,
    trouble: Callable[[GoogleStandIn], None],
    kind: type[InternalLinkerError],
    remedy: str,
) -> None:
    trouble(google)
    with pytest.raises(kind, match=remedy) as caught:
        sheet(google).read()
    assert not getattr(caught.value, "retryable", False)
    assert len(google.calls("/v4/")) <= 3
    text = shown(caught.value)
    assert "PRIVATE KEY" not in text
    assert "ya29" not in text
    assert json.dumps(google.service_account["private_key"])[100:150] not in text


def test_a_wrong_id_is_named(google: GoogleStandIn) -> None:
    with pytest.raises(InputError, match=r"no spreadsheet with the id 'no/such'.*google_sheet_id"):
        sheet(google, key="no/such").read()


@pytest.mark.parametrize("use", [lambda ours: ours.deliver(a_to_c(), "run"), lambda ours: ours.check()])
def test_a_viewer_is_told_to_become_editor(
    google: GoogleStandIn, use: Callable[[GoogleSheet], object]
) -> None:
    """A viewer can read; delivering and checking say that the right to edit is missing."""
    google.shared_with[EMAIL] = "reader"
    ours = sheet(google)
    assert len(ours.read().rows) == 3
    with pytest.raises(CredentialsRefused, match=f"{re.escape(EMAIL)} may view .* Editor"):
        use(ours)
    assert google.grid("Main")[1] == [SITE + "a", "a query"]


def test_protected_columns_are_named(google: GoogleStandIn) -> None:
    message = "You are trying to edit a protected cell or object."
    google.script(_refused(400, message), on=WRITE)
    with pytest.raises(ServiceError, match="Data > Protect sheets and ranges"):
        sheet(google).deliver(a_to_c(), "run")


def test_a_sheet_that_vanished_is_a_delivery_failure(google: GoogleStandIn) -> None:
    ours = sheet(google)
    ours.read()
    google.spreadsheets.clear()
    with pytest.raises(OutputError, match="no spreadsheet with the id"):
        ours.deliver(a_to_c(), "run")


def test_a_tab_renamed_between_look_and_write(google: GoogleStandIn) -> None:
    def rename() -> None:
        google.tab("Main").title = "Other"

    before(google, WRITE, rename)
    with pytest.raises(OutputError, match="renamed or deleted during the run"):
        sheet(google).deliver(a_to_c(), "run")


def test_an_unreachable_google_is_tried_again_and_then_said() -> None:
    account = json.dumps(make_service_account("http://127.0.0.1:9/token"))
    ours = GoogleSheet(account, "id", api_url="http://127.0.0.1:9")
    with closing(ours), pytest.raises(ServiceError, match="Check the internet connection") as caught:
        ours.read()
    assert caught.value.retryable
    assert "127.0.0.1" not in str(caught.value)


def test_a_full_quota_waits_for_the_minute() -> None:
    refusals = Refusals("a@b", "p", "id", "cells are", "Run again.")
    silent, told, late = (refusals.of(429, b"", {"retry-after": text}, False) for text in ("", "7", "soon"))
    assert (
        isinstance(silent, ServiceError) and isinstance(told, ServiceError) and isinstance(late, ServiceError)
    )
    assert (silent.retry_after, told.retry_after, late.retry_after) == (20.0, 7.0, 20.0)


# -- the key ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: "  ", "is empty"),
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: json.dumps({"installed": json.loads(text)}), "not the key of a service account"),
        (lambda text: json.dumps([text]), "not the key of a service account"),
        (lambda text: json.dumps({**json.loads(text), "client_email": None}), "lacks client_email"),
        (lambda text: text.replace("PRIVATE KEY", "PRIVAT KEY"), "private key is damaged"),
        (
            lambda text: json.dumps({**json.loads(text), "private_key": text[90:400]}),
            "private key is damaged",
        ),
        (lambda text: re.sub(r"\\n[A-Za-z0-9+/]{30}", r"\\n", text, count=1), "private key is damaged"),
    ],
)
def test_a_broken_key_file_is_named(change: Callable[[str], str], problem: str) -> None:
    text = json.dumps(make_service_account("http://127.0.0.1:1"))
    with pytest.raises(
        ConfigurationError, match=f"config/service_account.txt can't be used: .*{problem}"
    ) as caught:
        GoogleSheet(change(text), "id")
    assert "Make a new key" in str(caught.value)
    lines = json.loads(text)["private_key"].splitlines()[1:]
    assert not any(line in shown(caught.value) for line in lines if len(line) > 20)


def test_a_key_file_saved_with_a_bom_is_read(google: GoogleStandIn) -> None:
    text = "\ufeff" + json.dumps(google.service_account) + "\n"
    ours = GoogleSheet(text, google.spreadsheet_id, api_url=google.url + "/")
    assert len(ours.read().rows) == 3
    assert "PRIVATE" not in repr(ours)
