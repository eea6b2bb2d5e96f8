"""The chat API of OpenAI or a compatible server: sends a task with its data, and returns the model's answer."""

from typing import Any

from internal_linker.model.records import Completion
from internal_linker.sources.http.limits import Budget, with_retries
from internal_linker.sources.openai.api import Remedies, Server

# A page's anchors take some hundred tokens; the rest is for models that reason first.
MOST_ANSWER_TOKENS = 2000
# Tokens that a server's template may add to two messages.
_AROUND_TOKENS = 100
_ELSEWHERE = "Chat server"
_REMEDIES = Remedies(
    right="ask chat models",
    model="anchor_model",
    address="anchor_base_url",
    slower="Try again later.",
    shorter="Choose an anchor_model that takes longer prompts.",
    refused="Check anchor_model and anchor_base_url.",
)


class OpenAIChat:
    """A language model that answers prompts, one request at a time; see `Server`.

    Each attempt reserves from `budget` the most tokens that prompt and answer could take.

    Raises:
        ConfigurationError: the key is malformed.
    """

    recipe = f"chat/{MOST_ANSWER_TOKENS}/v1"

    def __init__(
        self, api_key: str, model: str, base_url: str, budget: Budget, *, timeout: float = 120.0
    ) -> None:
        self._server = Server(
            api_key, model, base_url, elsewhere=_ELSEWHERE, remedies=_REMEDIES, timeout=timeout
        )
        self.name, self.model, self._served = f"openai/{model}", self._server.model_key, model
        self._budget = budget

    def complete(self, task: str, data: str) -> Completion:
        """Return the model's answer; "" if the model declines.

        Raises:
            CredentialsRefused, OutOfCredits, BudgetReached, ServiceError: no answer came after all attempts.
        """
        # Broken exports contain lone surrogates, which UTF-8 can't encode.
        texts = [text.encode("utf-8", "replace") for text in (task, data)]
        # In every tokenizer a token has at least one byte.
        most = sum(map(len, texts)) + _AROUND_TOKENS + MOST_ANSWER_TOKENS

        def attempt() -> Completion:
            with self._budget.reserve(most) as settle:
                answer = self._server.ask(lambda: self._post(*(text.decode() for text in texts)), settle)
                usage = answer.get("usage")
                said = usage.get("total_tokens") if isinstance(usage, dict) else None
                used = said if isinstance(said, int) and said > 0 else most
                settle(used)
            return Completion(self._words(answer), used)

        return with_retries(attempt)

    def check(self) -> str:
        """Check the key and the model; see `Server.check`."""
        return self._server.check()

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _post(self, task: str, data: str) -> bytes:
        # OpenAI's newer models refuse the limit's old name, and some other servers its new one.
        limit = "max_completion_tokens" if self._server.at_home else "max_tokens"
        bounds: dict[str, Any] = {limit: MOST_ANSWER_TOKENS}
        return self._server.client.chat.completions.with_raw_response.create(
            model=self._served,
            messages=[{"role": "system", "content": task}, {"role": "user", "content": data}],
            **bounds,
        ).content

    def _words(self, answer: dict[str, Any]) -> str:
        try:
            words = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise self._server.answers.unusable("it contains no message") from None
        return words if isinstance(words, str) else ""
