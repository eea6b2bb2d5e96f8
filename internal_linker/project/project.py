"""A project: one site's folder with the services, stores and files that its settings name."""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from internal_linker.anchors.llm import Rephrased
from internal_linker.insight.page_keys import host_of
from internal_linker.match.compute.local import return_free_memory
from internal_linker.match.embed import Shortened
from internal_linker.match.encoders.lsa import LsaEncoder
from internal_linker.match.encoders.minilm import LocalEncoder
from internal_linker.model import columns
from internal_linker.model.edges import beside
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.link_density import LinkDensity
from internal_linker.model.ports import Anchors, Encoder, LinkSink, Progress, ReviewDesk, StreamSource
from internal_linker.model.records import Collected
from internal_linker.model.sections import Sections
from internal_linker.model.urls import NormalForms
from internal_linker.project.index_inputs import inputs_digest, results_digest, search_digest
from internal_linker.project.options.links import RunOptions
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.priorities import needs_of, queries_of
from internal_linker.project.providers import Clients, compute_at, workers
from internal_linker.project.sections import named_sections, renewed_sections, scope_of
from internal_linker.project.settings.accounts import exposed_keys, unencrypted
from internal_linker.project.settings.exclusions import Exclusions, read_exclusions
from internal_linker.project.settings.link_rules import (
    LINK_RULES_FILE,
    LINK_TARGETS_FILE,
    goals_of,
    read_table,
    rules_of,
)
from internal_linker.project.settings.settings import (
    EXCLUSIONS_FILE,
    PLACEHOLDER_SITE,
    SEARCH_PROVIDERS,
    Settings,
    former_settings,
    load_settings,
)
from internal_linker.project.site_languages import SAMPLED_BYTES, suited_model
from internal_linker.rank.demotion import DemotionRules
from internal_linker.rank.rules import LEAST_PLACE, LinkRules
from internal_linker.review.link_memory import EdgeRules
from internal_linker.sources.serp.search import SearchRules
from internal_linker.sources.tables.columns import Kind, find_column
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.links_csv import Keeps, LinksCsv, OutputCsv
from internal_linker.sources.tables.lists_csv import ListCsv
from internal_linker.store.answers import SerpResultCache, StoredAnswers, StoredPages
from internal_linker.store.applied_links import AppliedLinks, Experiments
from internal_linker.store.databases import Databases, damage_met, tidy
from internal_linker.store.edges import EdgeStore
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.files.index_folder import IndexFolder
from internal_linker.store.files.locks import folder_lock
from internal_linker.store.files.text_spool import TextSpool
from internal_linker.store.neighbours import StoredJoins
from internal_linker.store.page_vectors import PageVectorTable
from internal_linker.store.run_queue import turn
from internal_linker.store.runs import RunStore
from internal_linker.store.search_days import SearchDays, only_site

if TYPE_CHECKING:
    from internal_linker.sources.openai.chat import OpenAIChat


@dataclass(frozen=True)
class Project:
    """One site's folder: config/, files/ and logfile.txt."""

    settings: Settings  # what config/settings.toml, key files and the environment say
    root: Path
    exclusions: Exclusions  # patterns of URLs that no link leads to
    # tables that take the place of files in files/, by the file's name; None: as if the file didn't exist
    tables: Mapping[str, StreamSource | None] = field(default_factory=dict)

    @property
    def clients(self) -> Clients:
        """The clients of the outside services."""
        return Clients(self.settings, self.root)

    @property
    def databases(self) -> Databases:
        """The caches and the link graph."""
        password = self.settings.store_password.get_secret_value()
        return Databases(self.settings.store_url, self.root, password, self.settings.store_backups)

    def file(self, name: str) -> Path:
        """Return a path in files/."""
        return self.root / "files" / name

    @contextmanager
    def graph(self, *, read_only: bool = True) -> Iterator[tuple[EdgeStore, RunStore]]:
        """Open the link graph and the kept runs."""
        with self.databases.opened(read_only=read_only) as engine:
            yield EdgeStore(engine, self.site), RunStore(engine, self.site)

    @contextmanager
    def applications(self, *, read_only: bool = True) -> Iterator[tuple[EdgeStore, AppliedLinks]]:
        """Open the link graph and the links that were applied."""
        with self.databases.opened(read_only=read_only) as engine:
            yield EdgeStore(engine, self.site), AppliedLinks(engine, self.site)

    @contextmanager
    def page_cache(self) -> Iterator[StoredPages]:
        """Open the cache of fetched pages."""
        with self.databases.opened() as engine:
            yield StoredPages(engine)

    @contextmanager
    def experiments(self, *, read_only: bool = True) -> Iterator[Experiments]:
        """Open the targets that were drawn for experiments."""
        with self.databases.opened(read_only=read_only) as engine:
            yield Experiments(engine, self.site)

    @contextmanager
    def search_data(self, source: str = "", *, read_only: bool = True) -> Iterator[SearchDays]:
        """Open the search data of a source; "": for reading, of each table the source with the most days.

        They can come before any page and setting: then the site is that of the source, or the only one there is.
        """
        with self.databases.opened(read_only=read_only) as engine:
            yield SearchDays(engine, self.site or host_of(source) or only_site(engine), source)

    @contextmanager
    def context(
        self,
        progress: Progress,
        *,
        serp: bool = True,
        deliver: bool = True,
        trial: bool = False,
        keeps: Keeps = None,
        read_only: bool = False,
        model: str = "",
        figures: bool = False,
    ) -> Iterator[RunContext]:
        """Open everything that a run needs, and close it when the block ends.

        Args:
            serp: False skips the search step.
            deliver: False doesn't write the links, for a lookup or a dry run.
            trial: write the links to files/trial only, and leave Sheet, review and stored links unchanged.
            keeps: whether a page's rows of Output.csv and links.csv stay if this run doesn't compute them; None: none.
            read_only: only read the cache.
            model: the name of the embeddings in links.csv; "": the encoder's name.
            figures: whether links.csv has the figures behind each score.

        Raises:
            ConfigurationError: a setting needs something that is missing.
        """
        notices = [*self.exposed(), *former_settings(self.root)]
        sheet = self.clients.sheet(notices)
        # Of a trial, a dry run and a run; other commands don't repeat what these have said.
        told = notices if deliver or (read_only and serp) else None
        encoder = self.encoder(notices, progress, told)
        used = self._shortened(encoder)
        client = self.clients.search_service(serp, [] if told is None else told)
        chat = self.clients.chat() if deliver else None
        engine, spool = self.databases.store(read_only=read_only), TextSpool(self.root / "files")
        edges, public = EdgeStore(engine, self.site, writes=not trial), deliver and not trial
        desk, searches = self._desk(sheet) if public else None, SearchDays(engine, self.site)
        context = RunContext(
            queries=sheet or self.table("main_queries.csv", notices),
            pages=self.table("urls_rawdata.csv", notices),
            queries_in_sheet=sheet is not None,
            serp=client,
            serp_cache=SerpResultCache(engine, self.settings.serp_max_age_days),
            encoder=used,
            vector_cache=EmbeddingCache(engine, self.settings.embedding_storage),
            delivers=deliver,
            sinks=self._sinks("trial" * trial, model or used.name, keeps, figures=figures) if deliver else (),
            figures=figures,
            sheet=sheet if public else None,
            lists={
                "rejects": ListCsv(self.file("rejected_rows.csv"), columns.REJECTED_ROWS),
                "excluded": ListCsv(self.file("excluded_targets.csv"), columns.EXCLUDED_TARGETS),
                "duplicates": ListCsv(self.file("duplicates.csv"), columns.DUPLICATES),
                "orphans": ListCsv(self.file("orphans.csv"), columns.ORPHANS),
            }
            if deliver
            else {},
            links=self.existing_links(),
            keep=spool.keep,
            compute=compute_at(self.settings.dask_scheduler),
            joins=StoredJoins(engine),
            edges=edges,
            runs=None if trial else RunStore(engine, self.site),
            past=RunStore(engine, self.site),
            publish_vectors=PageVectorTable(engine, self.site).publish if public else None,
            desk=desk,
            rephrase=_rephrase(chat, engine) if chat else None,
            workers=functools.partial(workers, self.root / "files"),
            hosts=self.settings.hosts,
            # Where Python passes tables, nobody knows whether the next call passes the same.
            index=None if self.tables else IndexFolder(self.file("index"), not read_only),
            inputs=functools.partial(
                inputs_digest, self, sheet.digest if sheet else None, writes=not read_only
            ),
            results=functools.partial(results_digest, self, engine),
            search_data=functools.partial(search_digest, searches),
            needs=(
                functools.partial(needs_of, searches)
                if deliver and self.settings.priority != "none"
                else None
            ),
            page_queries=functools.partial(queries_of, searches),
            # A lookup frees little, and needs it again at once.
            trim=return_free_memory if deliver else lambda: None,
            tidy=functools.partial(tidy, engine),
            damage=functools.partial(damage_met, engine),
            notices=notices,
        )
        if deliver and (client or not encoder.corpus_bound):
            # Lookups and dry runs don't wait for other runs, and neither does a run that fetches and keeps nothing.
            context = replace(context, turn=functools.partial(turn, engine))
        with _closing(engine.dispose, client, encoder, chat, sheet, desk, spool):
            yield context

    def encoder(
        self, notices: list[str], progress: Progress | None = None, hints: list[str] | None = None
    ) -> Encoder:
        """Return the encoder of the settings or, if they leave the choice open, the packaged one that suits the site.

        Args:
            notices: gets what is unusual about the encoder.
            hints: gets a hint about the model and the site's languages; None: nobody would read it.

        Raises:
            ConfigurationError: a model or the package behind it can't be loaded.
            InputError: a file of vectors can't be used.
        """
        settings = self.settings
        if settings.embedding_provider == "auto" and not (
            self.clients.uses_openai or settings.dask_scheduler
        ):
            pages = self.table("urls_rawdata.csv", [], SAMPLED_BYTES)
            suited = suited_model(pages, hints=hints is not None)
            if hints is not None and suited.hint:
                hints.append(suited.hint)
            if suited.encoder:
                return suited.encoder
        if self.clients.uses_openai:
            return self.clients.openai()
        with self.graph() as (_, runs):
            versions = runs.versions()
        last, clients = versions[-1].encoder if versions else "", self.clients
        if settings.embedding_provider == "auto" and last.startswith(LocalEncoder.name):
            clients = replace(clients, settings=settings.model_copy(update={"embedding_provider": "local"}))
        return clients.encoder(notices, progress, last=last)

    def rules(self, options: RunOptions | None = None) -> Rules:
        """Return the rules for choosing links, by the settings and the options of a run.

        Raises:
            ConfigurationError: an option switches on a section that the settings do not switch off, or a row of
                config/link_rules.csv or link_targets.csv is wrong.
        """
        settings = self.settings
        search = SearchRules(
            template=settings.search_query_template,
            site=settings.site,
            max_pages=settings.max_serp_pages,
            wanted=settings.links_per_page,
            in_flight=settings.serp_requests_in_flight,
            excluded=self.exclusions.match,
            short_page=settings.serp_short_page,
            per_second=settings.serp_requests_per_second,
            max_credits=settings.max_serp_credits,
        )
        linking = LinkRules(
            settings.links_per_page,
            settings.fusion,
            settings.lexical_weight,
            settings.min_inlinks,
            settings.max_inlinks,
            settings.max_new_inlinks,
            near_duplicate=settings.near_duplicate,
            serp_floor=settings.serp_floor,
            last=_last_resort(settings),
            least_place=self.thresholds[0],
            house=rules_of(read_table(self.root / LINK_RULES_FILE)),
            goals=goals_of(read_table(self.root / LINK_TARGETS_FILE)),
            max_same_anchor=settings.max_same_anchor,
        )
        edges = EdgeRules(
            *self.thresholds,
            _density(settings),
            Sections(settings.approval_sections),
            settings.min_strength,
            None if settings.links_per_1000_words == "auto" else settings.links_per_1000_words,
            searched_first=settings.fusion == "fill",
        )
        return Rules(
            search,
            linking,
            settings.target_pages == "site",
            edges,
            renewed=renewed_sections(settings, options.sections if options else ()),
            scope=scope_of(settings, options),
            named=named_sections(settings, options),
            accept_drift=bool(options and options.accept_drift),
        )

    def exposed(self) -> Iterator[str]:
        """Yield a sentence for each way in which others could read the keys."""
        yield from exposed_keys(self.root)
        services = (
            *(f"{name}_url" for name in SEARCH_PROVIDERS),
            *("base_url", "anchor_base_url"),
            *("google_api_url", "search_console_url", "analytics_url"),
        )
        yield from unencrypted({name: getattr(self.settings, name) for name in services})

    @property
    def thresholds(self) -> tuple[float, float]:
        """The strengths from which a link belongs in the text, and beside it, 0 to 1."""
        inline = LEAST_PLACE[self.settings.anchors]
        return inline, round(beside(inline) * self.settings.tier_sidebar, 2)

    @property
    def site(self) -> str:
        """The host, without www., under which the store keeps this project's link graph and runs."""
        host = self.settings.site.partition("/")[0]
        if host == PLACEHOLDER_SITE:
            host = self._first_host()
        return host.lower().removeprefix("www.")

    def _first_host(self) -> str:
        """Return the host of the first page of the input; "" without pages."""
        forms = NormalForms()
        for name in ("urls_rawdata.csv", "main_queries.csv"):
            if table := self.table(name, []):
                stream = table.stream()
                at = find_column(stream.header, Kind.URL)
                urls = (row[at] for _, row in stream.rows if at is not None and at < len(row))
                if url := next((url for url in urls if forms[url]), ""):
                    return self.settings.hosts.canonicalise(forms[url]).partition("://")[2].partition("/")[0]
        return ""

    def table(self, name: str, notices: list[str], head: int = 0) -> StreamSource | None:
        """Return a CSV file of files/, or None if it doesn't exist; see `CsvTable` for `head`."""
        if name in self.tables:
            return self.tables[name]
        path = self.file(name)
        if path.exists():
            return CsvTable(path, f"files/{name}", head)
        notices.append(f"files/{name} not found: the run continues without it.")
        return None

    def existing_links(self) -> StreamSource | None:
        """Return the table of existing links, or None: it is optional."""
        return self.table("existing_links.csv", [])

    def lock(self) -> AbstractContextManager[None]:
        """Lock the folder: see `folder_lock`."""
        return folder_lock(self.root)

    def _shortened(self, encoder: Encoder) -> Encoder:
        """Truncate the encoder's vectors as the settings say; word statistics are short already."""
        first = self.settings.matryoshka_dimensions
        return Shortened(encoder, first) if first and not isinstance(encoder, LsaEncoder) else encoder

    def _desk(self, sheet: LinkSink | None) -> ReviewDesk | None:
        if self.settings.review == "none":
            return None
        if sheet:
            return self.clients.review_tab()
        from internal_linker.review.workbook import ReviewWorkbook

        return ReviewWorkbook(self.file("review.xlsx"), columns.LANGUAGES[self.settings.review_language])

    def _sinks(self, folder: str, model: str, keeps: Keeps, *, figures: bool) -> list[LinkSink]:
        path, hosts = self.file(folder), self.settings.hosts
        return [
            OutputCsv(path / "Output.csv", self.settings.links_per_page, keeps, hosts=hosts),
            LinksCsv(path / "links.csv", model, keeps, figures=figures, hosts=hosts),
        ]


def _rephrase(chat: "OpenAIChat", engine: Engine) -> Callable[[Anchors, Collected], Rephrased]:
    answers = StoredAnswers(engine, chat.model, chat.recipe)
    return functools.partial(
        Rephrased, model=chat.name, complete=chat.complete, recall=answers.get, keep=answers.put
    )


def _density(settings: Settings) -> LinkDensity:
    return LinkDensity(settings.max_links_on_page, settings.max_links_per_100_words)


def _last_resort(settings: Settings) -> DemotionRules:
    return DemotionRules(
        words=settings.short_page_words,
        density=_density(settings) if settings.dense_pages == "last" else None,
        deprecated=settings.deprecated_pages == "last",
        pattern=settings.deprecated_pattern,
        templates=settings.template_siblings == "last",
        one_way=settings.both_directions,
    )


def open_project(root: Path) -> Project:
    """Read a project folder's settings and patterns; nothing is contacted.

    Raises:
        ConfigurationError: a setting or pattern is wrong.
    """
    if not root.is_dir():
        raise ConfigurationError(f"Project folder {root} not found: check --project.")
    settings = load_settings(root)
    return Project(settings, root, read_exclusions(root / EXCLUSIONS_FILE, settings.hosts))


@contextmanager
def _closing(dispose: Callable[[], None], *services: object) -> Iterator[None]:
    """Close the services that can be closed, and dispose of the database after them."""
    with ExitStack() as closing:
        closing.callback(dispose)
        for service in services:
            if close := getattr(service, "close", None):
                closing.callback(close)
        yield
