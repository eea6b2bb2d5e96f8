"""How the posts of a WordPress site write links to pages of the site, learned from those that they have."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from internal_linker.cms.html import tags
from internal_linker.core.urls import encoded


@dataclass(frozen=True, slots=True)
class PostLinks:
    """The form of links: whole URLs, as WordPress's editor writes them, or paths from the root of the host."""

    from_root: bool = False  # whether they are paths from the root

    @classmethod
    def learn(cls, contents: Iterable[tuple[str, str]]) -> "PostLinks":
        """Return the form that most links have.

        Args:
            contents: the URL of each post and its content.
        """
        counts = Counter[bool]()
        for url, content in contents:
            for name, is_end, attributes in tags(content):
                href = attributes.get("href", "").strip() if name == "a" and not is_end else ""
                if href.startswith("/") and not href.startswith("//"):
                    counts[True] += 1
                elif "://" in href and _host(href) == _host(url):
                    counts[False] += 1
        return cls(counts[True] > counts[False])

    def href(self, from_url: str, to_url: str) -> str:
        """Return a link from one page to another as the posts write it; another host's is a whole URL."""
        url = encoded(to_url)
        here, there = urlsplit(encoded(from_url)), urlsplit(url)
        is_same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
        if not self.from_root or not is_same or there.path.startswith("//"):
            return url
        return there._replace(scheme="", netloc="", path=there.path or "/").geturl()


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""
