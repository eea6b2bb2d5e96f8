// The page Queries: main queries that search data propose, and filling the empty ones.
import { counted, element, number, onSubmit, outward, projectApi, showProblem, sited } from "./shared.js";
import { follow } from "./tasks.js";

const ROWS = 100;
const BADGES = { filled: "finished", "to fill": "running", "not filled": "failed" };
const get = (id) => document.getElementById(id);
let found = null;

function row(one) {
  return element("tr", {}, element("td", {}, outward(one.page)), sited("td", one.query), ...[number(one.clicks), number(one.impressions), one.position.toFixed(1)].map((value) => element("td", { class: "figure" }, value)),
    one.fate === "kept" ? null : element("td", {}, BADGES[one.fate] ? element("span", { class: `badge ${BADGES[one.fate]}` }, one.fate) : "no row in the Sheet", one.note && sited("div", one.note, { class: "help" })));
}

// The pages whose main query was written already have a table of their own, which is filled once it is opened.
async function more(kept) {
  const [place, button] = kept ? [get("kept"), get("more-kept")] : [get("pages"), get("more")];
  const shown = found;
  const part = await projectApi(`queries/pages?kept=${kept}&from=${place.children.length}&rows=${ROWS}`);
  if (shown !== found) return;
  place.append(...part.rows.map(row));
  button.hidden = place.children.length >= part.total;
  button.textContent = `Show more (${number(place.children.length)} of ${number(part.total)})`;
}

function moreThan(shown, all) {
  return all > shown.length ? `The first ${number(shown.length)} of ${number(all)}.` : "";
}

async function load() {
  found = await projectApi("queries");
  get("nothing").hidden = Boolean(found);
  get("result").hidden = !found;
  if (!found) return;
  get("made").replaceChildren("Search data of ", element("bdi", {}, found.source), `, ${found.first} to ${found.last}.`);
  const figures = [[found.written ? `Filled in ${found.place}` : `To fill in ${found.place}`, found.filled], ["Kept: written already", found.kept], ...(found.unfilled ? [["Not filled", found.unfilled]] : []), ...(found.absent ? [["Without a row in the Sheet", found.absent]] : []),
    ...Object.entries(found.without).map(([why, count]) => [`Without: ${why}`, count]), ...(found.unknown_urls ? [["URLs that are no page of the project", found.unknown_urls]] : [])];
  get("figures").replaceChildren(...figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, number(value)))));
  get("notes").replaceChildren(...found.problems.map((text) => element("p", { class: "note", dir: "auto" }, text)),
    ...found.topics.map((name) => element("p", { class: "help" }, "Queries with “", sited("bdi", name), "” and other words are not left out, because most clicks on other pages than the home page come with it: it is the site's topic. Enter it above to leave them out.")),
    ...(found.unknown_urls ? [element("p", { class: "help" }, `URLs that are no page of the project have ${counted(found.unknown_clicks, "click")}: `, ...found.unknown_examples.flatMap((url, at) => [at ? ", " : "", outward(url)]), found.unknown_urls > found.unknown_examples.length ? ` and ${number(found.unknown_urls - found.unknown_examples.length)} more.` : ".")] : []),
    ...(found.copies.length ? [element("p", { class: "help" }, `The file before it is kept as ${found.copies.join(" and ")} in files.`)] : []));
  get("write-part").hidden = found.written || !found.filled;
  get("write").textContent = `Fill ${counted(found.filled, "empty main query", "empty main queries")} in ${found.place}`;
  get("shared-part").hidden = !found.cannibalised.length;
  get("shared-more").textContent = moreThan(found.cannibalised, found.all_cannibalised);
  get("shared").replaceChildren(...found.cannibalised.map((one) => element("tr", {}, sited("td", one.query), element("td", {}, outward(one.page)),
    ...[`${(100 * one.share).toFixed(0)}%`, number(one.clicks), one.position.toFixed(1)].map((value) => element("td", { class: "figure" }, value)))));
  get("brands-part").hidden = !found.brands.length;
  get("brands-more").textContent = moreThan(found.brands, found.all_brands);
  get("brands").replaceChildren(...found.brands.map((one) => element("li", {}, sited("bdi", one.query), ` (${counted(one.clicks, "click")}): `, sited("bdi", one.why))));
  for (const id of ["pages", "kept"]) get(id).replaceChildren();
  for (const id of ["more", "more-kept"]) get(id).hidden = true;
  get("open-part").hidden = found.filled + found.unfilled + found.absent === 0;
  get("kept-part").hidden = !found.kept;
  get("kept-part").open = false;
  get("kept-title").textContent = `Kept: written already (${counted(found.kept, "page")})`;
  if (!get("open-part").hidden) await more(false);
}

function followQueries(options) {
  return follow("queries", get("task"), async (state) => {
    get("write").disabled = false;
    if (state.status !== "done") return;
    await load();
    get("result-title").focus();
  }, { cancels: false, ...options });
}

async function choose(write) {
  const brand = get("brand").value.split(",").map((name) => name.trim()).filter(Boolean);
  await projectApi("queries", { method: "POST", body: { brand, write } });
  await followQueries();
}

onSubmit(get("start"), () => choose(false));
get("write").addEventListener("click", () => {
  get("write").disabled = true;
  showProblem(null);
  choose(true).catch((error) => { showProblem(error); get("write").disabled = false; });
});
get("more").addEventListener("click", () => more(false).catch(showProblem));
get("more-kept").addEventListener("click", () => more(true).catch(showProblem));
get("kept-part").addEventListener("toggle", () => {
  if (get("kept-part").open && !get("kept").children.length) more(true).catch(showProblem);
});
load().then(() => followQueries({ found: true })).catch(showProblem);
