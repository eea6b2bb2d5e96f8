"""Canonical hosts: the scheme and host in which a site writes its URLs; other forms of a host mean the same page."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from internal_linker.model.urls import names_index_page, normal_form, with_origin


@dataclass(frozen=True, slots=True)
class CanonicalHosts:
    """One form for each host of a site: http and https, with and without www., and mapped hosts are one.

    Other hosts, such as blog.example.com beside www.example.com, stay apart.
    """

    # hosts that stand for another one, such as a staging site: (scheme or "", host), by host without www
    mapped: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # the form in which the site writes a host, such as "https://www.example.com", by host without www
    origins: Mapping[str, str] = field(default_factory=dict)

    def key(self, url: str) -> str:
        """Return the key of a URL in the site's form.

        Raises:
            ValueError: it is not a full http(s) URL; the message says why.
        """
        return self.canonicalise(normal_form(url))

    def canonicalise(self, key: str) -> str:
        """Return a key in the site's form; keys of unknown hosts, and queries, stay as they are."""
        origin = origin_of(key)
        canonical = self._canonical(origin)
        return canonical + key[len(origin) :] if canonical != origin else key

    def restored(self, end: str) -> str:
        """Return a key, or a query, that was stored earlier, as the key that its page has today."""
        try:
            return self.key(end) if origin_of(end) and names_index_page(end) else self.canonicalise(end)
        except ValueError:
            return end

    def identity(self, key: str) -> str:
        """Return a form of a key that doesn't depend on which form of the host the site uses."""
        origin = origin_of(key)
        return f"https://{bare_host(self._mapped(origin))}{key[len(origin) :]}" if origin else key

    def written(self, url: str) -> str:
        """Return a URL with the scheme and host that the site uses, and otherwise as it is written."""
        try:
            origin = origin_of(normal_form(url))
        except ValueError:
            return url
        canonical = self._canonical(origin)
        return url if canonical == origin else with_origin(url, canonical)

    def written_html(self, html: str) -> str:
        """Return HTML in which addresses on mapped hosts are those of the hosts that they stand for."""
        for host, (scheme, other) in self.mapped.items():
            address = re.compile(rf"(https?:|)//(www\.)?{re.escape(host)}(?![\w.:-])", re.IGNORECASE)
            html = address.sub(f"{scheme}://{other}" if scheme else rf"\g<1>//{other}", html)
        return html

    def site(self, site: str) -> str:
        """Return a site ("example.com" or "example.com/mag") with its host replaced if it is mapped."""
        host, slash, path = site.partition("/")
        _, mapped = self.mapped.get(host.lower().removeprefix("www."), ("", host))
        return mapped + slash + path

    def _canonical(self, origin: str) -> str:
        mapped = self._mapped(origin)
        return self.origins.get(bare_host(mapped), mapped)

    def _mapped(self, origin: str) -> str:
        scheme, host = self.mapped.get(bare_host(origin), ("", "")) if self.mapped else ("", "")
        return f"{scheme or origin.partition('://')[0]}://{host}" if host else origin


@dataclass
class HostVotes:
    """Learns the canonical hosts of a site while its pages are read.

    Until all pages are read, the first form of each host stands in for the canonical one, so that the rows of a page
    are recognised at once.
    """

    # the hosts that are mapped or whose form is known already, and the first form of each other host
    hosts: CanonicalHosts
    _votes: Counter[str] = field(default_factory=Counter)
    _canonicals: Counter[str] = field(default_factory=Counter)
    _urls: Counter[str] = field(default_factory=Counter)
    _examples: dict[str, str] = field(default_factory=dict)
    _index_pages: int = 0
    _index_page: str = ""

    @property
    def mapping(self) -> CanonicalHosts:
        """The mapped hosts alone."""
        return self._mapping

    def __post_init__(self) -> None:
        self._known = self.hosts.origins
        self._mapping = replace(self.hosts, origins={})
        self._first = dict(self._known)
        self.hosts = replace(self.hosts, origins=self._first)

    def key(self, url: str) -> str:
        """Return the provisional key of a URL of the site, and count its form.

        Raises:
            ValueError: it is not a full http(s) URL.
        """
        plain = normal_form(url)
        origin = origin_of(plain)
        mapped = self._mapping.canonicalise(origin)
        self._first.setdefault(bare_host(mapped), mapped)
        self._urls[origin] += 1
        self._examples.setdefault(origin, url)
        if names_index_page(url):
            self._index_pages += 1
            self._index_page = self._index_page or url
        return self.hosts.canonicalise(plain)

    def vote(self, url: str, canonical: str = "") -> None:
        """Count a page that answers at its URL, and the form in which it names itself as its canonical, if it does."""
        for counts, voted in ((self._votes, url), (self._canonicals, canonical)):
            if voted:
                counts[self._mapping.canonicalise(origin_of(normal_form(voted)))] += 1

    def learned(self) -> CanonicalHosts:
        """Return the form of each host that most pages and canonicals have; of equals, https and the canonicals'."""
        voted = dict[str, str]()
        for origin in self._votes | self._canonicals:
            host = bare_host(origin)
            if host not in voted or self._rank(origin) > self._rank(voted[host]):
                voted[host] = origin
        return replace(self.hosts, origins={**self._first, **voted, **self._known})

    def _rank(self, origin: str) -> tuple[int, bool, int]:
        canonicals = self._canonicals[origin]
        return self._votes[origin] + canonicals, origin.startswith("https:"), canonicals

    def variants(self, hosts: CanonicalHosts) -> "Variants":
        """Return how many of the counted URLs have another form than the site's."""
        others = [origin for origin in self._urls if hosts.canonicalise(origin) != origin]
        example = self._examples[others[0]] if others else self._index_page
        return Variants(sum(self._urls[origin] for origin in others) + self._index_pages, example)


@dataclass(frozen=True, slots=True)
class Variants:
    """URLs that are written in another form than the site's."""

    count: int = 0  # how many
    example: str = ""  # one of them; "" without any

    def __add__(self, other: "Variants") -> "Variants":
        return Variants(self.count + other.count, self.example or other.example)


def hosts_of(keys: Iterable[str]) -> CanonicalHosts:
    """Return the canonical hosts of keys that a run stored: the form that most keys of a host have."""
    counts = Counter(filter(None, map(origin_of, keys)))
    return CanonicalHosts({}, {bare_host(origin): origin for origin, _ in reversed(counts.most_common())})


def host_map(pairs: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return `CanonicalHosts.mapped` from texts such as "staging.example.com=www.example.com".

    Raises:
        ValueError: a text has another form, or a host is mapped to two hosts or to one that is mapped, too.
    """
    mapped: dict[str, tuple[str, str]] = {}
    for pair in pairs:
        start, equals, end = (part.strip() for part in pair.partition("="))
        try:
            (_, one), (scheme, other) = _scheme_and_host(start), _scheme_and_host(end)
        except ValueError as error:
            raise ValueError(f"'{pair}': {error}") from None
        if not equals or not one or not other:
            raise ValueError(f"'{pair}': write two hosts, as in staging.example.com=www.example.com")
        known = mapped.setdefault(one.removeprefix("www."), (scheme, other))
        if known != (scheme, other):
            raise ValueError(f"'{pair}': {start} is mapped to {known[1]} already")
    for _, host in mapped.values():
        if mapped.get(bare := host.removeprefix("www."), ("", host))[1] != host:
            raise ValueError(f"{bare} is mapped, so no other host can be mapped to it")
    return mapped


def origin_of(key: str) -> str:
    """Return the scheme and host of a key, such as "https://www.example.com"; "" for a query."""
    if not key.startswith(("http://", "https://")):
        return ""
    end = key.find("/", 8)
    return key[:end] if end >= 0 else key


def bare_host(origin: str) -> str:
    """Return the host of an origin without www., with its port."""
    return origin.partition("://")[2].removeprefix("www.")


def _scheme_and_host(text: str) -> tuple[str, str]:
    """Return the scheme ("" if there is none) and the host of "www.example.com" or an address of it."""
    if not text:
        return "", ""
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    key = normal_form(text if scheme else f"https://{text}")
    origin = origin_of(key)
    if key != f"{origin}/":
        raise ValueError(f"leave out the path of {text}: only hosts can be mapped")
    return scheme, origin.partition("://")[2]
