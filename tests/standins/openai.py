"""A stand-in for api.openai.com: embeddings and chat answers, with keys, limits and quota."""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.standins.base import Answer, RateLimit, Request, StandIn
from tests.standins.faults import Twist
from tests.standins.vectors import count_tokens, embed

MAX_INPUTS = 2048  # per request
MAX_TOKENS = 300_000  # per request
MAX_INPUT_TOKENS = 8192  # per input
MAX_CONTEXT = 128_000  # tokens of a conversation
CHAT_LIMITS = ("max_tokens", "max_completion_tokens")
CHAT = "POST /v1/chat/completions"


@dataclass(eq=False)
class RefusalError(Exception):
    """A refusal in OpenAI's error shape."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None
    wait: float = 0.0  # seconds until a retry may succeed; 0 sends no header

    def answer(self) -> Answer:
        """Return the refusal as a response."""
        error = {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}
        headers = {"retry-after-ms": f"{self.wait * 1000:.0f}", "retry-after": f"{int(self.wait) + 1}"}
        return Answer(self.status, {"error": error}, headers if self.wait else {})


class OpenAIStandIn(StandIn):
    """POST /v1/embeddings, POST /v1/chat/completions and GET /v1/models.

    `dimensions` is the native size; -large has twice that. `says` answers a chat's last message.
    """

    script_on = "POST /v1/embeddings"

    def __init__(
        self,
        *,
        api_key: str = "sk-test-standin-0000000000000000-key",
        dimensions: int = 1536,
        rate_limit_tokens: int = 1_000_000,
        quota_tokens: int | None = None,
        shuffle: bool = True,
        port: int = 0,
        latency: float = 0.0,
    ) -> None:
        super().__init__(port=port, latency=latency)
        self.api_key = api_key
        self.models = {
            "text-embedding-3-small": dimensions,
            "text-embedding-3-large": 2 * dimensions,
            "text-embedding-ada-002": dimensions,
        }
        self.chat_models = {"gpt-4.1-mini"}
        self.says: Callable[[str], str] = present_words
        self.requests_a_minute = RateLimit(3000, window=60.0)
        self.tokens_a_minute = RateLimit(rate_limit_tokens, window=60.0)
        self.quota_tokens = quota_tokens  # paid tokens left; None is unlimited
        self.shuffle = shuffle
        self.refuse_base64 = False  # as old servers do
        self._dice = random.Random(0)

    def reply(self, request: Request) -> Answer:
        """Check the key, then answer by path; every refusal has OpenAI's shape."""
        try:
            self._check_key(request.headers.get("authorization", ""))
            if request.words == "GET /v1/models":
                names = [*self.models, *sorted(self.chat_models)]
                return Answer(body={"object": "list", "data": [_model(name) for name in names]})
            if request.words == "POST /v1/embeddings":
                return self._embeddings(request.json())
            if request.words == CHAT:
                return self._chat(request.json())
            raise RefusalError(404, f"Invalid URL ({request.words})")
        except RefusalError as refusal:
            return refusal.answer()

    def _check_key(self, header: str) -> None:
        key = header.removeprefix("Bearer ").strip()
        where = "at https://platform.openai.com/account/api-keys."
        if not key:
            raise RefusalError(401, f"You didn't provide an API key. You can obtain one {where}")
        if key != self.api_key:
            shown = f"{key[:8]}{'*' * max(0, len(key) - 12)}{key[-4:]}"
            raise RefusalError(
                401, f"Incorrect API key provided: {shown}. Find yours {where}", code="invalid_api_key"
            )

    def _embeddings(self, body: Any) -> Answer:
        if not isinstance(body, dict):
            raise RefusalError(400, "We could not parse the JSON body of your request.")
        model, dimensions = self._model_and_size(body)
        encoding = body.get("encoding_format") or "float"
        if self.refuse_base64 and encoding == "base64":
            refused = {"message": "base64 encoding is not currently supported", "type": "BadRequestError"}
            return Answer(400, {"object": "error", **refused, "param": None, "code": 400})
        texts, counts = _inputs(body.get("input"))
        tokens = sum(counts)
        self._spend(model, tokens)
        data = [
            {"object": "embedding", "index": index, "embedding": encode(vector, encoding)}
            for index, vector in enumerate(embed(text, model, dimensions) for text in texts)
        ]
        if self.shuffle:
            self._dice.shuffle(data)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Answer(body={"object": "list", "data": data, "model": model, "usage": usage}, units=tokens)

    def _chat(self, body: Any) -> Answer:
        if not isinstance(body, dict):
            raise RefusalError(400, "We could not parse the JSON body of your request.")
        if unknown := sorted(body.keys() - {"model", "messages", *CHAT_LIMITS}):
            message = f"Unrecognized request argument supplied: {unknown[0]}"
            raise RefusalError(400, message, param=unknown[0])
        if (model := body.get("model")) not in self.chat_models:
            message = f"The model `{model}` does not exist or you do not have access to it."
            raise RefusalError(404, message, code="model_not_found")
        messages, most = _messages(body.get("messages")), _most_answered(body)
        asked = 3 + sum(4 + count_tokens(text) for text in messages)
        if asked + most > MAX_CONTEXT:
            message = f"This model's maximum context length is {MAX_CONTEXT} tokens."
            raise RefusalError(400, message, param="messages", code="context_length_exceeded")
        self._spend(model, asked)
        words = self.says(messages[-1])
        given = min(count_tokens(words), most)
        usage = {"prompt_tokens": asked, "completion_tokens": given, "total_tokens": asked + given}
        finish = "length" if count_tokens(words) > most else "stop"
        spoken = {"role": "assistant", "content": words, "refusal": None}
        choice = {"index": 0, "message": spoken, "finish_reason": finish, "logprobs": None}
        told = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": model}
        return Answer(body={**told, "choices": [choice], "usage": usage}, units=asked + given)

    def _model_and_size(self, body: Mapping[str, Any]) -> tuple[str, int]:
        model, wanted = body.get("model"), body.get("dimensions")
        if model not in self.models:
            message = f"The model `{model}` does not exist or you do not have access to it."
            raise RefusalError(404, message, code="model_not_found")
        native = self.models[model]
        if wanted is None:
            return model, native
        if "-3-" not in model:
            raise RefusalError(400, "This model does not support specifying dimensions.", param="dimensions")
        if not isinstance(wanted, int) or not 1 <= wanted <= native:
            raise RefusalError(
                400, f"Invalid value for 'dimensions': must be 1 to {native}.", param="dimensions"
            )
        return model, wanted

    def _spend(self, model: str, tokens: int) -> None:
        if self.quota_tokens is not None and tokens > self.quota_tokens:
            message = "You exceeded your current quota, please check your plan and billing details."
            raise RefusalError(429, message, "insufficient_quota", code="insufficient_quota")
        limits = (("requests", self.requests_a_minute, 1), ("tokens", self.tokens_a_minute, tokens))
        for kind, limit, cost in limits:
            wait = limit.take(cost)
            if wait:
                state = f"Limit {limit.limit}, Used {limit.used}, Requested {cost}"
                message = f"Rate limit reached for {model} on {kind} per min: {state}. Try in {wait:.3f}s."
                raise RefusalError(429, message, kind, code="rate_limit_exceeded", wait=wait)
        if self.quota_tokens is not None:
            self.quota_tokens -= tokens


def present_words(prompt: str) -> str:
    """Return the phrases that are already linked, in the format that the product requests."""
    return json.dumps({str(link["link"]): link["words"] for link in json.loads(prompt)}, ensure_ascii=False)


def _messages(given: Any) -> list[str]:
    """Return the texts of a conversation."""
    if not isinstance(given, list) or not given:
        raise RefusalError(400, "Invalid 'messages': expected a non-empty array.", param="messages")
    for index, item in enumerate(given):
        role = item.get("role") if isinstance(item, dict) else None
        if role not in ("system", "user", "assistant") or not isinstance(item.get("content"), str):
            raise RefusalError(400, f"Invalid value: 'messages[{index}]'.", param=f"messages[{index}]")
    return [item["content"] for item in given]


def _most_answered(body: Mapping[str, Any]) -> int:
    """Return the number of tokens that an answer may have."""
    limits = [body[name] for name in CHAT_LIMITS if name in body]
    if len(limits) > 1 or not all(isinstance(limit, int) and limit > 0 for limit in limits):
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        raise RefusalError(400, message, param="max_tokens")
    return limits[0] if limits else 16_384


def _inputs(given: Any) -> tuple[list[str], list[int]]:
    """Return the texts and their token counts; token lists are accepted as they are."""
    items = [given] if isinstance(given, str) or (isinstance(given, list) and _is_tokens(given)) else given
    if not isinstance(items, list) or not items:
        raise RefusalError(400, "Invalid 'input': expected a string or a non-empty array.", param="input")
    if len(items) > MAX_INPUTS:
        message = f"Invalid 'input': array too long. Expected at most {MAX_INPUTS}, got {len(items)}."
        raise RefusalError(400, message, param="input", code="array_above_max_length")
    counts = [_count(index, item) for index, item in enumerate(items)]
    if sum(counts) > MAX_TOKENS:
        message = f"Requested {sum(counts)} tokens, max {MAX_TOKENS} tokens per request"
        raise RefusalError(400, message, "max_tokens_per_request", code="max_tokens_per_request")
    return [item if isinstance(item, str) else " ".join(map(str, item)) for item in items], counts


def _count(index: int, item: Any) -> int:
    if not item or not (isinstance(item, str) or _is_tokens(item)):
        raise RefusalError(400, f"Invalid 'input[{index}]': input cannot be an empty string.", param="input")
    count = count_tokens(item) if isinstance(item, str) else len(item)
    if count > MAX_INPUT_TOKENS:
        limit = f"This model's maximum context length is {MAX_INPUT_TOKENS} tokens"
        message = f"{limit}, however you requested {count} tokens."
        raise RefusalError(400, message, param="input")
    return count


def _is_tokens(item: Any) -> bool:
    return isinstance(item, list) and bool(item) and all(isinstance(token, int) for token in item)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "system"}


def encode(vector: list[float], encoding: str) -> list[float] | str:
    """Return a vector as JSON floats, or as base64 of little-endian float32."""
    if encoding != "base64":
        return vector
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _with_nan(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    old = data[0]["embedding"]
    size = len(base64.b64decode(old)) // 4 if isinstance(old, str) else len(old)
    sick = encode([float("nan")] * size, "base64" if isinstance(old, str) else "float")
    return [{**data[0], "embedding": sick}, *data[1:]]


def _vectors(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Twist:
    """Return a fault that changes the vectors; a chat answer gets no content instead."""
    return Twist(
        lambda body: {**body, "data": change(body["data"])} if "data" in body else {**body, "choices": []}
    )


NO_DATA = _vectors(lambda data: [])
NO_USAGE = Twist(lambda body: {**body, "usage": None})
ONE_MISSING = _vectors(lambda data: data[:-1])
SAME_INDEX = _vectors(lambda data: [{**item, "index": 0} for item in data])
NAN_VECTOR = _vectors(_with_nan)
