import { colour, counted, element, number, onSubmit, outward, project, projectApi, showProblem, sited } from "./shared.js";
import { cut, draw, isolated } from "./drawing.js";
import { follow } from "./tasks.js";

const ROWS = 100;
const OPPORTUNITIES = 10;
const STATES = ["today", "accepted", "all"];
const NAMES = { today: "today", accepted: "with the accepted links", all: "with everything proposed" };
const BADGES = { error: "failed", warning: "gaps", note: "" };
const get = (id) => document.getElementById(id);
let found = null;
let matrixState = "today";
let asked = null;

function titled(title, url) {
  return element("span", { class: "two" }, title && sited("span", title), outward(url));
}

function sentence(link) {
  const at = link.anchor ? link.sentence.indexOf(link.anchor) : -1;
  if (!link.sentence) return null;
  return element("blockquote", { dir: "auto" }, ...(at < 0 ? [link.sentence]
    : [link.sentence.slice(0, at), element("mark", {}, link.anchor), link.sentence.slice(at + link.anchor.length)]));
}

function action(one) {
  const where = one.where.slice(0, 5).map((url) => element("li", {}, outward(url)));
  const links = one.links.slice(0, 5).map((link) => element("li", {},
    element("p", {}, outward(link.source), " → ", outward(link.target)), sentence(link), element("p", { class: "help", dir: "auto" }, [link.tier, link.score === null ? "" : `score ${link.score}`, link.why].filter(Boolean).join(" · "))));
  const inside = [...where, ...(one.where.length > 5 ? [element("li", {}, `and ${counted(one.where.length - 5, "page")} more`)] : []), ...links, ...(one.links.length > 5 ? [element("li", {}, `and ${counted(one.links.length - 5, "link")} more`)] : [])];
  return element("li", {}, sited("p", one.what), element("p", { class: "help" }, one.rule && element("span", { class: `badge ${BADGES[one.severity]}` }, one.rule), " ", `helps ${counted(one.pages, "page")}. `, sited("span", one.detail)),
    inside.length ? element("details", {}, element("summary", {}, links.length ? "Show where and how" : "Show the pages"), element("ul", {}, ...inside)) : null);
}

function figure(measure) {
  return element("tr", {}, element("th", { scope: "row" }, measure.name), ...measure.values.map((value, at) => element("td", {}, value === null ? "unknown"
    : element("button", { type: "button", "aria-label": `${value.toFixed(measure.decimals)}: rows of ${measure.name}, ${NAMES[STATES[at]]}`,
      onclick: () => ask(measure.rows_are, { figure: measure.key }, STATES[at], measure.name) }, measure.decimals ? value.toFixed(measure.decimals) : number(value)))));
}

function rule(one) {
  return element("tr", {}, element("th", { scope: "row" }, element("span", { class: `badge ${BADGES[one.severity]}` }, one.rule), ` ${one.message}`), ...one.counts.map((count, at) => element("td", {},
    count ? element("button", { type: "button", "aria-label": `${count} findings: ${one.rule}, ${NAMES[STATES[at]]}`, onclick: () => ask("findings", { rule: one.rule }, STATES[at], one.message) }, number(count)) : "0")));
}

const HEADS = {
  pages: ["Page", "Section", "Cluster", "Links here", "Own links", "Clicks", "PageRank"],
  links: ["From", "To", "Link"],
  findings: ["Page", "Detail", "Other page"],
};
const LINES = {
  pages: (row) => [titled(row.title, row.url), sited("span", row.section), sited("span", row.cluster || "–"), number(row.inlinks), number(row.outlinks), row.depth < 0 ? "–" : number(row.depth), row.pagerank.toFixed(2)],
  links: (row) => [titled(row.source_title, row.source), titled(row.target_title, row.target), row.new ? `proposed${row.score === null ? "" : `, score ${row.score}`}` : "on the site"],
  findings: (row) => [outward(row.page), sited("span", row.detail), row.other ? outward(row.other) : "–"],
};

async function ask(kind, query, state, title) {
  asked = { kind, query, state, title };
  get("rows").replaceChildren();
  get("head").replaceChildren(...HEADS[kind].map((name) => element("th", { scope: "col" }, name)));
  await more();
  get("rows-title").focus();
}

async function more() {
  const { kind, query, state, title } = asked;
  try {
    showProblem(null);
    const answer = await projectApi(`audit/${kind}?${new URLSearchParams({ of: state, ...query, from: get("rows").children.length, rows: ROWS })}`);
    get("rows-part").hidden = false;
    get("rows").append(...answer.rows.map((row) => element("tr", {}, ...LINES[kind](row).map((cell) => element("td", {}, cell)))));
    const shown = get("rows").children.length;
    get("rows-title").textContent = `${title}, ${NAMES[state]}: ${kind === "findings" ? counted(answer.total, "finding") : counted(answer.total, kind.slice(0, -1))}`;
    get("more").hidden = shown >= answer.total;
    get("more").textContent = `Show more (${number(shown)} of ${number(answer.total)})`;
  } catch (error) {
    showProblem(error);
  }
}

// -- opportunities --

function linksOf(page) {
  return `/p/${project}/links?page=${encodeURIComponent(page)}`;
}

function opportunity(one) {
  return element("tr", {}, element("td", {}, element("span", { class: "two" }, one.title && sited("span", one.title), element("a", { href: linksOf(one.page), dir: "ltr" }, one.page))),
    sited("td", one.query || "–"), element("td", { class: "figure" }, one.position.toFixed(1)), element("td", { class: "figure" }, number(one.impressions)), element("td", { class: "figure" }, number(one.gain)),
    element("td", {}, ...(one.sources.length ? one.sources.map((source) => element("div", {}, outward(source))) : ["–"])));
}

async function moreOpportunities() {
  const place = get("opportunities");
  const shown = found;
  const part = await projectApi(`audit/opportunities?from=${place.children.length}&rows=${OPPORTUNITIES}`);
  if (shown !== found) return;
  place.append(...part.rows.map(opportunity));
  get("more-opportunities").hidden = place.children.length >= part.total;
  get("more-opportunities").textContent = `Show more (${number(place.children.length)} of ${number(part.total)})`;
}

function showOpportunities() {
  get("opportunities").replaceChildren();
  get("unsearched").hidden = found.opportunities > 0;
  get("opportunities-part").hidden = !found.opportunities;
  get("opportunities-help").textContent = found.opportunities
    ? `${counted(found.opportunities, "opportunity", "opportunities")}, the largest first. A page at positions 4 to 20 gains these clicks in 28 days if it moves up by three places, by the site’s own click curve. A page leads to its links.` : "";
  if (found.opportunities) moreOpportunities().catch(showProblem);
}

function askCell(source, target) {
  ask("links", { source, target }, matrixState, `Links from ${source} to ${target}`);
}

function drawMatrix() {
  const { sections } = found;
  const matrix = found.matrix[matrixState];
  const cells = matrix.flatMap((row, at) => row.map((count, to) => [to, at, count]));
  const most = Math.max(1, ...cells.map(([, , count]) => count));
  const narrow = get("matrix").clientWidth < 700;
  const names = sections.map((name) => isolated(cut(name, narrow ? 10 : 24)));
  get("matrix").style.height = `${Math.max(220, 90 + 34 * sections.length)}px`;
  const chart = draw(get("matrix"), () => ({
    grid: { left: narrow ? 90 : 180, right: 12, top: 12, bottom: 80 },
    xAxis: { type: "category", data: names, axisLabel: { color: colour("ink"), rotate: 40 }, splitArea: { show: false } },
    yAxis: { type: "category", data: names, inverse: true, axisLabel: { color: colour("ink") } },
    visualMap: { show: false, min: 0, max: Math.log10(most + 1), dimension: 3, inRange: { color: [colour("card"), colour("accent")] } },
    tooltip: { formatter: ({ value }) => `${isolated(sections[value[1]])} → ${isolated(sections[value[0]])}: ${counted(value[2], "link")}` },
    series: [{ type: "heatmap", data: cells.map(([x, y, count]) => [x, y, count, Math.log10(count + 1)]), cursor: "pointer",
      label: { show: !narrow, formatter: ({ value }) => (value[2] ? number(value[2]) : ""), color: colour("ink"), textBorderColor: colour("paper"), textBorderWidth: 2 },
      itemStyle: { borderColor: colour("paper"), borderWidth: 1 } }],
  }), { click: ({ value }) => { if (value) askCell(sections[value[1]], sections[value[0]]); } });
  chart.resize();
}

function show() {
  get("nothing").hidden = Boolean(found);
  get("result").hidden = !found;
  if (!found) return;
  get("made").textContent = `${counted(found.pages, "page")} of ${found.site}, audited on ${new Date(found.made).toLocaleString()}. Home page: ${found.home || "unknown"}. `
    + (found.run ? `Proposed links: those of run ${found.run}.` : "No run has proposed links yet.");
  get("unknown").hidden = found.links_known;
  get("order").textContent = found.order;
  get("actions").replaceChildren(...(found.actions.length ? found.actions.map(action) : [element("li", {}, "Nothing to do: no finding can be mended.")]));
  get("figures").replaceChildren(...found.measures.map(figure));
  get("rules").replaceChildren(...(found.rules.length ? found.rules.map(rule) : [element("tr", {}, element("td", {}, "No findings."))]));
  for (const id of ["source", "target"]) get(id).replaceChildren(...found.sections.map((name) => element("option", { value: name }, name)));
  get("rows-part").hidden = true;
  showOpportunities();
  drawMatrix();
}

async function load() {
  found = await projectApi("audit");
  show();
}

onSubmit(get("start"), async (form) => {
  await projectApi("audit", { method: "POST", body: { home: form.get("home") } });
  await follow("audit", get("task"), (state) => (state.status === "done" ? load() : null));
});
for (const link of document.querySelectorAll("[data-of]")) link.href = `/api/projects/${project}/audit/workbook?of=${link.dataset.of}`;
for (const button of document.querySelectorAll("[data-state]")) {
  button.addEventListener("click", () => {
    matrixState = button.dataset.state;
    for (const each of document.querySelectorAll("[data-state]")) each.setAttribute("aria-pressed", each === button);
    drawMatrix();
  });
}
get("cell").addEventListener("click", () => askCell(get("source").value, get("target").value));
get("more").addEventListener("click", more);
get("more-opportunities").addEventListener("click", () => moreOpportunities().catch(showProblem));
load().then(() => follow("audit", get("task"), (state) => (state.status === "done" ? load() : null), { found: true })).catch(showProblem);
