import { badge, between, filter, marked, query, score, STATUSES, TIERS, warned, watchFilters } from "./linktable.js";
import { reviewTable } from "./reviewtable.js";
import { counted, element, number, outward, project, projectApi, say, showProblem, sited } from "./shared.js";
import { showToApply } from "./toapply.js";

const byId = (id) => document.getElementById(id);
const WINDOW = 100;
// As many links as the API lists at once.
const MOST = 500;
const REASONS = ["Not relevant", "Wrong target", "Bad anchor", "Already linked"];
const by = byId("by");
// Names of decisions that can be taken back: a reload keeps them, as the app does.
const UNDO = `undo ${project}`;
const undone = JSON.parse(sessionStorage.getItem(UNDO) || "[]");
// Links whose decision is on its way.
const sent = new Set();
// The links that are reviewed one by one: a part of those that the filter takes.
let queue = { rows: [], at: 0, total: 0, done: false, more: null };
// How many links of the filter nobody has decided.
let waiting = 0;
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
  showFound(found);
  queue = { rows: found.rows, at: 0, total: found.total, done: found.rows.length >= found.total, more: null };
  await show();
}

// More links when the last ones come near.
function extend() {
  const mine = queue;
  if (mine.done || mine.at < mine.rows.length - 20) return null;
  mine.more ??= addMore(mine).finally(() => { mine.more = null; });
  return mine.more;
}

// Each decision moves its page in the list, so that links are missing before the last known one, too.
async function addMore(mine) {
  const held = new Set(mine.rows.map((row) => row.id));
  const limit = Math.min(MOST, mine.rows.length + WINDOW);
  let [found, fresh, offset] = [null, [], 0];
  do {
    found = await projectApi(`links?${query({ limit, offset })}`);
    fresh = found.rows.filter((row) => !held.has(row.id));
    offset += limit;
  } while (!fresh.length && offset < found.total);
  mine.rows.push(...fresh);
  mine.done = !fresh.length;
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
  byId("pages").hidden = view !== "pages" || !row;
  byId("empty").hidden = Boolean(row) || view !== "pages";
  byId("empty").textContent = byId("text").value || location.search.length > 1
    ? "No links match these filters." : "No link waits for a decision: start a run on the page Run, or look at those that were decided.";
  if (!row) return;
  const shown = await detail(row.id);
  if (queue.rows[queue.at]?.id !== row.id) return;
  current = shown;
  showCard(queue.rows[queue.at], shown);
  showOthers();
  for (const next of queue.rows.slice(queue.at + 1, queue.at + 4)) detail(next.id).catch(() => {});
  extend()?.catch(showProblem);
}

function showCard(row, shown) {
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
  place.replaceChildren(...marked(passage));
  place.hidden = !passage.lead && !passage.anchor;
  byId("passage-help").textContent = place.hidden
    ? "No words of the page fit: the anchor is new text, for a box of related links or a sentence of your own."
    : inText ? "Select words in the text to link them instead." : "The anchor is not in the text. It could be added here; or select words to link.";
}

function showWarning(warning) {
  byId("warning").hidden = !warning;
  byId("warning").textContent = warning ? warned(warning) : "";
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

function showOthers() {
  const from = Math.max(0, queue.at - 2);
  const focused = byId("others").contains(document.activeElement);
  byId("others-title").textContent = "Around this link";
  byId("others").replaceChildren(...queue.rows.slice(from, from + 9).map((row, at) => element("li", {},
    element("button", { type: "button", class: "plain", "aria-current": from + at === queue.at ? "true" : null, onclick: () => go(from + at) },
      element("span", { class: "row" }, badge(row.status), element("strong", {}, score(row.score))),
      sited("span", row.source_title || row.source_url, { class: "title" }),
      sited("span", `→ ${row.target_title || row.target_url}`, { class: "help" })))));
  if (focused) byId("others").querySelector("[aria-current]").focus();
}

function go(at) {
  if (at < 0 || at >= queue.rows.length) return;
  queue.at = at;
  show().catch(showProblem);
}

// -- decisions --

function keepUndone(names) {
  undone.splice(0, undone.length, ...names);
  sessionStorage.setItem(UNDO, JSON.stringify(undone));
  byId("undo").disabled = !undone.length;
}

function remember(outcome) {
  showToApply();
  if (outcome.undo) keepUndone([...undone, outcome.undo]);
  if (outcome.conflicts.length === 1) {
    const [{ row }] = outcome.conflicts;
    const before = known(row.id);
    say(before && before.decided === row.decided
      ? "The notes or the anchor of this link have changed in the meantime. Look at it, then decide again."
      : `${row.by || "Somebody"} decided this link in the meantime: ${STATUSES[row.status]}. Decide again to overrule it.`, { seconds: 10 });
  } else if (outcome.conflicts.length) {
    say(`${counted(outcome.conflicts.length, "link")} changed in the meantime and stay as they are.`, { seconds: 10 });
  }
  for (const each of [...outcome.rows, ...outcome.conflicts.map((one) => one.row)]) update(each);
}

function known(id) {
  return queue.rows.find((each) => each.id === id) || table?.row(id)?.getData();
}

function update(row) {
  details.delete(row.id);
  const before = known(row.id);
  if (before) waiting += (row.status === "proposed") - (before.status === "proposed");
  showCount();
  const at = queue.rows.findIndex((each) => each.id === row.id);
  if (at >= 0) queue.rows[at] = row;
  const shown = table?.row(row.id);
  if (!shown) return;
  const place = shown.getElement();
  const focused = place !== document.activeElement && place.contains(document.activeElement);
  shown.update(row);
  // All of its cells: some show more than their own field.
  shown.reformat();
  if (focused) place.querySelector("button:not(:disabled)")?.focus();
}

// A decision on a link whose last one is on its way would be in conflict with it.
async function decide(row, status, more = {}) {
  if (sent.has(row.id)) return null;
  sent.add(row.id);
  try {
    showProblem(null);
    const seen = { decided: row.decided, anchor: row.anchor, notes: row.notes };
    const said = { id: row.id, status, seen, ...more };
    const outcome = await projectApi("decisions", { method: "POST", body: { decisions: [said], by: by.value } });
    remember(outcome);
    return outcome;
  } catch (error) {
    showProblem(error);
    return null;
  } finally {
    sent.delete(row.id);
  }
}

async function decideCurrent(status, more = {}) {
  const row = queue.rows[queue.at];
  if (!row || !current || current.row.id !== row.id) return;
  const given = status === "accepted" && anchor !== row.anchor ? { anchor } : {};
  const outcome = await decide(row, status, { ...given, ...more });
  // Who has gone on to another link stays there.
  if (!outcome || queue.rows[queue.at]?.id !== row.id) return;
  try {
    if (queue.at + 1 >= queue.rows.length) await extend();
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
  const name = undone.at(-1);
  if (!name || sent.has(name)) return;
  sent.add(name);
  try {
    showProblem(null);
    const outcome = await projectApi("decisions/undo", { method: "POST", body: { undo: name } });
    keepUndone(undone.filter((each) => each !== name));
    const [row] = outcome.rows;
    const shown = row && known(row.id);
    remember({ ...outcome, undo: "" });
    if (outcome.changed) say(`Undone: ${counted(outcome.changed, "decision")}.`);
    if (outcome.changed > 1 || (row && !shown)) await refresh();
    if (view === "table") {
      if (outcome.changed === 1) table.go(row.id);
      return;
    }
    const at = queue.rows.findIndex((each) => each.id === row?.id);
    if (outcome.changed === 1 && at >= 0) go(at);
    else await show();
  } catch (error) {
    // Then the app has forgotten the earlier ones, too.
    if (error.status === 404) keepUndone([]);
    showProblem(error);
  } finally {
    sent.delete(name);
  }
}

function askReason() {
  const row = view === "pages" ? current?.row : table.chosen();
  if (!row) return;
  byId("reasons-link").replaceChildren(...between(row));
  byId("reason").value = "";
  byId("reasons").showModal();
  byId("reason").focus();
}

function reject(reason) {
  byId("reasons").close();
  (view === "pages" ? decideCurrent : table.decideChosen)("rejected", reason ? { notes: reason } : {});
}

async function decideAll(status) {
  byId("sure-title").textContent = `${status === "accepted" ? "Accept" : "Reject"} ${counted(waiting, "link")}?`;
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

function loaded(found) {
  showFound(found);
  if (view !== "table") return;
  byId("empty").hidden = found.total > 0;
  byId("empty").textContent = "No links match these filters.";
  byId("table-view").hidden = found.total === 0;
}

// -- both views --

function showFound(found) {
  byId("texts-problem").hidden = !found.problem;
  byId("texts-problem").textContent = found.problem;
  waiting = found.statuses.proposed || 0;
  byId("count").dataset.total = found.total;
  showCount();
}

function showCount() {
  const all = counted(Number(byId("count").dataset.total), "link");
  byId("count").textContent = byId("status").value === "waiting"
    ? `${counted(waiting, "link")} waiting for a decision` : `${all}, ${number(waiting)} waiting for a decision`;
  for (const id of ["accept-all", "reject-all"]) byId(id).disabled = !waiting;
}

async function refresh() {
  try {
    showProblem(null);
    byId("table-view").hidden = view !== "table";
    byId("pages").hidden = view !== "pages" || !queue.rows.length;
    if (view === "table") {
      if (table) await table.reload();
      else table = reviewTable(byId("table"), { decide, undo, loaded });
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
  a: () => (view === "pages" ? decideCurrent : table.decideChosen)("accepted"),
  r: askReason,
  e: () => (view === "pages" ? byId("own").focus() : table.askAnchor()),
  u: undo,
  j: () => (view === "pages" ? go(queue.at + 1) : table.move(1)),
  k: () => (view === "pages" ? go(queue.at - 1) : table.move(-1)),
  "/": () => { byId("which").open = true; byId("text").focus(); },
  "?": () => byId("keys").showModal(),
};

const letters = byId("letters");

function showLetters() {
  document.body.classList.toggle("keyless", !letters.checked);
}

letters.checked = localStorage.getItem("letters") !== "off";
letters.addEventListener("change", () => {
  localStorage.setItem("letters", letters.checked ? "on" : "off");
  showLetters();
});
showLetters();
document.addEventListener("keydown", (event) => {
  // A field of a dialog that was closed has the focus until the page is painted again.
  const typing = !event.target.closest("dialog:not([open])") && event.target.closest("input:not([type=radio]), select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && typing) {
    event.target.blur();
  } else if (letters.checked && !typing && KEYS[event.key.toLowerCase()]) {
    event.preventDefault();
    // A key that is held down decides once.
    if (!event.repeat) KEYS[event.key.toLowerCase()]();
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

keepUndone(undone);
by.value = localStorage.getItem("reviewer") || "";
if (!by.value) projectApi("reviewer").then(({ name }) => { by.value ||= name; }).catch(showProblem);
setView(view);
watchFilters(refresh);
showToApply();
byId("which").open = location.search.replace("view=table", "").length > 1;
refresh();
