"""URL keys: the normal form in which all spellings of a page's URL are equal."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from unicodedata import category
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

import idna

# Parameters that say where a visitor came from, never which page is shown. Google adds `srsltid` to the links of its
# own results.
TRACKING_PARAMETERS = frozenset(
    "_ga _gl _hsenc _hsmi dclid fbclid gad_campaignid gad_source gbraid gclid gclsrc igshid li_fat_id "
    "mc_cid mc_eid mkt_tok msclkid oly_anon_id oly_enc_id pk_campaign pk_kwd s_cid srsltid ttclid twclid "
    "vero_id wbraid yclid ysclid".split()
)
_TRACKING_PREFIXES = ("utm_", "mtm_", "hsa_")
# mailto:, tel:, javascript: and the like lead to no page.
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_LENGTH = 8192
_BEGIN = re.compile("https?://", re.IGNORECASE)
# A page's address without its https://, as browsers show it; "node.js" is a query.
_BARE_ADDRESS = re.compile(r"www\.\S+|[\w-]+(\.[\w-]+)*\.[a-zA-Z]{2,}(:\d+)?/\S*")
_PATH = re.compile(r"/(?!/)\S*")
_NOT_FULL = "not a full URL: it must begin with https:// or http:// and a host"
# Most paths consist of these and need no further work.
_AS_IT_IS = re.compile(r"[A-Za-z0-9._~/=-]*")
# So do whole URLs, but for a slash at the end. A dot in the path might be that of an index page.
_USUAL = re.compile(r"(https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*)((?:/[A-Za-z0-9_~=-]+)*)/?")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
# A cell with two URLs; a space within one is encoded, as browsers do.
_SECOND = re.compile(r"\shttps?://", re.IGNORECASE)
# Invisible characters that word processors and chats leave around a copied address.
_UNSEEN = (
    " \t\r\n\xa0\u3000\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)
# What a web server shows for a folder, under the folder's own address as well.
_INDEX = re.compile(
    r"/(?:index\.(?:html?|xhtml|shtml|php\d?|aspx?|jsp|cfm)|default\.(?:aspx?|html?))$", re.IGNORECASE
)
_OTHER_PATH = re.compile(r"/\.|/%2E|/index\.|/default\.", re.IGNORECASE)
_DOTS = re.compile(r"/(?:\.|%2[Ee]){1,2}(?=/|$)")
# Letters, digits and -._~ are never encoded; these need no encoding in a path and in a query.
_PATH_SAFE = "/:@!$&'()*+,;="
_QUERY_SAFE = _PATH_SAFE + "?"
# Characters that are never encoded, or (the second half) that only some programs encode, without a difference.
_PLAIN = re.compile(rb"[A-Za-z0-9._~-]|[!'()*,:@$]")


@lru_cache(maxsize=64)  # rows of one page stand together
def normal_form(url: str) -> str:
    """Return the key of a URL: the form in which URLs are compared, never shown to users.

    Lower-case scheme and host (IDN as punycode), no default port, no fragment, no tracking
    parameters, percent-encoding in one spelling, no `.` and `..` in the path, no file name of a folder's
    index page (index.html, index.php, default.aspx), and no trailing slash except the root's.

    Raises:
        ValueError: it is not a full http(s) URL; the message says why.
    """
    url = url.strip(_UNSEEN)
    if (usual := _USUAL.fullmatch(url)) and len(url) <= _MAX_LENGTH:
        return usual[1] + (usual[2] or "/")
    if not url:
        raise ValueError("the URL is empty")
    if len(url) > _MAX_LENGTH:
        raise ValueError(f"the URL is longer than {_MAX_LENGTH} characters")
    if _UNSAFE.search(url):
        raise ValueError("the URL holds a line break, a control character or a broken one")
    if not _BEGIN.match(url):
        raise ValueError(_NOT_FULL)
    if _SECOND.search(url):
        raise ValueError("there is more than one URL")
    try:
        parts = urlsplit(url)
    except ValueError:
        odd = (
            "[ or ] without an IP address"
            if set("[]") & set(url)
            else "a letter that stands for / ? # @ or :"
        )
        raise ValueError(f"the host name contains {odd}") from None
    try:
        port = parts.port
    except ValueError:
        raise ValueError("the port after the host name is not a number from 0 to 65535") from None
    if not parts.hostname:
        raise ValueError(_NOT_FULL)
    scheme = parts.scheme.lower()
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL holds a user name or password")
    host = _host(parts.hostname)
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        host = f"{host}:{port}"
    path = _one_path(_one_spelling(parts.path, _PATH_SAFE))
    pairs = (_one_spelling(pair, _QUERY_SAFE) for pair in parts.query.split("&"))
    query = "&".join(pair for pair in pairs if pair and not _tracks(pair))
    return f"{scheme}://{host}{path}" + (f"?{query}" if query else "")


def names_index_page(url: str) -> bool:
    """Return whether a full URL writes its page with `.`, `..` or the file name of an index page."""
    if not _OTHER_PATH.search(url):  # few URLs need to be split
        return False
    path = urlsplit(url.strip(_UNSEEN)).path
    return bool(_DOTS.search(path) or _INDEX.search(path))


class NormalForms(dict[str, str]):
    """A cache of normal forms by text; "" for a text that has none.

    `of` returns the form in which the site writes a normal form; `others` has the texts that it writes in another.
    """

    def __init__(self, known: Mapping[str, str] | None = None, of: Callable[[str], str] = str) -> None:
        super().__init__(known or {})
        self._of, self.others = of, list[str]()

    def __missing__(self, text: str) -> str:
        try:
            form = normal_form(text)
        except ValueError:
            form = ""
        key = self._of(form)
        if key != form:
            self.others.append(text)
        self[text] = key
        return key


def encoded(url: str) -> str:
    """Return a URL as browsers send it: without white space around it, and spaces within it as %20."""
    return url.strip(_UNSEEN).replace(" ", "%20")


def encoded_path(path: str) -> str:
    """Return a path, or a pattern with `*`, with its characters encoded as in normal forms."""
    return _one_spelling(path, _PATH_SAFE)


def without_tracking(url: str) -> str:
    """Remove tracking parameters and fragment from a URL that has a normal form; keep its spelling."""
    parts = urlsplit(url.strip(_UNSEEN))
    pairs = (pair for pair in parts.query.split("&") if not _tracks(_one_spelling(pair, _QUERY_SAFE)))
    return parts._replace(query="&".join(pairs), fragment="").geturl()


def with_origin(url: str, origin: str) -> str:
    """Return a URL that has a normal form with another scheme and host, such as "https://www.example.com"."""
    scheme, _, host = origin.partition("://")
    parts = urlsplit(url.strip(_UNSEEN))
    # A host in another script keeps its spelling.
    same = parts.port is None and normal_form(f"{scheme}://{parts.netloc}/") == f"{origin}/"
    return parts._replace(scheme=scheme, netloc=parts.netloc if same else host).geturl()


def leads_to_no_page(address: str) -> bool:
    """Return whether an address is a mailto:, tel: or javascript: link or the like."""
    return bool(_OTHER_SCHEME.match(address.strip()))


def other_page(key: str, url: str, address: str, of: Callable[[str], str] = str) -> str | None:
    """Return the key of an address that a page names; "" for the page itself or an empty one, None if it isn't a URL.

    Args:
        url: the page's URL, which the address may be relative to.
        address: the page's canonical, or the target of its redirect.
        of: returns the form in which the site writes a normal form.
    """
    if not address:
        return ""
    try:
        other = of(normal_form(urljoin(url, address)))
    except ValueError:
        return None
    return "" if other == key else other


def is_address(text: str) -> bool:
    """Return whether a text is meant as a page's address: a URL, a URL without https://, or a path such as /blog/a/."""
    return bool(_BEGIN.match(text) or _BARE_ADDRESS.fullmatch(text) or _PATH.fullmatch(text))


def keys_meant(address: str, known: Iterable[str], key_of: Callable[[str], str] = normal_form) -> list[str]:
    """Return the keys that an address stands for: the one of a URL, or the known keys with its path.

    The address is a URL, a URL without https://, or a path; `key_of` returns the key of a full URL.

    Raises:
        ValueError: it is not a full http(s) URL; the message says why.
    """
    if _PATH.fullmatch(address):
        path = normal_form(f"https://any.example{address}").partition("//")[2].partition("/")[2]
        ending = (key for key in known if key.endswith(path))
        return list(dict.fromkeys(key for key in ending if key.partition("//")[2].partition("/")[2] == path))
    if not _BARE_ADDRESS.fullmatch(address):
        return [key_of(address)]
    meant = [key_of(scheme + address) for scheme in ("https://", "http://")]
    return [key for key in dict.fromkeys(known) if key in meant] or meant[:1]


def within_site(key: str, site: str) -> bool:
    """Return whether a key is in `site` ("example.com" or "example.com/mag"), subdomains included."""
    domain, _, folder = site.partition("/")
    domain = _host(domain).removeprefix("www.")
    host, _, path = key.partition("://")[2].partition("?")[0].partition("/")
    host = host.partition(":")[0]
    folder = _one_spelling(folder.strip("/"), _PATH_SAFE)
    return (host == domain or host.endswith("." + domain)) and (
        not folder or path == folder or path.startswith(folder + "/")
    )


@lru_cache(maxsize=1024)  # a run sees few hosts, each of them on every page
def _host(host: str) -> str:
    host = host.rstrip(".").lower()
    if ":" in host:
        return f"[{host}]"
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        # Underscores and the like are invalid in IDNs but occur in real host names.
        if re.fullmatch(r"[a-z0-9._-]+", host):
            return host
        raise ValueError(_wrong_host(host)) from None


def _wrong_host(host: str) -> str:
    # Marks belong to the letter before them, and invisible formatting characters (Cf) are left out of a host.
    signs = (sign for sign in host if not sign.isalnum() and sign not in ".-_")
    odd = next((sign for sign in signs if category(sign) not in ("Mn", "Mc", "Me", "Cf")), "")
    if odd:
        return f"the host name contains {'a space' if odd.isspace() else f'“{odd}”'}"
    return "the host name is not valid: check its spelling"


def _one_path(path: str) -> str:
    """Resolve `.` and `..`, and remove an index page's name and trailing slashes: idempotent."""
    if "/." in path:
        path = _without_dots(path)
    path = path.rstrip("/")
    while (shorter := _INDEX.sub("", path).rstrip("/")) != path:
        path = shorter
    return path or "/"


def _without_dots(path: str) -> str:
    """Resolve `.` and `..` as RFC 3986, section 5.2.4, says."""
    kept: list[str] = []
    for segment in path.removeprefix("/").split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "/" + "/".join(kept)


def _one_spelling(text: str, safe: str) -> str:
    """Decode what needs no encoding, encode what does, upper-case the rest: idempotent."""
    if _AS_IT_IS.fullmatch(text):
        return text
    pieces = re.split(r"(%[0-9A-Fa-f]{2})", text)
    return "".join(
        _escape(piece) if index % 2 else quote(piece, safe=safe) for index, piece in enumerate(pieces)
    )


def _escape(triplet: str) -> str:
    byte = unquote_to_bytes(triplet)
    return byte.decode("ascii") if _PLAIN.fullmatch(byte) else triplet.upper()


def _tracks(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in TRACKING_PARAMETERS or name.startswith(_TRACKING_PREFIXES)
