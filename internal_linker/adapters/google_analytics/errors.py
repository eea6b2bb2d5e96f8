"""Errors for Google Analytics' refusals, each with a remedy that an SEO can follow."""

from collections.abc import Mapping

from internal_linker.adapters.http.google_refusals import GoogleApi, GoogleRefusals, google_error
from internal_linker.adapters.http.limits import retry_after
from internal_linker.core.errors import CredentialsRefused, ServiceError

SERVICE = "Google Analytics"
API = GoogleApi(SERVICE, "Google Analytics Data API", "analyticsdata.googleapis.com", "analytics_url")


class QuotaReached(ServiceError):
    """The property's tokens are used up for this hour or day; reports so far are complete."""


class Refusals:
    """Turns refusals into errors for one service account.

    Args:
        email: the account's address.
        project: its Google Cloud project.
    """

    def __init__(self, email: str, project: str) -> None:
        self._email = email
        self._google = GoogleRefusals(API, email, project)

    def of(self, status: int, body: bytes, headers: Mapping[str, str], property_: str) -> ServiceError:
        """Return the error for a status other than 200."""
        message, reasons = google_error(body)
        if status == 429:
            if "per minute" in message or "concurrent" in message.lower():
                problem = "too many requests at once. Wait a minute and run again."
                return ServiceError(SERVICE, problem, retryable=True, retry_after=retry_after(headers))
            return QuotaReached(
                SERVICE,
                f"the quota of property {property_} is used up for this hour or day. What was read so far is stored: "
                "run again in an hour, and only the other days are read.",
            )
        if usual := self._google.usual(status, reasons, headers):
            return usual
        if status == 403 and message:
            return CredentialsRefused(
                SERVICE,
                f"{self._email} may not read property {property_}. In Google Analytics, open Admin > Property access "
                f"management of the property and add {self._email} as a Viewer; its number is in Admin > Property "
                "details.",
            )
        return self._google.other(status, message)
