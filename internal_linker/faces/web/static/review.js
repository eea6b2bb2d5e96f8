import { badge, between, filter, marked, query, score, STATUSES, TIERS, warned, watchFilters, worded } from "./linktable.js";
import { pageText } from "./pagetext.js";
import { reviewTable } from "./reviewtable.js";
import { counted, element, number, onSubmit, outward, project, projectApi, say, showProblem, sited } from "./shared.js";
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
// The link on the card with all that is known of it, its id if the filters leave it out, and the anchor that is chosen.
let current = null;
let beside = "";
let anchor = null;
// The page around it: its key, text and links.
let reading = { source: null };
const text = pageText(byId("page-text"), select);
let table = null;
let view = new URLSearchParams(location.search).get("view") === "table" ? "table" : "pages";
const details = new Map();

// -- one by one --

async function startQueue() {
  details.clear();
  [current, beside, reading] = [null, "", { source: null }];
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

// The link on the card: one that was clicked in the text, or that of the queue.
const wanted = () => beside || queue.rows[queue.at]?.id;

async function show() {
  const id = wanted();
  byId("pages").hidden = view !== "pages" || !id;
  byId("empty").hidden = Boolean(id) || view !== "pages";
  byId("empty").textContent = byId("text").value || location.search.length > 1
    ? "No links match these filters." : "No link waits for a decision: start a run on the page Run, or look at those that were decided.";
  if (!id) return;
  const shown = await detail(id);
  const page = reading.source === shown.row.source && !reading.isStale ? reading : await read(shown.row);
  if (wanted() !== id) return;
  if (page.source !== reading.source || JSON.stringify(page.paragraphs) !== JSON.stringify(reading.paragraphs)) showPage(shown.row, page);
  [reading, current] = [page, shown];
  showCard(shown);
  for (const next of queue.rows.slice(queue.at + 1, queue.at + 4)) detail(next.id).catch(() => {});
  extend()?.catch(showProblem);
}

const read = async ({ source }) => ({ source, ...await projectApi(`page/text?${new URLSearchParams({ source })}`) });

function showPage(row, page) {
  byId("from").textContent = row.source_title || row.source_url;
  byId("cut").hidden = !page.is_cut;
  byId("cut").textContent = "The text goes on: only its beginning is shown.";
  text.show(page.paragraphs);
}

function showCard(shown) {
  const { row } = shown;
  byId("selected").hidden = true;
  byId("from-url").replaceChildren(outward(row.source_url), element("span", { class: "help" }, ` ${counted(shown.source_links, "link")} in its text`));
  byId("at").replaceChildren(beside ? "Not among the filtered links " : `Link ${number(queue.at + 1)} of ${number(queue.total)} `, badge(row.status),
    row.by && row.status !== "proposed" ? element("bdi", {}, ` ${row.by}`) : "");
  byId("to").textContent = row.target_title || row.target_url;
  byId("to-url").replaceChildren(outward(row.target_url), element("span", { class: "help" }, ` ${counted(shown.target_links, "link")} to it`));
  byId("to-lines").textContent = shown.target_lines;
  byId("why").replaceChildren(element("strong", {}, `Score ${score(row.score)}: `), `${sentenceOfPlace(row)} `, element("bdi", {}, shown.why),
    row.notes ? element("span", { class: "help" }, " Notes: ", element("bdi", {}, row.notes)) : "");
  const own = reading.links.find((each) => each.row.id === row.id);
  anchor = { text: row.anchor, start: own?.start ?? -1, end: own?.end ?? -1, near: 0, passage: shown.passage };
  byId("own").value = "";
  byId("new-words").checked = true;
  const choices = [{ text: row.anchor, warning: shown.warning }, ...shown.others].filter((each) => each.text);
  byId("anchors").replaceChildren(...choices.map((each, at) => choice(each, at === 0)));
  showAnchor(shown.warning);
}

function sentenceOfPlace(row) {
  if (row.decided === "edited") return `${TIERS[row.tier]}, with words that an editor chose.`;
  return row.tier === "inline" && row.score !== null
    ? `${TIERS.inline}, where about ${number(row.score)} of 100 such links can be published unread.` : `${TIERS[row.tier]}.`;
}

function choice({ text: words, warning }, checked) {
  return element("label", { class: "check" },
    element("input", { type: "radio", name: "anchor", value: words, checked, onchange: () => choose(words) }),
    sited("bdi", words), warning ? element("span", { class: "help" }, ` ${warning}`) : "");
}

// The suggested wording, which goes with the anchor of the list alone; "" without one.
function newWords() {
  return anchor.text === current.row.anchor && anchor.end <= anchor.start ? current.row.wording : "";
}

// The anchor on the card: its place in the text, and what speaks against it.
function showAnchor(warning) {
  const [isInText, wording] = [anchor.end > anchor.start, newWords()];
  byId("warning").hidden = !warning;
  byId("warning").textContent = warning ? warned(warning) : "";
  // New words, or without the page's text the sentence that is stored with the link.
  byId("passage").hidden = !wording && (reading.paragraphs.length > 0 || !(anchor.passage.lead || anchor.passage.anchor));
  byId("passage").replaceChildren(...(wording
    ? [anchor.passage.before, element("span", { class: "sentence" }, ...worded(wording)), anchor.passage.after] : marked(anchor.passage)));
  byId("wording").hidden = !wording;
  byId("passage-help").textContent = wording ? "The underlined words are new text." : isInText || anchor.passage.anchor ? "Select words in the text to link them instead."
    : "The words are not in the text: they are for a box of related links, or a sentence of your own. Or select words in the text to link.";
  byId("instead").disabled = !isInText;
  draw();
}

// Marks the links in the text and lists the others; of links with common words, one is marked.
function draw() {
  const shown = reading.links.map((each) => (each.row.id === current.row.id ? { ...each, ...anchor, row: each.row } : each));
  shown.sort((one, other) => (other.row.id === current.row.id) - (one.row.id === current.row.id));
  const last = reading.paragraphs.at(-1);
  const length = last ? last.start + [...last.text].length : 0;
  const [spots, others, box] = [[], [], []];
  for (const each of shown) {
    if (each.end <= each.start) (each.row.status === "rejected" ? others : box).push(each);
    else if (each.end > length || spots.some((one) => overlap(one, each))) others.push(each);
    else spots.push(each);
  }
  spots.push(...reading.linked.filter((each) => !spots.some((one) => overlap(one, each))));
  spots.sort((one, other) => one.start - other.start);
  text.draw(spots, current.row.id, anchor.end > anchor.start ? -1 : anchor.start);
  byId("fits-help").hidden = anchor.end > anchor.start || anchor.start < 0;
  for (const [list, some] of [["beside", box], ["others", others]]) {
    byId(list).replaceChildren(...some.sort(byRank).map(({ row }) => element("li", {}, entry(row, () => select(row.id)))));
    byId(list).parentElement.hidden = !some.length;
  }
  text.current()?.scrollIntoView({ block: "nearest" });
}

const overlap = (one, other) => one.start < other.end && other.start < one.end;
const byRank = (one, other) => reading.links.findIndex((each) => each.row === one.row) - reading.links.findIndex((each) => each.row === other.row);

function entry(row, onclick) {
  return element("button", { type: "button", class: "plain", "aria-current": row.id === current.row.id ? "true" : null, onclick },
    element("span", { class: "row" }, badge(row.status), element("strong", {}, score(row.score))),
    sited("span", row.target_title || row.target_url, { class: "title" }),
    row.anchor && row.anchor !== row.target_title ? sited("span", `“${row.anchor}”`, { class: "help" }) : null);
}

// Another anchor: where it stands, and whether it can be linked there.
async function choose(words, near = 0) {
  const { id } = current.row;
  try {
    const placed = await projectApi(`anchor?${new URLSearchParams({ id, text: words, near })}`);
    if (current.row.id !== id) return;
    anchor = { ...placed, near };
    const radio = [...document.querySelectorAll("input[name=anchor]")].find((each) => each.value === placed.text);
    if (radio) radio.checked = true;
    else byId("anchors").append(choice(placed, true));
    showAnchor(placed.warning);
  } catch (error) {
    showProblem(error);
  }
}

function go(at) {
  if (at < 0 || at >= queue.rows.length) return;
  queue.at = at;
  beside = "";
  show().catch(showProblem);
}

// A link of the page, which the filters may leave out.
function select(id) {
  const at = queue.rows.findIndex((each) => each.id === id);
  if (at >= 0) return go(at);
  beside = id;
  return show().catch(showProblem);
}

// -- another target --

function askTarget() {
  if (!current || byId("instead").disabled) return;
  const others = reading.links.filter(({ row }) => row.id !== current.row.id && row.status === "proposed");
  byId("target-link").replaceChildren("The link of “", element("bdi", {}, anchor.text), "” to ",
    element("bdi", {}, current.row.target_title || current.row.target_url), " is rejected, and the words link to another page.");
  byId("targets").hidden = !others.length;
  byId("targets").replaceChildren(...others.map(({ row }) => element("li", {}, entry(row, () => link(row.target_url)))));
  byId("target").value = "";
  showProblem(null, byId("target-problem"));
  byId("other-target").showModal();
  (byId("targets").querySelector("button") || byId("target")).focus();
}

async function link(url) {
  const near = anchor.near || Math.max(0, anchor.start);
  const done = await decideCurrent("rejected", { anchor: anchor.text, near, instead: url, notes: REASONS[1] }, byId("target-problem"));
  if (done) byId("other-target").close();
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
  return queue.rows.find((each) => each.id === id) || reading.links?.find((each) => each.row.id === id)?.row || table?.row(id)?.getData();
}

function update(row) {
  details.delete(row.id);
  reading.isStale = true;
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
async function decide(row, status, more = {}, problem = byId("problem")) {
  if (sent.has(row.id)) return null;
  sent.add(row.id);
  try {
    showProblem(null, problem);
    const seen = { decided: row.decided, anchor: row.anchor, notes: row.notes };
    const said = { id: row.id, status, seen, wording: "", ...more };
    const outcome = await projectApi("decisions", { method: "POST", body: { decisions: [said], by: by.value } });
    remember(outcome);
    return outcome;
  } catch (error) {
    showProblem(error, problem);
    return null;
  } finally {
    sent.delete(row.id);
  }
}

async function decideCurrent(status, more = {}, problem = undefined) {
  const row = current?.row;
  if (!row || wanted() !== row.id) return null;
  const given = status !== "accepted" ? {} : anchor.text !== row.anchor ? { anchor: anchor.text, near: anchor.near }
    : { wording: byId("new-words").checked ? newWords() : "" };
  const outcome = await decide(row, status, { ...given, ...more }, problem);
  // Who has gone on to another link stays there.
  if (!outcome || wanted() !== row.id) return outcome;
  try {
    if (queue.at + 1 >= queue.rows.length) await extend();
    if (beside || outcome.conflicts.length) await show();
    else if (queue.at + 1 < queue.rows.length) go(queue.at + 1);
    else {
      await show();
      say("That was the last link.");
    }
  } catch (error) {
    showProblem(error);
  }
  return outcome;
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
    // The words of a link that got another target are two decisions.
    const isShown = outcome.rows.length === outcome.changed && outcome.rows.every((each) => known(each.id));
    remember({ ...outcome, undo: "" });
    if (outcome.changed) say(`Undone: ${counted(outcome.changed, "decision")}.`);
    if (!isShown) await refresh();
    if (view === "table") {
      if (outcome.changed === 1) table.go(row.id);
      return;
    }
    const at = queue.rows.findIndex((each) => outcome.rows.some((one) => one.id === each.id));
    if (isShown && at >= 0) go(at);
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
  t: () => view === "pages" && askTarget(),
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
let selected = null;
document.addEventListener("selectionchange", () => {
  selected = text.selected();
  byId("selected").hidden = !selected || selected.words.length > 200;
  byId("use-selected").textContent = `Link “${selected?.words}”`;
});
// Before the click takes the selection away.
byId("use-selected").addEventListener("mousedown", (event) => event.preventDefault());
byId("use-selected").addEventListener("click", () => choose(selected.words, selected.near));
byId("instead").addEventListener("click", askTarget);
byId("target-cancel").addEventListener("click", () => byId("other-target").close());
onSubmit(byId("target-form"), () => link(byId("target").value));
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
