// The page Impact: what links did to their targets, and experiments.
import { colour, counted, element, number, onSubmit, outward, project, projectApi, showProblem, sited } from "./shared.js";
import { cut, draw, isolated, shape, tint } from "./drawing.js";
import { follow } from "./tasks.js";

const ROWS = 50;
const get = (id) => document.getElementById(id);
let found = null;

function signed(value, digits = 0) {
  const shown = Math.abs(value).toFixed(digits);
  // Not −0.
  return Number(shown) === 0 ? shown : `${value > 0 ? "+" : "−"}${shown}`;
}

function percent(share) {
  return `${signed(100 * share)}%`;
}

function effect(one) {
  const told = one.outcome === "position" ? (value) => signed(value, 2) : percent;
  return `${told(one.effect)} [${told(one.low)}, ${told(one.high)}]`;
}

const VERDICTS = { gain: "finished", loss: "failed", failed: "failed" };

function effectRow(one) {
  return element("tr", {}, element("th", { scope: "row" }, one.outcome), sited("td", one.group), element("td", { class: "figure" }, effect(one)),
    element("td", {}, element("span", { class: VERDICTS[one.verdict] ? `badge ${VERDICTS[one.verdict]}` : "help" }, one.verdict)),
    element("td", { class: "figure" }, number(one.pages)), element("td", { class: "figure" }, number(one.controls)));
}

// -- charts --

function drawWeeks() {
  const { weeks } = found;
  const names = weeks.map((one) => one.week);
  // A vertical line from the low to the high end of each week's interval.
  const bar = (_, api) => {
    const [low, high] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
    return { type: "line", shape: { x1: low[0], y1: low[1], x2: high[0], y2: high[1] }, style: { stroke: colour("muted"), lineWidth: 2 } };
  };
  draw(get("weeks"), () => ({
    grid: { left: 60, right: 16, top: 32, bottom: 44 },
    tooltip: { formatter: ({ dataIndex }) => `Week ${weeks[dataIndex].week}: ${percent(weeks[dataIndex].effect)} [${percent(weeks[dataIndex].low)}, ${percent(weeks[dataIndex].high)}]` },
    xAxis: { type: "category", data: names, name: "week", nameLocation: "middle", nameGap: 28, axisLine: { onZero: false }, axisLabel: { color: colour("muted") }, nameTextStyle: { color: colour("muted") } },
    yAxis: { type: "value", axisLabel: { color: colour("muted"), formatter: percent }, splitLine: { lineStyle: { color: colour("line") } } },
    series: [
      { type: "custom", renderItem: bar, silent: true, encode: { x: 0, y: [1, 2] }, data: weeks.map((one, at) => [at, one.low, one.high]) },
      { type: "scatter", symbolSize: 10, z: 3,
        data: weeks.map((one) => ({ value: one.effect, symbol: one.week < 0 ? "circle" : "diamond", itemStyle: { color: colour(one.week < 0 ? "muted" : "accent") } })),
        markLine: { symbol: "none", silent: true, animation: false, label: { color: colour("muted") }, lineStyle: { color: colour("muted"), type: "solid", width: 1 },
          data: [{ yAxis: 0, label: { show: false } }, { xAxis: names.indexOf(0), label: { formatter: "first week with the link" }, lineStyle: { type: "dashed" } }] } },
    ],
  }), { fresh: true });
}

function drawPairs() {
  const { pairs } = found;
  // A logarithmic axis has no zero.
  const clicks = pairs.flatMap((one) => [one.expected, one.after]);
  const power = (value, round) => 10 ** round(Math.log10(Math.max(value, 0.1)));
  const least = power(Math.min(...clicks), Math.floor);
  const top = power(Math.max(1, ...clicks), Math.ceil);
  const tiers = [...new Set(pairs.map((one) => one.tier))];
  const side = (name) => ({ type: "log", min: least, max: top, name, nameLocation: "middle", nameGap: 40, axisLabel: { color: colour("muted") },
    nameTextStyle: { color: colour("muted") }, splitLine: { lineStyle: { color: colour("line") } } });
  draw(get("pairs"), () => ({
    legend: { show: tiers.length > 1, top: 0, itemWidth: 14, textStyle: { color: colour("ink") } },
    grid: { left: 66, right: 24, top: 36, bottom: 60 },
    tooltip: { formatter: ({ data }) => (data.pair ? `${isolated(cut(data.pair.page, 120))}\n${data.pair.after.toFixed(1)} clicks a week, ${data.pair.expected.toFixed(1)} expected` : "") },
    xAxis: side("expected clicks a week"), yAxis: side("clicks a week"),
    series: tiers.map((tier, at) => ({ type: "scatter", name: tier, symbol: shape(at), symbolSize: 9, cursor: "pointer", itemStyle: { color: tint(at + 3), opacity: 0.85 },
      data: pairs.filter((one) => one.tier === tier).map((one) => ({ value: [Math.max(one.expected, least), Math.max(one.after, least)], pair: one })),
      markLine: at ? undefined : { symbol: "none", silent: true, animation: false, label: { show: false }, lineStyle: { color: colour("muted"), type: "dashed" },
        data: [[{ coord: [least, least] }, { coord: [top, top] }]] } })),
  }), { fresh: true, click: ({ data }) => { if (data?.pair) location.assign(linksOf(data.pair.page)); } });
}

// -- the result --

function linksOf(page) {
  return `/p/${project}/links?page=${encodeURIComponent(page)}`;
}

function pairRow(one) {
  return element("tr", {}, element("td", {}, element("span", { class: "two" }, element("a", { href: linksOf(one.page), dir: "ltr" }, one.page))), element("td", {}, one.live), sited("td", one.tier), sited("td", one.anchor),
    ...[number(one.links), one.before.toFixed(1), one.after.toFixed(1), one.expected.toFixed(1)].map((value) => element("td", { class: "figure" }, value)), element("td", {}, outward(one.control)));
}

function morePairs() {
  const place = get("pair-rows");
  place.append(...found.pairs.slice(place.children.length, place.children.length + ROWS).map(pairRow));
  get("more").hidden = place.children.length >= found.pairs.length;
  get("more").textContent = `Show more (${number(place.children.length)} of ${number(found.pairs.length)})`;
}

function show() {
  get("nothing").hidden = Boolean(found);
  get("answer").hidden = !found;
  get("result").hidden = !found;
  if (!found) return;
  get("sentence").textContent = found.sentence;
  get("next").hidden = !found.thin;
  get("made").textContent = `Measured on ${new Date(found.made).toLocaleString()}: ${counted(found.links, "link")} went live${found.thin ? "" : `, and ${counted(found.compared, "target is", "targets are")} compared`}, ${counted(found.days, "day")} after the link.`;
  get("remarks-part").hidden = !found.remarks.length;
  get("remarks").replaceChildren(...found.remarks.map((text) => sited("li", text)));
  get("figures-part").hidden = found.thin;
  if (found.thin) return;
  const figures = [...found.estimates.filter((one) => one.group === "all").map((one) => [one.outcome === "position" ? "Position" : `${one.outcome[0].toUpperCase()}${one.outcome.slice(1)}`, effect(one)]),
    ["Smallest effect that would probably be seen", found.detectable === null ? "unknown" : `${(100 * found.detectable).toFixed(0)}%`],
    ["Targets needed to see 5%", found.pages_needed ? number(found.pages_needed) : "unknown"],
    ["Clicks before and after, without controls", found.before_after === null ? "unknown" : percent(found.before_after)]];
  get("figures").replaceChildren(...figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  get("pre-trend").textContent = `Clicks of the targets, relative to ${found.experiment ? "the targets that were held back at random" : "similar pages without new links"}. Week 0 begins on the day of the link. Before it, the marks should be near 0. `
    + (found.pre_trend === null ? "" : `Differences before the links as large as these are found by chance with a probability of ${found.pre_trend.toFixed(2)}.`);
  get("week-rows").replaceChildren(...found.weeks.map((one) => element("tr", {}, element("th", { scope: "row" }, String(one.week).replace("-", "−")), ...[one.effect, one.low, one.high].map((share) => element("td", {}, percent(share))))));
  get("effects").replaceChildren(...[...found.estimates, ...(found.placebo ? [found.placebo] : [])].map(effectRow));
  get("pairs-count").textContent = found.compared > found.pairs.length ? `The ${number(found.pairs.length)} of ${counted(found.compared, "target")} with the most clicks.` : counted(found.compared, "target");
  get("pair-rows").replaceChildren();
  morePairs();
  drawWeeks();
  drawPairs();
}

async function load() {
  found = await projectApi("impact");
  if (found) get("days").value = [...get("days").options].some((one) => Number(one.value) === found.days) ? found.days : 28;
  show();
}

onSubmit(get("start"), async (form) => {
  await projectApi("impact", { method: "POST", body: { days: Number(form.get("days")), experiment: form.get("against") === "held" } });
  await follow("impact", get("task"), async (state) => {
    if (state.status !== "done") return;
    await load();
    get("answer-title").focus();
  });
});
get("more").addEventListener("click", morePairs);

// -- experiments --

async function moreHeld() {
  const place = get("held");
  const part = await projectApi(`experiment/links?from=${place.children.length}&rows=${ROWS}`);
  place.append(...part.rows.map((one) => element("li", {}, outward(one.source), " → ", outward(one.target))));
  get("more-held").hidden = place.children.length >= part.total;
  get("more-held").textContent = `Show more (${number(place.children.length)} of ${number(part.total)})`;
}

async function showExperiment(said = "") {
  const one = await projectApi("experiment");
  get("against-part").hidden = !one;
  get("release").hidden = !one?.running;
  const stands = () => `${one.running ? `${counted(one.links, "accepted link")} to ${counted(one.pages, "page")} held back until ${one.until}.`
    : `The last experiment ended on ${one.until}: ${counted(one.held, "page")} held back, ${number(one.released)} not. Compare them above.`} ${one.remark}`.trim();
  get("standing").textContent = said || (one === null ? "No experiment was planned yet." : stands());
  get("held-part").hidden = !one?.links;
  get("held").replaceChildren();
  if (one?.links) await moreHeld();
}

async function confirmed(title, help, yes) {
  const dialog = get("sure");
  get("sure-title").textContent = title;
  get("sure-help").textContent = help;
  get("sure-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  return dialog.returnValue === "yes";
}

async function change(method, title, help, yes) {
  if (!await confirmed(title, help, yes)) return;
  try {
    showProblem(null);
    await showExperiment((await projectApi("experiment", { method })).sentence);
  } catch (error) {
    showProblem(error);
  }
}

get("plan").addEventListener("click", () => change("POST", "Hold back 20% of accepted links?",
  "The accepted links to one in five pages, drawn at random, wait for four weeks. You can end the experiment at any time.", "Hold them back"));
get("release").addEventListener("click", () => change("DELETE", "End the experiment?",
  "All links that are held back may go live at once. What was measured until today stays usable.", "End it"));
get("more-held").addEventListener("click", () => moreHeld().catch(showProblem));

Promise.all([load(), showExperiment()]).then(() => follow("impact", get("task"), (state) => (state.status === "done" ? load() : null), { found: true })).catch(showProblem);
