"""The encoder benchmark gives both sides the same text."""

from internal_linker.match.encoders.minilm import LocalEncoder
from internal_linker.model.records import Text
from tests.research.benchmarks.encoder import chunks

TEXTS = [
    Text("Green tea", "How long should a naïve tea-drinker steep it? " * 150),
    Text("long title " * 60, "kettle, cup & water: " * 300),
    Text("Title alone", ""),
    Text("", "The body alone."),
]


def test_both_sides_read_the_same_tokens() -> None:
    """The strings that torch gets contain, tokenised again, exactly what our encoder reads."""
    encoder = LocalEncoder()
    ours = [[chunk[1:-1] for chunk in text] for text in encoder._chunks(TEXTS)]
    assert [encoder._tokens(each) for each in chunks(TEXTS)] == ours
