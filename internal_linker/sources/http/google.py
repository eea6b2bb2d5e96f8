"""Google's JSON APIs: the sign-in with a service account, requests at their pace, and refusals with a remedy."""

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx

from internal_linker.model.errors import (
    ConfigurationError,
    CredentialsRefused,
    InternalLinkerError,
    ServiceError,
)
from internal_linker.sources.http.client import TooLarge, bounded_client
from internal_linker.sources.http.limits import Pacer, retry_after, with_retries

KEY_FILE = "config/service_account.txt"
NEW_KEY = "console.cloud.google.com > IAM & Admin > Service Accounts > Keys > Add key > JSON"
_NEEDED = ("client_email", "private_key", "token_uri")


def key_fields(text: str) -> Mapping[str, Any]:
    """Return the fields of a key file that was downloaded from Google's console.

    Raises:
        ConfigurationError: the text is empty, not JSON or incomplete, or is another kind of key.
    """
    if not text.strip():
        raise bad_key("it is empty")
    try:
        fields = json.loads(text.strip().removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise bad_key("it is not JSON, so part of it may be missing") from None
    if not isinstance(fields, dict) or fields.get("type") != "service_account":
        raise bad_key("it is not the key of a service account")
    if missing := [name for name in _NEEDED if not isinstance(fields.get(name), str)]:
        raise bad_key(f"it lacks {' and '.join(missing)}")
    if not re.match(r"https?://[^/]", fields["token_uri"]):
        raise bad_key("its token_uri is not an address")
    return fields


def bad_key(problem: str) -> ConfigurationError:
    """Return the error for a key file with this problem; the message quotes nothing from the file."""
    return ConfigurationError(
        f"{KEY_FILE} can't be used: {problem}. Make a new key ({NEW_KEY}) and put the whole content of the "
        f"downloaded file into {KEY_FILE}."
    )


class ServiceAccount(httpx.Auth):
    """Signs requests of an httpx client; gets a token when one is needed, and another one if Google refuses it.

    Raises:
        ConfigurationError: the text of the key file can't be used for signing.
    """

    def __init__(self, text: str, scope: str, service: str, client: httpx.Client) -> None:
        from google.oauth2.service_account import Credentials

        fields = key_fields(text)
        try:
            self._credentials: Any = Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
                fields, scopes=[scope]
            )
        except (ValueError, TypeError, LookupError, AttributeError):
            raise bad_key("its private key is damaged") from None
        self.email, self.project = str(fields["client_email"]), str(fields.get("project_id", ""))
        self._service, self._client = service, client

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign a request; get another token, once, if Google doesn't accept this one."""
        if not self._credentials.valid:
            self._sign_in()
        request.headers["Authorization"] = f"Bearer {self._credentials.token}"
        response = yield request
        if response.status_code == 401:
            self._sign_in()
            request.headers["Authorization"] = f"Bearer {self._credentials.token}"
            yield request

    def _sign_in(self) -> None:
        from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError

        try:
            # `before_request` would also ask another host, in the background.
            self._credentials.refresh(self._send)
        except TransportError as error:
            raise self._no_answer(type(error.__cause__ or error).__name__) from None
        except TypeError as error:
            # The library fails so on an answer that is not a JSON object, such as a proxy's page.
            raise self._no_answer(type(error).__name__) from None
        except RefreshError as error:
            if "reasonable timeframe" in str(error):
                raise ServiceError(
                    self._service,
                    "Google refused the sign-in because this computer's clock is wrong. Let the computer set date, "
                    "time and time zone automatically, then run again.",
                ) from None
            # Google says "invalid_grant"; what is no answer of Google's may be a proxy's page.
            if error.retryable or "invalid" not in str(error):
                problem = "the sign-in failed temporarily. Try again."
                raise ServiceError(self._service, problem, retryable=True) from None
            raise CredentialsRefused(
                self._service,
                f"the key was deleted, revoked or disabled. Make a new key for {self.email} ({NEW_KEY}) and put it "
                f"into {KEY_FILE}.",
            ) from None
        except GoogleAuthError as error:
            raise ServiceError(self._service, f"the sign-in failed ({type(error).__name__}).") from None

    def _no_answer(self, cause: str) -> ServiceError:
        problem = f"there was no usable answer to the sign-in ({cause}). Check the internet connection and try again."
        return ServiceError(self._service, problem, retryable=True)

    def _send(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> SimpleNamespace:
        """Send a request of google-auth; the parameters are its own, and it reads these parts of the answer."""
        from google.auth.exceptions import TransportError

        try:
            answer = self._client.request(method, url, content=body, headers=headers, auth=None)
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise TransportError(str(error)) from error  # type: ignore[no-untyped-call]
        return SimpleNamespace(status=answer.status_code, headers=answer.headers, data=answer.content)


_DISABLED = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})
# Characters: enough to recognise Google's message.
_LONGEST_QUOTE = 200
_TOKEN = re.compile(r"ya29\.[\w.-]+|eyJ[\w.-]{10,}")


@dataclass(frozen=True, slots=True)
class GoogleApi:
    """An API as its errors name it: by its name in Google Cloud's library, and by the setting with its address."""

    service: str
    name: str
    library: str  # searchconsole.googleapis.com
    setting: str


@dataclass(frozen=True, slots=True)
class GoogleRefusals:
    """Turns refusals of an API into errors for one service account of a Google Cloud project."""

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


_CONNECT_S = 10.0
Refusal = Callable[[int, bytes, Mapping[str, str]], InternalLinkerError]
"""Returns the error for a status other than 200, from the status, the body and the headers of an answer."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often an API is asked, and how large and slow its answers may be."""

    per_second: float
    most_bytes: int
    longest_s: float  # seconds from an answer's headers to its end
    silent_s: float  # seconds without any data


class GoogleClient:
    """Sends requests to one API, with paths added to `url`; signs in when it is first used. `close` it.

    Args:
        key: the content of the service account's key file.
        scope: what the account asks to be allowed.
        bounds: the pace, and the limits of an answer.

    Raises:
        ConfigurationError: the key can't be used.
    """

    def __init__(self, api: GoogleApi, key: str, url: str, *, scope: str, bounds: Bounds) -> None:
        self._api, self._url, self._bounds = api, url, bounds
        timeout = httpx.Timeout(bounds.silent_s, connect=_CONNECT_S)
        self._client = bounded_client(bounds.most_bytes, bounds.longest_s, timeout=timeout)
        self.account = ServiceAccount(key, scope, api.service, self._client)
        self._pacer = Pacer(bounds.per_second)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        refusal: Refusal,
        *,
        parameters: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        attempts: int | None = None,
    ) -> dict[str, Any]:
        """Send a request, again if a failure may pass, and return the JSON object of its answer.

        `parameters` are added to the address, `body` is sent as JSON; None as `attempts`: as many as usual.

        Raises:
            ServiceError: Google refused the request or gave no usable answer.
        """
        return with_retries(lambda: self._once(method, path, refusal, parameters, body), attempts=attempts)

    def unreadable(self, why: str, *, retryable: bool = False) -> ServiceError:
        """Return the error for an answer that has another form."""
        problem = f"the answer can't be read: {why}. Check {self._api.setting} in config/settings.toml."
        return ServiceError(self._api.service, problem, retryable=retryable)

    def _once(
        self,
        method: str,
        path: str,
        refusal: Refusal,
        parameters: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        self._pacer.wait()
        service, setting = self._api.service, self._api.setting
        try:
            answer = self._client.request(
                method, self._url + path, params=parameters, json=body, auth=self.account
            )
        except TooLarge:
            too_large = f"it is larger than {self._bounds.most_bytes // 1_000_000} MB"
            raise self.unreadable(too_large, retryable=True) from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError) as error:
            problem = f"its address can't be used ({type(error).__name__}). Check {setting} in config/settings.toml."
            raise ServiceError(service, problem) from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise ServiceError(
                service,
                f"there was no usable answer ({type(error).__name__}). Check the internet connection and try again.",
                retryable=True,
            ) from None
        if answer.status_code != 200:
            raise refusal(answer.status_code, answer.content, answer.headers)
        try:
            found = json.loads(answer.content)
        except (ValueError, RecursionError):
            raise self.unreadable("it is not JSON", retryable=True) from None
        if not isinstance(found, dict):
            raise self.unreadable("it is not a JSON object")
        return found
