"""A request -> the JSON object of the answer, or our error with a remedy: OpenAI, or a server that speaks its API."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from internal_linker.adapters.http.client import bounded_client
from internal_linker.adapters.http.limits import FEW_ATTEMPTS, Circuit, with_retries
from internal_linker.adapters.openai.api import KEY_FILE, Answers, LacksRight, NotThere, Remedies
from internal_linker.core.errors import ConfigurationError, ServiceError

if TYPE_CHECKING:
    import openai

# The request never left this computer: it can't have cost anything.
NOT_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"})
# The service's own word that it did no work; behind another 5xx it may have been done and charged.
NOT_SERVED = frozenset({500, 503})

# 2,048 vectors of 3,072 numbers written as text take half of this; a computer without a GPU takes its time.
MOST_BYTES, LONGEST_S = 300_000_000, 600.0


class Server:
    """One model at one address. Organisation and project of the environment are not sent.

    Args:
        api_key: the key; empty only where `base_url` is not OpenAI's.
        model: the model's name.
        base_url: the API's address, with its `/v1`; it may change until the first request.
        elsewhere: what errors call a server that is not OpenAI's.
        remedies: what errors tell to do.
        timeout: seconds of silence after which an answer is given up.

    Raises:
        ConfigurationError: the key can't be one.
    """

    def __init__(
        self, api_key: str, model: str, base_url: str, elsewhere: str, remedies: Remedies, timeout: float
    ) -> None:
        host = urlsplit(base_url).hostname or base_url
        self.at_home = host == "api.openai.com" or host.endswith(".openai.com")
        if not re.fullmatch(r"[!-~]+" if self.at_home else r"[!-~]*", api_key):
            raise ConfigurationError(f"{KEY_FILE} must hold an OpenAI key: letters and digits on one line.")
        self.base_url, self._timeout = base_url, timeout
        self.answers = Answers("OpenAI" if self.at_home else elsewhere, host, model, api_key, remedies)
        self._circuit = Circuit(self.answers.service)

    @property
    def model_key(self) -> str:
        """The model for caches: two servers may give different models one name, which must not meet there."""
        return self.answers.model if self.at_home else f"{self.answers.model}@{self.answers.host}"

    def check(self) -> str:
        """Prove the key with a free call; the answer is a sentence on what was and was not proved.

        Raises:
            CredentialsRefused: the key is wrong.
            ServiceError: the server can't be reached, or OpenAI has no such model.
        """
        service, model = self.answers.service, self.answers.model
        try:
            answer = with_retries(
                lambda: self.ask(
                    lambda: self.client.models.with_raw_response.list().content, lambda cost: None
                ),
                attempts=FEW_ATTEMPTS,
            )
        except LacksRight:
            return f"{service} knows the key, but it may not list models: {model} was not checked."
        except NotThere:
            return f"{service} answers but has no list of models: key and model were not checked."
        # Ollama lists a model that was named without a tag as "name:latest".
        listed = answer.get("data")
        models = listed if isinstance(listed, list) else []
        names = {str(item.get("id")) for item in models if isinstance(item, dict)}
        if names & {model, f"{model}:latest"}:
            return f"{service} accepts the key and has {model}."
        if self.at_home:
            setting = self.answers.remedies.model
            raise ServiceError(service, f"there is no model {model}; check {setting}.")
        return f"{service} answers, but {model} is not in its list of models."

    def close(self) -> None:
        """Give the connections back."""
        if "client" in vars(self):
            self.client.close()

    @cached_property
    def client(self) -> "openai.OpenAI":
        """OpenAI's own client, without its retries."""
        import openai  # here, as it takes most of a second

        client = openai.OpenAI(
            api_key=self.answers.key or "none",
            base_url=self.base_url,
            max_retries=0,
            timeout=openai.Timeout(self._timeout, connect=5.0),
            # Over OPENAI_CUSTOM_HEADERS of the environment, which could name another key.
            default_headers={"Authorization": f"Bearer {self.answers.key or 'none'}"},
            # It names httpx2's client, and takes the classic one.
            http_client=cast(Any, bounded_client(MOST_BYTES, LONGEST_S)),
        )
        client.organization = client.project = None
        return client

    def ask(self, send: Callable[[], bytes], settle: Callable[[float], None]) -> dict[str, Any]:
        """One request's JSON object; `settle` is told 0 where the service surely did no work."""
        with self._circuit.closed():
            return self._answer(send, settle)

    def _answer(self, send: Callable[[], bytes], settle: Callable[[float], None]) -> dict[str, Any]:
        import openai

        try:
            content = send()
        except openai.APIStatusError as error:
            if error.status_code < 500 or error.status_code in NOT_SERVED:
                settle(0.0)
            raise self.answers.refusal(error.status_code, error.body, error.response.headers) from None
        except openai.APIConnectionError as error:
            cause = type(error.__cause__).__name__
            if cause in NOT_SENT:
                settle(0.0)
            setting = self.answers.remedies.address
            hint = "Is this computer online?" if self.at_home else f"Is it running, and is {setting} right?"
            problem = f"no answer from {self.answers.host} ({cause}). {hint}"
            raise ServiceError(self.answers.service, problem, retryable=True) from None
        return self.answers.parse(content)
