// Share of orphans 0 to 1 -> colour; the same stops as .scale in common.css.
const STOPS = [[247, 239, 226], [242, 182, 121], [217, 96, 26], [123, 36, 28]];
let shown = "before";

function heat(share) {
  const at = share * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[low].map((from, i) => Math.round(from + (STOPS[low + 1][i] - from) * (at - low)));
}

// Between two colours written as #rrggbb.
function mix(from, to, share) {
  const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return parts(from).map((part, i) => Math.round(part + (parts(to)[i] - part) * share));
}

function rgb(parts) { return "rgb(" + parts.join(",") + ")"; }

// Black or white, whichever is read more easily on a colour of 0 to 255 each.
function inkOn([r, g, b]) { return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#1f2328" : "#ffffff"; }

function percent(part, of) { return Math.round(100 * part / of) + "%"; }

function tile(node) {
  const fill = heat(node[shown] / node.value), ink = inkOn(fill);
  return { ...node, itemStyle: { color: rgb(fill), borderColor: colour("paper") }, label: { color: ink },
    upperLabel: { color: colour("ink") }, children: node.children && node.children.map(tile) };
}

function drawTreemap() {
  const told = ({ data: node, treePathInfo: path }) => {
    if (!node || node.value === undefined) return "";
    const names = path.slice(1).map((step) => `<bdi>${html(step.name)}</bdi>`).join(" · ");
    return `<b>${names}</b><br>${pages(node.value)}` + (!data.known ? "" : `<br>orphans today: ${whole.format(node.before)} ` +
      `(${percent(node.before, node.value)})<br>orphans after: ${whole.format(node.after)} ` +
      `(${percent(node.after, node.value)})`);
  };
  const label = ({ data: node }) => `${isolated(node.name)}\n${pages(node.value)}` +
    (data.known ? `\n${percent(node[shown], node.value)} orphans` : "");
  draw("treemap", {
    tooltip: tooltip(told),
    series: [{
      type: "treemap", name: "Site", data: data.treemap.map(tile), roam: false, nodeClick: false,
      top: 0, left: 0, right: 0, bottom: 0,
      label: { formatter: label, overflow: "truncate", lineHeight: 16 },
      // Two letters of a word tell nothing: out of the picture.
      labelLayout: ({ rect }) => rect.width < 60 ? { x: -1000 } : {},
      upperLabel: { show: true, height: 22, overflow: "truncate",
        formatter: ({ data: { name, value } }) => value === undefined ? "" : `${isolated(name)} · ${whole.format(value)}` },
      breadcrumb: { show: false },
      levels: [
        { upperLabel: { show: false }, itemStyle: { borderWidth: 0, gapWidth: 4, borderColor: colour("paper") } },
        { itemStyle: { borderWidth: 2, gapWidth: 1, borderColor: colour("line"), color: colour("card") } },
        { itemStyle: { gapWidth: 1 } }],
    }],
  });
}

function drawMatrix(state) {
  const { names, before, after } = data.matrix, counts = data.matrix[state], place = "matrix-" + state;
  if (!data.known) return;
  const most = Math.log1p(Math.max(1, ...before.flat(), ...after.flat()));
  const element = document.getElementById(place);
  element.style.height = 110 + 26 * Math.max(names.length, 4) + "px";
  const room = (element.clientWidth - 100) / names.length;
  const short = (name) => name.length > 13 ? name.slice(0, 12) + "…" : name;
  const cells = counts.flatMap((row, y) => row.map((count, x) => [x, y, Math.log1p(count), count]));
  const label = (count) => room < 7 * whole.format(count).length + 2 ? "" : whole.format(count);
  const ink = (cell) => inkOn(mix(colour("zero"), colour("after"), cell[2] / most));
  const item = (cell) => ({ value: cell, label: { color: ink(cell) } });
  draw(place, {
    tooltip: tooltip(({ value }) => `<bdi>${html(names[value[1]])}</bdi> → <bdi>${html(names[value[0]])}</bdi><br>` +
      `today: ${whole.format(before[value[1]][value[0]])}<br>after: ${whole.format(after[value[1]][value[0]])}`),
    grid: { left: 90, right: 4, top: 4, bottom: 84 },
    xAxis: axis({ type: "category", data: names, splitLine: { show: false },
      axisLabel: { color: colour("muted"), rotate: 45, interval: 0, formatter: short } }),
    yAxis: axis({ type: "category", data: names, inverse: true, splitLine: { show: false },
      axisLabel: { color: colour("muted"), interval: 0, formatter: short } }),
    visualMap: { show: false, min: 0, max: most, dimension: 2, inRange: { color: [colour("zero"), colour("after")] } },
    series: [{ type: "heatmap", data: cells.map(item), itemStyle: { borderColor: colour("line"), borderWidth: 1 },
      label: { show: true, formatter: ({ value }) => value[3] ? label(value[3]) : "" } }],
  });
}

function drawHistogram() {
  const { edges, counts, bounds, tiers } = data.histogram;
  const tier = (score) => bounds.filter((bound) => score >= bound).length;
  const opacity = [0.35, 0.65, 1];
  const bars = counts.map((count, i) => {
    const middle = (edges[i] + edges[i + 1]) / 2;
    return { value: [middle, count], itemStyle: { color: colour("after"), opacity: opacity[tier(middle)] } };
  });
  // Labels on either side of their lines: on a phone they would lie on each other.
  const line = (at, name, align) => ({ xAxis: at,
    label: { formatter: `${name}\nfrom ${at}`, lineHeight: 15, color: colour("ink"), align, padding: [0, 3] } });
  draw("histogram", {
    tooltip: tooltip(({ dataIndex: i }) => `score ${edges[i]} to ${edges[i + 1]}: ` +
      `${whole.format(counts[i])} links (${tiers[tier((edges[i] + edges[i + 1]) / 2)]})`),
    grid: { left: 60, right: 20, top: 44, bottom: 44 },
    xAxis: axis({ type: "value", min: 0, max: 100, name: "score", nameLocation: "middle", nameGap: 28,
      splitLine: { show: false } }),
    yAxis: axis({ type: "value", name: "links", minInterval: 1 }),
    series: [{ type: "bar", data: bars, barWidth: "94%",
      markLine: { symbol: "none", silent: true, lineStyle: { color: colour("ink"), type: "dashed" },
        data: [line(bounds[0], tiers[1], "right"), line(bounds[1], tiers[2], "left")] } }],
  });
}

function drawCurve() {
  const { before, after } = data.pagerank;
  const curve = (name, points, state, type) => ({ name, type: "line", data: points, showSymbol: false,
    lineStyle: { color: colour(state), type, width: 2.5 }, itemStyle: { color: colour(state) } });
  const told = (points) => `best ${points[0].value[0]}% of the pages hold<br>` +
    points.map((point) => `${point.seriesName}: ${point.value[1].toFixed(1)}%`).join("<br>");
  draw("curve", {
    tooltip: { ...tooltip(told), trigger: "axis" },
    legend: { top: 0, right: 20, textStyle: { color: colour("ink") }, itemWidth: 40 },
    grid: { left: 60, right: 20, top: 60, bottom: 44 },
    xAxis: axis({ type: "value", min: 0, max: 100, name: "best pages, %", nameLocation: "middle", nameGap: 28 }),
    yAxis: axis({ type: "value", min: 0, max: 100, name: "PageRank, %" }),
    series: [curve("today", before, "before", "solid"),
      ...(data.proposed ? [curve("after", after, "after", "dashed")] : []),
      curve("all pages equal", [[0, 0], [100, 100]], "muted", "dotted")],
  });
}

function drawAll() {
  drawTreemap();
  drawMatrix("before");
  drawMatrix("after");
  drawHistogram();
  drawCurve();
}

choose("state", (state) => {
  shown = state;
  drawTreemap();
});
drawAlways(drawAll);
equipTables("audit");
