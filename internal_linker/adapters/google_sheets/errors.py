"""Errors for Google's refusals and failures, each with a remedy that an editor can follow."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from internal_linker.adapters.http.google_refusals import google_error
from internal_linker.adapters.http.limits import retry_after
from internal_linker.adapters.http.service_account import KEY_FILE, NEW_KEY
from internal_linker.core.errors import CredentialsRefused, InputError, InternalLinkerError, ServiceError

SERVICE = "Google Sheets"
# Google counts quotas by the minute and seldom says how long to wait: three pauses outlast a minute.
QUOTA_PAUSE_S = 20.0
# Characters: enough to recognise Google's message; an error is one sentence, not a page.
_LONGEST_QUOTE = 200
_TOKEN = re.compile(r"ya29\.[\w.-]+|eyJ[\w.-]{10,}")


@dataclass(frozen=True, slots=True)
class Refusals:
    """Turns refusals into errors for one account and spreadsheet.

    Args:
        account: the service account's email address, which is not a secret.
        project: the account's Google Cloud project.
        sheet_id: the spreadsheet's id.
        ours: the subject and verb of a message about protected cells: "cells of the tab Review are".
        tab_remedy: what to do about a tab that vanished.
    """

    account: str
    project: str
    sheet_id: str
    ours: str
    tab_remedy: str

    def of(self, status: int, body: str, asked: str, *, writing: bool) -> InternalLinkerError:
        """Return the error for a status of 400 or above; `asked` is the text of Retry-After, "" if it is missing."""
        message, reasons = google_error(body)
        if status in (408, 429) or status >= 500:
            return _passing(status, retry_after({"retry-after": asked}))
        if status == 401:
            return CredentialsRefused(SERVICE, f"Google did not accept the sign-in. {self._new_key}")
        if status == 403:
            return self._forbidden(message, reasons, writing)
        if status == 404 and message:
            return InputError(
                f"{SERVICE}: there is no spreadsheet with the id {self.sheet_id!r}. Copy the Sheet's whole "
                "address from the browser into google_sheet_id in config/settings.toml."
            )
        return self._bad_request(status, message)

    def of_token(self, text: str, *, retryable: bool) -> ServiceError:
        """Return the error for a sign-in that Google's token service refused with this text."""
        if retryable:
            return ServiceError(SERVICE, "the sign-in failed temporarily. Try again.", retryable=True)
        if "reasonable timeframe" in text:
            return ServiceError(
                SERVICE,
                "Google refused the sign-in because this computer's clock is wrong. Let the computer set date, "
                "time and time zone automatically, then run again.",
            )
        return CredentialsRefused(SERVICE, f"the key was deleted, revoked or disabled. {self._new_key}")

    def no_answer(self, cause: str, *, retryable: bool) -> ServiceError:
        """Return the error for a failed connection or a truncated answer; `cause` is its technical name."""
        if not retryable:
            problem = f"its address can't be used ({cause}). Check google_api_url in config/settings.toml."
            return ServiceError(SERVICE, problem)
        problem = f"there was no usable answer ({cause}). Check the internet connection and try again."
        return ServiceError(SERVICE, problem, retryable=True)

    @property
    def _new_key(self) -> str:
        return f"Make a new key for {self.account} ({NEW_KEY}) and put it into {KEY_FILE}."

    def _forbidden(self, message: str, reasons: Sequence[str], writing: bool) -> ServiceError:
        if "SERVICE_DISABLED" in reasons or "it is disabled" in message:
            return ServiceError(
                SERVICE,
                "the Sheets API is not enabled. Open https://console.cloud.google.com/apis/library/"
                f"sheets.googleapis.com?project={self.project}, click Enable, wait a minute and run again.",
            )
        if "protected" in message:
            return self._protected()
        if writing:
            return CredentialsRefused(
                SERVICE,
                f"{self.account} may view the Sheet but not edit it. Open the Sheet, click Share and make "
                "this address an Editor.",
            )
        return CredentialsRefused(
            SERVICE,
            f"the Sheet is not shared with {self.account}. Open the Sheet, click Share and add this address "
            "as an Editor.",
        )

    def _protected(self) -> ServiceError:
        return CredentialsRefused(
            SERVICE,
            f"{self.ours} protected. Allow {self.account} to edit them under Data > Protect sheets and ranges.",
        )

    def _bad_request(self, status: int, message: str) -> InternalLinkerError:
        if "protected" in message:
            return self._protected()
        if "not supported for this document" in message:
            return InputError(
                f"{SERVICE}: the document is an Excel file in Google Drive. Open it, choose File > Save as "
                "Google Sheets, and put the new Sheet's address into google_sheet_id in config/settings.toml."
            )
        if "Unable to parse range" in message or "No grid with id" in message:
            return InputError(f"{SERVICE}: the tab was renamed or deleted during the run. {self.tab_remedy}")
        if "exceeds grid limits" in message:
            return ServiceError(
                SERVICE, "rows or columns were deleted while links were written. Run again.", retryable=True
            )
        if "above the limit of" in message:
            return ServiceError(
                SERVICE, "the spreadsheet is full (10 million cells). Delete empty rows, columns or tabs."
            )
        if not message:
            remedy = "Check google_api_url in config/settings.toml, and any proxy between here and Google."
            return ServiceError(
                SERVICE, f"something other than the Sheets API answered, with status {status}. {remedy}"
            )
        return ServiceError(
            SERVICE, f'Google refused a request with status {status} and the message "{_quote(message)}".'
        )


def _passing(status: int, asked: float | None) -> ServiceError:
    if status == 429:
        problem = "too many requests in one minute. Wait a minute and run again."
        return ServiceError(
            SERVICE, problem, retryable=True, retry_after=QUOTA_PAUSE_S if asked is None else asked
        )
    problem = f"Google failed with status {status}. Try again in a few minutes."
    return ServiceError(SERVICE, problem, retryable=True, retry_after=asked)


def _quote(text: str) -> str:
    line = _TOKEN.sub("***", " ".join(text.split())).rstrip(".")
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE]} ..."
