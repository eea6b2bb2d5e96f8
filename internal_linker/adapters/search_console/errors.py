"""Errors for Search Console's refusals, each with a remedy that an SEO can follow."""

from collections.abc import Mapping, Sequence

from internal_linker.adapters.http.google_refusals import GoogleApi, GoogleRefusals, google_error
from internal_linker.adapters.http.limits import retry_after
from internal_linker.core.errors import CredentialsRefused, ServiceError

SERVICE = "Search Console"
API = GoogleApi(SERVICE, "Search Console API", "searchconsole.googleapis.com", "search_console_url")
# Google counts its load quota over ten minutes and asks to wait for fifteen.
LOAD_QUOTA_S = 900.0
_RATE_LIMITS = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"})
_SHOWN = 10


class LoadQuotaReached(ServiceError):
    """Google answers no more queries for some minutes, or for the rest of the day."""


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
        if "load quota" in message.lower() or ("quotaExceeded" in reasons and status in (403, 429)):
            return LoadQuotaReached(
                SERVICE,
                "the load quota of this property or account is used up. Google counts it over 10 minutes and over a "
                "day.",
                retry_after=LOAD_QUOTA_S,
            )
        if status == 429 or _RATE_LIMITS & set(reasons):
            problem = "too many requests in one minute. Wait a minute and run again."
            return ServiceError(SERVICE, problem, retryable=True, retry_after=retry_after(headers))
        if usual := self._google.usual(status, reasons, headers):
            return usual
        if status in (403, 404) and property_ and message:
            return self.no_access(property_)
        return self._google.other(status, message)

    def no_access(self, property_: str, others: Sequence[str] = ()) -> CredentialsRefused:
        """Return the error for a property that the account can't see; `others` are those that it can."""
        grant = (
            f"open Settings > Users and permissions of {property_} in Search Console, and add {self._email} as a user "
            "(Restricted is enough)."
        )
        if not others:
            return CredentialsRefused(SERVICE, f"{self._email} is no user of {property_}: {grant}")
        seen = ", ".join(others[:_SHOWN])
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        return CredentialsRefused(
            SERVICE,
            f"{self._email} is no user of {property_}, but it is one of {seen}{more}: name one of these, or {grant}",
        )
