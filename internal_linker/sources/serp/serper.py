"""Google's search results through serper.dev."""

from collections.abc import Mapping
from typing import Any

from internal_linker.model.errors import ConfigurationError, CredentialsRefused, OutOfCredits, ServiceError
from internal_linker.sources.serp.service import SearchRefused, SearchService, Settle


class Serper(SearchService):
    """Settles what the answer says that a search cost; the balance is some minutes behind."""

    name = "Serper"
    timeout, reason, results, account = 30.0, "message", "organic", "/account"

    def _credentials(self, key: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return {"X-API-KEY": key}, {}

    def _request(self, query: str, page: int) -> tuple[str, str, Mapping[str, Any]]:
        return "POST", "/search", {"json": {"q": query, "page": page, **self.market.where}}

    def _settled(self, answer: Mapping[str, Any], settle: Settle) -> int:
        said, cost = answer.get("credits"), self.credits_a_search
        if isinstance(said, int) and not isinstance(said, bool) and said >= 0:
            cost = said
        settle(cost)
        return cost

    def _left(self, answer: Mapping[str, Any]) -> str:
        credits, rate = int(answer["balance"]), float(answer["rateLimit"])
        if credits <= 0:
            raise ConfigurationError(
                "the key is right, but the account has no credits. Buy some at serper.dev/billing."
            )
        return f"{credits} credits left, {rate:g} searches a second allowed"

    def _refusal(self, refused: SearchRefused) -> ServiceError | None:
        """Return the error for a status other than 200; only its message tells one 400 from another."""
        status, said, low = refused.status, refused.said, refused.message.lower()
        if status in (401, 403):
            return self._final(
                CredentialsRefused,
                f"the key was refused ({said}). Put the key of serper.dev/api-key into {self.key_file}.",
            )
        if status == 402 or (status == 400 and "credit" in low):
            return self._final(
                OutOfCredits, f"the account has no credits left ({said}). Buy more at serper.dev/billing."
            )
        if status == 400 and "not allowed" in low:
            return self._final(
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
