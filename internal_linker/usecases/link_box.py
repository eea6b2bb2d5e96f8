"""links.json: accepted links that belong beside the text, for a site's template to show as a box of related pages."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from internal_linker.adapters.files.atomic import replace_whole, require_in_place
from internal_linker.core.edges import Edge
from internal_linker.usecases.page_changes import Planner


def write_link_box(path: Path, links: Sequence[Edge], planner: Planner) -> None:
    """Write links by the page that they start at: of each its URL, title and, if it is another text, anchor.

    A page is named by its path, such as "/blog/green/", which templates know; one on another host than most pages is
    named by its URL.

    Raises:
        OutputError: the file can't be written; an earlier one stays as it was.
    """
    urls = {edge.id: planner.url(edge.source, edge.source_url) for edge in links}
    hosts = Counter(urlsplit(url).netloc for url in urls.values())
    main = hosts.most_common(1)[0][0] if hosts else ""
    box: dict[str, list[dict[str, str]]] = {}
    for edge in links:
        url = urls[edge.id]
        page = urlsplit(url)._replace(scheme="", netloc="").geturl() if urlsplit(url).netloc == main else url
        target = planner.url(edge.target, edge.target_url)
        title = planner.site.title(planner.site.hosts.restored(edge.target)) or edge.chosen.text or target
        entry = {"url": target, "title": title}
        if edge.chosen.text and edge.chosen.text != title:
            entry["anchor"] = edge.chosen.text
        box.setdefault(page or "/", []).append(entry)

    def body(file: TextIO) -> None:
        json.dump(box, file, ensure_ascii=False, indent=2)
        file.write("\n")

    require_in_place(path, replace_whole(path, body))
