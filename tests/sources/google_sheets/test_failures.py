"""Google fails: a transient failure goes unnoticed, and a permanent one says what to do."""

import json
import re
from collections.abc import Callable
from contextlib import closing

import pytest

from internal_linker.model.errors import (
    ConfigurationError,
    CredentialsRefused,
    InputError,
    OutputError,
    ServiceError,
)
from internal_linker.sources.google_sheets.client import SheetRefusals
from internal_linker.sources.google_sheets.queries_tab import GoogleSheet
from tests.standins import GoogleStandIn, Reply, make_service_account
from tests.standins.google_token import EMAIL
from tests.support.sheets import (
    SITE,
    WRITE,
    a_to_c,
    before,
    sheet,
    shown,
)


def test_a_wrong_id_or_tab_is_named(google: GoogleStandIn) -> None:
    with pytest.raises(InputError, match=r"no spreadsheet with the id 'no/such'.*google_sheet_id"):
        sheet(google, key="no/such").read()
    google.tab("Main").title = "Other"
    with pytest.raises(InputError, match=r"no such tab. The spreadsheet's tabs are: Other"):
        sheet(google).read()


def test_what_changes_during_the_run_is_a_delivery_failure(google: GoogleStandIn) -> None:
    """A protection, a tab that is renamed between look and write, and a spreadsheet that is deleted."""
    ours = sheet(google)
    ours.read()
    message = "You are trying to edit a protected cell or object."
    google.script(Reply(400, json={"error": {"code": 400, "message": message}}), on=WRITE)
    with pytest.raises(ServiceError, match="Data > Protect sheets and ranges"):
        ours.deliver(a_to_c(), "run")
    before(google, WRITE, lambda: vars(google.tab("Main")).update(title="Other"))
    with pytest.raises(OutputError, match="renamed or deleted during the run"):
        ours.deliver(a_to_c(), "run")
    google.spreadsheets.clear()
    with pytest.raises(OutputError, match="no spreadsheet with the id"):
        ours.deliver(a_to_c(), "run")


def test_an_unreachable_google_is_tried_again_and_then_said() -> None:
    account = json.dumps(make_service_account("http://127.0.0.1:9/token"))
    ours = GoogleSheet(account, "id", api_url="http://127.0.0.1:9", links_per_page=5)
    with closing(ours), pytest.raises(ServiceError, match="Check the internet connection") as caught:
        ours.read()
    assert caught.value.retryable
    assert "127.0.0.1" not in str(caught.value)


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


def test_a_full_quota_waits_for_the_minute() -> None:
    refusals = SheetRefusals("a@b", "p", "id", "cells are", "Run again.")
    silent, told, late = (
        refusals.to_error(429, b"", {"retry-after": text}, False) for text in ("", "7", "soon")
    )
    assert (
        isinstance(silent, ServiceError) and isinstance(told, ServiceError) and isinstance(late, ServiceError)
    )
    assert (silent.retry_after, told.retry_after, late.retry_after) == (20.0, 7.0, 20.0)


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
        GoogleSheet(change(text), "id", links_per_page=5)
    assert "Make a new key" in str(caught.value)
    lines = json.loads(text)["private_key"].splitlines()[1:]
    assert not any(line in shown(caught.value) for line in lines if len(line) > 20)


def test_a_key_file_saved_with_a_bom_is_read(google: GoogleStandIn) -> None:
    text = "\ufeff" + json.dumps(google.service_account) + "\n"
    ours = GoogleSheet(text, google.spreadsheet_id, api_url=google.url + "/", links_per_page=5)
    assert len(ours.read().rows) == 3
    assert "PRIVATE" not in repr(ours)
