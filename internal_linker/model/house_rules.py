"""Rules of the house: words that always or never link to a page, and how many links a page gets."""

from dataclasses import dataclass
from typing import Literal

from internal_linker.model.sections import Sections

Mode = Literal["always", "never", "prefer"]


@dataclass(frozen=True, slots=True)
class LinkRule:
    """A row of config/link_rules.csv."""

    row: int
    phrase: str  # its words, separated by single spaces
    target: str  # the URL of the page, later its key; "", only with "never": any page
    mode: Mode
    most: int = 0  # the most pages that "always" links from; 0: no limit
    section: str = ""  # only pages in this part of the site follow the rule; "": all

    def binds(self, source: str, target: str) -> bool:
        """Return whether links from a page to another follow the rule; both by their keys."""
        return self.target in ("", target) and (not self.section or Sections([self.section]).hold(source))


@dataclass(frozen=True, slots=True)
class TargetGoal:
    """A row of config/link_targets.csv."""

    row: int
    target: str  # the URL of the page, later its key
    least: int = 0  # replaces min_inlinks
    most: int = 0  # replaces max_inlinks; 0: that of the site
