"""Settings -> the concrete services and stores of one project: the only file that names them."""

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Engine

from internal_linker.computing import compute_at, local_encoder_at, workers
from internal_linker.errors import ConfigurationError
from internal_linker.exclusions import Exclusions, read_exclusions
from internal_linker.limits import Budget
from internal_linker.link_rules import LinkRules
from internal_linker.locking import folder_lock
from internal_linker.parts import Parts, Rules
from internal_linker.ports import Encoder, LinkSink, Progress, StreamSource
from internal_linker.searching import SearchRules
from internal_linker.services.csv_files.labels import LabelsCsv
from internal_linker.services.csv_files.lists import (
    BacktestCsv,
    DuplicatesCsv,
    ExcludedCsv,
    OrphansCsv,
    RejectedCsv,
    VectorsCsv,
)
from internal_linker.services.csv_files.tables import CsvTable, LinksCsv, OutputCsv
from internal_linker.services.google_sheets.sheet import GoogleSheet
from internal_linker.services.local_embeddings.lsa import LsaEncoder
from internal_linker.services.local_embeddings.multilingual import MultilingualEncoder
from internal_linker.services.openai_embeddings.encoder import OpenAIEmbeddings
from internal_linker.services.serper import Serper, market_of
from internal_linker.services.text_spool import TextSpool
from internal_linker.settings import EXCLUSIONS_FILE, OPENAI_URL, PLACEHOLDER_SITE, Settings, load_settings
from internal_linker.stores.copying import copy_tables, require_cache
from internal_linker.stores.database import open_database
from internal_linker.stores.embedding_cache import EMBEDDINGS, EmbeddingCache
from internal_linker.stores.join_store import JOIN_CHUNKS, JOINS, StoredJoins
from internal_linker.stores.serp_cache import SERP, SerpResultCache
from internal_linker.stores.turn import turn


@dataclass(frozen=True)
class Project:
    """One site's folder: config/, files/ and logfile.txt."""

    root: Path
    settings: Settings
    exclusions: Exclusions

    def file(self, name: str) -> Path:
        """A path in files/."""
        return self.root / "files" / name

    def store(self, *, read_only: bool = False) -> Engine:
        """The database of the caches; `read_only` creates and changes nothing."""
        return self._database(self.settings.store_url, read_only=read_only)

    def copy_store(self, source: str, destination: str, progress: Progress) -> None:
        """Copy a whole cache into another: two addresses as store_url has them, or paths of SQLite files.

        Raises:
            ConfigurationError: an address is wrong, its database can't be opened or failed, or both are one.
            InputError: there is no cache at the source.
            StoreLost: a server is gone in the middle; copy again.
        """
        # The chunks come before the joins that need them; finished blocks are work in progress and stay.
        tables = (EMBEDDINGS, SERP, JOIN_CHUNKS, JOINS)
        urls = [one if "://" in one else f"sqlite:///{one}" for one in (source, destination)]
        with ExitStack() as closing:
            given = self._database(urls[0], read_only=True)
            closing.callback(given.dispose)
            require_cache(given, tables)  # before a destination is made for nothing
            taking = self._database(urls[1])
            closing.callback(taking.dispose)
            return copy_tables(given, taking, tables, progress)

    def _database(self, url: str, *, read_only: bool = False) -> Engine:
        password = self.settings.store_password.get_secret_value()
        return open_database(url, self.root, password=password, read_only=read_only)

    @contextmanager
    def parts(
        self, *, serp: bool = True, deliver: bool = True, partial: bool = False, read_only: bool = False
    ) -> Iterator[Parts]:
        """Everything a run needs, closed when the block ends.

        Args:
            serp: False leaves the search step out.
            deliver: False leaves the links unwritten, for a lookup or a dry run.
            partial: the run computes some rows only; the others of Output.csv and links.csv stay.
            read_only: the cache is read but never written.

        Raises:
            ConfigurationError: a setting asks for what is not there.
        """
        notices: list[str] = []
        sheet = self.sheet(notices)
        encoder = self.encoder(notices)
        client = self._serp(serp, notices)
        engine, spool = self.store(read_only=read_only), TextSpool(self.root / "files")
        parts = Parts(
            queries=sheet or self.table("main_queries.csv", notices),
            pages=self.table("urls_rawdata.csv", notices),
            queries_in_sheet=sheet is not None,
            serp=client,
            serp_cache=SerpResultCache(engine, self.settings.serp_max_age_days),
            encoder=encoder,
            vector_cache=EmbeddingCache(engine, self.settings.embedding_storage),
            sinks=self._sinks(encoder, sheet, partial) if deliver else (),
            rejects=RejectedCsv(self.file("rejected_rows.csv")),
            excluded=ExcludedCsv(self.file("excluded_targets.csv")),
            duplicates=DuplicatesCsv(self.file("duplicates.csv")),
            orphans=OrphansCsv(self.file("orphans.csv")),
            links=self.existing_links(),
            keep=spool.keep,
            compute=compute_at(self.settings.dask_scheduler),
            joins=StoredJoins(engine),
            workers=functools.partial(workers, self.root / "files" / "matching.tmp"),
            notices=notices,
        )
        if deliver and (client or not encoder.corpus_bound):
            # A look-up or a dry run does not wait, nor one that fetches and keeps nothing.
            parts = replace(parts, turn=functools.partial(turn, engine))
        with ExitStack() as closing:
            closing.callback(engine.dispose)
            for service in (client, encoder, sheet, spool):
                if isinstance(service, Serper | OpenAIEmbeddings | GoogleSheet | TextSpool):
                    closing.callback(service.close)
            yield parts

    def rules(self) -> Rules:
        """How links are chosen."""
        settings = self.settings
        search = SearchRules(
            template=settings.search_query_template,
            site=settings.site,
            max_pages=settings.max_serp_pages,
            wanted=settings.links_per_page,
            in_flight=settings.serp_requests_in_flight,
            excluded=self.exclusions.match,
        )
        linking = LinkRules(
            settings.links_per_page,
            settings.fusion,
            settings.lexical_weight,
            settings.min_inlinks,
            settings.max_inlinks,
            near_duplicate=settings.near_duplicate,
            serp_floor=settings.serp_floor,
        )
        return Rules(search, linking, settings.target_pages == "site")

    def table(self, name: str, notices: list[str]) -> StreamSource | None:
        """A CSV file of files/, or None where there is none."""
        path = self.file(name)
        if path.exists():
            return CsvTable(path, f"files/{name}")
        notices.append(f"files/{name} is not there: the run goes on without it.")
        return None

    def existing_links(self) -> StreamSource | None:
        """The table of links that stand on the site already, or None where there is none: nobody needs one."""
        return self.table("existing_links.csv", [])

    def link_table(self, path: Path) -> StreamSource:
        """Another table of links; a relative path starts at the current directory."""
        return CsvTable(path, str(path))

    def sheet(self, notices: list[str]) -> GoogleSheet | None:
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
        return GoogleSheet(
            account,
            settings.google_sheet_id,
            settings.google_sheet_name,
            api_url=settings.google_api_url,
            links_per_page=settings.links_per_page,
        )

    @property
    def market(self) -> str:
        """Where search results are asked for."""
        return market_of(self.settings.gl, self.settings.hl, self.settings.location)

    def serper(self) -> Serper:
        """The Serper client with its budget and pace."""
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

    def openai(self) -> OpenAIEmbeddings:
        """The client of OpenAI or of another server that speaks its API."""
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

    @property
    def uses_openai(self) -> bool:
        """Whether embeddings come from a server: asked for, or a key or another server's address is there."""
        settings = self.settings
        has = bool(settings.openai_api_key.get_secret_value()) or settings.base_url != OPENAI_URL
        return settings.embedding_provider == "openai" or (settings.embedding_provider == "auto" and has)

    def encoder(self, notices: list[str]) -> Encoder:
        """The encoder of the settings; LSA, with a notice, where the local model can't be loaded (others raise)."""
        if self.uses_openai:
            return self.openai()
        if self.settings.embedding_provider == "lsa":
            return LsaEncoder()
        if self.settings.embedding_provider == "multilingual":
            return MultilingualEncoder()
        try:
            return local_encoder_at(self.settings.dask_scheduler)
        except ConfigurationError as error:
            notices.append(f"{error} This run uses word statistics (LSA) in its place.")
            return LsaEncoder()

    def vectors_csv(self) -> VectorsCsv:
        """Where `export-vectors` writes."""
        return VectorsCsv(self.file("vectorized_urls.csv"))

    def backtest_csv(self) -> BacktestCsv:
        """Where `backtest` writes."""
        return BacktestCsv(self.file("backtest.csv"))

    def labels_csv(self) -> LabelsCsv:
        """What `calibrate` reads and adds to."""
        return LabelsCsv(self.file("labels.csv"))

    def lock(self) -> AbstractContextManager[None]:
        """Hold the folder: see `folder_lock`."""
        return folder_lock(self.root)

    def _serp(self, wanted: bool, notices: list[str]) -> Serper | None:
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

    def _sinks(self, encoder: Encoder, sheet: GoogleSheet | None, partial: bool) -> list[LinkSink]:
        # The files come first: what the Sheet can't take is then safe in Output.csv.
        files: list[LinkSink] = [
            OutputCsv(self.file("Output.csv"), self.settings.links_per_page, keep_others=partial),
            LinksCsv(self.file("links.csv"), encoder.name, keep_others=partial),
        ]
        return [*files, sheet] if sheet else files


def open_project(root: Path) -> Project:
    """Read a project folder's settings and patterns; nothing is contacted.

    Raises:
        ConfigurationError: a setting or pattern is wrong.
    """
    if not root.is_dir():
        raise ConfigurationError(f"{root} is no folder. Name the project's folder with --project.")
    return Project(root, load_settings(root), read_exclusions(root / EXCLUSIONS_FILE))
