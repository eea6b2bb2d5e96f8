"""Settings -> the clients of the outside services that they ask for."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from internal_linker.adapters.compute.dask_join import DaskCompute
from internal_linker.adapters.compute.processes import Processes
from internal_linker.adapters.compute.threads import Threads
from internal_linker.adapters.http.limits import Budget
from internal_linker.adapters.tables.csv_reader import CsvTable
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import Compute, Encoder, Progress, SerpClient, Workers
from internal_linker.core.records import SerpMarket
from internal_linker.embeddings.encoders.dask import DaskEncoder
from internal_linker.embeddings.encoders.lsa import LsaEncoder
from internal_linker.embeddings.encoders.minilm import LocalEncoder
from internal_linker.embeddings.encoders.multilingual import MultilingualEncoder
from internal_linker.embeddings.encoders.sentence_transformers import (
    ModelOptions,
    TransformerEncoder,
    loaded_model,
)
from internal_linker.embeddings.encoders.vector_file import (
    VectorFile,
    array_rows,
    gathered,
    parquet_rows,
    table_rows,
)
from internal_linker.text.words import words
from internal_linker.usecases.settings.settings import KEY_FILES, OPENAI_URL, PLACEHOLDER_SITE, Settings

# Each takes 100 MB and more, and part of a run is not shared.
MOST_WORKERS = 4


def compute_at(scheduler: str) -> Compute:
    """What does the blocks of joins; nothing is contacted yet.

    Args:
        scheduler: tcp://host:port or tls://host:port; "": this computer, all its cores.

    Raises:
        ConfigurationError: the package that speaks to a scheduler is not installed.
    """
    return DaskCompute(scheduler) if scheduler else Threads(os.cpu_count() or 1)


def workers(file: Path, warn: Callable[[str], None]) -> AbstractContextManager[Workers | None]:
    """What shares the comparing of candidates, where this computer has several cores; see `Processes`."""
    count = min(os.cpu_count() or 1, MOST_WORKERS)
    return Processes(count, file, warn) if count > 1 else nullcontext()


def local_encoder_at(scheduler: str) -> Encoder:
    """The local encoder; its name, recipe and vectors are the same wherever it runs.

    Raises:
        ConfigurationError: the model, or the package that speaks to a scheduler, is not installed.
    """
    return DaskEncoder(scheduler, LocalEncoder) if scheduler else LocalEncoder()


# The step in which an encoder comes, for those that take seconds: PyTorch alone does, a model is fetched once, a file
# may have a vector for each of a million pages.
LOADING = {"sentence-transformers": "Model", "file": "Vectors"}


def own_encoder(settings: Settings, root: Path, notices: list[str]) -> Encoder:
    """The encoder of the settings; LSA, with a notice, where the packaged model can't be loaded (others raise).

    Args:
        settings: of the project.
        root: its folder, where paths start.
        notices: what a person should know is added.

    Raises:
        ConfigurationError: a model or the package behind it can't be loaded.
        InputError: a file of vectors can't be used.
    """
    provider, _, name = settings.embedding_provider.partition(":")
    match provider:
        case "lsa":
            return LsaEncoder()
        case "multilingual":
            return MultilingualEncoder()
        case "sentence-transformers":
            wishes = ModelOptions(
                settings.transformer_pooling,
                settings.transformer_max_length,
                settings.transformer_device,
                settings.transformer_precision,
            )
            return TransformerEncoder(loaded_model(name.strip(), root, wishes))
        case "file":
            given = vector_file(root, name.strip())
            notices += given.remarks
            return given
    try:
        return local_encoder_at(settings.dask_scheduler)
    except ConfigurationError as error:
        notices.append(f"{error} This run uses word statistics (LSA) in its place.")
        return LsaEncoder()


def content_words() -> Encoder:
    """Word statistics by which the contents of pages are compared alone, and not beside words as in a run.

    Words of most pages left out, they find more of 18f-blog's links (NDCG@5 0.384 to 0.372). As many dimensions as
    pages would be the words again, with cosines near 0; half as many find as much (on 60, 120 and 250 of its pages
    0.50, 0.56 and 0.43 to 0.47, 0.55 and 0.43), but beside words they cost NDCG@5 0.02 on vue-fa-ar.
    """
    return LsaEncoder(words, common=0.3, kept=0.5)


def vector_file(root: Path, name: str) -> VectorFile:
    """The vectors of a .csv, .parquet or .npy file.

    Args:
        root: the project's folder, where a relative path starts.
        name: the path.

    Raises:
        ConfigurationError: it is none of these, or the package that reads it is not installed.
        InputError: it is not there, can't be read, or holds what is no vector.
    """
    path = root / name
    if path.suffix.lower() not in (".csv", ".parquet", ".npy"):
        raise ConfigurationError(f"embedding_provider: {name} must be a file .csv, .parquet or .npy.")
    if not path.is_file():
        raise InputError(f"{name} is not there. Put it there, or correct embedding_provider.")
    match path.suffix.lower():
        case ".csv":
            rows = table_rows(CsvTable(path, name))
        case ".parquet":
            rows = parquet_rows(path, name)
        case _:
            pages = root / "files/urls_rawdata.csv"
            rows = array_rows(
                path, name, CsvTable(pages, "files/urls_rawdata.csv") if pages.exists() else None
            )
    return VectorFile(path.name, gathered(rows, name))


def facts_of(encoder: Encoder) -> str:
    """What `check` says of a sound encoder."""
    if isinstance(encoder, LsaEncoder):
        return "word statistics (LSA), no model needed"
    if isinstance(encoder, TransformerEncoder | VectorFile):
        return encoder.facts
    return f"{encoder.model}, sha256 as expected"


# The services' libraries take a quarter of the time in which a command starts, and most need none of them.
if TYPE_CHECKING:
    from internal_linker.adapters.google_sheets.queries_tab import GoogleSheet
    from internal_linker.adapters.openai.chat import OpenAIChat
    from internal_linker.embeddings.encoders.openai import OpenAIEmbeddings
    from internal_linker.review.google_tab import ReviewTab


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
    def market(self) -> SerpMarket:
        """Where search results are asked for, and what they are kept under."""
        settings = self.settings
        return SerpMarket(settings.search_provider, settings.gl, settings.hl, settings.location)

    def search_client(self) -> SerpClient:
        """The client of the search service, with its budget and pace."""
        from internal_linker.usecases.search_services import search_client

        return search_client(self.settings, self.market)

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

    def search_service(self, wanted: bool, notices: list[str]) -> SerpClient | None:
        """The search service; None, with a notice, where the run has none.

        Raises:
            ConfigurationError: the settings want one and it has no key, or no site of the user's to search.
        """
        settings = self.settings
        if not wanted or settings.serp_provider == "none":
            why = "--no-serp" if not wanted else 'serp_provider = "none"'
            notices.append(f"The search step is skipped ({why}): links come from the pages' content alone.")
            return None
        provider = settings.search_provider
        if not settings.search_key(provider):
            key_file = KEY_FILES[f"{provider}_api_key"][0].as_posix()
            if settings.serp_provider == provider:
                raise ConfigurationError(f'serp_provider = "{provider}" needs a key in {key_file}.')
            notices.append(
                f"The search step is skipped, since {key_file} holds no key: "
                "links come from the pages' content alone."
            )
            return None
        if settings.site.partition("/")[0] == PLACEHOLDER_SITE:
            raise ConfigurationError(
                "search_query_template still holds yoursite.com. Put your own host there, in config/settings.toml."
            )
        return self.search_client()
