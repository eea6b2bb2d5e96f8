"""`python -m tests.docs`: rewrite the generated parts of docs/ and config/settings.toml."""

from tests.docs.generated import renewed, sample_settings
from tests.docs.pages import PAGES
from tests.support.small_project import REPOSITORY


def main() -> None:
    """Rewrite the files and print which changed."""
    files = {page.path: renewed(page.text) for page in PAGES} | {
        REPOSITORY / "config/settings.toml": sample_settings()
    }
    for path, text in files.items():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"rewritten: {path}")


if __name__ == "__main__":
    main()
