// Charts of the analysis pages: sizes, colours, and tooltips that the content security policy lets through.
import { colour } from "./shared.js";

const drawn = new Map();
const shapes = ["circle", "rect", "triangle", "diamond"];

// Draws a chart, and again when the colours change; `options` is called each time, `click` with what a click meets.
export function draw(place, options, { fresh = false, click = null } = {}) {
  const { echarts } = window;
  let chart = echarts.getInstanceByDom(place);
  if (fresh && chart) { chart.dispose(); chart = null; }
  chart ??= echarts.init(place, null, { renderer: "canvas" });
  drawn.set(place, () => draw(place, options, { fresh, click }));
  const wanted = options();
  // Tooltips of HTML would need inline styles.
  chart.setOption({ animation: false, textStyle: { fontFamily: "system-ui, sans-serif" }, ...wanted,
    tooltip: { renderMode: "richText", confine: true, backgroundColor: colour("card"), borderColor: colour("line"),
      textStyle: { color: colour("ink"), width: 340, overflow: "break" }, ...wanted.tooltip } }, { notMerge: true });
  chart.off("click");
  if (click) chart.on("click", click);
  return chart;
}

// In the text's own direction, on any canvas.
export function isolated(text) {
  return `\u2068${text}\u2069`;
}

export function cut(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

// Neighbours in a list are far apart on the wheel of colours.
export function tint(at) {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark"
    || (document.documentElement.dataset.theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  return window.echarts.color.modifyHSL("#cc4444", Math.round((at * 137.508) % 360), 0.55, dark ? 0.62 : 0.42);
}

export function shape(at) {
  return shapes[at % shapes.length];
}

document.addEventListener("colours", () => { for (const again of drawn.values()) again(); });
new ResizeObserver(() => {
  for (const place of drawn.keys()) window.echarts.getInstanceByDom(place)?.resize();
}).observe(document.getElementById("content"));
