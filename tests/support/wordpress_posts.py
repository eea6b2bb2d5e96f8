"""Made-up posts of a WordPress site: blocks and classic HTML in English, Persian and Japanese."""

from dataclasses import dataclass
from itertools import cycle, islice

_COUNT = 120
# For each language: the subjects of its posts, and sentences about a subject and another one.
LANGUAGES = {
    "en": (
        ("clay pots", "garden bees", "rain barrels", "apple grafting", "stone paths", "compost heaps"),
        (
            "Most people begin with {0} in early spring, when the ground is still cold.",
            "A neighbour of ours compared {0} with {1} for two years & wrote everything down.",
            "The cheapest tools are good enough for {0}, as long as they are kept dry.",
            "Before you think about {1}, give {0} at least one full season.",
        ),
    ),
    "fa": (
        ("گلدان سفالی", "زنبور باغ", "بشکه باران", "پیوند سیب", "راه سنگی", "کود گیاهی"),
        (
            "بیشتر مردم کار با {0} را در آغاز بهار شروع می‌کنند.",
            "همسایه ما دو سال {0} را با {1} مقایسه کرد و همه چیز را نوشت.",
            "ارزان‌ترین ابزارها برای {0} کافی است، اگر خشک بمانند.",
            "پیش از آن که به {1} فکر کنید، یک فصل کامل به {0} فرصت بدهید.",
        ),
    ),
    "ja": (
        ("素焼きの鉢", "庭の蜂", "雨水の樽", "りんごの接ぎ木", "石の小道", "堆肥の山"),
        (
            "多くの人は春の初めに{0}を始めます。",
            "近所の人は二年間{0}と{1}を比べて、すべてを書き留めました。",
            "乾いた場所に置けば、{0}には安い道具で十分です。",
            "{1}を考える前に、{0}に一つの季節をまるごと与えてください。",
        ),
    ),
}
_CATEGORIES = ("Tools", "Seasons & weather")


@dataclass(frozen=True)
class SeedPost:
    """A post as the site is filled with it; `date` is both its date and, at first, that of its modification."""

    slug: str
    title: str
    content: str
    lang: str
    type: str = "post"
    status: str = "publish"
    password: str = ""
    author: str = "anna"
    category: str = _CATEGORIES[0]
    date: str = "2024-03-01 08:00:00"


def seed_posts(url: str) -> list[SeedPost]:
    """Return 120 posts and pages of a site at this URL that anyone can read, and three that not everyone can."""
    names = list(islice(cycle(LANGUAGES), _COUNT))
    posts = [_post(url, number, lang) for number, lang in enumerate(names)]
    hidden = {"content": _classic(url, 0, "en"), "lang": "en"}
    return [
        *posts,
        SeedPost("draft", "A draft", status="draft", **hidden),
        SeedPost("private", "A private post", status="private", **hidden),
        SeedPost("protected", "A post with a password", password="open", **hidden),
    ]


def slug_of(number: int) -> str:
    """Return the slug of a post by its number, from 0 to 119."""
    return f"post-{number:03}"


def _post(url: str, number: int, lang: str) -> SeedPost:
    subjects = LANGUAGES[lang][0]
    writes = _blocks if number // 3 % 2 else _classic
    return SeedPost(
        slug_of(number),
        f"{subjects[number % len(subjects)]} & {number}",
        writes(url, number, lang),
        lang,
        type="page" if number % 10 == 9 else "post",
        author="anna" if number % 4 else "admin",
        category=_CATEGORIES[number % 2],
        date=f"2024-{number % 12 + 1:02}-{number % 28 + 1:02} 08:00:00",
    )


def _sentences(number: int, lang: str) -> list[str]:
    subjects, sentences = LANGUAGES[lang]
    first, second = subjects[number % len(subjects)], subjects[(number + 1) % len(subjects)]
    # Each post has words of its own: posts with the same text would be duplicates.
    own = f" {number}."
    return [sentence.format(first, second) + own for sentence in sentences]


def _link(url: str, number: int) -> str:
    to = (number + 3) % _COUNT
    return f'<a href="{url}/{slug_of(to)}/" data-track="x">{to}</a>'


def _classic(url: str, number: int, lang: str) -> str:
    one, two, three, four = _sentences(number, lang)
    return (
        f"{one.replace('&', '&amp;')}\r\n{_link(url, number)}\r\n\r\n<h3>{number}</h3>\r\n{two}\r\n\r\n"
        f'[caption width="300"]<img src="{url}/a.jpg" alt="" /> {three}[/caption]\r\n\r\n'
        f"<blockquote>{three}</blockquote>\r\n<ul>\r\n\t<li>{four}</li>\r\n</ul>\r\n[gallery ids='1']"
    )


def _blocks(url: str, number: int, lang: str) -> str:
    one, two, three, four = (each.replace("&", "&amp;") for each in _sentences(number, lang))
    return "\n\n".join(
        (
            f"<!-- wp:paragraph -->\n<p>{one} {_link(url, number)}</p>\n<!-- /wp:paragraph -->",
            f'<!-- wp:heading {{"level":3}} -->\n<h3>{number}</h3>\n<!-- /wp:heading -->',
            f'<!-- wp:paragraph {{"align":"center"}} -->\n<p class="has-text-align-center">{two}</p>\n'
            "<!-- /wp:paragraph -->",
            f"<!-- wp:list -->\n<ul><!-- wp:list-item -->\n<li>{three}</li>\n<!-- /wp:list-item --></ul>\n"
            "<!-- /wp:list -->",
            f'<!-- wp:image {{"id":7}} -->\n<figure class="wp-block-image"><img src="{url}/a.jpg" alt=""/>'
            f"<figcaption>{four}</figcaption></figure>\n<!-- /wp:image -->",
            '<!-- wp:code -->\n<pre class="wp-block-code"><code>a &lt; b</code></pre>\n<!-- /wp:code -->',
            f"<!-- wp:paragraph -->\n<p>{four}</p>\n<!-- /wp:paragraph -->",
        )
    )
