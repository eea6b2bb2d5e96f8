import { colour, counted, element, number, onSubmit, outward, project, projectApi, say, showProblem, sited } from "./shared.js";
import { cut, draw, isolated, shape, tint } from "./drawing.js";
import { follow } from "./tasks.js";

const get = (id) => document.getElementById(id);
let found = null;
let view = "map";

function middle(numbers) {
  return numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)];
}

function mapOptions() {
  const series = found.clusters.map((cluster, at) => {
    const dots = found.dots.filter((dot) => dot[2] === at);
    return { type: "scatter", name: cluster.name, data: dots, cursor: "pointer", symbol: shape(at), symbolSize: (dot) => (dot[6] ? 16 : 8),
      itemStyle: { color: tint(at), borderColor: colour("paper"), borderWidth: 1 } };
  });
  const names = found.clusters.flatMap((cluster, at) => {
    const dots = found.dots.filter((dot) => dot[2] === at);
    if (!dots.length) return [];
    return [{ value: [middle(dots.map((dot) => dot[0])), middle(dots.map((dot) => dot[1]))], label: { formatter: isolated(cut(cluster.name, 28)) } }];
  });
  const side = { type: "value", min: -1.15, max: 1.15, show: false };
  return {
    grid: { left: 8, right: 8, top: 8, bottom: 8 }, xAxis: side, yAxis: side,
    dataZoom: [{ type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "shift", moveOnMouseWheel: false }, { type: "inside", yAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "shift", moveOnMouseWheel: false }],
    tooltip: { formatter: ({ value, seriesName }) => (value[4] ? `${isolated(cut(value[3], 120))}\n${cut(value[4], 120)}\n${isolated(seriesName)}` : "") },
    series: [...series, { type: "scatter", data: names, symbolSize: 0, itemStyle: { opacity: 1 }, silent: true, z: 5, labelLayout: { hideOverlap: true },
      label: { show: true, color: colour("ink"), textBorderColor: colour("paper"), textBorderWidth: 3, fontSize: 12 } }],
  };
}

function openAddress(url) {
  if (/^https?:/i.test(url ?? "")) window.open(url, "_blank", "noopener");
}

function drawMap() {
  draw(get("map"), mapOptions, { click: ({ value }) => openAddress(value?.[5]) });
}

// All clusters; or the pages of one, the hub first.
function branches(opened, narrow) {
  if (!opened) {
    return found.clusters.slice(0, found.branches.length).map((cluster, at) => ({ name: cluster.name, cluster: cluster.number, itemStyle: { color: tint(at) },
      label: { formatter: `${isolated(cut(cluster.name, narrow ? 20 : 50))} · ${number(cluster.pages)}` } }));
  }
  const { leaves, more } = found.branches[opened - 1];
  return [...leaves.map((leaf, at) => ({ name: leaf.name, url: leaf.url, symbolSize: at ? 7 : 12,
    itemStyle: { color: tint(opened - 1) }, label: { formatter: isolated(cut(leaf.name, narrow ? 24 : 60)) + (at ? "" : " (hub)") } })),
  ...(more > 0 ? [{ name: `and ${counted(more, "page")} more`, symbolSize: 0 }] : [])];
}

function drawTree() {
  const opened = Number(get("open").value);
  const radial = get("shape").value === "radial";
  const narrow = get("tree").clientWidth < 700;
  const count = branches(opened, narrow).length;
  get("tree").style.height = `${radial ? Math.min(900, Math.max(420, get("tree").clientWidth)) : 60 + 26 * count}px`;
  const room = radial ? { top: "24%", bottom: "24%", left: "24%", right: "24%" } : { top: 10, bottom: 10, left: narrow ? 8 : 180, right: narrow ? 190 : 420 };
  const name = opened ? found.clusters[opened - 1].name : "All clusters";
  draw(get("tree"), () => ({
    tooltip: { formatter: ({ data }) => `${isolated(data.name)}${data.url ? `\n${data.url}` : ""}` },
    series: [{ type: "tree", layout: radial ? "radial" : "orthogonal", ...room, symbol: "circle", symbolSize: 10, expandAndCollapse: false,
      data: [{ name, children: branches(opened, narrow), label: { show: !radial && !narrow, position: "left", align: "right", formatter: isolated(cut(name, 26)) } }],
      label: { color: colour("ink"), fontSize: 12, ...(radial ? {} : { position: "right", align: "left" }) },
      lineStyle: { color: colour("line"), width: 1.5, curveness: radial ? 0 : 0.5 }, itemStyle: { color: colour("muted"), borderWidth: 0 } }],
  }), { fresh: true, click: ({ data }) => {
    if (!data?.cluster) openAddress(data?.url);
    else { get("open").value = data.cluster; drawTree(); }
  } });
}

function renaming(cluster) {
  const input = element("input", { value: cluster.name, "aria-label": `Name of cluster ${cluster.number}`, maxlength: "80", dir: "auto" });
  const form = element("form", { class: "rename" }, input, element("button", { "aria-label": `Save name of cluster ${cluster.number}` }, "Save"));
  onSubmit(form, async () => {
    found = await projectApi(`clusters/${cluster.number}/name`, { method: "PUT", body: { name: input.value } });
    show();
    say(`Cluster ${cluster.number} is named ${found.clusters[cluster.number - 1].name}.`);
  });
  return element("div", {}, form, cluster.name === cluster.computed ? null
    : element("p", { class: "help" }, "Computed name: ", element("span", { dir: "auto" }, cluster.computed), ". To restore it, save an empty name."));
}

function details(cluster) {
  const pages = cluster.central.map((page) => element("li", {}, page.title && sited("span", page.title), " ", outward(page.url)));
  const links = cluster.lacking.map((link) => element("li", {}, sited("span", link.source.title || link.source.url), " → ", sited("span", link.target.title || link.target.url), ` (${link.why})`));
  return element("details", {}, element("summary", {}, "Show ", element("bdi", {}, cluster.name)), element("h3", {}, "Most central pages"), element("ul", {}, ...pages),
    links.length ? element("h3", {}, "Links that it lacks") : null, links.length ? element("ul", {}, ...links) : null);
}

function row(cluster) {
  return element("tr", {}, element("td", { class: "figure" }, String(cluster.number)), element("td", {}, renaming(cluster)), element("td", { class: "figure" }, number(cluster.pages)),
    element("td", {}, element("span", { class: "two" }, cluster.hub_title && sited("span", cluster.hub_title), outward(cluster.hub))),
    element("td", { class: "figure" }, cluster.density === null ? "–" : cluster.density.toFixed(2)), element("td", { class: "figure" }, number(cluster.missing)), element("td", {}, details(cluster)));
}

function showView() {
  for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", button.dataset.view === view);
  for (const part of document.querySelectorAll("[data-part]")) part.hidden = part.dataset.part !== view;
  if (view === "map") drawMap();
  if (view === "tree") drawTree();
}

function show() {
  get("nothing").hidden = Boolean(found);
  get("result").hidden = !found;
  if (!found) return;
  get("made").textContent = `${counted(found.pages, "page")} ${found.by} on ${new Date(found.made).toLocaleString()}${found.alone ? `; ${number(found.alone)} in no cluster` : ""}.`;
  get("result-title").textContent = counted(found.clusters.length, "cluster");
  get("download").href = `/api/projects/${project}/clusters/workbook`;
  const opened = get("open").value;
  get("open").replaceChildren(element("option", { value: "" }, "all clusters"), ...found.clusters.slice(0, found.branches.length).map((cluster) => element("option", { value: cluster.number }, cluster.name)));
  get("open").value = [...get("open").options].some((option) => option.value === opened) ? opened : "";
  get("rows").replaceChildren(...found.clusters.map(row));
  showView();
}

async function load() {
  found = await projectApi("clusters");
  show();
}

onSubmit(get("group"), async (form) => {
  await projectApi("clusters", { method: "POST", body: {
    by: form.get("by"), encoder: form.get("encoder"), method: form.get("method"), k: form.get("k").trim(),
  } });
  await follow("clusters", get("task"), (state) => (state.status === "done" ? load() : null));
});
for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => { view = button.dataset.view; showView(); });
for (const id of ["open", "shape"]) get(id).addEventListener("change", drawTree);
load().then(() => follow("clusters", get("task"), (state) => (state.status === "done" ? load() : null), { found: true })).catch(showProblem);
