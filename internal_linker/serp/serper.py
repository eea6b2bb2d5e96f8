"""Google's search results through serper.dev."""

from typing import Any

from internal_linker.adapters.http.json_client import JsonClient, PaidService, Refused, not_charged
from internal_linker.adapters.http.limits import FEW_ATTEMPTS, Budget, with_retries
from internal_linker.core.errors import ConfigurationError, CredentialsRefused, OutOfCredits, ServiceError
from internal_linker.core.records import SerpMarket, SerpPage

SERPER = PaidService("Serper", "config/serper_api_key.txt", "serper_url", "message")
CREDITS_A_SEARCH = 1


class Serper:
    """Implements `ports.SerpClient`; safe between threads.

    After the first answer that refuses the key or reports no credits, later searches of this client raise the
    same error without a request.

    Args:
        api_key: the account's key.
        url: the service's address, without `/search` and `/account`.
        market: country, language and location of the search; an empty value is not sent.
        budget: credits; each attempt reserves one, and settles what the answer says it cost.
        per_second: maximum of searches per second.
        in_flight: count of threads that search concurrently; the client keeps as many connections.
        timeout: seconds of silence after which a request fails; the whole answer may take twice that.

    Raises:
        ConfigurationError: the key or the address is invalid.
    """

    name = SERPER.name

    def __init__(
        self,
        api_key: str,
        url: str,
        market: SerpMarket,
        *,
        budget: Budget,
        per_second: float,
        in_flight: int,
        timeout: float = 30.0,
    ) -> None:
        self.market = market
        self._http = JsonClient(
            SERPER,
            api_key,
            url,
            self._refusal,
            budget=budget,
            per_second=per_second,
            in_flight=in_flight,
            timeout=timeout,
            headers={"X-API-KEY": api_key},
        )

    def search(self, query: str, page: int) -> SerpPage:
        """Return the organic links, unchanged, of result page `page` (from 1); an empty tuple without results.

        Raises:
            CredentialsRefused: the key is wrong, or its plan does not allow such a query; stop searching.
            OutOfCredits: the account has no credits left; stop searching.
            BudgetReached: one more credit would exceed the cap; nothing was sent.
            ServiceDown: the circuit breaker is open; nothing was sent, stop searching.
            ServiceError: no usable answer, after several attempts if the error was retryable.
        """
        # JSON in UTF-8 can't encode lone surrogates, which broken exports contain.
        clean = query.encode("utf-8", "replace").decode()
        return with_retries(lambda: self._search_once({"q": clean, "page": page, **self.market.where}))

    def check(self) -> str:
        """Return a sentence with the credits left and the plan's rate; free, and some minutes behind.

        Raises:
            ConfigurationError: no credits are left.
            ServiceError: see `search`.
        """
        credits, rate = with_retries(self._account, attempts=FEW_ATTEMPTS)
        if credits <= 0:
            raise ConfigurationError(
                "the key is right, but the account has no credits. Buy some at serper.dev/billing."
            )
        return f"{credits} credits left, {rate:g} searches a second allowed"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _account(self) -> tuple[int, float]:
        answer = self._http.ask(not_charged, "GET", "/account")
        try:
            return int(answer["balance"]), float(answer["rateLimit"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._http.unreadable("its account page has no balance") from None

    def _search_once(self, payload: dict[str, Any]) -> SerpPage:
        with self._http.paid(CREDITS_A_SEARCH) as settle:
            answer = self._http.ask(settle, "POST", "/search", json=payload)
            cost = _cost(answer.get("credits"))
            settle(cost)
        organic = answer.get("organic") or []
        if not isinstance(organic, list):
            raise self._http.unreadable("its results are not a list")
        links = (entry.get("link") for entry in organic if isinstance(entry, dict))
        return SerpPage(tuple(link for link in links if isinstance(link, str) and link), cost)

    def _refusal(self, refused: Refused) -> ServiceError | None:
        """Return the error for a status other than 200; only its message tells one 400 from another."""
        status, said, low = refused.status, refused.said, refused.message.lower()
        if status in (401, 403):
            return self._http.final(
                CredentialsRefused,
                f"the key was refused ({said}). Put the key of serper.dev/api-key into {SERPER.key_file}.",
            )
        if status == 402 or (status == 400 and "credit" in low):
            return self._http.final(
                OutOfCredits, f"the account has no credits left ({said}). Buy more at serper.dev/billing."
            )
        if status == 400 and "not allowed" in low:
            return self._http.final(
                CredentialsRefused,
                f"the plan of this key does not allow such a search ({said}). Buy credits at serper.dev, "
                'or set serp_provider = "none" in config/settings.toml to link without search results.',
            )
        if status == 429:
            problem = (
                f"too many searches at once ({said}). Lower serp_requests_per_second in config/settings.toml."
            )
            return ServiceError(self.name, problem, retryable=True, retry_after=refused.retry_after)
        return None


def _cost(said: object) -> int:
    """Return what the answer says it cost, one credit if that is missing or invalid."""
    return said if isinstance(said, int) and not isinstance(said, bool) and said >= 0 else CREDITS_A_SEARCH
