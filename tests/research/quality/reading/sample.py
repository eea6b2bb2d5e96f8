"""Draw a seeded sample of a run's suggestions and write a sheet for readers who know neither method nor scores.

    python -m tests.research.quality.reading.sample --seed 1 --count 60 --out DIR

DIR/readers/ gets reading.csv and INSTRUCTIONS.md: give each reader a copy of this folder. DIR/key.csv has what
readers must not see. DIR/sites/ keeps the projects with their caches for the next sample. The sites' texts belong to
others: DIR must be outside the project.
"""

import argparse
import math
import random
import shutil
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from internal_linker.model.edges import TIER_NAMES, Anchor, Edge
from internal_linker.model.errors import ConfigurationError, InputError, InternalLinkerError
from internal_linker.model.records import Collected, Page
from internal_linker.project.console import Reporter, open_console
from internal_linker.project.pipeline.run import rehearse
from internal_linker.project.project import open_project
from internal_linker.sources.tables.csv_writer import decimal, write_rows
from internal_linker.store.files.atomic import replace_whole
from internal_linker.text.sentences import sentences
from tests.support.corpora import ABSENT, DEVELOPMENT, ROOT, make_project, present

SHEET = (
    *("ID", "Language", "Source title", "Sentence", "Target title", "Target text", "Offered as"),
    *("Pair", "Anchor", "Comment"),
)
KEY = ("ID", "Site", "Source", "Target", "Anchor", "Tier", "In text", "Strength", "Quality")
# Characters of the target's text, and of a sentence on each side of the anchor.
TARGET_TEXT, AROUND = 300, 280
# Marks around an anchor, which no text has.
BEGIN, END = "⟦", "⟧"
# A run as it is by default, without a search service.
SETTINGS = 'serp_provider = "none"\n'


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A proposed link of a site with what its readers see.

    Attributes:
        site: the site's name.
        edge: the link with its anchors.
        source, target: its pages.
    """

    site: str
    edge: Edge
    source: Page
    target: Page

    @property
    def anchor(self) -> Anchor | None:
        """The first anchor if it is in the source's text."""
        first = self.edge.anchors[0] if self.edge.anchors else None
        return first if first and first.text and first.verbatim else None


def suggestions(site: str, collected: Collected, edges: Sequence[Edge]) -> list[Suggestion]:
    """Return the proposed links between two listed pages."""
    pairs = ((edge, collected.find(edge.source), collected.find(edge.target)) for edge in edges)
    return [Suggestion(site, edge, source, target) for edge, source, target in pairs if source and target]


def draw(by_site: Mapping[str, Sequence[Suggestion]], count: int, seed: int) -> list[Suggestion]:
    """Draw suggestions in random order: as many of each site, of each language of a site, and by tier as they occur.

    No two are on the same page.

    Args:
        by_site: each site's suggestions.
        count: how many to draw.
        seed: equal seeds draw equal samples.

    Raises:
        InputError: a site or a language has too few pages with suggestions.
    """
    drawn: list[Suggestion] = []
    for site, share in zip(by_site, _shares(count, [1] * len(by_site)), strict=True):
        languages: defaultdict[str, list[Suggestion]] = defaultdict(list)
        for one in by_site[site]:
            languages[one.source.lang].append(one)
        for language, part in zip(sorted(languages), _shares(share, [1] * len(languages)), strict=True):
            drawn += _of_language(languages[language], part, random.Random(f"{seed} {site} {language}"))
    if len(drawn) < count:
        raise InputError(
            f"Only {len(drawn)} of {count} suggestions can be drawn, since each must be on another page: choose a "
            "lower --count."
        )
    random.Random(f"{seed} order").shuffle(drawn)
    return drawn


def _of_language(some: Iterable[Suggestion], count: int, rng: random.Random) -> list[Suggestion]:
    shuffled = sorted(some, key=lambda one: one.edge.id)
    rng.shuffle(shuffled)
    tiers = sorted({one.edge.tier for one in shuffled})
    sizes = [sum(one.edge.tier == tier for one in shuffled) for tier in tiers]
    found: list[Suggestion] = []
    pages: set[str] = set()

    def take(candidates: Iterable[Suggestion], most: int) -> None:
        for one in candidates:
            if most and one.source.key not in pages:
                pages.add(one.source.key)
                found.append(one)
                most -= 1

    # The smallest tiers first: others have more pages to choose from.
    for _, tier, share in sorted(zip(sizes, tiers, _shares(count, sizes), strict=True)):
        take((one for one in shuffled if one.edge.tier == tier), share)
    take(shuffled, count - len(found))
    return found


def _shares(count: int, sizes: Sequence[int]) -> list[int]:
    """Return whole shares of `count` in proportion to sizes, by the largest remainders."""
    total = sum(sizes)
    exact = [count * size / total for size in sizes]
    shares = [int(share) for share in exact]
    by_rest = sorted(range(len(sizes)), key=lambda at: (shares[at] - exact[at], at))
    for at in by_rest[: count - sum(shares)]:
        shares[at] += 1
    return shares


def write(drawn: Sequence[Suggestion], folder: Path) -> None:
    """Write readers/reading.csv, readers/INSTRUCTIONS.md and key.csv.

    Raises:
        OutputError: a file can't be written.
    """
    (folder / "readers").mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("INSTRUCTIONS.md"), folder / "readers" / "INSTRUCTIONS.md")
    rows, keys = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for number, one in enumerate(drawn, 1):
        name = f"S{number:03}"
        target = " ".join(str(one.target.content).split())
        rows.append(
            (
                *(name, one.source.lang, _title(one.source), marked(one), _title(one.target)),
                *(target[:TARGET_TEXT], TIER_NAMES[one.edge.tier], "", "" if one.anchor else "none", ""),
            )
        )
        first = one.edge.anchors[0] if one.edge.anchors else Anchor("")
        keys.append(
            (
                *(name, one.site, one.source.url, one.target.url, first.text, one.edge.tier),
                *("yes" if one.anchor else "no", decimal(one.edge.strength)),
                decimal(getattr(first, "quality", math.nan)),
            )
        )
    write_rows(folder / "readers" / "reading.csv", SHEET, rows, replace_whole)
    write_rows(folder / "key.csv", KEY, keys, replace_whole)


def marked(one: Suggestion) -> str:
    """Return the sentence with the anchor marked, in one line; "" without an anchor in the text."""
    anchor = one.anchor
    if anchor is None:
        return ""
    content = str(one.source.content)
    begins = sentences(content)
    start, end = anchor.start, anchor.start + len(anchor.text)
    after = bisect_right(begins, end - 1)
    first = max(begins[bisect_right(begins, start) - 1], start - AROUND)
    last = min(begins[after] if after < len(begins) else len(content), end + AROUND)
    text = f"{content[first:start]}{BEGIN}{content[start:end]}{END}{content[end:last]}"
    return " ".join(text.split())


def _title(page: Page) -> str:
    return page.title or page.h1


def of_sites(names: Iterable[str], folder: Path, settings: str) -> dict[str, list[Suggestion]]:
    """Return the suggestions that a run over each site makes, whose project is kept in the folder."""
    found = {}
    for name in names:
        if not present(name):
            raise InputError(f"{ABSENT}.")
        site = folder / name
        if not site.exists():
            make_project(name, site, settings)
        project = open_project(site)
        reporter = Reporter(open_console(stderr=True))
        with project.context(reporter, serp=False, deliver=False) as context:
            found[name] = suggestions(name, *rehearse(context, project.rules(), reporter))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, write, and return an exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.research.quality.reading.sample", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--seed", type=int, required=True, help="equal seeds draw equal samples")
    parser.add_argument("--count", type=int, default=60, help="suggestions to draw (default: 60)")
    parser.add_argument("--out", type=Path, required=True, help="a folder outside the project")
    parser.add_argument("--sites", nargs="+", default=DEVELOPMENT, help="default: both development sites")
    parser.add_argument(
        "--tier", choices=TIER_NAMES, help="draw only links of this tier, such as inline: in the text"
    )
    parser.add_argument("--settings", default=SETTINGS, help="config/settings.toml of a new project")
    given = parser.parse_args(arguments)
    try:
        out = given.out.resolve()
        if out.is_relative_to(ROOT):
            raise ConfigurationError(f"--out {given.out} is inside the project: name a folder outside of it.")
        if given.count < 1:
            raise ConfigurationError(f"--count {given.count}: it must be 1 or more.")
        found = of_sites(given.sites, out / "sites", given.settings)
        if given.tier:
            found = {
                site: [one for one in some if one.edge.tier == given.tier] for site, some in found.items()
            }
        drawn = draw(found, given.count, given.seed)
        write(drawn, out)
    except InternalLinkerError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    sheet, key = given.out / "readers" / "reading.csv", given.out / "key.csv"
    print(f"{len(drawn)} suggestions are in {sheet}, their key in {key}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
