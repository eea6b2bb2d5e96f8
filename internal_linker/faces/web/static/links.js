import { badge, fileAddress, linkTable, ON_SITE, pageName, score, TIERS, watchFilters } from "./linktable.js";
import { colour, counted, element, number, outward, projectApi, showProblem, sited } from "./shared.js";

const panel = document.getElementById("panel");
const place = document.getElementById("chart");
let tree = null;
let layout = "orthogonal";

function opening(address, content, label) {
  return element("button", { type: "button", class: "plain", "aria-label": label, onclick: () => openPanel(address) }, content);
}

const columns = [
  { title: "From", field: "source", widthGrow: 3, minWidth: 160, responsive: 0, formatter: (cell) => {
    const row = cell.getData();
    return opening(row.source, pageName(row.source_title, row.source_url));
  } },
  { title: "To", field: "target", widthGrow: 3, minWidth: 150, responsive: 0, formatter: (cell) => {
    const row = cell.getData();
    return opening(row.target, pageName(row.target_title, row.target_url));
  } },
  { title: "Anchor", field: "anchor", widthGrow: 2, minWidth: 150, responsive: 3, formatter: (cell) => sited("span", cell.getValue()) },
  { title: "Score", field: "score", width: 110, hozAlign: "right", responsive: 2, formatter: (cell) => score(cell.getValue()) },
  { title: "Tier", field: "tier", width: 120, responsive: 4, formatter: (cell) => TIERS[cell.getValue()] },
  { title: "Status", field: "status", width: 125, responsive: 1, formatter: (cell) => badge(cell.getValue()) },
  { title: "On the site", field: "on_site", width: 150, responsive: 5, formatter: (cell) => ON_SITE[cell.getValue()] },
];

function loaded(found) {
  const parts = Object.entries(found.statuses).map(([status, count]) => `${number(count)} ${status === "proposed" ? "waiting" : status}`);
  document.getElementById("count").textContent = `${counted(found.total, "link")}${parts.length > 1 ? `: ${parts.join(", ")}` : ""}`;
  const problem = document.getElementById("texts-problem");
  problem.hidden = !found.problem;
  problem.textContent = found.problem;
  const empty = document.getElementById("empty");
  empty.hidden = found.total > 0;
  empty.textContent = location.search.length > 1
    ? "No links match these filters." : "There are no links yet: start a run on the page Run.";
  document.getElementById("table").hidden = found.total === 0;
  for (const kind of ["xlsx", "csv"]) document.getElementById(kind).href = fileAddress(kind);
}

function item(row, reasons, outbound) {
  const [address, title, url] = outbound
    ? [row.target, row.target_title, row.target_url] : [row.source, row.source_title, row.source_url];
  return element("li", {},
    element("div", { class: "row" }, element("strong", { class: "score" }, score(row.score)), badge(row.status),
      element("span", { class: "help" }, TIERS[row.tier])),
    opening(address, pageName(title, url)),
    row.anchor ? element("p", {}, "Anchor: ", sited("bdi", row.anchor)) : null,
    element("p", { class: "help", dir: "auto" }, reasons[row.id] || ""));
}

function existing(end) {
  return element("li", {}, opening(end.url, pageName(end.title, end.url)),
    end.anchor ? element("p", { class: "help" }, "Anchor: ", sited("bdi", end.anchor)) : null);
}

function fill(id, items, none) {
  document.getElementById(id).replaceChildren(...(items.length ? items : [element("li", { class: "help" }, none)]));
}

async function openPanel(address) {
  try {
    const page = await projectApi(`page?${new URLSearchParams({ address })}`);
    showProblem(null, document.getElementById("panel-problem"));
    document.getElementById("panel-title").textContent = page.title || page.url;
    document.getElementById("panel-url").replaceChildren(outward(page.url));
    fill("out", page.outbound.map((row) => item(row, page.reasons, true)), "None.");
    fill("in", page.inbound.map((row) => item(row, page.reasons, false)), "None.");
    document.getElementById("existing-out").textContent = `${counted(page.link_count, "existing link")} from this page`;
    document.getElementById("existing-in").textContent = `${counted(page.linked_count, "existing link")} to this page`;
    fill("links-out", page.links.map(existing), "None.");
    fill("links-in", page.linked_from.map(existing), "None.");
    ({ tree } = page);
    const given = new URLSearchParams(location.search);
    given.set("page", page.key);
    history.replaceState(null, "", `?${given}`);
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
    draw();
  } catch (error) {
    showProblem(error, panel.open ? document.getElementById("panel-problem") : undefined);
  }
}

function short(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

function node(page, depth = 0) {
  // Isolated, so that a right-to-left title doesn't reorder what stands beside it.
  const made = { name: `\u2068${short(page.name, 200)}\u2069`, key: page.key, score: page.score,
    children: page.children.map((child) => node(child, depth + 1)) };
  if (layout === "radial" && depth === 0) made.label = { show: false }; // the heading says it
  if (layout === "radial" && depth === 1) {
    made.label = { rotate: 0, position: "top", align: "center", distance: 5, backgroundColor: colour("paper"), padding: [1, 3],
      formatter: () => `\u2068${short(page.name, 15)}\u2069` };
  }
  return made;
}

function draw() {
  if (!tree || !panel.open) return;
  const chart = echarts.getInstanceByDom(place) || echarts.init(place, null, { renderer: "canvas" });
  const radial = layout === "radial";
  place.classList.toggle("round", radial);
  chart.resize();
  const narrow = place.clientWidth < 600;
  const most = radial ? (narrow ? 11 : 21) : narrow ? 16 : 34;
  const label = { color: colour("ink"), fontFamily: getComputedStyle(document.body).fontFamily, fontSize: narrow ? 10 : 12,
    formatter: ({ name }) => `\u2068${short(name.slice(1, -1), most)}\u2069`, textBorderColor: colour("paper"), textBorderWidth: 3 };
  const sides = { position: "right", align: "left", distance: 6 };
  chart.setOption({
    animation: false,
    // As text on the canvas: the policy of the page allows no inline style in HTML.
    tooltip: { renderMode: "richText", confine: true, backgroundColor: colour("card"), borderColor: colour("line"),
      textStyle: { color: colour("ink") },
      formatter: ({ data }) => `${short(data.name, 80)}${data.score === null ? "" : `\nscore ${data.score}`}` },
    series: [{
      type: "tree", data: [node(tree)], layout, roam: false, expandAndCollapse: false, initialTreeDepth: -1, symbolSize: 9,
      top: radial ? "24%" : "4%", bottom: radial ? "24%" : "4%", left: radial ? "20%" : narrow ? "2%" : "3%", right: radial ? "20%" : narrow ? "30%" : "24%",
      itemStyle: { color: colour("accent"), borderColor: colour("accent") }, lineStyle: { color: colour("line"), width: 1.5 },
      label: radial ? label : { ...label, position: "top", align: "left", verticalAlign: "bottom", distance: 4 },
      leaves: { label: radial ? label : { ...label, ...sides, verticalAlign: "middle" } },
    }],
  }, true);
  chart.off("click");
  chart.on("click", ({ data }) => data?.key && openPanel(data.key));
  place.setAttribute("aria-label", `${layout === "radial" ? "Radial chart" : "Tree"} of the best links`);
}

for (const button of document.querySelectorAll("button[data-layout]")) {
  button.addEventListener("click", () => {
    ({ layout } = button.dataset);
    for (const each of document.querySelectorAll("button[data-layout]")) {
      each.setAttribute("aria-pressed", String(each === button));
    }
    draw();
  });
}
document.getElementById("close").addEventListener("click", () => panel.close());
panel.addEventListener("close", () => {
  const given = new URLSearchParams(location.search);
  given.delete("page");
  history.replaceState(null, "", given.size ? `?${given}` : location.pathname);
});
window.addEventListener("resize", draw);
document.addEventListener("colours", draw);

let table = null;
watchFilters(() => table.setPage(1));
table = linkTable(document.getElementById("table"), { columns, loaded });
const asked = new URLSearchParams(location.search).get("page");
if (asked) openPanel(asked);
