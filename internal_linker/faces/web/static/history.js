import { counted, element, number, onSubmit, outward, projectApi, say, showProblem } from "./shared.js";
import { follow } from "./tasks.js";

const ROWS = 200;
const get = (id) => document.getElementById(id);
let runs = [];
let found = null;
let planned = null;

function when(run) {
  return new Date(run.at).toLocaleString();
}

function row(run) {
  return element("tr", {}, element("td", {}, element("strong", {}, run.name), ` ${run.run}`), element("td", {}, when(run)), element("td", { dir: "auto" }, run.what),
    element("td", { class: "figure" }, number(run.rows)), element("td", { class: "figure" }, number(run.links)),
    element("td", {}, element("span", { class: `badge ${run.published ? "finished" : "gaps"}` }, run.published ? "yes" : "no")), element("td", { dir: "auto" }, run.encoder),
    element("td", {}, element("button", { type: "button", class: "quiet", "aria-label": `Go back to run ${run.run}`, onclick: () => plan(run) }, "Go back to")));
}

async function load() {
  runs = await projectApi("history");
  get("nothing").hidden = runs.length > 0;
  get("runs-part").hidden = runs.length === 0;
  get("compare-part").hidden = runs.length < 2;
  get("runs").replaceChildren(...runs.map(row));
  for (const [id, at] of [["before", 1], ["after", 0]]) {
    get(id).replaceChildren(...runs.map((run) => element("option", { value: run.run }, `${run.name} · ${when(run)} · ${counted(run.links, "link")}`)));
    if (runs[at]) get(id).value = runs[at].run;
  }
}

function differenceRow(one) {
  const change = { new: "new", gone: "gone", moved: "moved" }[one.change];
  const place = one.change === "moved" ? `${one.before} → ${one.after}` : String(one.after || one.before);
  return element("tr", {}, element("td", {}, element("span", { class: `badge ${{ new: "finished", gone: "failed", moved: "running" }[one.change]}` }, change)),
    element("td", {}, outward(one.source)), element("td", {}, outward(one.target)), element("td", { class: "figure" }, place), element("td", { dir: "auto" }, one.why),
    element("td", {}, one.other ? (one.other.includes(" -> ") ? element("span", { dir: "ltr" }, one.other) : outward(one.other)) : "–"));
}

function wanted() {
  return found.shown.filter((one) => !get("change").value || one.change === get("change").value);
}

function showRows(add = false) {
  const rows = wanted();
  const from = add ? get("rows").children.length : 0;
  const part = rows.slice(from, from + ROWS).map(differenceRow);
  if (add) get("rows").append(...part);
  else get("rows").replaceChildren(...part);
  const shown = get("rows").children.length;
  get("more").hidden = shown >= rows.length;
  get("more").textContent = `Show more (${number(shown)} of ${number(rows.length)})`;
}

function show(comparison, title) {
  found = comparison;
  get("difference").hidden = false;
  get("difference-title").textContent = `${title}: ${counted(found.differences, "difference")}`;
  const [first, ...others] = found.links;
  get("balance").textContent = `${number(found.total)} links = ${number(first.count)} ${first.name}${others.filter((part) => part.count).map((part) =>
    ` ${part.count < 0 ? "−" : "+"} ${number(Math.abs(part.count))} ${part.name}`).join("")}`;
  get("counts").replaceChildren(...found.counts.map((one) => element("li", { dir: "auto" }, `${number(one.links)} ${one.change}: ${one.why}`)));
  if (found.differences > found.shown.length) {
    get("counts").append(element("li", {}, `The first ${number(found.shown.length)} are listed here; the command diff writes all to files/diff.csv.`));
  }
  get("change").value = "";
  showRows();
}

async function plan(run) {
  try {
    showProblem(null);
    planned = await projectApi("history/rollback/preview", { method: "POST", body: { run: run.run } });
    get("rollback-part").hidden = false;
    get("rollback-title").textContent = `Go back to run ${run.name} of ${when(run)}`;
    get("plan").textContent = `${counted(planned.links, "link")} in ${counted(planned.rows, "row")} would be put back`
      + `${planned.rejected ? `; ${counted(planned.rejected, "link")} rejected since would be left out` : ""}. The differences to the links of today are below.`;
    show(planned.changes, "What would change");
    get("rollback-title").focus();
  } catch (error) {
    showProblem(error);
  }
}

async function ended(state) {
  get("rollback").disabled = false;
  if (state.status !== "done") return;
  const done = await projectApi("history/rollback");
  get("rollback-part").hidden = true;
  get("difference").hidden = true;
  planned = null;
  await load();
  if (done) say([done.summary, ...done.gaps].join(" "), { seconds: 15 });
}

get("rollback").addEventListener("click", async () => {
  get("rollback").disabled = true;
  try {
    showProblem(null);
    await projectApi("history/rollback", { method: "POST", body: { run: planned.run } });
    await follow("rollback", get("task"), ended, { cancels: false });
  } catch (error) {
    get("rollback").disabled = false;
    showProblem(error);
  }
});
get("leave").addEventListener("click", () => { get("rollback-part").hidden = true; get("difference").hidden = true; });
onSubmit(get("compare"), async (form) => {
  const query = new URLSearchParams({ before: form.get("before"), after: form.get("after") });
  if (form.get("section").trim()) query.append("section", form.get("section").trim());
  get("rollback-part").hidden = true;
  show(await projectApi(`history/difference?${query}`), "Differences");
});
get("change").addEventListener("input", () => showRows());
get("more").addEventListener("click", () => showRows(true));
load().catch(showProblem);
