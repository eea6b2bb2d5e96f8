"""Search Console's properties: which sites, or parts of sites, their data are about."""

from urllib.parse import urlsplit

from internal_linker.core.urls import normal_form, within_site

_DOMAIN = "sc-domain:"


def property_of(text: str) -> str:
    """Return a property as Search Console spells it: "sc-domain:example.com" or "https://www.example.com/".

    Raises:
        ValueError: it is neither; the message says what to write.
    """
    given = text.strip()
    kind, host = given[: len(_DOMAIN)].lower(), given[len(_DOMAIN) :].strip("/").lower()
    if kind == _DOMAIN and host and "/" not in host:
        return f"{_DOMAIN}{host}"
    parts = urlsplit(given)
    if parts.scheme.lower() in ("http", "https") and parts.hostname and not parts.query:
        return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path or '/'}"
    host = given.partition("//")[2] or given
    host = host.partition("/")[0] or "example.com"
    raise ValueError(
        f"name the property as Search Console does: {_DOMAIN}{host.removeprefix('www.')} for a domain property, or "
        f"https://{host}/ for a URL prefix"
    )


def host_of(property_: str) -> str:
    """Return the host of a property without www.; "" for anything else."""
    if property_.startswith(_DOMAIN):
        return property_.removeprefix(_DOMAIN)
    return (urlsplit(property_).hostname or "").removeprefix("www.")


def holds(property_: str, url: str) -> bool:
    """Return whether a URL is part of a property; http and https, and www., make no difference."""
    try:
        key = normal_form(url)
    except ValueError:
        return False
    if property_.startswith(_DOMAIN):
        return within_site(key, property_.removeprefix(_DOMAIN))
    prefix = normal_form(property_)
    inside, of = (one.partition("://")[2].removeprefix("www.").rstrip("/") for one in (key, prefix))
    return inside == of or inside.startswith((f"{of}/", f"{of}?"))
