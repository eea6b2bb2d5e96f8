"""Errors in the JSON shape that Google's APIs answer with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.standins.wire import Answer

INFO = "type.googleapis.com/google.rpc.ErrorInfo"


@dataclass(eq=False)
class GoogleError(Exception):
    """A refusal: HTTP status, Google's status code, a message, and optionally the reason in the details."""

    code: int
    status: str
    message: str
    reason: str | None = None

    def answer(self) -> Answer:
        """Return the refusal as a response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        if self.reason:
            details = {"service": "sheets.googleapis.com", "consumer": "projects/standin"}
            error["details"] = [
                {"@type": INFO, "reason": self.reason, "domain": "googleapis.com", "metadata": details}
            ]
        return Answer(self.code, {"error": error})


def invalid(message: str) -> GoogleError:
    """Return a 400: the request is invalid, and a retry won't help."""
    return GoogleError(400, "INVALID_ARGUMENT", message)


def unknown_name(name: str, where: str) -> GoogleError:
    """Return a 400: Google's schema doesn't have this field."""
    return invalid(f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}': Cannot find field.")


def denied(message: str = "The caller does not have permission", reason: str | None = None) -> GoogleError:
    """Return a 403: this account lacks the permission."""
    return GoogleError(403, "PERMISSION_DENIED", message, reason)


def not_found() -> GoogleError:
    """Return a 404: the spreadsheet doesn't exist."""
    return GoogleError(404, "NOT_FOUND", "Requested entity was not found.")


def unauthenticated() -> GoogleError:
    """Return a 401: the access token is unknown or has expired."""
    message = "Request had invalid authentication credentials. Expected OAuth 2 access token or login cookie."
    return GoogleError(401, "UNAUTHENTICATED", message)


def quota(kind: str) -> GoogleError:
    """Return a 429: too many reads or writes in the last minute."""
    metric = f"quota metric '{kind} requests' and limit '{kind} requests per minute per user'"
    message = f"Quota exceeded for {metric} of service 'sheets.googleapis.com' for consumer '0'."
    return GoogleError(429, "RESOURCE_EXHAUSTED", message, "RATE_LIMIT_EXCEEDED")


def disabled(api: str, reason: str) -> GoogleError:
    """Return a 403: the API was never enabled in this project."""
    message = f"{api} has not been used in project 0 before or it is disabled. Enable it and retry."
    return denied(message, reason)
