"""The errors of the product, and the exit code that each ends a command with.

InternalLinkerError
├── ConfigurationError      2  a setting, key or pattern is wrong; nothing was spent
├── InputError              3  a file or sheet can't be used as it is
├── ServiceError            4  an outside service failed; `retryable` says whether trying again helps
│   ├── CredentialsRefused     a key is wrong, expired or revoked, or lacks a permission
│   ├── OutOfCredits           the account behind a key is empty
│   ├── BudgetReached          our own limit (max_cost_usd, max_serp_credits) would be exceeded
│   └── ServiceDown            it kept failing for a minute: the circuit is open
├── StoreLost               4  the database server became unreachable; its data are safe
├── RunActive               5  another run holds the project folder, or its database for too long
├── OutputError             3  a result file can't be written
└── Interrupted           130  a person or the system asked the run to stop
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status says to cron, Task Scheduler and CI."""

    SUCCESS = 0
    UNEXPECTED = 1
    CONFIGURATION = 2
    INPUT = 3
    SERVICE = 4
    ACTIVE = 5
    GAPS = 6
    FINDINGS = 7
    INTERRUPTED = 130


class InternalLinkerError(Exception):
    """An error that a person can fix. `str()` is one sentence with its remedy."""

    exit_code = ExitCode.UNEXPECTED


class ConfigurationError(InternalLinkerError):
    """A setting, key file or pattern is wrong; raised before anything is spent."""

    exit_code = ExitCode.CONFIGURATION


class InputError(InternalLinkerError):
    """A file or sheet that the user gave can't be used as it is."""

    exit_code = ExitCode.INPUT


class OutputError(InternalLinkerError):
    """A result can't be written where it belongs."""

    exit_code = ExitCode.INPUT


class StoreLost(InternalLinkerError):
    """The server of store_url can't be reached any more; unlike other services, no step can go on without it."""

    exit_code = ExitCode.SERVICE


class RunActive(InternalLinkerError):
    """Another run holds the project folder, or holds its database for longer than this run waits."""

    exit_code = ExitCode.ACTIVE


class Interrupted(InternalLinkerError):
    """The run was asked to stop and stopped between two steps."""

    exit_code = ExitCode.INTERRUPTED


class ServiceError(InternalLinkerError):
    """An outside service failed.

    Args:
        service: the service's name ("Serper", "OpenAI", "Google Sheets").
        problem: what happened and what to do, one sentence.
        retryable: whether the same request may succeed later.
        retry_after: seconds that the service asked us to wait, if it did.
    """

    exit_code = ExitCode.SERVICE

    def __init__(
        self, service: str, problem: str, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(f"{service}: {problem}")
        self.service = service
        self.retryable = retryable
        self.retry_after = retry_after


class CredentialsRefused(ServiceError):
    """A key is wrong, expired or revoked, or lacks a permission: trying again can't help."""


class OutOfCredits(ServiceError):
    """The account is empty: every further request would fail, too."""


class BudgetReached(ServiceError):
    """The next request could exceed the limit in the settings; it was not sent."""


class ServiceDown(ServiceError):
    """The service kept failing for a while: the circuit is open, and no request was made."""


# Nothing is left to spend: the run's own limit, or the account.
SPENT = (BudgetReached, OutOfCredits)
# After these, every further request of the run would fail, too.
FINAL = (CredentialsRefused, OutOfCredits, BudgetReached, ServiceDown)
