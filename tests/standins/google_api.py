"""What the stand-ins for Google's APIs have in common: access tokens, rights, and the form of refusals."""

from __future__ import annotations

from collections.abc import Set

from tests.standins import google_errors
from tests.standins.base import Answer, Request, StandIn
from tests.standins.google_errors import GoogleError
from tests.standins.google_token import TokenDesk, make_service_account


class GoogleApiStandIn(StandIn):
    """An API and the endpoint that issues its tokens; subclasses implement `answer`.

    Args:
        tokens: the state of the token endpoint, which several APIs may share as Google's do; None: one of its own.
        port: the port; 0: any.
        latency: seconds before each response.
    """

    api = ""  # the API's name in the refusal while it is not enabled
    disabled = "SERVICE_DISABLED"  # the reason in that refusal

    def __init__(self, tokens: TokenDesk | None = None, *, port: int = 0, latency: float = 0.0) -> None:
        super().__init__(port=port, latency=latency)
        self.tokens = tokens or TokenDesk()
        self.api_enabled = True

    @property
    def service_account(self) -> dict[str, str]:
        """The content of a key file whose account this stand-in knows."""
        return make_service_account(self.url)

    def answer(self, request: Request) -> Answer:
        """Answer a request other than one for a token; may raise `GoogleError`."""
        raise NotImplementedError

    def refused(self, error: GoogleError) -> Answer:
        """Return a refusal as this API writes it."""
        return error.answer()

    def reply(self, request: Request) -> Answer:
        """Answer by path; every refusal has Google's form."""
        if request.words == "POST /token":
            return self.tokens.answer(request.body)
        try:
            return self.answer(request)
        except GoogleError as error:
            return self.refused(error)

    def caller(self, request: Request, scopes: Set[str]) -> str:
        """Return the account of a request that one of the scopes allows.

        Raises:
            GoogleError: nobody signed it, the API is not enabled, or the token has another scope.
        """
        header = request.headers.get("authorization", "")
        if not header:
            raise google_errors.denied("Method doesn't allow unregistered callers.")
        token = self.tokens.find(header.removeprefix("Bearer "))
        if token is None:
            raise google_errors.unauthenticated()
        if not self.api_enabled:
            raise google_errors.disabled(self.api, self.disabled)
        if not token.scopes & scopes:
            message = "Request had insufficient authentication scopes."
            raise google_errors.denied(message, "ACCESS_TOKEN_SCOPE_INSUFFICIENT")
        return token.email
