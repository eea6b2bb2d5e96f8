"""The numbers of words."""

from internal_linker.match.tokens import Vocabulary


def test_known_words_have_their_numbers_and_others_new_ones() -> None:
    known = Vocabulary(["tea", "pot", "سبز"])
    numbers = known.numbers(["pot", "kettle", "سبز", "cup", "kettle", "tea"]).tolist()
    assert [numbers[at] for at in (0, 2, 5)] == [1, 2, 0]
    assert numbers[1] == numbers[4] != numbers[3] and min(numbers[1], numbers[3]) >= len(known) == 3
    assert Vocabulary([]).numbers(["tea"]).tolist() == [0]
    assert Vocabulary(["tea"]).numbers([]).tolist() == []
