"use strict";
// Functions for all reports; each report's own script follows in the same element.
const data = JSON.parse(document.getElementById("data").textContent);
const html = echarts.format.encodeHTML;
const whole = new Intl.NumberFormat("en");

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// Keeps a right-to-left name from reversing the number beside it.
function isolated(name) { return `\u2068${name}\u2069`; }

function pages(count) { return `${whole.format(count)} ${count === 1 ? "page" : "pages"}`; }

function draw(id, option) {
  const place = document.getElementById(id);
  if (!place) return null;
  const chart = echarts.getInstanceByDom(place) || echarts.init(place, null, { renderer: "svg", locale: "EN" });
  chart.setOption({ animation: false, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
    ...option }, true);
  return chart;
}

function tooltip(formatter) {
  return { formatter, confine: true, backgroundColor: colour("card"), borderColor: colour("line"),
    textStyle: { color: colour("ink") } };
}

function axis(more) {
  return { axisLabel: { color: colour("muted") }, axisLine: { lineStyle: { color: colour("line") } },
    splitLine: { lineStyle: { color: colour("line"), opacity: 0.6 } }, nameTextStyle: { color: colour("muted") },
    ...more };
}

// Draws everything now, and again whenever the window size or the colours change.
function drawAlways(drawAll) {
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const place of document.querySelectorAll(".chart")) echarts.getInstanceByDom(place)?.resize();
      drawAll();
    }, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  drawAll();
}

// A group of buttons with one pressed at a time; calls `press` with the value of data-NAME.
function choose(name, press) {
  const buttons = document.querySelectorAll(`button[data-${name}]`);
  for (const button of buttons) {
    button.addEventListener("click", () => {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
      press(button.dataset[name]);
    });
  }
}
