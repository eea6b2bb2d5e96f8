"""For a query or a planned page the topic decides: popular and new pages don't come before pages about it."""

import json
from itertools import product
from pathlib import Path

import pytest

from internal_linker import content_brief, lookup
from tests.support.small_project import SITE, command, write_csv, write_settings, write_text

WORK = "hiring travel expenses security holidays laptops meetings payroll".split()
ZEPHYR = {
    "zephyr/plans": (
        "Zephyr plans",
        "Zephyr is our database. A customer of Zephyr chooses a plan by its storage.",
    ),
    "zephyr/setup": (
        "Set up Zephyr",
        "To set up Zephyr, create a cluster and connect the application of a customer.",
    ),
    "zephyr/support": (
        "Zephyr support",
        "Customers of Zephyr write to support when a cluster is slow or lost.",
    ),
    "zephyr/limits": (
        "Limits of Zephyr",
        "A cluster of Zephyr has limits: connections, storage, and a size of rows.",
    ),
}
BRIEF = "Onboarding enterprise customers of Zephyr"


@pytest.fixture(params=["popular", "new"])
def handbook(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write a handbook with four pages on a product, and a policy that is new or that nearly all pages link to."""
    policies = {f"policies/{word}": (f"{word.title()} policy", _policy(word)) for word in WORK}
    policies["policies/procurement"] = (
        "Procurement policy",
        "An enterprise buys from vendors. Onboarding of a vendor: customers and an enterprise customer ask for "
        "a contract, so that the onboarding of vendors is known to the enterprise.",
    )
    pages = {
        **policies,
        **ZEPHYR,
        **{f"people/{word}": (f"{word.title()} team", _team(word)) for word in WORK},
    }
    rows = [(f"{SITE}/{path}/", title, text) for path, (title, text) in pages.items()]
    write_csv(tmp_path / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    urls = [row[0] for row in rows]
    policy = f"{SITE}/policies/procurement/"
    links = [
        (one, other) for one, other in product(urls, urls) if one != other and hash_of(one, other) % 4 == 0
    ]
    links = [(one, other) for one, other in links if other != policy]
    if request.param == "popular":
        links += [(one, policy) for one in urls if one != policy]
    write_csv(tmp_path / "files/existing_links.csv", [("Source", "Destination"), *links])
    # All of the pages are short and full of links.
    write_settings(tmp_path, {"short_page_words": 0, "dense_pages": "equal"})
    return tmp_path


def hash_of(one: str, other: str) -> int:
    return sum(map(ord, one + other))


def _policy(word: str) -> str:
    return f"The policy on {word} of our enterprise: managers approve {word} before the onboarding of new staff ends."


def _team(word: str) -> str:
    return f"The team for {word} helps customers and colleagues with {word}, and trains people at their onboarding."


def _products(urls: list[str]) -> list[bool]:
    return [f"{SITE}/zephyr/" in url for url in urls]


@pytest.mark.parametrize("text", [BRIEF, BRIEF.lower(), "Zephyr for enterprise customers", "Zephyr"])
def test_a_query_finds_the_pages_about_what_it_names(handbook: Path, text: str) -> None:
    found = lookup(text, handbook, search=False)
    assert _products([link.target for link in found.links[:4]]) == [True] * 4


@pytest.mark.long
@pytest.mark.parametrize(
    "draft",
    [
        BRIEF,
        f"# {BRIEF}\n\nWhich plan an enterprise needs, who sets up its cluster, and how it gets support.\n",
    ],
)
def test_a_brief_lists_the_pages_about_what_it_names(handbook: Path, draft: str) -> None:
    write_text(handbook / "draft.md", draft)
    found = content_brief(handbook / "draft.md", handbook, search=False)
    assert _products([link.target for link in found.links_to[:3]]) == [True] * 3
    assert _products([link.source for link in found.links_from[:3]]) == [True] * 3


def test_links_change_nothing_for_a_query(handbook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def links() -> list[tuple[str, int]]:
        capsys.readouterr()
        assert command("lookup", BRIEF, "--json", "--limit", "9", "--project", str(handbook)) == 0
        return [(link["target"], link["score"]) for link in json.loads(capsys.readouterr().out)["links"]]

    before = links()
    (handbook / "files/existing_links.csv").unlink()
    assert links() == before
