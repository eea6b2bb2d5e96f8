"""Reasons are distinguished by their enum members and displayed by their messages."""

import pickle
from collections import Counter

import pytest

from internal_linker.model.reasons import MessageEnum, NoTarget, Reason


def test_a_reason_reads_as_its_message_with_its_detail() -> None:
    assert str(Reason(NoTarget.ALREADY_LINKED)) == "already linked"
    assert str(Reason(NoTarget.OTHER_LANGUAGE, "fa")) == "in fa: only for pages in fa"
    assert str(Reason(NoTarget.EXCLUDED, "/a{2}/")) == "excluded by /a{2}/"


def test_reasons_of_one_message_stay_apart() -> None:
    error, redirect = (Reason(kind, "3") for kind in (NoTarget.ERROR_STATUS, NoTarget.REDIRECT_STATUS))
    assert str(error) == str(redirect)
    assert Counter([error, redirect, error]) == {error: 2, redirect: 1}


def test_reasons_are_sorted_as_they_read() -> None:
    reasons = [
        Reason(NoTarget.REDIRECT),
        Reason(NoTarget.EXCLUDED, "x"),
        Reason(NoTarget.ERROR_STATUS, "404"),
    ]
    assert [str(one) for one in sorted(reasons)] == [
        "excluded by x",
        "redirects to another page",
        "status 404",
    ]


@pytest.mark.parametrize("kind", NoTarget)
def test_a_reason_travels_to_other_processes(kind: MessageEnum) -> None:
    reason = Reason(kind, "x")
    assert pickle.loads(pickle.dumps(reason)) == reason


def test_every_reason_says_something_of_its_own() -> None:
    """No reason is empty; only errors and redirects, told apart by their number, read alike."""
    said = Counter(kind.message for kind in NoTarget)
    assert "" not in said
    assert {message for message, count in said.items() if count > 1} == {NoTarget.ERROR_STATUS.message}
