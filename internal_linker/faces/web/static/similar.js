import { colour, counted, element, number, onSubmit, outward, project, projectApi, showProblem, sited } from "./shared.js";
import { draw } from "./drawing.js";
import { follow } from "./tasks.js";

const ROWS = 100;
const get = (id) => document.getElementById(id);
const slider = get("cut-off");
let overview = null;
let asked = null;
// Which bars a person hid by the legend.
let selected = {};

function page(title, url) {
  return element("span", { class: "two" }, title && sited("span", title), outward(url));
}

function pairRow(pair) {
  const links = pair.links && pair.linked ? "both ways" : pair.links ? "page to match" : pair.linked ? "match to page" : "none";
  return element("tr", {}, element("td", { class: "figure" }, pair.similarity.toFixed(2)),
    element("td", {}, page(pair.title, pair.page)), element("td", {}, page(pair.match_title, pair.match)), element("td", {}, links));
}

function aloneRow(alone) {
  return element("tr", {}, element("td", { class: "figure" }, alone.best === null ? `below ${overview.lowest}` : alone.best.toFixed(2)),
    element("td", {}, page(alone.title, alone.url)), element("td", {}, alone.match ? outward(alone.match) : "–"));
}

function query(more = {}) {
  return new URLSearchParams({ value: slider.value, unlinked: get("unlinked").checked, rows: ROWS, ...more });
}

function fill(id, rows, total, add) {
  get(id).replaceChildren(...(add ? get(id).children : []), ...rows);
  const shown = get(id).children.length;
  const button = get(`more-${id}`);
  button.hidden = shown >= total;
  button.textContent = `Show more (${number(shown)} of ${number(total)})`;
}

async function show() {
  get("told").textContent = Number(slider.value).toFixed(2);
  get("download").href = `/api/projects/${project}/similar/workbook?${query()}`;
  drawHistogram();
  asked?.abort();
  asked = new AbortController();
  try {
    const found = await projectApi(`similar/cut-off?${query()}`, { signal: asked.signal });
    get("pairs-count").textContent = number(found.pairs);
    get("alone-count").textContent = number(found.off_topic);
    get("pairs-title").textContent = found.listed < found.pairs && !get("unlinked").checked
      ? `Pairs: the ${counted(found.listed, "best match", "best matches")} of each page` : `Pairs (${number(found.listed)})`;
    get("alone-title").textContent = `Off-topic pages (${number(found.off_topic)})`;
    fill("pairs", found.shown.map(pairRow), found.listed);
    fill("alone", found.alone.map(aloneRow), found.off_topic);
    showProblem(null);
  } catch (error) {
    if (error.name !== "AbortError") showProblem(error);
  }
}

async function more(id) {
  const from = get(id).children.length;
  try {
    const found = await projectApi(`similar/cut-off?${query({ [`${id}_from`]: from })}`);
    if (id === "pairs") fill(id, found.shown.map(pairRow), found.listed, true);
    else fill(id, found.alone.map(aloneRow), found.off_topic, true);
  } catch (error) {
    showProblem(error);
  }
}

function drawHistogram() {
  const bars = overview.within.length;
  const edge = Number(slider.value);
  // Few pairs are similar: on a linear scale the others would hide them.
  const scaled = (counts) => counts.map((count, at) => [(at + 0.5) / bars, Math.log10(count + 1), count]);
  // Logarithms can't be stacked: the bar of some pairs stands in front of the bar of all.
  const series = (name, counts, tone) => ({ type: "bar", name, data: scaled(counts), barWidth: "90%", barGap: "-100%", itemStyle: { color: colour(tone) } });
  const all = overview.within.map((count, at) => count + overview.across[at]);
  const chart = draw(get("histogram"), () => ({
    grid: { left: 44, right: 12, top: 28, bottom: 28 },
    legend: { top: 0, textStyle: { color: colour("ink") }, data: ["of all pages", "within sections"], selected },
    xAxis: { type: "value", min: 0, max: 1, axisLabel: { color: colour("muted") }, splitLine: { show: false } },
    yAxis: { type: "value", axisLabel: { color: colour("muted"), formatter: (value) => (Number.isInteger(value) ? number(10 ** value) : "") },
      splitLine: { lineStyle: { color: colour("line") } } },
    tooltip: { trigger: "item", formatter: ({ seriesName, value }) => (value ? `${(value[0] - 0.5 / bars).toFixed(2)} to ${(value[0] + 0.5 / bars).toFixed(2)}: ${counted(value[2], "pair")} ${seriesName}` : "") },
    // The cut-off has a series of its own: it stays when bars are hidden.
    series: [series("of all pages", all, "muted"), series("within sections", overview.within, "accent"), { type: "line", data: [],
      markLine: { symbol: "none", silent: true, label: { show: false }, lineStyle: { color: colour("bad"), width: 2, type: "solid" }, data: [{ xAxis: edge }] } }],
  }));
  if (!chart.cutOff) {
    chart.cutOff = true;
    const zr = chart.getZr();
    let dragging = false;
    const move = (event) => {
      const [value] = chart.convertFromPixel("grid", [event.offsetX, event.offsetY]);
      const wanted = Math.min(1, Math.max(overview.lowest, value)).toFixed(2);
      if (wanted !== Number(slider.value).toFixed(2)) { slider.value = wanted; show(); }
    };
    zr.on("mousedown", (event) => {
      // A click on the legend moves nothing.
      dragging = chart.containPixel("grid", [event.offsetX, event.offsetY]);
      if (dragging) move(event);
    });
    zr.on("mousemove", (event) => { if (dragging) move(event); });
    zr.on("mouseup", () => { dragging = false; });
    zr.on("globalout", () => { dragging = false; });
    chart.on("legendselectchanged", (told) => { ({ selected } = told); });
  }
}

async function load() {
  overview = await projectApi("similar");
  get("nothing").hidden = Boolean(overview);
  get("result").hidden = !overview;
  if (!overview) return;
  const left = Object.entries(overview.left_out).map(([reason, count]) => `${number(count)} not compared: ${reason}`);
  get("made").textContent = [`${counted(overview.pages, "page")}, compared by ${overview.by.join(" and ")} on ${new Date(overview.made).toLocaleString()}`, ...left].join("; ") + ".";
  await show();
}

onSubmit(get("compare"), async (form) => {
  await projectApi("similar", { method: "POST", body: { by: form.get("by"), encoder: form.get("encoder") } });
  await follow("similar", get("task"), (state) => (state.status === "done" ? load() : null));
});
slider.addEventListener("input", () => {
  // The slider begins at 0, so that it stands below the chart's own axis.
  if (Number(slider.value) < overview.lowest) slider.value = overview.lowest;
  show();
});
get("unlinked").addEventListener("change", show);
for (const id of ["pairs", "alone"]) get(`more-${id}`).addEventListener("click", () => more(id));
load().then(() => follow("similar", get("task"), (state) => (state.status === "done" ? load() : null), { found: true })).catch(showProblem);
