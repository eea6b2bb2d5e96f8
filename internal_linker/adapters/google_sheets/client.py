"""The HTTP client for Google's API: signs in with a service account's key, bounds answers, and supports a proxy."""

import io
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import gspread
from requests import ConnectionError, PreparedRequest, ReadTimeout, Response
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError

from internal_linker.adapters.http.service_account import bad_key

GOOGLE = "https://sheets.googleapis.com"
# google-auth calls this host in the background once it has a token.
IAM = "https://iamcredentials.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/spreadsheets"
# Seconds to connect and to wait for the next byte; without them a dead connection would block a run forever.
TIMEOUT = (5.0, 30.0)
# Limits of one answer: the size of a tab with a million long cells, and its time on a slow line.
MOST_BYTES, LONGEST_S = 256_000_000, 300.0
_CHUNK = 65_536


class Refused(Exception):
    """An answer with a status of 400 or above."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class _Http(gspread.HTTPClient):
    """gspread's client without its own error, which fails on bodies that are not exactly Google's."""

    def request(self, *args: Any, **kwargs: Any) -> Response:
        """Send a request and return the answer.

        Raises:
            Refused: the answer's status is 400 or above.
        """
        kwargs["timeout"] = self.timeout
        response = self.session.request(*args, **kwargs)
        if not response.ok:
            raise Refused(response)
        return response


class _Bounded(HTTPAdapter):
    """Reads whole answers within limits of size and time."""

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Send a request and read the whole answer."""
        deadline = time.monotonic() + LONGEST_S
        response = super().send(request, *args, **kwargs)
        body = bytearray()
        try:
            # read1, because read would wait for a whole chunk: a slow answer could outlast the deadline.
            while chunk := response.raw.read1(_CHUNK, decode_content=True):
                body += chunk
                if len(body) > MOST_BYTES or time.monotonic() > deadline:
                    raise ReadTimeout("the answer is too long or too slow", request=request)
        except HTTPError as error:
            raise ConnectionError(error, request=request) from None
        finally:
            response.raw.close()
        response.raw = io.BytesIO(body)
        return response


class _Reroute(_Bounded):
    """Sends requests for one of Google's hosts to another origin."""

    def __init__(self, origin: str) -> None:
        super().__init__()
        self.origin = origin
        # requests copies only these attributes, and google-auth copies its session for the background call.
        self.__attrs__ = [*HTTPAdapter.__attrs__, "origin"]

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Replace scheme and host, and send the request."""
        path = urlsplit(request.url or "")._replace(scheme="", netloc="").geturl()
        request.url = self.origin + str(path)
        kwargs["proxies"] = get_environ_proxies(request.url)
        return super().send(request, *args, **kwargs)


def make_client(info: Mapping[str, Any], api_url: str) -> gspread.HTTPClient:
    """Return a client that signs in when it is first used.

    Raises:
        ConfigurationError: the key can't be used for signing.
    """
    try:
        http = gspread.service_account_from_dict(info, scopes=[SCOPE], http_client=_Http).http_client
    except (ValueError, TypeError, LookupError, AttributeError):
        raise bad_key("its private key is damaged") from None
    http.set_timeout(TIMEOUT)
    session: Any = http.session
    for each in (session, session._auth_request_session):
        each.max_redirects = 0  # refuse redirects: a signed request must not go to another address
        for scheme in ("https://", "http://"):
            each.mount(scheme, _Bounded())
    if api_url.rstrip("/") != GOOGLE:
        session.mount(GOOGLE, _Reroute(api_url.rstrip("/")))
        session._auth_request_session.mount(IAM, _Reroute(api_url.rstrip("/")))
    return http
