const percent = (share) => (share > 0 ? "+" : share < 0 ? "−" : "") + Math.abs(100 * share).toFixed(0) + "%";

function drawEvents() {
  if (!data.weeks.length) return;
  const weeks = data.weeks.map(([week]) => week);
  const told = ({ dataIndex }) => {
    const [week, middle, low, high] = data.weeks[dataIndex];
    return `Week ${week}: <b>${percent(middle)}</b> [${percent(low)}, ${percent(high)}]`;
  };
  // A vertical line from the low to the high end of each week's interval.
  const bar = (_, api) => {
    const [bottom, top] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
    return { type: "line", shape: { x1: bottom[0], y1: bottom[1], x2: top[0], y2: top[1] },
      style: { stroke: colour("muted"), lineWidth: 2 } };
  };
  // Compared with -1 here: the link stands between the weeks -1 and 0.
  const tint = (week) => week < 0 ? colour("before") : colour("after");
  draw("events", {
    tooltip: tooltip(told),
    grid: { left: 60, right: 16, top: 32, bottom: 44 },
    xAxis: axis({ type: "category", data: weeks, name: "week", nameLocation: "middle", nameGap: 28, axisLine: { onZero: false } }),
    yAxis: axis({ type: "value", axisLabel: { color: colour("muted"), formatter: percent } }),
    series: [
      { type: "custom", renderItem: bar, silent: true, encode: { x: 0, y: [1, 2] },
        data: data.weeks.map(([, , low, high], at) => [at, low, high]) },
      { type: "scatter", symbolSize: 10, z: 3,
        data: data.weeks.map(([week, middle]) => ({ value: middle, itemStyle: { color: tint(week) } })),
        markLine: { symbol: "none", silent: true, animation: false, label: { color: colour("muted") },
          lineStyle: { color: colour("muted"), type: "solid", width: 1 },
          data: [{ yAxis: 0, label: { show: false } },
            { xAxis: weeks.indexOf(0), label: { formatter: "first week with the link" }, lineStyle: { type: "dashed" } }] } },
    ],
  });
}

function drawPairs() {
  if (!data.pairs.length) return;
  // A logarithmic axis has no zero.
  const clicks = data.pairs.flatMap(([expected, after]) => [expected, after]);
  const power = (value, round) => 10 ** round(Math.log10(Math.max(value, 0.1)));
  const least = power(Math.min(...clicks), Math.floor), top = power(Math.max(1, ...clicks), Math.ceil);
  const shown = (value) => Math.max(value, least);
  const told = ({ dataIndex, seriesName }) => {
    const [expected, after, page, tier] = data.pairs.filter(([, , , of]) => of === seriesName)[dataIndex];
    return `<bdi dir="ltr">${html(page)}</bdi><br>${after} clicks a week, ${expected} expected<br>${html(tier)}`;
  };
  const tiers = [...new Set(data.pairs.map(([, , , tier]) => tier))];
  const colours = ["after", "before", "note", "error"], shapes = ["circle", "rect", "triangle", "diamond"];
  const side = (name) => axis({ type: "log", min: least, max: top, name, nameLocation: "middle", nameGap: 40 });
  draw("dots", {
    tooltip: tooltip(told),
    legend: { show: tiers.length > 1, top: 0, itemWidth: 14, textStyle: { color: colour("ink") } },
    grid: { left: 70, right: 24, top: 36, bottom: 60 },
    xAxis: side("expected clicks a week"), yAxis: side("clicks a week"),
    series: tiers.map((tier, at) => ({
      type: "scatter", name: tier, symbol: shapes[at % 4], symbolSize: 8,
      itemStyle: { color: colour(colours[at % 4]), opacity: 0.8 },
      data: data.pairs.filter(([, , , of]) => of === tier).map(([expected, after]) => [shown(expected), shown(after)]),
      markLine: at ? undefined : { symbol: "none", silent: true, animation: false, label: { show: false },
        lineStyle: { color: colour("muted"), type: "dashed" },
        data: [[{ coord: [least, least] }, { coord: [top, top] }]] },
    })),
  });
}

drawAlways(() => { drawEvents(); drawPairs(); });
