"""Other programs can read the audit's graph files, whatever the titles contain."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.insight.audit.graph_exports import write_edges, write_graphml, write_nodes
from internal_linker.insight.audit.records import Audit
from internal_linker.model.errors import OutputError
from tests.support.audits import audit, audited

FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ODD = st.sampled_from(
    ["", "\x00\x0b", "</script>", "]]>", "\ud800", "\u202e\u200f«قهوه»", "\"<&>'", "=1+1", "\ufffe"]
)
TITLES = st.lists(st.one_of(ODD, st.text(st.characters(exclude_categories=()))), min_size=1, max_size=6)


def read_back(folder: Path, found: Audit) -> nx.DiGraph:
    path = folder / "audit.graphml"
    assert write_graphml(path, found) == []
    return nx.read_graphml(path)


def as_xml(text: str) -> str:
    """Return a title as an XML file can store it: on one line, without characters that XML forbids."""
    return FORBIDDEN.sub("", " ".join(text.split()))


def test_a_graph_file_reads_back_as_the_audit(tmp_path: Path) -> None:
    found = audit(60)
    graph = read_back(tmp_path, found)
    assert graph.is_directed()
    assert list(graph) == [str(row) for row in range(60)]
    today, page = found.before, graph.nodes["1"]
    assert (page["url"], page["title"], page["label"]) == (found.urls[1], found.titles[1], found.titles[1])
    assert (page["section"], page["cluster"]) == (found.sections[1], found.clusters[1])
    counts = [(page["in_links"], page["out_links"]) for _, page in graph.nodes(data=True)]
    assert counts == list(zip(today.inlinks.tolist(), today.outlinks.tolist(), strict=True))
    assert [page["pagerank"] for _, page in graph.nodes(data=True)] == today.pagerank.tolist()
    assert [page.get("depth", -1) for _, page in graph.nodes(data=True)] == today.depth.tolist()
    links = {(int(a), int(b)): (link["state"], link["weight"]) for a, b, link in graph.edges(data=True)}
    expected = {
        (source, target): (state, weight)
        for state, part in (("existing", found.existing), ("proposed", found.proposed))
        for source, target, weight in zip(
            part.sources.tolist(), part.targets.tolist(), part.weights.tolist(), strict=True
        )
    }
    assert links == expected
    urls = ["https://a.example/0", "https://a.example/1"]
    graph = read_back(tmp_path, audited(urls, ["", ""]))
    assert (len(graph), graph.size()) == (2, 0)
    assert [page["label"] for _, page in graph.nodes(data=True)] == urls
    (tmp_path / "folder.graphml").mkdir()
    with pytest.raises(OutputError, match=r"folder\.graphml can't be written"):
        write_graphml(tmp_path / "folder.graphml", found)


@given(titles=TITLES)
def test_no_title_breaks_a_graph_file(titles: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    found = replace(audit(len(titles)), titles=titles)
    graph = read_back(tmp_path_factory.mktemp("graph"), found)
    assert [page["title"] or "" for _, page in graph.nodes(data=True)] == list(map(as_xml, titles))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_csv_pair_is_what_the_import_of_neo4j_takes(tmp_path: Path) -> None:
    found = audit(60)
    nodes, edges = tmp_path / "audit_nodes.csv", tmp_path / "audit_edges.csv"
    assert [*write_nodes(nodes, found), *write_edges(edges, found)] == []
    assert nodes.read_text().startswith(
        "url:ID,title:string,section:string,cluster:string,"
        "in_links:int,out_links:int,depth:int,pagerank:double,:LABEL\n"
    )
    pages, links = rows(nodes), rows(edges)
    assert [page["url:ID"] for page in pages] == list(found.urls)
    assert [float(page["pagerank:double"]) for page in pages] == found.before.pagerank.tolist()
    assert [int(page["depth:int"] or -1) for page in pages] == found.before.depth.tolist()
    assert {page[":LABEL"] for page in pages} == {"Page"}
    ends = [(link[":START_ID"], link[":END_ID"], link["state"], link[":TYPE"]) for link in links]
    assert ends == [
        (found.urls[source], found.urls[target], state, "LINKS_TO")
        for state, part in (("existing", found.existing), ("proposed", found.proposed))
        for source, target in zip(part.sources.tolist(), part.targets.tolist(), strict=True)
    ]
    assert [float(link["weight:double"]) for link in links] == [
        *found.existing.weights.tolist(),
        *found.proposed.weights.tolist(),
    ]


@given(titles=TITLES)
def test_a_node_is_one_line_and_no_formula(
    titles: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("csv")
    write_nodes(folder / "n.csv", replace(audit(len(titles)), titles=titles))
    pages = rows(folder / "n.csv")
    assert len((folder / "n.csv").read_bytes().split(b"\n")) == len(titles) + 2
    written = [page["title:string"] for page in pages]
    assert not [title for title in written if title.lstrip("\u202e\u200f«").startswith(("=", "+", "@"))]
    assert [title.removeprefix("'").encode("utf-8", "replace") for title in written] == [
        " ".join(title.split()).removeprefix("'").encode("utf-8", "replace") for title in titles
    ]
