"""The clients, encoders and workers that a project's settings name."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from internal_linker.match.compute.local import Threads
from internal_linker.match.encoders import EncoderRequest, encoder_kinds
from internal_linker.match.encoders.lsa import LsaEncoder
from internal_linker.model.columns import LANGUAGES
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Compute, Encoder, Progress
from internal_linker.model.records import SerpMarket
from internal_linker.project.settings.settings import (
    KEY_FILES,
    OPENAI_URL,
    PLACEHOLDER_SITE,
    SEARCH_PROVIDERS,
    Settings,
)
from internal_linker.sources.http.limits import Budget
from internal_linker.text.words import words

# Importing what only some settings need takes a quarter of a command's start.
if TYPE_CHECKING:
    from internal_linker.match.compute.processes import Processes
    from internal_linker.match.encoders.openai import OpenAIEmbeddings
    from internal_linker.review.google_tab import ReviewTab
    from internal_linker.sources.google_analytics import GoogleAnalytics
    from internal_linker.sources.google_sheets.queries_tab import GoogleSheet
    from internal_linker.sources.openai.chat import OpenAIChat
    from internal_linker.sources.search_console import SearchConsole
    from internal_linker.sources.serp.service import SearchService

# Each takes at least 100 MB, and parts of a run are not parallel.
MOST_WORKERS = 4


def compute_at(scheduler: str) -> Compute:
    """Return what runs the blocks of joins at a scheduler's address, or with "" on this computer's cores."""
    if not scheduler:
        return Threads(os.cpu_count() or 1)
    from internal_linker.match.compute.dask import DaskCompute

    return DaskCompute(scheduler)


def workers(
    folder: Path, step: str, warn: Callable[[str], None]
) -> AbstractContextManager["Processes | None"]:
    """Return the processes that share a step of a large site, if this computer has several cores; see `Processes`."""
    count = min(os.cpu_count() or 1, MOST_WORKERS)
    if count == 1:
        return nullcontext()
    from internal_linker.match.compute.processes import Processes

    return Processes(count, folder / f"{step}.tmp", warn)


def search_services() -> "Mapping[str, type[SearchService]]":
    """Return the search services by their names in the setting serp_provider."""
    from internal_linker.sources.serp.service import SERVICES

    for name in SEARCH_PROVIDERS:
        import_module(f"internal_linker.sources.serp.{name}")
    return {name: SERVICES[name] for name in SEARCH_PROVIDERS}


def content_words() -> Encoder:
    """Return the LSA encoder for contents that are compared by words alone, not beside words as in a run.

    Without very common words it finds more of 18f-blog's links (NDCG@5 0.384 against 0.372). As many dimensions as
    pages would be the words themselves, with cosines near 0; half as many find as much (0.50, 0.56 and 0.43 against
    0.47, 0.55 and 0.43 on 60, 120 and 250 of its pages), but beside words they cost NDCG@5 0.02 on vue-fa-ar.
    """
    return LsaEncoder(words, common=0.3, kept=0.5)


def facts_of(encoder: Encoder) -> str:
    """Return what `check` says about a working encoder."""
    return getattr(encoder, "facts", "") or f"{encoder.model}, sha256 as expected"


@dataclass(frozen=True)
class Clients:
    """Makes the clients of services; nothing is contacted yet, and the caller closes what it gets."""

    settings: Settings
    root: Path

    def sheet(self, notices: list[str]) -> "GoogleSheet | None":
        """Return the Google Sheet, if the settings ask for it and have its id and account."""
        settings = self.settings
        account = settings.service_account.get_secret_value()
        needed = {"google_sheet_id": settings.google_sheet_id, "config/service_account.txt": account}
        missing = next((name for name, value in needed.items() if not value), "")
        if settings.query_source == "csv" or (settings.query_source == "auto" and missing):
            if settings.query_source == "auto" and settings.google_sheet_id:
                notices.append(
                    f"{missing} is empty: main queries come from files/main_queries.csv, not the Sheet."
                )
            return None
        if missing:
            raise ConfigurationError(
                f'query_source = "sheet" needs {missing}. Fill it in, or set query_source = "csv".'
            )
        from internal_linker.sources.google_sheets.queries_tab import GoogleSheet

        return GoogleSheet(
            account,
            settings.google_sheet_id,
            settings.google_sheet_name,
            api_url=settings.google_api_url,
            links_per_page=settings.links_per_page,
            hosts=settings.hosts,
        )

    def review_tab(self) -> "ReviewTab":
        """Return the tab of the Sheet where editors decide on links."""
        from internal_linker.review.google_tab import ReviewTab

        settings = self.settings
        account = settings.service_account.get_secret_value()
        language = LANGUAGES[settings.review_language]
        return ReviewTab(account, settings.google_sheet_id, language, api_url=settings.google_api_url)

    def search_console(self) -> "SearchConsole":
        """Return the client of Search Console; a ConfigurationError says that there is no account or usable key."""
        from internal_linker.sources.search_console import SearchConsole

        account = self.settings.service_account.get_secret_value()
        if not account:
            raise ConfigurationError(
                "Search Console needs a service account: put its key into config/service_account.txt, and see "
                "docs/search-console.md for how to grant it access."
            )
        return SearchConsole(account, self.settings.search_console_url)

    def analytics(self) -> "GoogleAnalytics":
        """Return the client of Google Analytics; a ConfigurationError says that there is no account or usable key."""
        from internal_linker.sources.google_analytics import GoogleAnalytics

        account = self.settings.service_account.get_secret_value()
        if not account:
            raise ConfigurationError(
                "Google Analytics needs a service account: put its key into config/service_account.txt, and see "
                "docs/search-exports.md for how to grant it access."
            )
        return GoogleAnalytics(account, self.settings.analytics_url)

    @property
    def market(self) -> SerpMarket:
        """The market of the searches, under which the cache keeps their results."""
        settings = self.settings
        return SerpMarket(settings.search_provider, settings.gl, settings.hl, settings.location)

    def search_client(self) -> "SearchService":
        """Return the client of the search service, with its budget and rate limit."""
        settings, market = self.settings, self.market
        service = search_services()[market.provider]
        return service(
            settings.search_key(market.provider),
            settings.search_url(market.provider),
            market,
            budget=Budget(service.name, settings.max_serp_credits, "max_serp_credits", "credits"),
            per_second=settings.serp_requests_per_second,
            in_flight=settings.serp_requests_in_flight,
        )

    def openai(self) -> "OpenAIEmbeddings":
        """Return the client of OpenAI or of another server with its API."""
        from internal_linker.match.encoders.openai import OpenAIEmbeddings

        settings = self.settings
        return OpenAIEmbeddings(
            settings.openai_api_key.get_secret_value(),
            model=settings.embedding_model,
            dimensions=settings.embedding_dimensions,
            base_url=settings.base_url,
            price_per_million=None if settings.embedding_price == "auto" else settings.embedding_price,
            max_input_tokens=settings.max_input_tokens,
            budget=Budget("OpenAI", settings.max_cost_usd, "max_cost_usd", "US dollars"),
            in_flight=settings.embedding_requests_in_flight,
        )

    def chat(self) -> "OpenAIChat | None":
        """Return the client of the language model that chooses anchors; None if it is off."""
        settings = self.settings
        if not settings.anchor_model:
            return None
        from internal_linker.sources.openai.chat import OpenAIChat

        return OpenAIChat(
            settings.openai_api_key.get_secret_value(),
            model=settings.anchor_model,
            base_url=settings.anchor_base_url,
            budget=Budget("Anchors", settings.max_anchor_tokens, "max_anchor_tokens", "tokens"),
        )

    @property
    def uses_openai(self) -> bool:
        """Whether embeddings come from a server: the settings ask for it, or have a key or another server's address."""
        settings = self.settings
        has = bool(settings.openai_api_key.get_secret_value()) or settings.base_url != OPENAI_URL
        return settings.embedding_provider == "openai" or (settings.embedding_provider == "auto" and has)

    def encoder(self, notices: list[str], progress: Progress | None = None, *, last: str = "") -> Encoder:
        """Return the encoder of the settings, and add notices on what is unusual about it.

        The packaged model is not loaded if the last run used it.

        Args:
            notices: gets what a person should know.
            last: the last run's encoder; "": there is none.

        Raises:
            ConfigurationError: a model or the package behind it can't be loaded.
            InputError: a file of vectors can't be used.
        """
        if self.uses_openai:
            return self.openai()
        settings = self.settings
        name, _, argument = settings.embedding_provider.partition(":")
        kind = encoder_kinds()["fast" if name == "auto" else name]
        if progress and kind.step:
            progress.start(kind.step, 0, "")
        request = EncoderRequest(argument.strip(), self.root, settings.hosts, dict(settings), last, notices)
        encoder = kind.make(request)
        if progress and kind.step:
            progress.finish(facts_of(encoder))
        return encoder

    def search_service(self, wanted: bool, notices: list[str]) -> "SearchService | None":
        """Return the search service; None if the user wants none or, with a notice, if there is no key for it.

        Raises:
            ConfigurationError: the settings want one and it has no key, or no site of the user's to search.
        """
        settings = self.settings
        if not wanted or settings.serp_provider == "none":
            return None
        provider = settings.search_provider
        if not settings.search_key(provider):
            key_file = KEY_FILES[f"{provider}_api_key"][0].as_posix()
            if settings.serp_provider == provider:
                raise ConfigurationError(f'serp_provider = "{provider}" needs a key in {key_file}.')
            notices.append(
                f"The search step is skipped because {key_file} contains no key: "
                "links come from the pages' content alone."
            )
            return None
        if settings.site.partition("/")[0] == PLACEHOLDER_SITE:
            raise ConfigurationError(
                "search_query_template still contains yoursite.com. Replace it with your own host, in "
                "config/settings.toml."
            )
        return self.search_client()
