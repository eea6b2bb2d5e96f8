"""config/settings.toml + key files + environment variables -> one frozen Settings; the environment wins."""

import os
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from internal_linker.core.errors import ConfigurationError
from internal_linker.core.urls import within_site
from internal_linker.usecases.settings.sources import (
    ENV_PREFIX,
    KEY_FILES,
    SETTINGS_FILE,
    Country,
    Provider,
    Scheduler,
    Url,
    Zone,
    key_texts,
    password,
    problem,
    refuse_unknown,
    toml_values,
)

PLACEHOLDER_SITE = "yoursite.com"
OPENAI_URL = "https://api.openai.com/v1"
# In the order in which serp_provider = "auto" takes them.
SEARCH_PROVIDERS = ("serper", "serpapi")


class ServiceSettings(BaseSettings):
    """The first part of `Settings`."""

    query_source: Literal["auto", "sheet", "csv"] = Field(
        "auto",
        title="Main queries",
        description="Where URL and Main Query come from, and where links go beside files/: the Google Sheet, "
        "files/main_queries.csv, or auto: the Sheet if google_sheet_id and a service account are there.",
    )
    google_sheet_id: str = Field("", description="The Sheet's id, or its whole address.")
    google_sheet_name: str = Field("", description="The tab's name; empty: the first tab.")
    google_api_url: Url = Field(
        "https://sheets.googleapis.com", description="Address of the Sheets API; change it for a proxy only."
    )

    serp_provider: Literal["auto", "serper", "serpapi", "none"] = Field(
        "auto",
        title="Search results (Serper, SerpApi)",
        description="auto: Serper if its key is there, else SerpApi if its key is there, else the search step "
        "is skipped.",
    )
    search_query_template: str = Field(
        f"site:{PLACEHOLDER_SITE} {{main_query}}",
        description="What is searched; a path narrows it: site:yoursite.com/mag {main_query}.",
    )
    max_serp_pages: int = Field(
        2,
        ge=1,
        le=10,
        description="Result pages asked for at the most, 1 credit each; fewer if five links are found.",
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
        description="Days that search results are used again; below 7, a weekly run asks anew.",
    )
    max_serp_credits: int = Field(
        2500, ge=0, description="The most credits (with SerpApi: searches) that one run may spend."
    )
    # Enough for 50 searches a second of 0.3 seconds each; the pace is bounded by the next setting.
    serp_requests_in_flight: int = Field(
        16, ge=1, le=64, description="Searches under way at the same time, at the most."
    )
    serp_requests_per_second: float = Field(
        5.0, gt=0, description="The most searches a second; Serper's free plan allows 5."
    )
    serper_url: Url = Field("https://google.serper.dev", description="Address of Serper.")
    serpapi_url: Url = Field("https://serpapi.com", description="Address of SerpApi.")

    embedding_provider: Provider = Field(
        "auto",
        title="Embeddings",
        description="auto: OpenAI if there is a key, else the local model; "
        "multilingual: 15 languages, installed on wish; lsa: word statistics only, no model; "
        "sentence-transformers:MODEL: any such model, by its name or folder, installed on wish; "
        "file:PATH: vectors that you have.",
    )
    embedding_model: str = Field("text-embedding-3-small", description="Model of the openai provider.")
    embedding_dimensions: int = Field(
        0, ge=0, le=8192, description="Numbers in a vector; 0: as many as the model gives."
    )
    base_url: Url = Field(
        OPENAI_URL,
        description="Any server that speaks OpenAI's embeddings API: Ollama, vLLM, LM Studio, Azure.",
    )
    embedding_price: float = Field(
        -1.0,
        ge=-1,
        description="US dollars for a million tokens; -1: the known prices of OpenAI's models, 0 for others.",
    )
    max_cost_usd: float = Field(
        5.0, ge=0, description="US dollars that one run may spend on embeddings at the most."
    )
    max_input_tokens: int = Field(
        8191,
        ge=16,
        description="Tokens of a page that are embedded by the openai provider; the rest is cut off.",
    )
    embedding_requests_in_flight: int = Field(
        4, ge=1, le=64, description="Requests under way at the same time."
    )
    embedding_storage: Literal["float16", "float32"] = Field(
        "float16",
        description="How vectors are kept, in the cache and in memory: "
        "float16 takes half the room and gives the same links.",
    )
    matryoshka_dimensions: int = Field(
        0,
        ge=0,
        le=8192,
        description="Numbers of a vector that count, from its beginning, for models that were trained for it; "
        "0: all. The cache keeps all of them.",
    )
    transformer_pooling: Literal["", "mean", "cls", "max"] = Field(
        "",
        title="Models of sentence-transformers",
        description="What becomes of the vectors of a text's tokens: their mean, the first one (cls) or the largest "
        "of each number (max); empty: as the model has it, and mean where it doesn't say.",
    )
    transformer_max_length: int = Field(
        0,
        ge=0,
        le=131_072,
        description="Tokens that the model reads at a time; of a page it reads four times as many. "
        "0: as many as it can.",
    )
    transformer_device: Literal["auto", "cuda", "mps", "cpu"] = Field(
        "auto",
        description="Where the model runs: an NVIDIA GPU (cuda), an Apple GPU (mps) or the processor; "
        "auto: the first of them that is there.",
    )
    transformer_precision: Literal["auto", "float32", "float16"] = Field(
        "auto", description="How the model computes; auto: float16 on cuda, float32 elsewhere."
    )

    anchor_model: str = Field(
        "",
        title="Anchors by a language model (off)",
        description="Chat model that may choose a link's anchor anew, within its sentence, as in gpt-4.1-mini; "
        "empty: none is asked. Sentences and titles of your pages are sent to it.",
    )
    anchor_base_url: Url = Field(
        OPENAI_URL,
        description="Any server that speaks OpenAI's chat API; the key is that of config/openai_api_key.txt.",
    )
    max_anchor_tokens: int = Field(
        200_000,
        ge=0,
        description="Tokens, questions and answers together, that one run may spend on anchors at the most.",
    )


__all__ = ["ENV_PREFIX", "EXCLUSIONS_FILE", "KEY_FILES", "OPENAI_URL", "PLACEHOLDER_SITE", "SETTINGS_FILE"]
__all__ += ["Settings", "load_settings"]

EXCLUSIONS_FILE = Path("config/excluded_urls.txt")


class Settings(ServiceSettings):
    """Every setting with its unit, default and meaning; the field texts become the file's comments."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        extra="forbid",
        frozen=True,
        str_strip_whitespace=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    links_per_page: int = Field(5, ge=1, le=50, title="Links", description="Links for each page.")
    fusion: Literal["fill", "blend"] = Field(
        "fill",
        description="fill: search results first, in their order, then the most similar pages; "
        "blend: both ranked together.",
    )
    serp_floor: float = Field(
        0.0,
        ge=-10,
        le=10,
        description="Similarity of a search result, in standard deviations above the page's average target: "
        "with less, blend drops it and fill counts it in the summary.",
    )
    lexical_weight: float = Field(
        0.65,
        ge=0,
        le=1,
        description="Share of the words (TF-IDF) in the similarity; the rest is the embedding's.",
    )
    min_inlinks: int = Field(
        2, ge=0, le=50, description="Links that every page should get from others, if any page is near it."
    )
    max_inlinks: float = Field(
        10.0, ge=0, description="Links that a page may get, as a multiple of the mean; 0: no limit."
    )
    near_duplicate: float = Field(
        0.95,
        ge=0.5,
        le=1,
        description="Cosine from which two pages that share most of their text are never linked to each other.",
    )
    sections_off: tuple[str, ...] = Field(
        (),
        description="Parts of the site whose pages keep the links that they have, as in "
        '["/blog", "/*/archive/*"]; for one run: --section /blog=off.',
    )
    target_pages: Literal["known", "site"] = Field(
        "known",
        description="Where links may lead: pages of your own lists (known), "
        "or any search result on the site (site).",
    )

    review: Literal["auto", "none"] = Field(
        "auto",
        title="Review",
        description="Where editors accept and reject links. auto: the tab Review of the Sheet, or files/review.xlsx "
        "without a Sheet; none: nowhere.",
    )
    tier_inline: float = Field(
        0.8,
        ge=0,
        le=1,
        description="Strength, 0 to 1, from which a link belongs into the text (tier inline); calibrate proposes it.",
    )
    tier_sidebar: float = Field(
        0.65,
        ge=0,
        le=1,
        description="Strength, 0 to 1, from which a link may stand beside the text (tier sidebar); with less: review.",
    )
    approval_sections: tuple[str, ...] = Field(
        (),
        description="Parts of the site whose links wait in Review until an editor accepts them, from or to "
        'their pages, as in ["/health", "/*/legal/*"].',
    )

    max_clicks: int = Field(
        4, ge=1, title="Audit", description="Clicks from the home page beyond which audit calls pages deep."
    )
    max_links_on_page: int = Field(
        100, ge=1, description="Links on one page beyond which audit calls it dense."
    )
    max_links_per_100_words: float = Field(
        5.0, gt=0, description="Links in 100 words of a page beyond which audit calls it dense."
    )

    store_url: str = Field(
        "sqlite:///files/cache.sqlite3",
        title="Cache",
        repr=False,  # a server's address can hold a password
        description="Database for vectors and search results; a relative path starts at the project folder. "
        "For a team: postgresql+psycopg://user@host/database, the password in config/store_password.txt.",
    )

    dask_scheduler: Scheduler = Field(
        "",
        title="Past one computer (.github/SCALING.md)",
        description="Dask scheduler whose workers compare the pages and run the local model, as in "
        "tcp://10.0.0.5:8786; empty: this computer.",
    )

    schedule_cron: str = Field(
        "0 3 * * SUN",
        title="Schedule (internal-linker schedule)",
        description="Minute, hour, day, month, weekday; weekdays as MON ... SUN.",
    )
    schedule_timezone: Zone = Field("", description="Such as Europe/Berlin; empty: the computer's.")
    schedule_grace_minutes: int = Field(
        60, ge=1, description="Minutes that a run may start late, after sleep or a restart."
    )

    serper_api_key: SecretStr = Field(SecretStr(""), description="Serper's key.")
    serpapi_api_key: SecretStr = Field(SecretStr(""), description="SerpApi's key.")
    openai_api_key: SecretStr = Field(
        SecretStr(""), description="OpenAI's key, or that of the servers at base_url and anchor_base_url."
    )
    service_account: SecretStr = Field(
        SecretStr(""), description="JSON text of a Google service account's key."
    )
    store_password: SecretStr = Field(SecretStr(""), description="Password of store_url's server.")

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch(cls, value: Any) -> Any:
        # pydantic would take true for the number 1.
        if isinstance(value, bool):
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
            raise ValueError(f"it must hold {{main_query}}, {example}")
        if any("//" in site for site in sites):
            raise ValueError(f"leave out https://, {example}")
        if len(sites) != 1 or not re.match(r"[^\W_][\w.-]*\.[\w-]+(/|$)", sites[0]):
            raise ValueError(f"it must hold site: and your host once, {example}")
        within_site("https://any.example/", sites[0])  # a host that can't be one is told here
        return value

    @field_validator("serper_api_key", "serpapi_api_key", "openai_api_key")
    @classmethod
    def _key_alone(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip().strip("\"'")
        if len(key.split()) > 1:
            raise ValueError("the key must stand there alone, on one line")
        return SecretStr(key)

    @property
    def site(self) -> str:
        """Host and path after `site:` in the template."""
        found = re.search(r"(?<!\S)site:(\S+)", self.search_query_template)
        return found.group(1).rstrip("/") if found else ""

    @property
    def search_provider(self) -> str:
        """The search service: the one that was asked for, or the first that has a key, or the first."""
        if self.serp_provider in SEARCH_PROVIDERS:
            return self.serp_provider
        return next((name for name in SEARCH_PROVIDERS if self.search_key(name)), SEARCH_PROVIDERS[0])

    def search_key(self, provider: str) -> str:
        """The key of a search service; "" without one."""
        key: SecretStr = getattr(self, f"{provider}_api_key")
        return key.get_secret_value()

    def search_url(self, provider: str) -> str:
        """The address of a search service."""
        return str(getattr(self, f"{provider}_url"))

    @property
    def secrets(self) -> list[str]:
        """Every secret text, for the log's filter: keys, and passwords inside addresses as `:password@`."""
        values: list[SecretStr] = [getattr(self, name) for name in KEY_FILES]
        keys = [value.get_secret_value() for value in values if value.get_secret_value()]
        services = (
            *(self.base_url, self.anchor_base_url, self.google_api_url),
            *(self.search_url(name) for name in SEARCH_PROVIDERS),
        )
        passwords = (password(url) for url in (self.store_url, *services))
        return keys + [f":{password}@" for password in passwords if password]

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment stands over the files, which come in as constructor arguments."""
        return env_settings, init_settings


def load_settings(project: Path) -> Settings:
    """Read the settings of a project folder; a missing settings.toml means all defaults.

    Raises:
        ConfigurationError: a file can't be read, a value is wrong, or a name is unknown; the nearest right
            one is named.
    """
    values = toml_values(project)
    refuse_unknown(values, Settings.model_fields, SETTINGS_FILE.as_posix())
    refuse_unknown(os.environ, Settings.model_fields, "the environment", ENV_PREFIX)
    if misplaced := next((name for name in KEY_FILES if name in values), ""):
        where = KEY_FILES[misplaced][0].as_posix()
        raise ConfigurationError(
            f"{SETTINGS_FILE.as_posix()}: {misplaced} does not belong in this file. Move it to {where}."
        )
    secrets: dict[str, Any] = {name: SecretStr(text) for name, text in key_texts(project).items()}
    try:
        return Settings(**values, **secrets)
    except ValidationError as error:
        problems = (problem(dict(item)) for item in error.errors(include_url=False, include_context=False))
        raise ConfigurationError(" ".join(problems)) from None
