"""What scheduler and workers say of themselves -> whether they fit this computer."""

from collections.abc import Callable
from typing import Any

from internal_linker.core.errors import ServiceError

# Results are to be the same everywhere, and tasks travel as these packages write them.
SAME = ("python", "dask", "distributed", "numpy", "internal_linker")


def check_versions(versions: dict[str, Any], problem: Callable[[str], ServiceError]) -> None:
    """Refuse a scheduler or worker with another version of what must be the same.

    Raises:
        ServiceError: the first that differs, by its address.
    """
    ours = _packages(versions["client"])
    others = {"the scheduler": versions["scheduler"]}
    others |= {f"the worker {address}": told for address, told in versions["workers"].items()}
    for who, told in others.items():
        theirs = _packages(told)
        for name in SAME:
            if theirs[name] != ours[name]:
                raise problem(
                    f"{who} has {name} {theirs[name]}, this computer {ours[name]}. Install the same on all"
                )


def _packages(told: dict[str, Any]) -> dict[str, str]:
    """The versions that count; of Python the first two numbers."""
    found = {name: str(told["packages"].get(name) or "missing") for name in SAME}
    return found | {"python": ".".join(found["python"].split(".")[:2])}
