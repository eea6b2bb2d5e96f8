"""The settings of the outside services: the Sheet, search results, embeddings."""

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from internal_linker.usecases.settings.sources import Country, Provider, Url

PLACEHOLDER_SITE = "yoursite.com"
OPENAI_URL = "https://api.openai.com/v1"


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

    serp_provider: Literal["auto", "serper", "none"] = Field(
        "auto",
        title="Search results (Serper)",
        description="auto: Serper if there is a key, else the search step is skipped.",
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
        "", description="Country of the search, two letters (us, de, ir); empty: Serper's default."
    )
    hl: str = Field("", description="Language of the search (en, de, fa); empty: Serper's default.")
    location: str = Field(
        "", description="Place of the search as Serper names it (Austin, Texas, United States)."
    )
    serp_max_age_days: float = Field(
        6.0,
        ge=0,
        le=36500,
        description="Days that search results are used again; below 7, a weekly run asks anew.",
    )
    max_serp_credits: int = Field(2500, ge=0, description="Credits that one run may spend at the most.")
    # Enough for 50 searches a second of 0.3 seconds each; the pace is bounded by the next setting.
    serp_requests_in_flight: int = Field(
        16, ge=1, le=64, description="Searches under way at the same time, at the most."
    )
    serp_requests_per_second: float = Field(
        5.0, gt=0, description="Searches a second at the most; the free plan allows 5."
    )
    serper_url: Url = Field("https://google.serper.dev", description="Address of Serper.")

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
