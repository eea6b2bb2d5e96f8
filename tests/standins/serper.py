"""A stand-in for google.serper.dev: it answers queries with pages of organic results and counts credits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.standins.base import Answer, RateLimit, Request, StandIn
from tests.standins.faults import Twist

Result = str | Mapping[str, Any]  # a URL, or a mapping with link, title and snippet
Answers = Callable[[str, str], Sequence[Result]]  # (words, site or "") -> results, best first

PAGE = 10  # results per page, which cost one credit
SITE = re.compile(r"(?<!\S)site:(\S+)")
OPERATORS = re.compile(
    r"(?<!\S)-?(site|inurl|intitle|intext|filetype|related|allin\w+):"
)  # not in the free plan

NO_RESULTS = Twist(lambda body: {**body, "organic": []})  # the transient fault: 200, charged, and empty


class SerperStandIn(StandIn):
    """POST /search and GET /account, with the key, balance, rate limit and the free plan's refusals."""

    script_on = "POST /search"

    def __init__(
        self,
        answers: Answers,
        *,
        api_key: str = "test-serper-key",
        balance: int = 2500,
        rate_limit: int = 5000,
        retry_after: bool = False,
        free_plan: bool = False,
        omit_empty: bool = False,
        port: int = 0,
        latency: float = 0.0,
    ) -> None:
        super().__init__(port=port, latency=latency)
        self.answers = answers
        self.api_key = api_key
        self.balance = balance  # credits left
        self.rate_limit = RateLimit(rate_limit, window=1.0)  # requests per second
        self.retry_after = retry_after
        self.free_plan = free_plan
        self.omit_empty = omit_empty  # leave `organic` out instead of sending []

    def reply(self, request: Request) -> Answer:
        """Check the key first, then answer a search or the account's state."""
        if request.headers.get("x-api-key") != self.api_key:
            return _error(403, "Unauthorized.")
        if request.words == "GET /account":
            return Answer(body={"balance": self.balance, "rateLimit": self.rate_limit.limit})
        if request.words != "POST /search":
            return _error(404, "Not Found")
        wait = self.rate_limit.take()
        if wait:
            headers = {"Retry-After": str(int(wait) + 1)} if self.retry_after else {}
            return _error(429, "Too many requests", headers)
        return self._search(request.json())

    def _search(self, query: Any) -> Answer:
        if not isinstance(query, dict) or not str(query.get("q") or "").strip():
            return _error(400, "Missing query parameter")
        if self.free_plan and OPERATORS.search(query["q"]):
            return Answer(400, {"message": "Query pattern not allowed for free accounts."})
        page = self._page(query)
        if page["credits"] > self.balance:
            return _error(400, "Not enough credits")
        self.balance -= page["credits"]
        return Answer(body=page, units=page["credits"])

    def _page(self, query: Mapping[str, Any]) -> dict[str, Any]:
        size, number = int(query.get("num") or PAGE), int(query.get("page") or 1)
        words, site = split_site(query["q"])
        results = list(self.answers(words, site))[size * (number - 1) : size * number]
        found = [organic(result, place) for place, result in enumerate(results, start=1)]
        echo = {**query, "type": "search", "page": number, "engine": "google"}
        page: dict[str, Any] = {"searchParameters": echo}
        if found or not self.omit_empty:
            page["organic"] = found
        return {**page, "credits": 1 if size <= PAGE else 2}


def split_site(query: str) -> tuple[str, str]:
    """Split `site:host/path words` into the words and the site ("" without one)."""
    found = SITE.search(query)
    return " ".join(SITE.sub(" ", query).split()), found.group(1) if found else ""


def answers_from_jsonl(path: str | Path) -> Answers:
    """Return answers for exact queries, ignoring case, from lines like {"query": "...", "urls": [...]}."""
    known: dict[str, list[str]] = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        urls = known.setdefault(_key(row["query"]), [])
        urls += [url for url in row["urls"] if url not in urls]
    return lambda words, site: [url for url in known.get(_key(words), []) if _within(url, site)]


def _key(words: str) -> str:
    return " ".join(words.casefold().split())


def _within(url: str, site: str) -> bool:
    address, (host, _, path) = urlsplit(url), site.partition("/")
    right_host = not host or address.netloc == host or address.netloc.endswith(f".{host}")
    return right_host and address.path.startswith(f"/{path}")


def organic(result: Result, position: int) -> dict[str, Any]:
    """Return one organic result in the shape that both search services share."""
    given = {"link": result} if isinstance(result, str) else dict(result)
    slug = urlsplit(str(given["link"])).path.strip("/").rpartition("/")[2]
    title = slug.replace("-", " ").replace("_", " ").capitalize() or "Home"
    return {"title": title, "snippet": f"{title} ...", **given, "position": position}


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, {"message": message, "statusCode": status}, headers or {})
