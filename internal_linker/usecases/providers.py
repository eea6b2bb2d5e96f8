"""Settings -> the clients of the outside services that they ask for."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from internal_linker.adapters.http.limits import Budget
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.ports import Encoder, Progress
from internal_linker.usecases.encoders import LOADING, facts_of, own_encoder
from internal_linker.usecases.settings.settings import OPENAI_URL, PLACEHOLDER_SITE, Settings

# The services' libraries take a quarter of the time in which a command starts, and most need none of them.
if TYPE_CHECKING:
    from internal_linker.adapters.google_sheets.queries_tab import GoogleSheet
    from internal_linker.adapters.openai.chat import OpenAIChat
    from internal_linker.embeddings.encoders.openai import OpenAIEmbeddings
    from internal_linker.review.google_tab import ReviewTab
    from internal_linker.serp.serper import Serper


@dataclass(frozen=True)
class Clients:
    """Makes the clients; nothing is contacted yet, and who asks for one closes it.

    Attributes:
        settings: of a project.
        root: its folder.
    """

    settings: Settings
    root: Path

    def sheet(self, notices: list[str]) -> "GoogleSheet | None":
        """The Google Sheet, where the settings want it and have what it takes."""
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
        from internal_linker.adapters.google_sheets.queries_tab import GoogleSheet

        return GoogleSheet(
            account,
            settings.google_sheet_id,
            settings.google_sheet_name,
            api_url=settings.google_api_url,
            links_per_page=settings.links_per_page,
        )

    def review_tab(self) -> "ReviewTab":
        """The tab of the Sheet where editors say what they think of links."""
        from internal_linker.review.google_tab import ReviewTab

        settings = self.settings
        account = settings.service_account.get_secret_value()
        return ReviewTab(account, settings.google_sheet_id, api_url=settings.google_api_url)

    @property
    def market(self) -> str:
        """Where search results are asked for."""
        from internal_linker.serp.serper import market_of

        return market_of(self.settings.gl, self.settings.hl, self.settings.location)

    def serper(self) -> "Serper":
        """The Serper client with its budget and pace."""
        from internal_linker.serp.serper import Serper

        settings = self.settings
        return Serper(
            settings.serper_api_key.get_secret_value(),
            url=settings.serper_url,
            gl=settings.gl,
            hl=settings.hl,
            location=settings.location,
            budget=Budget("Serper", settings.max_serp_credits, "max_serp_credits", "credits"),
            per_second=settings.serp_requests_per_second,
            in_flight=settings.serp_requests_in_flight,
        )

    def openai(self) -> "OpenAIEmbeddings":
        """The client of OpenAI or of another server that speaks its API."""
        from internal_linker.embeddings.encoders.openai import OpenAIEmbeddings

        settings = self.settings
        return OpenAIEmbeddings(
            settings.openai_api_key.get_secret_value(),
            model=settings.embedding_model,
            dimensions=settings.embedding_dimensions,
            base_url=settings.base_url,
            price_per_million=settings.embedding_price,
            max_input_tokens=settings.max_input_tokens,
            budget=Budget("OpenAI", settings.max_cost_usd, "max_cost_usd", "US dollars"),
            in_flight=settings.embedding_requests_in_flight,
        )

    def chat(self) -> "OpenAIChat | None":
        """The client of the language model that chooses anchors; None where it is off."""
        settings = self.settings
        if not settings.anchor_model:
            return None
        from internal_linker.adapters.openai.chat import OpenAIChat

        return OpenAIChat(
            settings.openai_api_key.get_secret_value(),
            model=settings.anchor_model,
            base_url=settings.anchor_base_url,
            budget=Budget("Anchors", settings.max_anchor_tokens, "max_anchor_tokens", "tokens"),
        )

    @property
    def uses_openai(self) -> bool:
        """Whether embeddings come from a server: asked for, or a key or another server's address is there."""
        settings = self.settings
        has = bool(settings.openai_api_key.get_secret_value()) or settings.base_url != OPENAI_URL
        return settings.embedding_provider == "openai" or (settings.embedding_provider == "auto" and has)

    def encoder(self, notices: list[str], progress: Progress | None = None) -> Encoder:
        """The encoder of the settings, with notices on what is unusual about it; see `own_encoder`.

        `progress` is told of what takes long to be loaded.
        """
        if self.uses_openai:
            return self.openai()
        step = LOADING.get(self.settings.embedding_provider.partition(":")[0])
        if progress and step:
            progress.start(step, 0, "")
        encoder = own_encoder(self.settings, self.root, notices)
        if progress and step:
            progress.finish(facts_of(encoder))
        return encoder

    def search_service(self, wanted: bool, notices: list[str]) -> "Serper | None":
        """The search service; None, with a notice, where the run has none.

        Raises:
            ConfigurationError: the settings want one and it has no key, or no site of the user's to search.
        """
        settings = self.settings
        if not wanted or settings.serp_provider == "none":
            why = "--no-serp" if not wanted else 'serp_provider = "none"'
            notices.append(f"The search step is skipped ({why}): links come from the pages' content alone.")
            return None
        if not settings.serper_api_key.get_secret_value():
            if settings.serp_provider == "serper":
                raise ConfigurationError('serp_provider = "serper" needs a key in config/serper_api_key.txt.')
            notices.append(
                "The search step is skipped, since config/serper_api_key.txt holds no key: "
                "links come from the pages' content alone."
            )
            return None
        if settings.site.partition("/")[0] == PLACEHOLDER_SITE:
            raise ConfigurationError(
                "search_query_template still holds yoursite.com. Put your own host there, in config/settings.toml."
            )
        return self.serper()
