"""Links that were stored while the site's URLs had another form: editors' decisions on them hold for today's form."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.edges import Cells, Edge, Verdict, with_hosts
from internal_linker.model.sequences import batched
from internal_linker.review.transitions import heard, says_nothing_new
from internal_linker.store.edges import EdgeStore

# Edges that are moved together.
_BLOCK = 1000


def hear(store: EdgeStore, hosts: CanonicalHosts, said: Iterable[Verdict], at: str) -> None:
    """Store what editors wrote beside links, whose ids may be those of another form of the site's URLs.

    Args:
        hosts: the form in which the site writes its hosts.
        at: the time, ISO 8601.
    """
    said = list(said)
    known = store.by_id(each.id for each in said)
    todays = {key: with_hosts(edge, hosts) for key, edge in known.items()}
    former = {key: edge for key, edge in todays.items() if edge.id != key}
    before = {**store.by_id(edge.id for edge in former.values()), **known} if former else dict(known)
    now = {key: edge for key, edge in before.items() if key not in former}
    for edge in former.values():
        now[edge.id] = _together(now.get(edge.id), edge)
    for each in said:
        if each.id in todays:
            key = todays[each.id].id
            now[key] = heard(now[key], each, at)
    # The next run may propose these again, under the ids of today.
    gone = {edge.id for edge in former.values() if edge.id not in before and not _is_said(now[edge.id])}
    changed = [edge for key, edge in now.items() if edge != before.get(key) and key not in gone]
    left = [_emptied(known[key]) for key, edge in former.items() if edge.id not in gone]
    store.put([*changed, *left])


def is_known(
    store: EdgeStore, hosts: CanonicalHosts, said: Iterable[Verdict], known: Mapping[str, Edge]
) -> bool:
    """Return whether editors' cells say nothing more than the store knows.

    Args:
        hosts: the form in which the site writes its hosts.
        known: some of the links as the store has them, by their ids.
    """
    seen = set[str]()
    for some in batched(said, _BLOCK):
        others = store.by_id(each.id for each in some if each.id not in known)
        for each in some:
            edge = known.get(each.id) or others.get(each.id)
            if edge is None or each.id in seen or with_hosts(edge, hosts).id != each.id:
                return False
            seen.add(each.id)
            if not says_nothing_new(edge, each):
                return False
    return True


def carry_over(store: EdgeStore, hosts: CanonicalHosts) -> None:
    """Give all links that an editor decided the ids of today's form of the site's URLs."""
    pairs = ((edge, with_hosts(edge, hosts)) for edge in store.each(judged=True))
    for some in batched(((old, new) for old, new in pairs if old.id != new.id), _BLOCK):
        now: dict[str, Edge] = dict(store.by_id(new.id for _, new in some))
        for _, new in some:
            now[new.id] = _together(now.get(new.id), new)
        store.put([*now.values(), *(_emptied(old) for old, _ in some)])


def todays(edges: Iterable[Edge], hosts: CanonicalHosts) -> Iterable[Edge]:
    """Return edges with the keys of today; of several with the same keys, the one that was decided last."""
    found: dict[str, Edge] = {}
    for edge in edges:
        today = with_hosts(edge, hosts)
        other = found.get(today.id)
        if today.id != edge.id:
            found[today.id] = _together(other, today)
        else:
            found[edge.id] = _together(edge, other) if other else edge
    return found.values()


def _together(now: Edge | None, former: Edge) -> Edge:
    """Return an edge with the later of two decisions on a link: `former` had other ids, but has the keys of today."""
    if now is None:
        return former
    ids = tuple(dict.fromkeys((*now.former_ids, *former.former_ids)))
    if not _is_said(former) or (_is_said(now) and now.at > former.at):
        return replace(now, former_ids=ids)
    return replace(
        now,
        verdict=former.verdict,
        status=former.status,
        by=former.by,
        at=former.at,
        anchor=former.anchor,
        placed=former.placed,
        notes=former.notes,
        wording=former.wording,
        cells=former.cells,
        former_ids=ids,
    )


def _is_said(edge: Edge) -> bool:
    """Return whether the edge has anything that an editor wrote."""
    return bool(edge.verdict or edge.anchor or edge.notes)


def _emptied(edge: Edge) -> Edge:
    """Return an edge whose decision moved to another edge."""
    return replace(
        edge, status="withdrawn", verdict="", by="", anchor="", notes="", wording="", cells=Cells()
    )
