"""The sites that are known at several dates, which links of a site are hidden, and where the sites come from."""

import gzip
import json
from collections import defaultdict
from dataclasses import replace

from internal_linker.insight.evaluation.holdout import HIDINGS, Hides
from internal_linker.insight.evaluation.page_text import link_spans
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.model.urls import normal_form
from tests.support.corpora import CORPORA

# Sites as they stood at several dates; `LAST` names the last one.
HISTORY = (
    "bitcoinops", "cloudgov", "giantswarm", "govuk", "hugodocs", "railway", "react-es", "react-ja", "superfly", "tts",
    "vue-zh", "wsl",
)  # fmt: skip
LAST = "HEAD"
# Sites that share structure are left out together.
FAMILIES = {
    "react-es": "react",
    "react-ja": "react",
    "vue-zh": "vue",
    "vue-fa-ar": "vue",
    "tts": "18f",
    "18f-blog": "18f",
}
# Public repositories and their commits that the sites were read from.
COMMITS = {
    "18f-blog": "18F/18f.gsa.gov 0a55c75e",
    "vue-fa-ar": "vuejs-translations/docs-fa 7a05ce60, vuejs-translations/docs-ar be6d7872",
    "bitcoinops": "bitcoinops/bitcoinops.github.io 082bd77b",
    "cloudgov": "cloud-gov/cg-site 536b459f",
    "giantswarm": "giantswarm/docs d43379e0",
    "govuk": "alphagov/govuk-developer-docs 972d1b44",
    "hugodocs": "gohugoio/hugoDocs 1c613349",
    "railway": "railwayapp/docs c2a634f1",
    "react-es": "reactjs/es.react.dev e91a76a9",
    "react-ja": "reactjs/ja.react.dev 7f38231d",
    "superfly": "superfly/docs 5c22c8ce",
    "tts": "18F/handbook 1e495563",
    "vue-zh": "vuejs-translations/docs-zh-cn c2715ff7",
    "wsl": "MicrosoftDocs/WSL 8842def",
}


def family(name: str) -> str:
    """Return the name of a site's family."""
    return FAMILIES.get(name, name)


def drawn(hiding: str, number: int) -> Hides:
    """Return which links are hidden; draw 0 is that of the product's own commands."""
    salt = f"{number} " if number else ""
    return lambda source, target: HIDINGS[hiding](f"{salt}{source}", f"{salt}{target}")


def dates(name: str) -> list[str]:
    """Return the dates at which a site of `HISTORY` is known, in order; `LAST` comes last."""
    return sorted(path.name.partition(".")[0] for path in (CORPORA / "history" / name).glob("*.json.gz"))


def snapshot(name: str, date: str) -> Collected:
    """Return a site of `HISTORY` as it stood at a date, with the links in its pages' text and their positions."""
    path = CORPORA / "history" / name / f"{date}.json.gz"
    known = json.loads(gzip.decompress(path.read_bytes()))

    def url(page: str) -> str:
        return f"https://{name}.example/{page.strip('/')}"

    pages = tuple(Page(normal_form(url(key)), url(key), *page[:4]) for key, page in known["pages"].items())
    links = tuple(
        ExistingLink(
            normal_form(url(source)),
            normal_form(url(target)),
            " ".join(anchor.split()),
            -1 if start is None else start,
        )
        for source, target, anchor, start, _, kind in known["links"]
        if kind == "body"
    )
    return Collected(pages, (), (), 0, links)


def without_link_texts(site: Collected) -> tuple[Page, ...]:
    """Return the pages without their links' anchors, each cut at its place only: other mentions stay in the text."""
    links = defaultdict[str, list[ExistingLink]](list)
    for link in site.links:
        links[link.source].append(link)
    found = []
    for page in site.pages:
        text, pieces, at = str(page.content), list[str](), 0
        for start, end in sorted(span for link in links[page.key] for span in link_spans(text, link)):
            if start >= at:
                pieces.append(text[at:start])
            at = max(at, end)
        found.append(replace(page, content=" ".join([*pieces, text[at:]])))
    return tuple(found)
