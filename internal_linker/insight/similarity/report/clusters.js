const SHAPES = ["circle", "rect", "triangle", "diamond"];
const dark = matchMedia("(prefers-color-scheme: dark)");
// What a person chose: the tree's shape, its open cluster, the part of the map in per cent, clusters hidden by name.
let shape = "orthogonal", opened = -1, from = [0, 0], to = [100, 100], selected = {};

// Neighbours in the list are far apart on the wheel of colours.
function tint(cluster) {
  const hue = (cluster * 137.508) % 360;
  return echarts.color.modifyHSL("#cc4444", Math.round(hue), 0.55, dark.matches ? 0.62 : 0.42);
}

function middle(numbers) { return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]; }

// ECharts' own way cuts a character beyond U+FFFF in two.
function cut(text, most) { return [...text].length > most ? [...text].slice(0, most - 1).join("") + "…" : text; }

function dots(cluster) {
  const own = data.dots.filter((dot) => dot[2] === cluster);
  return {
    type: "scatter", name: data.clusters[cluster].name, data: own, cursor: "pointer",
    symbol: SHAPES[cluster % SHAPES.length], symbolSize: (dot) => dot[6] ? 16 : 8,
    itemStyle: { color: tint(cluster), borderColor: colour("paper"), borderWidth: 1 },
    emphasis: { focus: "series" },
  };
}

// A name in the midst of each cluster, hidden with it: a point of its series that is no page.
function caption(cluster) {
  const own = data.dots.filter((dot) => dot[2] === cluster);
  if (!own.length) return [];
  const at = [middle(own.map((dot) => dot[0])), middle(own.map((dot) => dot[1]))];
  return [{ type: "scatter", name: data.clusters[cluster].name, data: [at], symbolSize: 0, silent: true, z: 5,
    itemStyle: { opacity: 1 },
    label: { show: true, position: "top", formatter: isolated(cut(data.clusters[cluster].name, 28)), color: colour("ink"),
      textBorderColor: colour("paper"), textBorderWidth: 3, fontSize: 12 },
    labelLayout: { hideOverlap: true } }];
}

function drawDots() {
  const told = ({ value: [, , cluster, title, url] }) => url === undefined ? "" :
    (title ? `<b><bdi>${html(title)}</bdi></b><br>` : "") + `<bdi dir="ltr">${html(url)}</bdi><br>` +
    `<bdi>${html(data.clusters[cluster].name)}</bdi> · ${pages(data.clusters[cluster].pages)}`;
  // Room for the names at the edges.
  const side = { type: "value", min: -1.15, max: 1.15, show: false };
  const zoom = (axisIndex, at) => ({ type: "inside", ...axisIndex, start: from[at], end: to[at], filterMode: "none",
    zoomOnMouseWheel: "shift", moveOnMouseWheel: false });
  const all = data.clusters.map((_, at) => at);
  const chart = draw("dots", {
    tooltip: { ...tooltip(told), extraCssText: "max-width: 30rem; white-space: normal; overflow-wrap: anywhere" },
    legend: { type: "scroll", itemWidth: 12, itemHeight: 12, bottom: 0, left: 0, right: 0, textStyle: { color: colour("ink") },
      pageTextStyle: { color: colour("muted") }, pageIconColor: colour("ink"), pageIconInactiveColor: colour("line"),
      inactiveColor: colour("line"), selected, formatter: (name) => isolated(cut(name, 40)) },
    grid: { left: 8, right: 8, top: 8, bottom: 40 },
    xAxis: side, yAxis: side,
    dataZoom: [zoom({ xAxisIndex: 0 }, 0), zoom({ yAxisIndex: 0 }, 1)],
    series: [...all.map(dots), ...all.flatMap(caption)],
  });
  chart.off("click").on("click", ({ value }) => { if (value && value[5]) window.open(value[5], "_blank", "noopener"); });
  chart.off("datazoom").on("datazoom", () => {
    const { dataZoom } = chart.getOption();
    from = dataZoom.map((one) => one.start);
    to = dataZoom.map((one) => one.end);
  });
  chart.off("legendselectchanged").on("legendselectchanged", (told) => { selected = told.selected; });
}

function branch(cluster, at, room) {
  return { name: cluster.name, cluster: at, symbolSize: 12, itemStyle: { color: tint(at), borderColor: tint(at) },
    lineStyle: { color: tint(at) },
    label: { formatter: `${isolated(cut(cluster.name, room - 6))} · ${whole.format(cluster.pages)}` } };
}

function leaves(at, room) {
  const { leaves, more } = data.branches[at];
  const children = leaves.map(({ name, url }, place) => ({ name, url, symbolSize: place ? 6 : 12,
    itemStyle: { color: tint(at), borderColor: tint(at) },
    label: { formatter: isolated(cut(name, room - 6)) + (place ? "" : " (hub)") } }));
  return more > 0 ? [...children, { name: `and ${pages(more)} more`, symbolSize: 0 }] : children;
}

// All clusters; or the open one with its pages.
function drawBranches() {
  const place = document.getElementById("branches"), radial = shape === "radial", narrow = place.clientWidth < 700;
  const all = data.clusters.slice(0, data.branches.length);
  document.getElementById("branch").value = opened;
  const side = Math.min(900, Math.max(420, place.clientWidth));
  // Letters that a label has room for.
  const letters = Math.floor((radial ? side * 0.24 : narrow ? 180 : 400) / 6.5);
  const children = opened < 0 ? all.map((one, at) => branch(one, at, letters)) : leaves(opened, letters);
  const name = opened < 0 ? data.site : data.clusters[opened].name;
  place.style.height = (radial ? side : 60 + 26 * children.length) + "px";
  // A tree that replaces another keeps or trips over nodes of the old one; a new chart has none.
  echarts.getInstanceByDom(place)?.dispose();
  const told = ({ data: node }) => `<bdi>${html(node.name)}</bdi>` +
    (node.url ? `<br><bdi dir="ltr">${html(node.url)}</bdi>` : "");
  const room = radial ? { top: "26%", bottom: "26%", left: "26%", right: "26%" } :
    { top: 10, bottom: 10, left: narrow ? 8 : 180, right: narrow ? 190 : 420 };
  const chart = draw("branches", {
    tooltip: { ...tooltip(told), extraCssText: "max-width: 30rem; white-space: normal; overflow-wrap: anywhere" },
    series: [{ type: "tree", layout: shape, ...room, symbol: "circle", symbolSize: 10, expandAndCollapse: false,
      data: [{ name, children, label: { show: !radial && !narrow, position: "left", align: "right",
        formatter: isolated(cut(name, 26)) } }],
      label: { color: colour("ink"), fontSize: 12, ...(radial ? {} : { position: "right", align: "left" }) },
      // Curved spokes would all leave the middle in one direction.
      lineStyle: { color: colour("line"), width: 1.5, curveness: radial ? 0 : 0.5 },
      itemStyle: { color: colour("muted"), borderColor: colour("muted") } }],
  });
  chart.off("click").on("click", ({ data: node }) => { if (node.cluster !== undefined) openCluster(node.cluster); });
}

function openCluster(at) {
  opened = at;
  drawBranches();
}

document.getElementById("branch").addEventListener("change", (event) => openCluster(Number(event.target.value)));
choose("shape", (wanted) => {
  shape = wanted;
  drawBranches();
});
for (const button of document.querySelectorAll("button[data-zoom]")) {
  button.addEventListener("click", () => {
    const factor = Number(button.dataset.zoom);
    for (const at of [0, 1]) {
      const centre = (from[at] + to[at]) / 2, half = Math.min(50, factor * (to[at] - from[at]) / 2);
      from[at] = factor ? Math.min(Math.max(0, centre - half), 100 - 2 * half) : 0;
      to[at] = factor ? from[at] + 2 * half : 100;
    }
    drawDots();
  });
}
for (const button of document.querySelectorAll("button[data-legend]")) {
  button.addEventListener("click", () => {
    const shown = button.dataset.legend === "all";
    selected = Object.fromEntries(data.clusters.map(({ name }) => [name, shown]));
    drawDots();
  });
}
// A link to a cluster's pages opens them.
function unfold() {
  const part = document.getElementById(location.hash.slice(1));
  if (part instanceof HTMLDetailsElement) part.open = true;
}
window.addEventListener("hashchange", unfold);
// The address stays the same when a person closes the pages and follows the link again.
for (const link of document.querySelectorAll("a[href^='#cluster-']")) link.addEventListener("click", () => setTimeout(unfold));
unfold();
drawAlways(() => {
  drawDots();
  drawBranches();
});
