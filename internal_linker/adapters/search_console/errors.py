"""Errors for Search Console's refusals, each with a remedy that an SEO can follow."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from internal_linker.adapters.http.limits import retry_after
from internal_linker.adapters.http.service_account import KEY_FILE, NEW_KEY
from internal_linker.core.errors import CredentialsRefused, ServiceError

SERVICE = "Search Console"
# Google counts its load quota over ten minutes and asks to wait for fifteen.
LOAD_QUOTA_S = 900.0
_RATE_LIMITS = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"})
_DISABLED = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})
# Characters: enough to recognise Google's message.
_LONGEST_QUOTE = 200
_SHOWN = 10


class LoadQuotaReached(ServiceError):
    """Google answers no more queries for some minutes, or for the rest of the day."""


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
        message, reasons = _google_error(body)
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
        if status >= 500 or status == 408:
            problem = f"Google failed with status {status}. Try again in a few minutes."
            return ServiceError(SERVICE, problem, retryable=True, retry_after=retry_after(headers))
        if status == 401:
            return CredentialsRefused(
                SERVICE,
                f"Google did not accept the sign-in. Make a new key for {self.email} ({NEW_KEY}) and put it into "
                f"{KEY_FILE}.",
            )
        if _DISABLED & set(reasons):
            return ServiceError(
                SERVICE,
                "the Search Console API is not enabled. Open https://console.cloud.google.com/apis/library/"
                f"searchconsole.googleapis.com?project={self.project}, click Enable, wait a minute and run again.",
            )
        if status in (403, 404) and property_ and message:
            return self.no_access(property_)
        if not message:
            remedy = (
                "Check search_console_url in config/settings.toml, and any proxy between here and Google."
            )
            return ServiceError(
                SERVICE, f"something other than the API answered, with status {status}. {remedy}"
            )
        said = " ".join(message.split())[:_LONGEST_QUOTE].rstrip(".")
        return ServiceError(
            SERVICE, f'Google refused a request with status {status} and the message "{said}".'
        )

    def no_access(self, property_: str, others: Sequence[str] = ()) -> CredentialsRefused:
        """Return the error for a property that the account can't see; `others` are those that it can."""
        grant = (
            f"open Settings > Users and permissions of {property_} in Search Console, and add {self.email} as a user "
            "(Restricted is enough)."
        )
        if not others:
            return CredentialsRefused(SERVICE, f"{self.email} is no user of {property_}: {grant}")
        seen = ", ".join(others[:_SHOWN])
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        return CredentialsRefused(
            SERVICE,
            f"{self.email} is no user of {property_}, but it is one of {seen}{more}: name one of these, or {grant}",
        )


def _google_error(body: bytes) -> tuple[str, list[str]]:
    """Return message and reasons from Google's error JSON; "" and none for any other body, such as a proxy's page."""
    try:
        error = json.loads(body)["error"]
        parts = [*error.get("errors", []), *error.get("details", [])]
        return str(error["message"]), [str(part["reason"]) for part in parts if "reason" in part]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "", []
