// The links of the page Review as a table: its columns, and the row that the keys work on.
import { badge, between, linkTable, marked, pageName, score, TIERS, warned, worded } from "./linktable.js";
import { element, onSubmit, projectApi, say, showProblem, sited } from "./shared.js";

const byId = (id) => document.getElementById(id);

function small(text, label, act, more = {}) {
  return element("button", { type: "button", class: "mini", "aria-label": label, onclick: act, ...more }, text);
}

function columns(decide) {
  const decision = { title: "Decision", field: "decided", width: 165, headerSort: false, responsive: 0, formatter: (cell) => {
    const row = cell.getData();
    const to = row.target_title || row.target_url;
    return element("span", { class: "row tight" },
      small("Accept", `Accept: link to ${to}`, () => decide(row, "accepted"), { disabled: ["accepted", "edited"].includes(row.decided) }),
      small("Reject", `Reject: link to ${to}`, () => decide(row, "rejected"), { disabled: row.decided === "rejected" }));
  } };
  // On a phone both pages share a column.
  if (matchMedia("(max-width: 45rem)").matches) {
    return [
      { title: "Link", field: "source", widthGrow: 1, minWidth: 150, formatter: (cell) => {
        const row = cell.getData();
        return element("span", {}, sited("span", row.source_title || row.source_url, { class: "title" }), element("span", { class: "help" }, " leads to "),
          sited("span", row.target_title || row.target_url, { class: "title" }), " ", badge(row.status));
      } },
      { ...decision, width: 100 },
    ];
  }
  return [
    { title: "From", field: "source", widthGrow: 3, minWidth: 150, responsive: 0, formatter: (cell) => pageName(cell.getData().source_title, cell.getData().source_url) },
    { title: "To", field: "target", widthGrow: 3, minWidth: 150, responsive: 1, formatter: (cell) => pageName(cell.getData().target_title, cell.getData().target_url) },
    { title: "Anchor", field: "anchor", widthGrow: 2, minWidth: 140, responsive: 3, formatter: (cell) => {
      const { anchor, wording } = cell.getData();
      return wording ? element("span", { class: "help", dir: "auto" }, ...worded(wording)) : sited("span", anchor);
    } },
    { title: "Score", field: "score", width: 110, hozAlign: "right", responsive: 3, formatter: (cell) => score(cell.getValue()) },
    { title: "Tier", field: "tier", width: 115, responsive: 4, formatter: (cell) => TIERS[cell.getValue()] },
    { title: "Status", field: "status", width: 120, responsive: 2, formatter: (cell) => badge(cell.getValue()) },
    decision,
  ];
}

// `decide` sends a decision on a link; `loaded` is told what each part of the table has.
export function reviewTable(place, { decide, undo, loaded }) {
  let current = null;
  const table = linkTable(place, { columns: columns(decideRow), loaded, rowFormatter: (each) => {
    each.getElement().tabIndex = -1;
    each.getElement().classList.toggle("current", each.getIndex() === current);
  } });
  // The table has the rows of one part only.
  const row = (id) => table.getRows().find((each) => each.getIndex() === id);
  const askAnchor = anchorDialog(chosen, decideChosen);

  function mark(id) {
    row(current)?.getElement().classList.remove("current");
    current = id;
    row(id)?.getElement().classList.add("current");
  }

  // By mouse or keyboard, in any cell.
  place.addEventListener("focusin", (event) => {
    const held = table.getRows().find((each) => each.getElement().contains(event.target));
    if (held) mark(held.getIndex());
  });

  // Goes to a link that is shown.
  function go(id) {
    mark(id);
    row(id)?.getElement().focus();
  }

  // Links that were decided may have left the part, so that others have moved up: those come before the next part.
  async function loadMore() {
    const seen = new Set(table.getRows().map((each) => each.getIndex()));
    await table.setPage(table.getPage());
    if (table.getPage() > table.getPageMax()) await table.setPage(table.getPageMax());
    const fresh = () => table.getRows().find((each) => !seen.has(each.getIndex()));
    if (!fresh() && table.getPage() < table.getPageMax()) await table.nextPage();
    return fresh();
  }

  async function move(step) {
    try {
      const rows = table.getRows();
      const at = rows.findIndex((each) => each.getIndex() === current);
      let next = at < 0 ? rows[0] : rows[at + step];
      if (!next && step > 0) next = await loadMore();
      if (!next && step < 0 && table.getPage() > 1) {
        await table.previousPage();
        next = table.getRows().at(-1);
      }
      go(next ? next.getIndex() : current);
      if (!next && step > 0) say("That was the last link.");
    } catch (error) {
      showProblem(error);
    }
  }

  async function decideRow(link, status, more = {}) {
    // A wording that the window is too narrow to show is not accepted.
    const wording = table.getColumn("anchor")?.isVisible?.() && !more.anchor ? link.wording : "";
    const outcome = await decide(link, status, { wording, ...more });
    if (outcome?.changed) say(`The link is ${status}.`, { action: "Undo", act: undo });
    return outcome;
  }

  // The link that a key is for.
  function chosen() {
    const found = row(current)?.getData();
    if (!found) say("No link is chosen: press J, or click on one.");
    return found;
  }

  // A decision by a key goes on to the next link, as it does on the cards.
  async function decideChosen(status, more = {}) {
    const link = chosen();
    const outcome = link && await decideRow(link, status, more);
    if (outcome && !outcome.conflicts.length && current === link.id) await move(1);
  }

  return { row, go, move, chosen, decideChosen, askAnchor, reload: () => table.setPage(1) };
}

// Another anchor for a link in the table: it is looked up in the text first, then accepted.
function anchorDialog(chosen, decideChosen) {
  let placed = null;

  function show(found) {
    placed = found;
    byId("other-accept").textContent = found ? "Accept" : "Look it up";
    byId("other-warning").hidden = !found?.warning;
    byId("other-warning").textContent = found?.warning ? warned(found.warning) : "";
    byId("other-passage").hidden = !found?.passage.anchor;
    byId("other-passage").replaceChildren(...(found ? marked(found.passage) : []));
  }

  byId("other").addEventListener("input", () => { if (placed) show(null); });
  byId("other-cancel").addEventListener("click", () => byId("other-anchor").close());
  onSubmit(byId("other-form"), async () => {
    const link = chosen();
    if (!placed) {
      show(await projectApi(`anchor?${new URLSearchParams({ id: link.id, text: byId("other").value })}`));
      byId("other").value = placed.text;
      return;
    }
    byId("other-anchor").close();
    await decideChosen("accepted", placed.text === link.anchor ? {} : { anchor: placed.text });
  });
  return () => {
    const link = chosen();
    if (!link) return;
    byId("other-link").replaceChildren(...between(link));
    byId("other").value = link.anchor;
    show(null);
    byId("other-anchor").showModal();
    byId("other").select();
  };
}
