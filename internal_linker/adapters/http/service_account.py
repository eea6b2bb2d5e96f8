"""Google's service accounts: the key file, and the sign-in of httpx clients with it."""

import json
import re
from collections.abc import Generator, Mapping
from typing import Any

import httpx

from internal_linker.core.errors import ConfigurationError, CredentialsRefused, ServiceError

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

    Args:
        text: the content of the key file.
        scope: what the token allows.
        service: the service's name for errors.
        client: sends the requests for tokens.

    Attributes:
        email: the account's address, which is not a secret.
        project: its Google Cloud project.

    Raises:
        ConfigurationError: the key can't be used for signing.
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
        """Sign a request; get another token, once, if Google doesn't accept this one.

        Raises:
            CredentialsRefused: Google refused the account.
            ServiceError: Google could not be asked.
        """
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
    ) -> "_TokenResponse":
        """Send a request of google-auth; the parameters are its own."""
        from google.auth.exceptions import TransportError

        try:
            answer = self._client.request(method, url, content=body, headers=headers, auth=None)
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise TransportError(str(error)) from error  # type: ignore[no-untyped-call]
        return _TokenResponse(answer)


class _TokenResponse:
    """An answer as google-auth reads it."""

    def __init__(self, answer: httpx.Response) -> None:
        self.status, self.headers, self.data = answer.status_code, answer.headers, answer.content
