import { counted, element, number, project, projectApi, say, showProblem, sited } from "./shared.js";
import { follow } from "./tasks.js";

const MOST_BYTES = 500_000_000;
const get = (id) => document.getElementById(id);
const reasons = { "not in --include": "not below an included path", "in --exclude": "below an excluded path", "beyond --limit": "beyond the limit" };
let files = [];
let exports = [];
// The fields of a sitemap and of each content management system.
const SITES = [...document.querySelectorAll("[data-site]")];
const addresses = () => Object.fromEntries(SITES.map((field) => [field.id, field.value.trim()]));
const site = () => Object.values(addresses()).some(Boolean);
// What was chosen for each upload: sheet, what rows are, columns.
const choices = new Map();
let previews = [];
let reading = 0;
// What was read, so that filters can be tried on it; null: nothing.
let surveyed = null;

function lines(id) {
  return get(id).value.split("\n").map((line) => line.trim()).filter(Boolean);
}

function whole(id) {
  const value = get(id).value.trim();
  if (!value) return 0;
  if (!/^\d+$/.test(value)) throw new Error(`${value} is not a whole number.`);
  return Number(value);
}

function request() {
  const form = get("filters");
  const on = (name) => form.elements[name].checked;
  return {
    tables: files.map((file) => ({ upload: file.id, ...choices.get(file.id) })),
    ...addresses(), allow_private: get("private").checked, base_url: get("base-url").value.trim(), limit: whole("limit"), min_words: whole("min-words"),
    only_200: on("only_200"), only_indexable: on("only_indexable"), canonicalised: !on("canonicalised"), pagination: !on("pagination"),
    parameters: !on("parameters"), duplicates: !on("duplicates"), include: lines("include"), exclude: lines("exclude"),
  };
}

function send(file) {
  const shown = element("li", {}, sited("span", file.name), " ");
  const bar = element("progress", { max: file.size || 1, value: 0, "aria-label": `Upload of ${file.name}` });
  const call = new XMLHttpRequest();
  shown.append(bar, " ", element("button", { type: "button", class: "quiet", onclick: () => call.abort() }, "Cancel"));
  get("sending").append(shown);
  return new Promise((resolve, reject) => {
    if (file.size > MOST_BYTES) {
      reject(new Error(`${file.name} is larger than 500 MB: import it with the command import.`));
      return;
    }
    call.open("POST", `/api/projects/${project}/uploads/file?name=${encodeURIComponent(file.name)}`);
    call.upload.addEventListener("progress", (event) => { bar.value = event.loaded; });
    call.addEventListener("load", () => {
      let answer = {};
      try { answer = JSON.parse(call.responseText); } catch { /* no answer of the app */ }
      if (call.status === 201) resolve(answer);
      else reject(new Error(answer.error || `${file.name} can't be uploaded (status ${call.status}).`));
    });
    call.addEventListener("error", () => reject(new Error(`The upload of ${file.name} broke off: try again.`)));
    call.addEventListener("abort", () => resolve(null));
    call.send(file);
  }).finally(() => shown.remove());
}

async function add(chosen) {
  showProblem(null);
  for (const file of chosen) {
    try {
      await send(file);
    } catch (error) {
      showProblem(error);
    }
  }
  await load();
}

async function load() {
  const waiting = await projectApi("uploads");
  files = waiting.filter((file) => file.kind !== "search");
  exports = waiting.filter((file) => file.kind === "search");
  get("search-files").replaceChildren(...exports.map((file) => element("li", {}, sited("span", file.name), " ", remover(file.id))));
  showSearchReady();
  get("tables-part").hidden = files.length === 0;
  get("base").hidden = !files.some((file) => file.kind === "pages");
  await showTables();
}

let drawing = 0;

async function showTables() {
  const tables = get("tables");
  drawing += 1;
  const mine = drawing;
  if (files.length) {
    try {
      const found = await projectApi("import/preview", { method: "POST", body: request() });
      if (mine !== drawing) return;
      previews = found;
      tables.replaceChildren(...previews.map(card));
    } catch (error) {
      if (mine !== drawing) return;
      previews = [];
      // A file that can't be read can still be removed.
      tables.replaceChildren(...files.map((file) => element("div", { class: "table card" }, sited("h3", file.name), remover(file.id))));
      showProblem(error);
    }
  } else {
    previews = [];
    tables.replaceChildren();
  }
  const usable = previews.length > 0 && previews.every((each) => !each.problem);
  const ofPages = usable && previews.some((each) => each.rows_are === "pages");
  get("filters-part").hidden = !(ofPages || site());
  showReady(usable);
  if (ofPages) await readPages();
  else {
    surveyed = null;
    showCounts(null);
  }
}

function showReady(usable = previews.length > 0 && previews.every((each) => !each.problem)) {
  get("import").disabled = files.length ? !usable : !site();
}

function remover(upload) {
  return element("button", { type: "button", class: "quiet", onclick: async () => {
    await projectApi(`uploads/${upload}`, { method: "DELETE" }).catch(showProblem);
    choices.delete(upload);
    await load();
  } }, "Remove");
}

function choose(shown, change) {
  // Another choice may come before the page is drawn again.
  if (change.columns) shown.columns = change.columns;
  choices.set(shown.upload, { sheet: shown.sheet, rows_are: shown.rows_are, columns: null, ...change });
  showProblem(null);
  showTables();
}

function columnSelect(shown, at) {
  const taken = Object.entries(shown.columns).find(([, place]) => place === at)?.[0] ?? "";
  const name = shown.header[at] || `column ${at + 1}`;
  const select = element("select", { "aria-label": `Import ${name} as` },
    element("option", { value: "" }, "not imported"), ...shown.kinds.map((kind) => element("option", { value: kind }, kind)));
  select.value = taken;
  select.addEventListener("change", () => {
    const columns = Object.fromEntries(Object.entries(shown.columns).filter(([kind, place]) => place !== at && kind !== select.value));
    if (select.value) columns[select.value] = at;
    choose(shown, { columns });
  });
  return element("th", { scope: "col", class: taken ? "taken" : "" }, sited("div", name), shown.changeable && select);
}

function card(shown) {
  const id = `table-${shown.upload}`;
  const controls = [];
  if (shown.sheets.length > 1) {
    const sheet = element("select", { id: `${id}-sheet` }, ...shown.sheets.map((name) => element("option", { value: name }, name)));
    sheet.value = shown.sheet;
    sheet.addEventListener("change", () => choose(shown, { sheet: sheet.value }));
    controls.push(element("label", { for: sheet.id }, "Sheet"), sheet);
  }
  if (shown.changeable) {
    const rows = element("select", { id: `${id}-rows` }, element("option", { value: "pages" }, "pages"), element("option", { value: "links" }, "links"));
    rows.value = shown.rows_are;
    rows.addEventListener("change", () => choose(shown, { rows_are: rows.value, columns: {} }));
    controls.push(element("label", { for: rows.id }, "Rows are"), rows);
  }
  const content = shown.median_content
    ? `The texts have ${number(shown.median_content)} characters (median)${shown.proposed ? "; their column was found by its long texts" : ""}.` : "";
  return element("div", { class: "table card" },
    element("header", {}, sited("h3", shown.name), element("div", { class: "row" }, ...controls, remover(shown.upload))),
    ...[shown.problem, ...shown.remarks, content].filter(Boolean).map((text) => element("p", { class: text === shown.problem ? "problem" : "help", dir: "auto" }, text)),
    element("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": `First rows of ${shown.name}` },
      element("table", {}, element("thead", {}, element("tr", {}, ...shown.header.map((_, at) => columnSelect(shown, at)))),
        element("tbody", {}, ...shown.rows.map((row) => element("tr", {}, ...row.map((cell) => sited("td", cell.slice(0, 120)))))))));
}

async function readPages() {
  reading += 1;
  const mine = reading;
  surveyed = null;
  showCounts(null);
  get("kept").textContent = "Reading the pages …";
  const body = request();
  try {
    await projectApi("import/survey", { method: "POST", body });
  } catch (error) {
    showProblem(error);
    return;
  }
  await follow("survey", get("survey"), async (state) => {
    surveyed = mine === reading && state.status === "done" ? { tables: body.tables, base_url: body.base_url } : null;
    if (surveyed) await count();
    else if (mine === reading) get("kept").textContent = "The pages have not been read.";
  });
}

function showCounts(found) {
  for (const place of document.querySelectorAll("[data-count]")) {
    place.textContent = found ? `(${number(found.alone[place.dataset.count])})` : "";
  }
  get("left-out").replaceChildren(...Object.entries(found?.left_out ?? {}).map(([reason, count]) =>
    element("li", {}, element("span", {}, reasons[reason] ?? reason), element("span", {}, number(count)))));
  get("kept").textContent = found ? `${number(found.kept)} of ${counted(found.pages, "page")} would be imported` : "The filters apply to each page that is read.";
}

let counting;
async function count() {
  if (!surveyed) return;
  counting?.abort();
  counting = new AbortController();
  try {
    showCounts(await projectApi("import/counts", { method: "POST", body: { ...request(), ...surveyed }, signal: counting.signal }));
  } catch (error) {
    if (error.status === 409) {
      showCounts(null);
      get("kept").textContent = error.message;
    } else if (error.name !== "AbortError") showProblem(error);
  }
}

async function followImport(found = false) {
  await follow("import", get("importing"), async (state) => {
    get("import").disabled = false;
    if (state.status !== "done") return;
    showDone(await projectApi("import"));
    choices.clear();
    await load();
  }, { found });
}

function showDone(done) {
  const rows = [
    ["Pages", done.pages], ["Links", done.links], ["Embeddings", done.vectors], ["Rows merged", done.merged || null], ["Rows rejected", done.rejected || null],
    ...Object.entries(done.reasons).map(([reason, count]) => [`Rejected: ${reason}`, count]),
    ...Object.entries(done.left_out).map(([reason, count]) => [`Left out: ${reasons[reason] ?? reason}`, count]),
    ...Object.entries(done.facts),
  ].filter(([, count]) => count !== null);
  const place = get("done");
  place.replaceChildren(element("h2", {}, "Imported"),
    element("ul", { class: "plain counts" }, ...rows.map(([name, count]) => element("li", {}, sited("span", name), element("span", {}, number(count))))),
    ...done.gaps.map((gap) => element("p", { class: "note", dir: "auto" }, gap)),
    done.copies.length ? element("p", { class: "help" }, `The tables before it are kept as ${done.copies.join(" and ")} in files.`) : null);
  place.hidden = false;
  say("The import is done.");
}

// -- search data --

const BY = { queries: "page and query", pages: "page", totals: "day", sessions: "landing page (sessions)" };

function showSearchReady() {
  get("import-search").disabled = !(exports.length || get("search-console").value.trim() || get("analytics").value.trim());
}

async function showStored() {
  const stored = await projectApi("search-data");
  get("search-none").hidden = stored.length > 0;
  get("search-stored").hidden = !stored.length;
  get("search-rows").replaceChildren(...stored.map((one) => element("tr", {}, element("th", { scope: "row" }, BY[one.table]), sited("td", one.source),
    ...[number(one.days), number(one.rows), one.first, one.last].map((value) => element("td", {}, value)))));
}

function followSearch(options) {
  return follow("search", get("searching"), async (state) => {
    showSearchReady();
    if (state.status !== "done") { await showStored(); return; }
    const done = await projectApi("search-data/import");
    // The task's notes say the remarks already.
    get("search-done").replaceChildren(element("h3", {}, "Imported"),
      element("ul", { class: "plain counts" }, ...done.counts.map(([name, count]) => element("li", {}, sited("span", name), element("span", {}, number(count))))),
      ...done.gaps.map((gap) => element("p", { class: "note", dir: "auto" }, gap)));
    get("search-done").hidden = false;
    say("The search data are imported.");
    await load();
    await showStored();
  }, options);
}

get("search").addEventListener("submit", async (event) => {
  event.preventDefault();
  get("import-search").disabled = true;
  get("search-done").hidden = true;
  try {
    showProblem(null);
    await projectApi("search-data/import", { method: "POST", body: { search_console: get("search-console").value.trim(), analytics: get("analytics").value.trim() } });
    await followSearch();
  } catch (error) {
    showProblem(error);
    showSearchReady();
  }
});
for (const id of ["search-console", "analytics"]) get(id).addEventListener("input", showSearchReady);
showStored().then(() => followSearch({ found: true })).catch(showProblem);

get("import").addEventListener("click", async (event) => {
  const button = event.currentTarget;
  button.disabled = true;
  get("done").hidden = true;
  try {
    showProblem(null);
    await projectApi("import", { method: "POST", body: request() });
    await followImport();
  } catch (error) {
    showProblem(error);
    button.disabled = false;
  }
});
get("files").addEventListener("change", (event) => { const chosen = [...event.target.files]; event.target.value = ""; add(chosen); });
for (const name of ["dragover", "dragleave", "drop"]) {
  get("drop").addEventListener(name, (event) => {
    event.preventDefault();
    get("drop").classList.toggle("over", name === "dragover");
    if (name === "drop") add([...event.dataTransfer.files]);
  });
}
get("filters").addEventListener("input", count);
get("filters").addEventListener("submit", (event) => event.preventDefault());
get("base-url").addEventListener("change", showTables);
for (const field of SITES) {
  field.addEventListener("input", () => { get("filters-part").hidden = !(previews.length || site()); showReady(); });
}
load().then(() => followImport(true)).catch(showProblem);
