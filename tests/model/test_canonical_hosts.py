"""Canonical hosts: one form for http and https, www. and mapped hosts; genuinely different hosts stay apart."""

import pytest

from internal_linker.model.canonical_hosts import CanonicalHosts, HostVotes, host_map, hosts_of

WWW = CanonicalHosts({}, {"e.example": "https://www.e.example"})
STAGING = CanonicalHosts(
    host_map(["staging.e.example=www.e.example"]), {"e.example": "https://www.e.example"}
)


def learned(*urls: str, canonicals: dict[str, str] | None = None) -> CanonicalHosts:
    votes = HostVotes(CanonicalHosts())
    for url in urls:
        votes.key(url)
        votes.vote(url, (canonicals or {}).get(url, ""))
    return votes.learned()


@pytest.mark.parametrize(
    "url",
    [
        "https://www.e.example/mag/a",
        "http://www.e.example/mag/a/",
        "https://e.example/mag/a?utm_source=x",
        "http://E.example:80/mag/./b/../a/index.html",
    ],
)
def test_forms_of_one_page_have_one_key(url: str) -> None:
    assert WWW.key(url) == "https://www.e.example/mag/a"
    assert WWW.identity(WWW.key(url)) == CanonicalHosts().identity(CanonicalHosts().key(url))


@pytest.mark.parametrize(
    "url", ["https://blog.e.example/a", "http://shop.example/a", "https://www.e.example:8443/a"]
)
def test_other_hosts_stay_apart(url: str) -> None:
    assert WWW.key(url) == CanonicalHosts().key(url)
    assert WWW.identity(WWW.key(url)) != WWW.identity(WWW.key("https://www.e.example/a"))


def test_a_url_keeps_its_spelling_under_the_canonical_host() -> None:
    assert WWW.written("http://e.example/Über/?b=2#c") == "https://www.e.example/Über/?b=2#c"
    assert WWW.written("https://www.e.example/x/") == "https://www.e.example/x/"
    assert WWW.written("tea pots") == "tea pots"
    script = CanonicalHosts({}, {"xn--bcher-kva.example": "https://xn--bcher-kva.example"})
    assert script.written("http://bücher.example/a") == "https://bücher.example/a"


def test_a_mapped_host_is_the_other_one() -> None:
    assert STAGING.key("http://www.staging.e.example/a") == "https://www.e.example/a"
    assert STAGING.written("https://staging.e.example/a/?x=1") == "https://www.e.example/a/?x=1"
    assert STAGING.site("staging.e.example/mag") == "www.e.example/mag"
    assert STAGING.identity("https://staging.e.example/a") == STAGING.identity("http://e.example/a")


def test_queries_and_unknown_texts_are_no_urls() -> None:
    for end in ("green tea", "what is https://e.example/x", "", "http://[broken"):
        assert WWW.canonicalise(end) == WWW.restored(end) == end


def test_most_pages_decide() -> None:
    """The form of most pages that answer is the site's; each host decides for itself."""
    pages = [f"https://www.e.example/{name}" for name in "abc"]
    hosts = learned("http://e.example/x", *pages, "http://blog.e.example/y")
    assert hosts.key("http://e.example/x") == "https://www.e.example/x"
    assert hosts.key("https://blog.e.example/z") == "http://blog.e.example/z"


@pytest.mark.parametrize(
    ("url", "canonical", "wins"),
    [
        ("http://e.example/", "https://www.e.example/", "https://www.e.example/"),
        ("https://e.example/", "https://www.e.example/", "https://www.e.example/"),
        # A forgotten canonical of old times doesn't make an encrypted site an unencrypted one.
        ("https://e.example/", "http://e.example/", "https://e.example/"),
    ],
)
def test_canonicals_count_as_pages_do(url: str, canonical: str, wins: str) -> None:
    assert learned(url, canonicals={url: canonical}).key(url) == wins


def test_what_a_run_stored_tells_its_hosts() -> None:
    assert hosts_of(["tea", "https://e.example/a", "https://e.example/b", "http://e.example/c"]).key(
        "http://www.e.example/d"
    ) == ("https://e.example/d")


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        (["staging.e.example"], "write two hosts"),
        (["=www.e.example"], "write two hosts"),
        (["staging.e.example=www.e.example/mag"], "leave out the path of www.e.example/mag"),
        (["staging.e.example=a b"], "host name contains a space"),
        (["a.example=b.example", "www.a.example=c.example"], "is mapped to b.example already"),
        (["a.example=b.example", "b.example=c.example"], "b.example is mapped"),
    ],
)
def test_a_wrong_mapping_is_refused(pairs: list[str], reason: str) -> None:
    """What can't be a mapping is refused with its reason."""
    with pytest.raises(ValueError, match=reason):
        host_map(pairs)


def test_addresses_map_as_their_hosts_do() -> None:
    """People paste addresses: a scheme on the right is used, and a port on the left belongs to the host."""
    mapped = host_map(["http://localhost:8000/=https://www.e.example/"])
    assert CanonicalHosts(mapped).key("http://localhost:8000/a") == "https://www.e.example/a"
