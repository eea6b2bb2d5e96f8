"""The API against its own description, by schemathesis."""

import subprocess
import sys
from pathlib import Path

import pytest

from internal_linker.faces.web.problems import STATUSES
from internal_linker.insight.audit.states import STATE_MEASURES, STATE_RULES
from internal_linker.model.results import describe_row
from tests.support.app_server import RunningApp
from tests.support.linked_site import make_linked
from tests.support.small_project import environment, write_text

# Endless, or of no use to others: the stream, what starts processes and opens folders, and the session.
_LEFT_OUT = r"events|/job$|/api/projects(/open|/\{key\})?$|login|logout"
# A method that a path lacks is answered by the framework.
_NOT_CHECKED = "unsupported_method,positive_data_acceptance"


def test_the_description_has_every_failure(app: RunningApp) -> None:
    paths = app.client.get("/api/openapi.json").json()["paths"]
    statuses = {str(status) for _, status in STATUSES} | {"500"}
    operations = [operation for path in paths.values() for operation in path.values()]
    assert operations
    for operation in operations:
        assert statuses <= operation["responses"].keys(), operation["summary"]


def test_the_longest_address_is_one_that_servers_take(app: RunningApp) -> None:
    paths = app.client.get("/api/openapi.json").json()["paths"]
    for path, methods in paths.items():
        values = [one["schema"] for one in methods.get("get", {}).get("parameters", [])]
        lists = [one for one in values if "maxItems" in one]
        assert sum(one["maxItems"] * one["items"].get("maxLength", 0) for one in lists) <= 20_000, path


def test_the_description_names_the_choices_of_an_audit() -> None:
    measures, rules = (describe_row(columns)["properties"] for columns in (STATE_MEASURES, STATE_RULES))
    assert measures["rows_are"]["enum"] == ["pages", "links"]
    assert rules["severity"]["enum"] == ["error", "warning", "note"]


@pytest.mark.long
def test_the_api_is_as_described(app: RunningApp, tmp_path: Path) -> None:
    key = app.open(make_linked(tmp_path / "site")).key
    # A list that is too long may make the whole body too large: 413.
    lines = [
        "[parameters]",
        f'"path.key" = "{key}"',
        "[checks]",
        'negative_data_rejection.expected-statuses = ["4xx"]',
    ]
    write_text(tmp_path / "schemathesis.toml", "\n".join(lines))
    program = str(Path(sys.executable).parent / "schemathesis")
    command = [
        program,
        "run",
        f"{app.url}/api/openapi.json",
        "-H",
        f"Authorization: Bearer {app.access.token}",
    ]
    command += ["--max-examples", "10", "--exclude-path-regex", _LEFT_OUT, "--exclude-checks", _NOT_CHECKED]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=580, check=False
    )
    assert done.returncode == 0, done.stdout[-6_000:]
