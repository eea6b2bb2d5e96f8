"""The settings of a project: config/settings.toml, key files, and environment variables, which win."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from internal_linker.match.encoders import encoder_kinds
from internal_linker.model.canonical_hosts import CanonicalHosts, host_map
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.urls import within_site
from internal_linker.project.settings.accounts import notify_secrets, site_accesses, wordpress_account
from internal_linker.project.settings.sources import (
    API_KEYS,
    ENV_PREFIX,
    KEY_FILES,
    SEARCH_PROVIDERS,
    SETTINGS_FILE,
    AutoOrNumber,
    Country,
    Provider,
    Scheduler,
    Url,
    Zone,
    key_texts,
    problem,
    secrets_in,
    toml_values,
    unknown_names,
)

PLACEHOLDER_SITE = "yoursite.com"
OPENAI_URL = "https://api.openai.com/v1"

__all__ = ["ENV_PREFIX", "EXCLUSIONS_FILE", "KEY_FILES", "OPENAI_URL", "PLACEHOLDER_SITE", "SETTINGS_FILE"]
__all__ += ["SEARCH_PROVIDERS", "Settings", "load_settings", "settings_from"]

EXCLUSIONS_FILE = Path("config/excluded_urls.txt")


class Settings(BaseSettings):
    """Every setting with its unit, default and meaning; the field texts become the file's comments."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        extra="forbid",
        frozen=True,
        str_strip_whitespace=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    query_source: Literal["auto", "sheet", "csv"] = Field(
        "auto",
        title="Main queries",
        description="Where main queries come from, and where links are written in addition to files/: the "
        "Google Sheet (sheet), files/main_queries.csv (csv), or auto: the Sheet if "
        "google_sheet_id and a service account are set.",
    )
    google_sheet_id: str = Field("", description="ID or address of the Sheet.")
    google_sheet_name: str = Field("", description="Name of the tab; empty: the first tab.")
    google_api_url: Url = Field(
        "https://sheets.googleapis.com", description="Address of the Sheets API; change it only for a proxy."
    )
    search_console_url: Url = Field(
        "https://searchconsole.googleapis.com",
        description="Address of the Search Console API; change it only for a proxy.",
    )
    analytics_url: Url = Field(
        "https://analyticsdata.googleapis.com",
        description="Address of the Google Analytics Data API; change it only for a proxy.",
    )

    serp_provider: Literal[("auto", *SEARCH_PROVIDERS, "none")] = Field(  # type: ignore[valid-type]
        "auto",
        title="Search results (Serper, SerpApi)",
        description="auto: Serper if its key is set, else SerpApi if its key is set, else the search step "
        "is skipped.",
    )
    search_query_template: str = Field(
        f"site:{PLACEHOLDER_SITE} {{main_query}}",
        description="Template of the search query; a path restricts search, sources and targets to part of the "
        "site: site:yoursite.com/mag {main_query}.",
    )
    max_serp_pages: int = Field(
        2,
        ge=1,
        le=10,
        description="Maximum result pages per query, 1 credit each; fewer if links_per_page links are found.",
    )
    serp_short_page: int = Field(
        6,
        ge=0,
        le=10,
        description="A result page with fewer results than this is a search's last one, so the next page is not "
        "bought. Full pages have ten results, sometimes eight or nine; 0: only an empty page is the last one.",
    )
    gl: Country = Field(
        "", description="Country of the search, two letters (us, de, ir); empty: the service's default."
    )
    hl: str = Field("", description="Language of the search (en, de, fa); empty: the service's default.")
    location: str = Field(
        "", description="Place of the search as the service names it (Austin, Texas, United States)."
    )
    serp_max_age_days: float = Field(
        6.0,
        ge=0,
        le=36500,
        description="Days for which search results are reused; below 7, a weekly run searches again.",
    )
    max_serp_credits: int = Field(
        2500, ge=0, description="Maximum credits (with SerpApi: searches) that one run may spend."
    )
    # Enough for 50 searches per second of 0.3 seconds each; the next setting limits their rate.
    serp_requests_in_flight: int = Field(16, ge=1, le=64, description="Maximum concurrent searches.")
    serp_requests_per_second: float = Field(
        5.0, gt=0, description="Maximum searches per second; Serper's free plan allows 5."
    )
    serper_url: Url = Field("https://google.serper.dev", description="Address of Serper.")
    serpapi_url: Url = Field("https://serpapi.com", description="Address of SerpApi.")

    embedding_provider: Provider = Field(
        "auto",
        title="Embeddings",
        description="auto: OpenAI if there is a key or another base_url, else fast (local if the last run used it), or "
        "multilingual if it is installed and most pages are in other languages than English; openai; "
        + "; ".join(f"{name}{kind.argument}: {kind.meaning}" for name, kind in encoder_kinds().items())
        + ".",
    )
    embedding_model: str = Field("text-embedding-3-small", description="Model for the openai provider.")
    embedding_dimensions: int = Field(
        0, ge=0, le=8192, description="Dimensions of the vectors; 0: the model's default."
    )
    base_url: Url = Field(
        OPENAI_URL,
        description="Any server with OpenAI's embeddings API: Ollama, vLLM, LM Studio, Azure.",
    )
    embedding_price: AutoOrNumber = Field(
        "auto",
        description="US dollars per million tokens, 0 if the server is free. auto: OpenAI's known prices, and 0 for "
        "servers in your own network; any other server needs a price, so that max_cost_usd holds.",
    )
    max_cost_usd: float = Field(
        5.0, ge=0, description="Maximum US dollars that one run may spend on embeddings."
    )
    max_input_tokens: int = Field(
        8191,
        ge=16,
        description="Tokens of a page that the openai provider embeds; the rest is cut off.",
    )
    embedding_requests_in_flight: int = Field(
        4, ge=1, le=64, description="Maximum concurrent embedding requests."
    )
    embedding_storage: Literal["float16", "float32"] = Field(
        "float16",
        description="How vectors are stored in the cache and in memory; float16 halves the size and gives the "
        "same links.",
    )
    matryoshka_dimensions: int = Field(
        0,
        ge=0,
        le=8192,
        description="Compare only the first N dimensions of each vector, for models trained for it; 0: all. The "
        "cache keeps whole vectors.",
    )
    write_vectors: Literal["never", "always"] = Field(
        "never",
        description="always: at its end, each run writes every page's vector to files/vectorized_urls.csv, as "
        "export-vectors does.",
    )
    transformer_pooling: Literal["", "mean", "cls", "max"] = Field(
        "",
        title="Models of sentence-transformers",
        description="How token vectors become one vector: their mean, the first one (cls) or their "
        "element-wise maximum (max); empty: as the model is configured, else mean.",
    )
    transformer_max_length: int = Field(
        0,
        ge=0,
        le=131_072,
        description="Tokens that the model reads at a time; it reads up to four times as many per page. "
        "0: the model's maximum.",
    )
    transformer_device: Literal["auto", "cuda", "mps", "cpu"] = Field(
        "auto",
        description="Where the model runs: NVIDIA GPU (cuda), Apple GPU (mps) or CPU; auto: the first that is "
        "available.",
    )
    transformer_precision: Literal["auto", "float32", "float16"] = Field(
        "auto", description="Floating-point precision of the model; auto: float16 on cuda, else float32."
    )

    anchor_model: str = Field(
        "",
        title="Anchors by a language model (off)",
        description="Chat model that may choose another anchor from a link's sentence, or fewer new words for one, "
        "such as gpt-4.1-mini; empty: off. Sentences and titles of your pages are sent to it.",
    )
    anchor_base_url: Url = Field(
        OPENAI_URL,
        description="Any server with OpenAI's chat API; the key is in config/openai_api_key.txt.",
    )
    max_anchor_tokens: int = Field(
        200_000,
        ge=0,
        description="Maximum tokens, questions and answers together, that one run may spend on anchors.",
    )
    links_per_page: int = Field(5, ge=1, le=50, title="Links", description="Links per page.")
    fusion: Literal["fill", "blend"] = Field(
        "fill",
        description="fill: search results first, in their order, then the most similar pages; blend: both "
        "ranked together. The summary of a run and the command check recommend blend where a site's results are poor.",
    )
    serp_floor: float = Field(
        0.0,
        ge=-10,
        le=10,
        description="Similarity that a search result should have, in standard deviations above the page's "
        "average target; blend drops results below it, fill counts them in the summary.",
    )
    lexical_weight: float = Field(
        0.65,
        ge=0,
        le=1,
        description="Weight of words (TF-IDF) in the similarity, 0 to 1; embeddings have the rest.",
    )
    min_inlinks: int = Field(
        2,
        ge=0,
        le=50,
        description="Links that every page should get from other pages, if any are similar to it.",
    )
    max_inlinks: float = Field(
        10.0, ge=0, description="Maximum links to one page, as a multiple of the average; 0: no limit."
    )
    max_new_inlinks: int = Field(
        10,
        ge=0,
        description="Maximum proposed links to one page in a run, without accepted ones, so that a few pages don't get "
        "most of the new links; pages then have fewer than links_per_page links where their best targets are full. "
        "0: no limit.",
    )
    priority: Literal["none", "search"] = Field(
        "none",
        description="search: of targets that fit nearly equally well, pages that need links most come first, by the "
        "clicks that better positions in search results would earn them, by few in-links, and by age. It needs search "
        "data.",
    )
    short_page_words: int = Field(
        100,
        ge=0,
        le=10_000,
        description="Pages with fewer words come last as sources and targets of links: after all others, and without a "
        "claim to min_inlinks; 0: they count as others. It does not apply to strong links, nor where most pages are "
        "short.",
    )
    dense_pages: Literal["last", "equal"] = Field(
        "last",
        description="last: pages with more links than max_links_on_page or max_links_per_100_words allows come last, "
        "too; equal: they count as others.",
    )
    deprecated_pages: Literal["last", "equal"] = Field(
        "last",
        description="last: pages that call themselves deprecated, obsolete, archived or no longer maintained, in their "
        "title, H1, URL or first lines, come last, too; equal: they count as others.",
    )
    deprecated_pattern: str = Field(
        "",
        description="Regular expression, without regard to case: further pages come last as deprecated if it matches "
        r"their URL, title or H1, such as /archive/|\(v1\).",
    )
    template_siblings: Literal["last", "equal"] = Field(
        "last",
        description="last: pages made from one template, with titles such as The meaning of X and texts that begin "
        "alike, come last as links of each other; equal: they count as others.",
    )
    both_directions: float = Field(
        0.6,
        ge=0,
        le=1,
        description="Two pages are proposed as links of each other only if both links have at least this strength, "
        "0 to 1; else the weaker one comes last. 0: always.",
    )
    near_duplicate: float = Field(
        0.95,
        ge=0.5,
        le=1,
        description="Cosine at or above which two pages that share half of their text are never linked to "
        "each other.",
    )
    sections_off: tuple[str, ...] = Field(
        (),
        description='Parts of the site whose pages keep the links of the last run, such as ["/blog", '
        '"/*/archive/*"]; for one run: --section /blog=off.',
    )
    source_include: tuple[str, ...] = Field(
        (),
        description='Only pages in these parts of the site get links, such as ["/blog"]; empty: all. Without it, a '
        "path in search_query_template applies to pages that are not in the main queries.",
    )
    source_exclude: tuple[str, ...] = Field((), description="Pages in these parts of the site get no links.")
    target_include: tuple[str, ...] = Field(
        (),
        description="Links lead only to pages in these parts of the site; empty: the path in "
        'search_query_template, if it has one, else the whole site, as ["/"] says.',
    )
    target_exclude: tuple[str, ...] = Field(
        (), description="No links lead to pages in these parts of the site."
    )
    target_pages: Literal["known", "site"] = Field(
        "known",
        description="Where links may lead: to pages in your own lists (known), or to any search result on the "
        "site (site).",
    )

    map_hosts: tuple[str, ...] = Field(
        (),
        description="Hosts that stand for another one, such as a staging site that was crawled in place of the "
        'site: ["staging.example.com=www.example.com"].',
    )

    review: Literal["auto", "none"] = Field(
        "auto",
        title="Review",
        description="Where editors accept and reject links. auto: the tab Review of the Sheet, or "
        "files/review.xlsx without a Sheet; none: nowhere.",
    )
    review_language: Literal["en", "de"] = Field(
        "en",
        description="The language of headings and choices in the review; both are always read.",
    )
    anchors: Literal["strict", "balanced", "broad"] = Field(
        "balanced",
        title="Links in the text",
        description="How good the place of a link in the text must be: strict proposes few links, nearly all of which "
        "can be published unread; broad many, of which an editor chooses.",
    )
    links_per_1000_words: AutoOrNumber = Field(
        "auto",
        description="Links per 1,000 words of a text, with those that it has already; further links belong beside it. "
        "auto: as many as the site's editors set, at most 5, but five in any text, and always a new one per 100 words "
        "up to three.",
    )
    max_same_anchor: int = Field(
        3,
        ge=1,
        description="Links to a page with the same words, over the whole site and with the known ones, before other "
        "words of the text come first.",
    )
    tier_sidebar: float = Field(
        0.7,
        ge=0,
        le=1,
        description='How well two pages must fit for a "related box" beside the text (tier sidebar), 0 to 1; with '
        'less, links get "needs a look" (tier review). Links without a place in the text have a third of it as '
        "their score: 0.7 stands for score 23. calibrate proposes a value.",
    )
    min_strength: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Score below which links are left out, as a share; 0: none. Links to a page that no page links "
        "to stay, and Note names them as weak.",
    )
    approval_sections: tuple[str, ...] = Field(
        (),
        description="Parts of the site whose links, from and to their pages, wait in Review until an editor "
        'accepts them, such as ["/health", "/*/legal/*"].',
    )

    source_folder: str = Field(
        "",
        title="Apply",
        description="Folder of the site's source files, into which apply and the app put accepted links; a relative "
        "path starts at the project folder.",
    )

    max_clicks: int = Field(
        4,
        ge=1,
        title="Audit",
        description="Clicks from the home page above which audit reports a page as deep.",
    )
    max_links_on_page: int = Field(
        100,
        ge=1,
        description="Links that a page can carry: audit reports a page with more as dense, and a run puts no more "
        "into its text.",
    )
    max_links_per_100_words: float = Field(
        5.0,
        gt=0,
        description="Links that 100 words of a page can carry, but five in any text: audit reports a page with more as "
        "dense, and a run puts no more into its text.",
    )

    store_url: str = Field(
        "sqlite:///files/cache.sqlite3",
        title="Cache",
        repr=False,  # a server's address can hold a password
        description="Database of the cache; a relative path starts at the project folder. For a team: "
        "postgresql+psycopg://user@host/database, with the password in config/store_password.txt.",
    )
    store_backups: int = Field(
        4,
        ge=0,
        description="Weekly backups of the cache file to keep in backups/ beside it, each as large as the cache; 0: "
        "make none. A PostgreSQL database is not backed up.",
    )

    dask_scheduler: Scheduler = Field(
        "",
        title="More than one computer (docs/scaling.md)",
        description="Address of a Dask scheduler whose workers compare pages and run the local model, such as "
        "tcp://10.0.0.5:8786; empty: this computer does it.",
    )

    schedule_cron: str = Field(
        "0 3 * * SUN",
        title="Schedule (the command schedule)",
        description="Minute, hour, day, month and weekday of runs; weekdays as MON to SUN.",
    )
    schedule_timezone: Zone = Field(
        "", description="Time zone, such as Europe/Berlin; empty: the computer's."
    )
    schedule_grace_minutes: int = Field(
        60, ge=1, description="Minutes by which a run may start late, after sleep or a restart."
    )

    notify_always: bool = Field(
        False,
        title="Alerts (docs/alerts.md)",
        description="true: every run over all rows sends a message to the addresses in config/notify.txt; false: only "
        "one with something to report does.",
    )
    notify_not_live_days: int = Field(
        21,
        ge=0,
        le=3650,
        description="Days after which an accepted link that is still not on its page is reported, once; 0: never.",
    )

    serper_api_key: SecretStr = Field(SecretStr(""), description="Key of Serper.")
    serpapi_api_key: SecretStr = Field(SecretStr(""), description="Key of SerpApi.")
    openai_api_key: SecretStr = Field(
        SecretStr(""), description="Key of OpenAI, or of the servers at base_url and anchor_base_url."
    )
    service_account: SecretStr = Field(SecretStr(""), description="JSON key of a Google service account.")
    store_password: SecretStr = Field(SecretStr(""), description="Password of the server in store_url.")
    wordpress: SecretStr = Field(
        SecretStr(""),
        description="A WordPress site's address, a user and an application password, on a line each.",
    )
    site_access: SecretStr = Field(
        SecretStr(""),
        description="Headers, passwords and proxies for protected sites that import fetches, as TOML.",
    )
    notify: SecretStr = Field(
        SecretStr(""),
        description="Addresses of mail, Slack, Teams, Telegram or webhooks that get alerts, one per line.",
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch(cls, value: Any, info: ValidationInfo) -> Any:
        # pydantic would accept true as the number 1.
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError("it can't be true or false")
        return value

    @field_validator("google_sheet_id")
    @classmethod
    def _id_of_address(cls, value: str) -> str:
        found = re.search(r"/spreadsheets/(?:u/\d+/)?d/([\w-]{3,})", value)
        bare = found.group(1) if found else value
        if not re.fullmatch(r"[\w-]*", bare):
            raise ValueError(
                "it is neither a Sheet's id nor its address: copy the address bar while the Sheet is open"
            )
        return bare

    @field_validator("search_query_template")
    @classmethod
    def _searchable(cls, value: str) -> str:
        sites = re.findall(r"(?<!\S)site:(\S*)", value)
        example = f"as in site:{PLACEHOLDER_SITE} {{main_query}}"
        if "{main_query}" not in value:
            raise ValueError(f"it must contain {{main_query}}, {example}")
        if any("//" in site for site in sites):
            raise ValueError(f"leave out https://, {example}")
        if len(sites) != 1 or not re.match(r"[^\W_][\w.-]*\.[\w-]+(/|$)", sites[0]):
            raise ValueError(f"it must contain site: and your host exactly once, {example}")
        within_site("https://any.example/", sites[0])  # raises for an impossible host
        return value

    @field_validator("deprecated_pattern")
    @classmethod
    def _expression(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"it is not a regular expression: {error}") from None
        return value

    @field_validator("tier_sidebar", "min_strength")
    @classmethod
    def _whole_score(cls, value: float) -> float:
        # People read scores without decimals, which must say on which side of a threshold a link is.
        return round(value, 2)

    @field_validator("map_hosts")
    @classmethod
    def _mappable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        host_map(value)
        return value

    @field_validator(*API_KEYS)
    @classmethod
    def _key_alone(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip().strip("\"'")
        if len(key.split()) > 1:
            raise ValueError("it must contain only the key, on one line")
        return SecretStr(key)

    @property
    def site(self) -> str:
        """Host and path after `site:` in the template."""
        found = re.search(r"(?<!\S)site:(\S+)", self.search_query_template)
        return self.hosts.site(found.group(1).rstrip("/")) if found else ""

    @property
    def hosts(self) -> CanonicalHosts:
        """The hosts of map_hosts."""
        return CanonicalHosts(host_map(self.map_hosts))

    @property
    def search_provider(self) -> str:
        """The search service: the one that serp_provider names, else the first with a key, else the first."""
        if self.serp_provider in SEARCH_PROVIDERS:
            return str(self.serp_provider)
        return next((name for name in SEARCH_PROVIDERS if self.search_key(name)), SEARCH_PROVIDERS[0])

    def search_key(self, provider: str) -> str:
        """Return the key of a search service; "" without one."""
        key: SecretStr = getattr(self, f"{provider}_api_key")
        return key.get_secret_value()

    def search_url(self, provider: str) -> str:
        """Return the address of a search service."""
        return str(getattr(self, f"{provider}_url"))

    @property
    def secrets(self) -> list[str]:
        """Every secret text, for the log's filter: keys, and what `secrets_in` finds in addresses."""
        values: list[SecretStr] = [getattr(self, name) for name in KEY_FILES]
        keys = [value.get_secret_value() for value in values if value.get_secret_value()]
        services = (
            *(self.base_url, self.anchor_base_url, self.google_api_url, self.search_console_url),
            self.analytics_url,
            *(self.search_url(name) for name in SEARCH_PROVIDERS),
        )
        addresses = (secret for url in (self.store_url, *services) for secret in secrets_in(url))
        notified = notify_secrets(self.notify.get_secret_value())
        return [*keys, *self._site_secrets(), *self._wordpress_secrets(), *notified, *addresses]

    def _site_secrets(self) -> list[str]:
        try:
            accesses = site_accesses(self.site_access.get_secret_value())
        except ConfigurationError:  # `import` says so, and sends nothing
            return []
        return [secret for access in accesses.values() for secret in access.secrets() if secret]

    def _wordpress_secrets(self) -> list[str]:
        try:
            account = wordpress_account(self.wordpress.get_secret_value())
        except ConfigurationError:  # `import` says so, and sends nothing
            return []
        return [*account.secrets()] if account else []

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the files, which come in as constructor arguments."""
        return env_settings, init_settings


# Settings of earlier versions, and what counts in their place.
_FORMER = {
    "tier_inline": 'anchors = "strict", "balanced" or "broad" says how good the place of a link must be'
}


def former_settings(project: Path) -> list[str]:
    """Return a sentence for each setting of an earlier version in a project's settings.toml, which no longer counts.

    Raises:
        ConfigurationError: the file can't be read.
    """
    return [
        f"{SETTINGS_FILE.as_posix()}: {name} no longer counts: {instead}. Remove the line."
        for name, instead in _FORMER.items()
        if name in toml_values(project)
    ]


def load_settings(project: Path) -> Settings:
    """Read the settings of a project folder; a missing settings.toml means defaults.

    Raises:
        ConfigurationError: a file can't be read, or a value or name is wrong; the nearest right names are given.
    """
    return settings_from(toml_values(project), key_texts(project))


def settings_from(values: Mapping[str, Any], keys: Mapping[str, str]) -> Settings:
    """Check values and keys together with the environment, which wins, and return the settings.

    Raises:
        ConfigurationError: values are wrong, or names are unknown; the nearest right ones are named.
    """
    values, known = (
        {name: value for name, value in values.items() if name not in _FORMER},
        Settings.model_fields,
    )
    unknown = [
        *unknown_names(values, known, SETTINGS_FILE.as_posix()),
        *unknown_names(os.environ, known, "the environment", ENV_PREFIX),
    ]
    if unknown:
        raise ConfigurationError(" ".join(unknown))
    if misplaced := next((name for name in KEY_FILES if name in values), ""):
        where = KEY_FILES[misplaced][0].as_posix()
        raise ConfigurationError(
            f"{SETTINGS_FILE.as_posix()}: {misplaced} does not belong in this file. Move it to {where}."
        )
    secrets: dict[str, Any] = {name: SecretStr(text) for name, text in keys.items()}
    try:
        return Settings(**values, **secrets)
    except SettingsError as error:
        field = re.search(r'field "(\w+)"', str(error))
        name = f"{ENV_PREFIX}{field[1].upper()}" if field else ENV_PREFIX
        raise ConfigurationError(
            f'environment variable {name}: it must be a list of texts, as in ["/blog", "/shop"].'
        ) from None
    except ValidationError as error:
        problems = (problem(dict(item)) for item in error.errors(include_url=False, include_context=False))
        raise ConfigurationError(" ".join(problems)) from None
