"""Files of named arrays and a JSON text, replaced as a whole: results that are shown again later."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from internal_linker.adapters.files.atomic import replace_binary, require_in_place

_FACTS = "facts"


def write_arrays(path: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Replace a file.

    Args:
        path: the file.
        facts: what JSON can hold.
        arrays: numbers, by names other than "facts".

    Raises:
        OutputError: it can't be written; an earlier file stays as it was.
    """
    # Lone surrogates must survive, too.
    text = json.dumps(facts, ensure_ascii=True).encode("ascii")

    def write(file: BinaryIO) -> None:
        np.savez(file, allow_pickle=False, **{_FACTS: np.frombuffer(text, np.uint8)}, **arrays)

    require_in_place(path, replace_binary(path, write))


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Return the facts and arrays of a file; None if it is missing, damaged or not of this kind."""
    try:
        # NumPy leaves a file open if it can't read it.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        facts = json.loads(arrays.pop(_FACTS).tobytes())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return (facts, arrays) if isinstance(facts, dict) else None
