"""Errors for Google Analytics' refusals, each with a remedy that an SEO can follow."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from internal_linker.adapters.http.limits import retry_after
from internal_linker.adapters.http.service_account import KEY_FILE, NEW_KEY
from internal_linker.core.errors import CredentialsRefused, ServiceError

SERVICE = "Google Analytics"
# Characters: enough to recognise Google's message.
_LONGEST_QUOTE = 200


class QuotaReached(ServiceError):
    """The property's tokens are used up for this hour or day; reports so far are complete."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """Turns refusals into errors for one service account.

    Attributes:
        email: the account's address.
        project: its Google Cloud project.
    """

    email: str
    project: str

    def of(self, status: int, body: bytes, headers: Mapping[str, str], property_: str) -> ServiceError:
        """Return the error for a status other than 200."""
        message, reason = _google_error(body)
        if status == 429:
            if "per minute" in message or "concurrent" in message.lower():
                problem = "too many requests at once. Wait a minute and run again."
                return ServiceError(SERVICE, problem, retryable=True, retry_after=retry_after(headers))
            return QuotaReached(
                SERVICE,
                f"the quota of property {property_} is used up for this hour or day. What was read so far is stored: "
                "run again in an hour, and only the other days are read.",
            )
        if status >= 500 or status == 408:
            problem = f"Google failed with status {status}. Try again in a few minutes."
            return ServiceError(SERVICE, problem, retryable=True, retry_after=retry_after(headers))
        if status == 401:
            return CredentialsRefused(
                SERVICE,
                f"Google did not accept the sign-in. Make a new key for {self.email} ({NEW_KEY}) and put it into "
                f"{KEY_FILE}.",
            )
        if reason == "SERVICE_DISABLED":
            return ServiceError(
                SERVICE,
                "the Google Analytics Data API is not enabled. Open https://console.cloud.google.com/apis/library/"
                f"analyticsdata.googleapis.com?project={self.project}, click Enable, wait a minute and run again.",
            )
        if status == 403 and message:
            return CredentialsRefused(
                SERVICE,
                f"{self.email} may not read property {property_}. In Google Analytics, open Admin > Property access "
                f"management of the property and add {self.email} as a Viewer; its number is in Admin > Property "
                "details.",
            )
        if not message:
            remedy = "Check analytics_url in config/settings.toml, and any proxy between here and Google."
            return ServiceError(
                SERVICE, f"something other than the API answered, with status {status}. {remedy}"
            )
        said = " ".join(message.split())[:_LONGEST_QUOTE].rstrip(".")
        return ServiceError(
            SERVICE, f'Google refused a request with status {status} and the message "{said}".'
        )


def _google_error(body: bytes) -> tuple[str, str]:
    """Return message and reason from Google's error JSON; "" for any other body, such as a proxy's page."""
    try:
        error = json.loads(body)["error"]
        reasons = [str(part["reason"]) for part in error.get("details", []) if "reason" in part]
        return str(error["message"]), next(iter(reasons), "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "", ""
