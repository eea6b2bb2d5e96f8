"""Pages of made-up words in topics, any number of them."""

import random

WORDS_A_PAGE = 286  # about 770 tokens of these words for the local encoder
PAGES_A_TOPIC = 50
TOPIC_WORDS = 60

# URL, title, content, language.
Row = tuple[str, str, str, str]


def synthetic(count: int, length: int = WORDS_A_PAGE) -> list[Row]:
    """Return pages in topics: each topic has its own words, and every page some common words."""
    dice = random.Random(7)
    syllables = "ka lo mi ren ta su vel dor pin gar ush eth nor bel qui zan fo tri mar sol".split()
    words = ["".join(dice.choices(syllables, k=dice.randint(2, 3))) for _ in range(20_000)]
    topics = [dice.sample(words, TOPIC_WORDS) for _ in range(topics_of(count))]
    pages = []
    for number in range(count):
        topic = topics[number % len(topics)]
        body = dice.choices(topic, k=length // 2) + dice.choices(words, k=length - length // 2)
        dice.shuffle(body)
        title = " ".join(dice.sample(topic, 3)) + f" {number}"
        pages.append((url_of(number), title, " ".join(body), "en"))
    return pages


def topics_of(count: int) -> int:
    """Return the number of topics of so many pages."""
    return max(1, count // PAGES_A_TOPIC)


def url_of(number: int) -> str:
    """Return the URL of a page."""
    return f"https://www.synthetic.example/page-{number}/"
