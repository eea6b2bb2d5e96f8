"""The sender of requests to Google's JSON APIs: signs them, keeps their pace, retries, and reads the answers."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from internal_linker.adapters.http.client import TooLarge, bounded_client
from internal_linker.adapters.http.google_refusals import GoogleApi
from internal_linker.adapters.http.limits import Pacer, with_retries
from internal_linker.adapters.http.service_account import ServiceAccount
from internal_linker.core.errors import InternalLinkerError, ServiceError

_CONNECT_S = 10.0
Refusal = Callable[[int, bytes, Mapping[str, str]], InternalLinkerError]
"""Returns the error for a status other than 200, from the status, the body and the headers of an answer."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often an API is asked, and how large and slow its answers may be.

    Attributes:
        per_second: the most requests a second.
        most_bytes: the largest answer.
        longest_s: the longest time in seconds from an answer's headers to its end.
        silent_s: the longest time in seconds without any data.
    """

    per_second: float
    most_bytes: int
    longest_s: float
    silent_s: float


class GoogleClient:
    """Sends requests to one API; signs in when it is first used. `close` it.

    Args:
        api: the API, as errors name it.
        key: the content of the service account's key file.
        url: the address that requests add their paths to.
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

        Args:
            method: the HTTP method.
            path: the path below the address.
            refusal: makes the error for a status other than 200.
            parameters: what to add to the address.
            body: what to send, as JSON.
            attempts: how often to try; None: as often as usual.

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
