"""Compare what the program does today with the committed record, or renew the record.

python -m tests.golden [--write] [PROJECT ...]
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

DIGESTS = Path(__file__).parent / "digests"


def prepare() -> None:
    """Make this process's environment that of the record: no settings, one width, one time zone."""
    from tests.support.small_project import forget_settings

    forget_settings()
    os.environ.update(COLUMNS="120", TZ="UTC", NO_COLOR="1")
    if hasattr(time, "tzset"):
        time.tzset()


def record_of(name: str) -> str:
    """Return the record of a project as the program makes it now."""
    import time_machine

    from tests.golden.projects import NOW, PROJECTS
    from tests.standins import OpenAIStandIn

    with (
        OpenAIStandIn(dimensions=256, shuffle=False, rate_limit_tokens=10**9) as openai,
        tempfile.TemporaryDirectory(prefix="golden-") as folder,
        time_machine.travel(NOW, tick=True),
    ):
        return PROJECTS[name](Path(folder).resolve() / "site", openai)


def main() -> int:
    """Return 1 if a project's record differs."""
    from tests.golden.compare import differences
    from tests.golden.projects import PROJECTS

    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument(
        "projects", nargs="*", metavar="PROJECT", help=f"one of {', '.join(PROJECTS)}; default: all"
    )
    parser.add_argument("--write", action="store_true", help="replace the committed records")
    chosen = parser.parse_args()
    if wrong := sorted(set(chosen.projects) - set(PROJECTS)):
        parser.error(f"there is no project {', '.join(wrong)}")
    prepare()
    failed = False
    for name in chosen.projects or PROJECTS:
        started, path = time.process_time(), DIGESTS / f"{name}.txt"
        new, old = record_of(name), path.read_text("utf-8") if path.exists() else ""
        if chosen.write:
            path.write_text(new, encoding="utf-8")
        if name == "model" and old and not chosen.write and old.split("\n")[0] != new.split("\n")[0]:
            print("model: not compared, because this processor computes other vectors than the record's")
            continue
        found = [*differences(old, new)]
        failed |= bool(found) and not chosen.write
        print(f"{name}: {len(found)} parts differ ({time.process_time() - started:.0f} processor seconds)")
        for each in found:
            print(f"  {each}".replace("\n", "\n  "))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
