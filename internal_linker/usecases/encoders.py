"""Settings and a project folder -> the encoder that embedding_provider names, unless it is a server's."""

from pathlib import Path

from internal_linker.adapters.tables.links_csv import CsvTable
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import Encoder
from internal_linker.embeddings.encoders.encoder import VectorFile
from internal_linker.embeddings.encoders.given import gathered
from internal_linker.embeddings.encoders.lsa import LsaEncoder
from internal_linker.embeddings.encoders.multilingual import MultilingualEncoder
from internal_linker.embeddings.encoders.sentence_transformers import Wishes, loaded_model
from internal_linker.embeddings.encoders.transformer_encoder import TransformerEncoder
from internal_linker.embeddings.encoders.vector_file import array_rows, parquet_rows, table_rows
from internal_linker.text.words import words
from internal_linker.usecases.computing import local_encoder_at
from internal_linker.usecases.settings.settings import Settings

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
            wishes = Wishes(
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
