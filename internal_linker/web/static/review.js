import { badge, filter, linkTable, pageName, query, score, STATUSES, TIERS, watchFilters } from "./linktable.js";
import { counted, element, number, outward, projectApi, say, showProblem, sited } from "./shared.js";

const byId = (id) => document.getElementById(id);
const WINDOW = 100;
const REASONS = ["Not relevant", "Wrong target", "Bad anchor", "Already linked"];
const by = byId("by");
const undone = [];
// The links that are reviewed one by one: a part of those that the filter takes.
let queue = { rows: [], at: 0, total: 0, done: false };
let current = null;
let anchor = "";
let table = null;
let view = new URLSearchParams(location.search).get("view") === "table" ? "table" : "pages";
const details = new Map();

// -- one by one --

async function startQueue() {
  details.clear();
  current = null;
  const found = await projectApi(`links?${query({ limit: WINDOW })}`);
  showTextsProblem(found);
  queue = { rows: found.rows, at: 0, total: found.total, done: found.rows.length >= found.total };
  await show();
}

// More links when the last ones come near. Those that were decided have left the filter.
async function extend() {
  if (queue.done || queue.at < queue.rows.length - 20) return;
  queue.done = true;
  const waiting = byId("status").value === "waiting";
  const passed = queue.rows.filter((row) => !waiting || row.status === "proposed").length;
  const found = await projectApi(`links?${query({ limit: WINDOW, offset: passed })}`);
  const known = new Set(queue.rows.map((row) => row.id));
  const more = found.rows.filter((row) => !known.has(row.id));
  queue.rows.push(...more);
  queue.done = found.rows.length === 0;
}

function detail(id) {
  if (!details.has(id)) {
    const asked = projectApi(`link?id=${id}`);
    asked.catch(() => details.delete(id));
    details.set(id, asked);
  }
  return details.get(id);
}

async function show() {
  const row = queue.rows[queue.at];
  const waiting = queue.rows.filter((each) => each.status === "proposed").length;
  showCount(queue.total);
  byId("pages").hidden = view !== "pages" || !row;
  byId("empty").hidden = Boolean(row) || view !== "pages";
  byId("empty").textContent = byId("text").value || location.search.length > 1
    ? "No links match these filters." : "No link waits for a decision: start a run on the page Run, or look at those that were decided.";
  if (!row) return;
  const shown = await detail(row.id);
  if (queue.rows[queue.at]?.id !== row.id) return;
  current = shown;
  showCard(queue.rows[queue.at], shown);
  showOthers(waiting);
  for (const next of queue.rows.slice(queue.at + 1, queue.at + 4)) detail(next.id).catch(() => {});
  extend().catch(showProblem);
}

function showCard(row, shown) {
  byId("reasons").hidden = true;
  byId("selected").hidden = true;
  byId("at").replaceChildren(`Link ${number(queue.at + 1)} of ${number(queue.total)} `, badge(row.status),
    row.by && row.status !== "proposed" ? element("bdi", {}, ` ${row.by}`) : "");
  byId("from").textContent = row.source_title || row.source_url;
  byId("from-url").replaceChildren(outward(row.source_url), element("span", { class: "help" }, ` ${counted(shown.source_links, "link")} in its text`));
  byId("to").textContent = row.target_title || row.target_url;
  byId("to-url").replaceChildren(outward(row.target_url), element("span", { class: "help" }, ` ${counted(shown.target_links, "link")} to it`));
  byId("to-lines").textContent = shown.target_lines;
  byId("why").replaceChildren(element("strong", { class: "score" }, score(row.score)), ` ${TIERS[row.tier]}. `, element("bdi", {}, shown.why),
    row.notes ? element("span", { class: "help" }, " Notes: ", element("bdi", {}, row.notes)) : "");
  const [first] = [row.anchor];
  anchor = first;
  byId("own").value = "";
  showPassage(shown.passage, shown.in_text);
  showWarning(shown.warning);
  const choices = [{ text: row.anchor, warning: shown.warning }, ...shown.others].filter((each) => each.text);
  byId("anchors").replaceChildren(...choices.map((each, at) => element("label", { class: "check" },
    element("input", { type: "radio", name: "anchor", value: each.text, checked: at === 0, onchange: () => choose(each.text) }),
    sited("bdi", each.text), each.warning ? element("span", { class: "help" }, ` ${each.warning}`) : "")));
}

function showPassage(passage, inText) {
  const place = byId("passage");
  const { before, lead, rest, after } = passage;
  const marked = passage.anchor ? element("mark", {}, passage.anchor) : "";
  place.replaceChildren(...(marked
    ? [before, element("span", { class: "sentence" }, lead, marked, rest), after]
    : [element("span", { class: "sentence" }, before, lead, rest, after)]));
  place.hidden = !passage.lead && !passage.anchor;
  byId("passage-help").textContent = place.hidden
    ? "No words of the page fit: the anchor is new text, for a box of related links or a sentence of your own."
    : inText ? "Select words in the text to link them instead." : "The anchor is not in the text. It could be added here; or select words to link.";
}

function showWarning(warning) {
  byId("warning").hidden = !warning;
  byId("warning").textContent = warning ? `Warning: ${warning}. Add the words to the page's text, or choose others.` : "";
}

// Another anchor: where it stands, and whether it can be linked there.
async function choose(text) {
  const { id } = current.row;
  try {
    const placed = await projectApi(`anchor?${new URLSearchParams({ id, text })}`);
    if (current.row.id !== id) return;
    anchor = placed.text;
    showWarning(placed.warning);
    if (placed.passage.lead || placed.passage.anchor) showPassage(placed.passage, !placed.warning);
    const radio = [...document.querySelectorAll("input[name=anchor]")].find((each) => each.value === placed.text);
    if (radio) radio.checked = true;
    else {
      byId("anchors").append(element("label", { class: "check" },
        element("input", { type: "radio", name: "anchor", value: placed.text, checked: true, onchange: () => choose(placed.text) }),
        sited("bdi", placed.text), placed.warning ? element("span", { class: "help" }, ` ${placed.warning}`) : ""));
    }
  } catch (error) {
    showProblem(error);
  }
}

function showOthers(waiting) {
  const from = Math.max(0, queue.at - 2);
  byId("others-title").textContent = "Around this link";
  byId("others").replaceChildren(...queue.rows.slice(from, from + 9).map((row, at) => element("li", {},
    element("button", { type: "button", class: "plain", "aria-current": from + at === queue.at ? "true" : null, onclick: () => go(from + at) },
      element("span", { class: "row" }, badge(row.status), element("strong", {}, score(row.score))),
      sited("span", row.source_title || row.source_url, { class: "title" }),
      sited("span", `→ ${row.target_title || row.target_url}`, { class: "help" })))));
  byId("others").dataset.waiting = waiting;
}

function go(at) {
  if (at < 0 || at >= queue.rows.length) return;
  queue.at = at;
  show().catch(showProblem);
}

// -- decisions --

function remember(outcome) {
  if (outcome.undo) undone.push(outcome.undo);
  byId("undo").disabled = !undone.length;
  if (outcome.conflicts.length) {
    const [{ row }] = outcome.conflicts;
    const told = outcome.conflicts.length === 1
      ? `${row.by || "Somebody"} decided this link in the meantime: ${STATUSES[row.status]}. Decide again to overrule it.`
      : `${counted(outcome.conflicts.length, "link")} were decided by others in the meantime and stay as they are.`;
    say(told, { seconds: 10 });
  }
  for (const each of [...outcome.rows, ...outcome.conflicts.map((one) => one.row)]) update(each);
}

function update(row) {
  details.delete(row.id);
  const at = queue.rows.findIndex((each) => each.id === row.id);
  if (at >= 0) queue.rows[at] = row;
  table?.updateData([row]).catch(() => {});
}

async function decide(row, status, more = {}) {
  const said = { id: row.id, status, seen: row.decided, ...more };
  const outcome = await projectApi("decisions", { method: "POST", body: { decisions: [said], by: by.value } });
  remember(outcome);
  return outcome;
}

async function decideCurrent(status, more = {}) {
  const row = queue.rows[queue.at];
  if (!row || !current || current.row.id !== row.id) return;
  try {
    showProblem(null);
    const given = status === "accepted" && anchor !== row.anchor ? { anchor } : {};
    const outcome = await decide(row, status, { ...given, ...more });
    if (outcome.conflicts.length) await show();
    else if (queue.at + 1 < queue.rows.length) go(queue.at + 1);
    else {
      await show();
      say("That was the last link.");
    }
  } catch (error) {
    showProblem(error);
  }
}

async function undo() {
  const name = undone.pop();
  if (!name) return;
  try {
    const outcome = await projectApi("decisions/undo", { method: "POST", body: { undo: name } });
    remember({ ...outcome, undo: "" });
    if (outcome.changed) say(`Undone: ${counted(outcome.changed, "decision")}.`);
    const at = queue.rows.findIndex((row) => row.id === outcome.rows[0]?.id);
    if (outcome.changed > 1) await refresh();
    else if (at >= 0) go(at);
    else await show();
  } catch (error) {
    showProblem(error);
  }
}

function askReason() {
  if (!current) return;
  byId("reasons").hidden = false;
  byId("reason").value = "";
  byId("reason").focus();
}

function reject(reason) {
  byId("reasons").hidden = true;
  byId("reject").focus();
  decideCurrent("rejected", reason ? { notes: reason } : {});
}

async function decideAll(status) {
  const total = Number(byId("count").dataset.total);
  byId("sure-title").textContent = `${status === "accepted" ? "Accept" : "Reject"} ${counted(total, "link")}?`;
  const dialog = byId("sure");
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  if (dialog.returnValue !== "yes") return;
  try {
    const body = { filter: filter(), status, by: by.value };
    const outcome = await projectApi("decisions/filter", { method: "POST", body });
    remember(outcome);
    say(`${counted(outcome.changed, "link")} ${status}.`, { action: "Undo", act: undo, seconds: 15 });
    await refresh();
  } catch (error) {
    showProblem(error);
  }
}

// -- the table --

function small(text, label, act, more = {}) {
  return element("button", { type: "button", class: "mini", "aria-label": label, onclick: act, ...more }, text);
}

async function decideRow(row, status) {
  try {
    const outcome = await decide(row, status);
    if (outcome.changed) say(`The link is ${status}.`, { action: "Undo", act: undo });
  } catch (error) {
    showProblem(error);
  }
}

const decision = { title: "Decision", field: "id", width: 165, headerSort: false, responsive: 0, formatter: (cell) => {
  const row = cell.getData();
  const to = row.target_title || row.target_url;
  return element("span", { class: "row tight" },
    small("Accept", `Accept: link to ${to}`, () => decideRow(row, "accepted"), { disabled: ["accepted", "edited"].includes(row.decided) }),
    small("Reject", `Reject: link to ${to}`, () => decideRow(row, "rejected"), { disabled: row.decided === "rejected" }));
} };
// On a phone both pages share a column.
const narrowColumns = [
  { title: "Link", field: "source", widthGrow: 1, minWidth: 150, formatter: (cell) => {
    const row = cell.getData();
    return element("span", {}, sited("span", row.source_title || row.source_url, { class: "title" }), element("span", { class: "help" }, " leads to "),
      sited("span", row.target_title || row.target_url, { class: "title" }), " ", badge(row.status));
  } },
  { ...decision, width: 100 },
];
const wideColumns = [
  { title: "From", field: "source", widthGrow: 3, minWidth: 150, responsive: 0, formatter: (cell) => pageName(cell.getData().source_title, cell.getData().source_url) },
  { title: "To", field: "target", widthGrow: 3, minWidth: 150, responsive: 1, formatter: (cell) => pageName(cell.getData().target_title, cell.getData().target_url) },
  { title: "Anchor", field: "anchor", widthGrow: 2, minWidth: 140, responsive: 3, formatter: (cell) => sited("span", cell.getValue()) },
  { title: "Score", field: "score", width: 100, hozAlign: "right", responsive: 3, formatter: (cell) => score(cell.getValue()) },
  { title: "Tier", field: "tier", width: 115, responsive: 4, formatter: (cell) => TIERS[cell.getValue()] },
  { title: "Status", field: "status", width: 120, responsive: 2, formatter: (cell) => badge(cell.getValue()) },
  decision,
];

function loaded(found) {
  showTextsProblem(found);
  showCount(found.total);
  if (view !== "table") return;
  byId("empty").hidden = found.total > 0;
  byId("empty").textContent = "No links match these filters.";
  byId("table-view").hidden = found.total === 0;
}

// -- both views --

function showTextsProblem(found) {
  byId("texts-problem").hidden = !found.problem;
  byId("texts-problem").textContent = found.problem;
}

function showCount(total) {
  const waiting = byId("status").value === "waiting";
  byId("count").textContent = waiting ? `${counted(total, "link")} waiting for a decision` : counted(total, "link");
  byId("count").dataset.total = total;
  for (const id of ["accept-all", "reject-all"]) byId(id).disabled = !total;
}

async function refresh() {
  try {
    showProblem(null);
    byId("table-view").hidden = view !== "table";
    byId("pages").hidden = view !== "pages" || !queue.rows.length;
    if (view === "table") {
      if (table) await table.setPage(1);
      else {
        const columns = matchMedia("(max-width: 45rem)").matches ? narrowColumns : wideColumns;
        table = linkTable(byId("table"), { columns, loaded });
      }
    } else {
      await startQueue();
    }
  } catch (error) {
    showProblem(error);
  }
}

function setView(chosen) {
  view = chosen;
  for (const each of document.querySelectorAll("button[data-view]")) {
    each.setAttribute("aria-pressed", String(each.dataset.view === view));
  }
  const given = new URLSearchParams(location.search);
  if (view === "table") given.set("view", "table");
  else given.delete("view");
  history.replaceState(null, "", given.size ? `?${given}` : location.pathname);
}

const KEYS = {
  a: () => (view === "pages" ? decideCurrent("accepted") : null),
  r: () => (view === "pages" ? askReason() : null),
  e: () => (view === "pages" ? byId("own").focus() : null),
  u: undo,
  j: () => go(queue.at + 1),
  k: () => go(queue.at - 1),
  "/": () => { byId("which").open = true; byId("text").focus(); },
  "?": () => byId("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=radio]), select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && typing) {
    byId("reasons").hidden = true;
    event.target.blur();
  } else if (!typing && KEYS[event.key.toLowerCase()]) {
    event.preventDefault();
    KEYS[event.key.toLowerCase()]();
  }
});
byId("reason").addEventListener("keydown", (event) => {
  const at = Number(event.key) - 1;
  if (event.key === "Enter") {
    event.preventDefault();
    reject(byId("reason").value.trim());
  } else if (REASONS[at] && !byId("reason").value) {
    event.preventDefault();
    reject(REASONS[at]);
  }
});
byId("reason-buttons").append(...REASONS.map((reason, at) =>
  element("button", { type: "button", onclick: () => reject(reason) }, element("kbd", {}, String(at + 1)), ` ${reason}`)),
element("button", { type: "button", onclick: () => reject(byId("reason").value.trim()) }, "No reason"));
byId("own").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && byId("own").value.trim()) {
    event.preventDefault();
    choose(byId("own").value).then(() => byId("accept").focus());
  }
});
byId("use-own").addEventListener("click", () => byId("own").value.trim() && choose(byId("own").value));
document.addEventListener("selectionchange", () => {
  const selection = document.getSelection();
  const inside = selection.rangeCount && byId("passage").contains(selection.anchorNode) && byId("passage").contains(selection.focusNode);
  const words = inside ? selection.toString().trim() : "";
  byId("selected").hidden = !words || words.length > 200;
  byId("use-selected").textContent = `Link “${words}”`;
  byId("use-selected").dataset.words = words;
});
// Before the click takes the selection away.
byId("use-selected").addEventListener("mousedown", (event) => event.preventDefault());
byId("use-selected").addEventListener("click", () => choose(byId("use-selected").dataset.words));
byId("accept").addEventListener("click", () => decideCurrent("accepted"));
byId("reject").addEventListener("click", askReason);
byId("undo").addEventListener("click", undo);
byId("before").addEventListener("click", () => go(queue.at - 1));
byId("next").addEventListener("click", () => go(queue.at + 1));
byId("accept-all").addEventListener("click", () => decideAll("accepted"));
byId("reject-all").addEventListener("click", () => decideAll("rejected"));
byId("help").addEventListener("click", () => byId("keys").showModal());
by.addEventListener("change", () => localStorage.setItem("reviewer", by.value));
for (const each of document.querySelectorAll("button[data-view]")) {
  each.addEventListener("click", () => { setView(each.dataset.view); refresh(); });
}

by.value = localStorage.getItem("reviewer") || "";
if (!by.value) projectApi("reviewer").then(({ name }) => { by.value ||= name; }).catch(showProblem);
setView(view);
watchFilters(refresh);
byId("which").open = location.search.replace("view=table", "").length > 1;
refresh();
