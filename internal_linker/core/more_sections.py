"""Normal forms of URLs -> the section of the site that each page lies in."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from internal_linker.core.arrays import Ints

ROOT = "/"
OTHER = "other"
# A heatmap of more can't be read.
MOST_SECTIONS = 25


def sections_of(keys: Sequence[str]) -> list[str]:
    """(n) the first part of each path ("/blog"), or "/" for the home page and pages with nothing beneath them."""
    parts = [key.split("/", 4)[3:] for key in keys]
    below = {part[0] for part in parts if len(part) > 1}
    return [f"/{name}" if (name := part[0].partition("?")[0]) in below else ROOT for part in parts]


def grouped(sections: Sequence[str]) -> tuple[list[str], Ints]:
    """The sections of most pages, largest first, the rest as "other"; and (n,) each page's place among them."""
    names = [name for name, _ in sorted(Counter(sections).items(), key=lambda item: (-item[1], item[0]))]
    if len(names) > MOST_SECTIONS:
        names = [*names[: MOST_SECTIONS - 1], OTHER]
    place = {name: at for at, name in enumerate(names)}
    return names, np.array([place.get(section, len(names) - 1) for section in sections], np.int64)
