"""Where a project and its stored data are made, copied, checked and pruned."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.project.option_records import Option, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions(Options):
    """What is made besides the configuration."""

    sheet: Annotated[
        bool, Option("Also write the column names into the tab of your Google Sheet, if it is empty.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions(Options):
    """What a check does besides looking."""

    notify: Annotated[bool, Option("Send a test message to each address in config/notify.txt.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyStoreOptions(Options):
    """Two databases."""

    source: Annotated[
        str,
        Option(
            "The database to copy from.",
            metavar="FROM",
            argument=True,
            doc="Where the cache is: as store_url, or the path of an SQLite file.",
        ),
    ]
    destination: Annotated[
        str,
        Option(
            "The database to copy to.",
            metavar="TO",
            argument=True,
            doc="Where it is copied to: as store_url, or the path of an SQLite file.",
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyCacheOptions(Options):
    """What to do with damaged rows."""

    repair: Annotated[
        bool, Option("Remove damaged rows that runs replace; restore the newest backup if there are others.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUpOptions(Options):
    """Where a backup goes."""

    to: Annotated[
        Path | None,
        Option(
            "The file or folder to write to. Default: backups/ beside the cache.", metavar="TO", argument=True
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOptions(Options):
    """Which backup takes the cache's place."""

    backup: Annotated[
        Path | None,
        Option(
            "The backup. Default: the newest one in backups/ beside the cache.", metavar="FROM", argument=True
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneCacheOptions(Options):
    """What to remove from the cache."""

    days: Annotated[int, Option("Remove what no run has used for N days.", least=1)] = 182
    apply: Annotated[
        bool,
        Option(
            "Remove the rows; without this option, only count them.",
            doc="Remove the rows; otherwise they are only counted.",
        ),
    ] = False
