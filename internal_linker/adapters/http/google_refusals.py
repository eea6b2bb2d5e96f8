"""What Google's APIs refuse alike, as errors with a remedy that an SEO can follow."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from internal_linker.adapters.http.limits import retry_after
from internal_linker.adapters.http.service_account import KEY_FILE, NEW_KEY
from internal_linker.core.errors import CredentialsRefused, ServiceError

_DISABLED = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})
# Characters: enough to recognise Google's message.
_LONGEST_QUOTE = 200
_TOKEN = re.compile(r"ya29\.[\w.-]+|eyJ[\w.-]{10,}")


@dataclass(frozen=True, slots=True)
class GoogleApi:
    """An API as its errors name it.

    Attributes:
        service: the service's name.
        name: the API's name.
        library: the API's name in Google Cloud's library, such as searchconsole.googleapis.com.
        setting: the setting that has its address.
    """

    service: str
    name: str
    library: str
    setting: str


@dataclass(frozen=True, slots=True)
class GoogleRefusals:
    """Turns refusals of an API into errors for one service account.

    Attributes:
        api: the API.
        email: the account's address.
        project: its Google Cloud project.
    """

    api: GoogleApi
    email: str
    project: str

    def usual(self, status: int, reasons: Sequence[str], headers: Mapping[str, str]) -> ServiceError | None:
        """Return the error for a failure of Google, a refused sign-in or a disabled API; None for anything else."""
        if status >= 500 or status == 408:
            problem = f"Google failed with status {status}. Try again in a few minutes."
            return ServiceError(self.api.service, problem, retryable=True, retry_after=retry_after(headers))
        if status == 401:
            return CredentialsRefused(
                self.api.service,
                f"Google did not accept the sign-in. Make a new key for {self.email} ({NEW_KEY}) and put it into "
                f"{KEY_FILE}.",
            )
        if not _DISABLED.isdisjoint(reasons):
            return ServiceError(
                self.api.service,
                f"the {self.api.name} is not enabled. Open https://console.cloud.google.com/apis/library/{self.api.library}"
                f"?project={self.project}, click Enable, wait a minute and run again.",
            )
        return None

    def other(self, status: int, message: str) -> ServiceError:
        """Return the error for what has no remedy of its own; `message` is "" if the answer was not Google's."""
        if not message:
            remedy = (
                f"Check {self.api.setting} in config/settings.toml, and any proxy between here and Google."
            )
            return ServiceError(
                self.api.service, f"something other than the API answered, with status {status}. {remedy}"
            )
        said = _TOKEN.sub("***", " ".join(message.split()))[:_LONGEST_QUOTE].rstrip(".")
        return ServiceError(
            self.api.service, f'Google refused a request with status {status} and the message "{said}".'
        )


def google_error(body: bytes | str) -> tuple[str, list[str]]:
    """Return message and reasons from Google's error JSON; "" and none for any other body, such as a proxy's page."""
    try:
        error = json.loads(body)["error"]
        parts = [*error.get("errors", []), *error.get("details", [])]
        return str(error["message"]), [str(part["reason"]) for part in parts if "reason" in part]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "", []
