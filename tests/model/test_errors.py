"""Exit codes are a contract with schedulers: their numbers never change."""

from internal_linker.model.errors import ExitCode


def test_the_numbers_of_the_exit_codes_stay() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "SUCCESS": 0,
        "UNEXPECTED": 1,
        "CONFIGURATION": 2,
        "INPUT": 3,
        "SERVICE": 4,
        "ACTIVE": 5,
        "GAPS": 6,
        "FINDINGS": 7,
        "INTERRUPTED": 130,
    }
