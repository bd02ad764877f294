// Drawing of a chart: axes, shaded findings, ceilings, bands, lines and markers, as SVG. It keeps no state.

const seriesColours = 9;
const dashes = ["", "7 3", "2 2.5", "9 3 2 3", "4 2", "12 3", "9 2.5 2 2.5 2 2.5"];

function colourOf(style) {
  return "var(--s" + (style % seriesColours) + ")";
}
function dashOf(style) {
  return dashes[style % dashes.length];
}

// markerPath is a marker around a place; with the dash it distinguishes curves without colour.
function markerPath(style, x, y, r) {
  const f = (n) => n.toFixed(1);
  switch (style % 5) {
    case 0:
      return `M${f(x - r)} ${f(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    case 1:
      return `M${f(x - r)} ${f(y - r)}h${2 * r}v${2 * r}h${-2 * r}z`;
    case 2:
      return `M${f(x)} ${f(y - r - 1)}l${r + 1} ${2 * r}h${-2 * r - 2}z`;
    case 3:
      return `M${f(x)} ${f(y - r - 1)}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`;
    default:
      return `M${f(x)} ${f(y + r + 1)}l${r + 1} ${-2 * r}h${-2 * r - 2}z`;
  }
}

// key is a series' line and marker in small, for a legend.
function keyOf(style) {
  return shape(
    "svg",
    { viewBox: "0 0 34 14", "aria-hidden": "true" },
    shape("path", {
      d: "M1 7H33",
      stroke: colourOf(style),
      "stroke-width": 2,
      "stroke-dasharray": dashOf(style),
      fill: "none",
    }),
    shape("path", {
      d: markerPath(style, 17, 7, 3),
      fill: style % 2 ? "var(--paper)" : colourOf(style),
      stroke: colourOf(style),
      "stroke-width": 1.5,
    }),
  );
}

// frameOf is the layout of a plot with its scales. room is what is drawn: series with their points, and their peaks.
function frameOf(spec, room, ceilings, width, span) {
  const height = Math.round(Math.max(290, Math.min(460, width * 0.48)));
  const left = 64,
    right = width - 18,
    top = 30,
    bottom = height - 46;
  const [low, high] = valueSpan(spec, room, ceilings, span);
  return {
    width,
    height,
    left,
    right,
    top,
    bottom,
    x: scaleOf(spec.xlog, span[0], span[1], left, right),
    y: scaleOf(spec.ylog, low, high, bottom, top),
  };
}

// valueSpan is from the minimum to the maximum visible value, with drawn bounds. It includes a peak that is not far above
// the values.
function valueSpan(spec, room, ceilings, span) {
  let low = Infinity,
    high = 0;
  for (const series of room) {
    for (const p of series.points) {
      if (p.x < span[0] || p.x > span[1]) continue;
      if (spec.ylog && p.value <= 0) continue;
      low = Math.min(low, p.value, spec.bands && p.lo !== null && p.lo > 0 ? p.lo : Infinity);
      high = Math.max(high, p.value, spec.bands && p.hi !== null ? p.hi : 0);
    }
  }
  if (high === 0) return [spec.ylog ? 0.1 : 0, 1];
  for (const c of ceilings) if (c.value <= 2.5 * high) high = Math.max(high, c.value);
  if (!spec.ylog) return [0, high * 1.06];
  return low < high ? [low / 1.15, high * 1.15] : [low / 2, low * 2];
}

function drawAxes(svg, spec, f) {
  const most = Math.max(3, Math.floor((f.right - f.left) / 88));
  const xs = spec.xKind === "ranks" ? rankTicks(spec, f, most) : sizeTicks(f.x, most);
  xs.forEach((tick, i) => {
    const x = f.x.at(tick);
    const end = x > f.right - 30 ? "end" : i === 0 && x < f.left + 12 ? "start" : "middle";
    svg.append(
      shape("path", { class: "grid", d: `M${x} ${f.top}V${f.bottom}` }),
      shape(
        "text",
        {
          x: end === "end" ? Math.min(x + 16, f.right + 14) : end === "start" ? x - 8 : x,
          y: f.bottom + 18,
          "text-anchor": end,
        },
        spec.xWords(tick),
      ),
    );
  });
  for (const tick of figureTicks(f.y, Math.max(3, Math.floor((f.bottom - f.top) / 44)))) {
    const y = f.y.at(tick);
    svg.append(
      shape("path", { class: "grid", d: `M${f.left} ${y}H${f.right}` }),
      shape(
        "text",
        { x: f.left - 8, y: y + 4, "text-anchor": "end" },
        spec.metric.name === "time" ? timeTick(tick) : plainTick(tick),
      ),
    );
  }
  svg.append(
    shape("path", { class: "axis", d: `M${f.left} ${f.top}V${f.bottom}H${f.right}` }),
    shape("text", { x: (f.left + f.right) / 2, y: f.bottom + 38, "text-anchor": "middle" }, spec.xTitle),
    shape("text", { x: f.left - 56, y: 14 }, spec.metric.title + (spec.metric.name === "time" ? "" : " (GB/s)")),
  );
}

// rankTicks are the numbers of ranks that were measured: there are few.
function rankTicks(spec, f, most) {
  const all = new Set();
  for (const s of spec.series) for (const p of s.points) if (p.x >= f.x.from && p.x <= f.x.to) all.add(p.x);
  return thin(
    [...all].sort((a, b) => a - b),
    most,
  );
}

function plainTick(x) {
  return Number(x.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

function timeTick(us) {
  if (us === 0) return "0";
  const [n, unit] =
    us >= 1e6 ? [us / 1e6, "s"] : us >= 1e3 ? [us / 1e3, "ms"] : us >= 1 ? [us, "µs"] : [us * 1e3, "ns"];
  return Number(n.toPrecision(4)) + " " + unit;
}

// drawRegions shades where findings are and numbers them; numbers that would touch go into rows above each other.
function drawRegions(svg, spec, f) {
  const badges = [],
    taken = [];
  for (const r of spec.regions) {
    if (r.to < f.x.from || r.from > f.x.to) continue;
    const from = Math.max(f.left, f.x.at(Math.max(r.from, f.x.from))),
      to = Math.min(f.right, f.x.at(Math.min(r.to, f.x.to)));
    const x = Math.max(f.left, Math.min(from, f.right - 8) - 3),
      width = Math.max(6, to - from + 6);
    svg.append(
      shape("rect", {
        class: "region " + r.severity,
        x,
        y: f.top,
        width: Math.min(width, f.right - x),
        height: f.bottom - f.top,
      }),
    );
    let row = 0;
    const middle = Math.min(f.right - 10, Math.max(f.left + 10, (from + to) / 2));
    while (taken.some((t) => t.row === row && Math.abs(t.x - middle) < 22)) row++;
    taken.push({ row, x: middle });
    badges.push(
      shape(
        "a",
        {
          class: "badge " + r.severity,
          href: "#finding-" + r.number,
          "aria-label": "Finding " + r.number + ": " + r.code,
        },
        shape("title", {}, "Finding " + r.number + ": " + r.code),
        shape("circle", { cx: middle, cy: f.top + 11 + 21 * row, r: 9 }),
        shape("text", { x: middle, y: f.top + 15 + 21 * row }, String(r.number)),
      ),
    );
  }
  return badges;
}

// drawCeilings draws each with its name; one that is for a single curve of several has its colour.
function drawCeilings(svg, spec, f, ceilings) {
  let above = 0;
  for (const c of ceilings) {
    const y = f.y.at(c.value),
      owner = c.part && c.of.length === 1 ? spec.series.find((s) => s.id === c.of[0]) : null;
    const name = shape(
      "text",
      { class: "ceiling-name", "text-anchor": "end" },
      c.name + " " + rateWords(c.value) + c.part,
    );
    if (owner) name.style.fill = colourOf(owner.style);
    if (y < f.top - 1) {
      name.prepend("↑ ");
      fill(name, { x: f.right, y: f.top + 14 + 16 * above++ }, []);
      svg.append(name);
    } else if (y <= f.bottom) {
      const line = shape("path", { class: "ceiling", d: `M${f.left} ${y}H${f.right}` });
      if (owner) line.style.stroke = colourOf(owner.style);
      fill(name, { x: f.right - 4, y: y - 6 }, []);
      svg.append(line, name);
    }
  }
}

// insight are the points of a series that are drawn: those in sight with one neighbour on each side, so that lines reach the edge.
function insight(spec, points, f) {
  const first = points.findIndex((p) => p.x >= f.x.from);
  if (first < 0) return [];
  let last = points.length - 1;
  while (last >= 0 && points[last].x > f.x.to) last--;
  return points
    .slice(Math.max(0, first - 1), last + 2)
    .filter((p) => (!spec.xlog || p.x > 0) && (!spec.ylog || p.value > 0));
}

function drawSeries(svg, spec, f, room) {
  const many = room.length > 12;
  for (const s of room) {
    const points = insight(spec, s.points, f);
    if (spec.bands && !many) drawBands(svg, spec, f, s, points);
  }
  for (const s of room) {
    const points = insight(spec, s.points, f);
    const line = points
      .map((p, i) => (i ? "L" : "M") + f.x.at(p.x).toFixed(1) + " " + f.y.at(p.value).toFixed(1))
      .join("");
    const marks = points.map((p) => markerPath(s.style, f.x.at(p.x), f.y.at(p.value), many ? 2 : 3)).join("");
    svg.append(
      shape("path", {
        class: "line",
        d: line,
        fill: "none",
        stroke: colourOf(s.style),
        "stroke-width": many ? 1.25 : 2,
        "stroke-dasharray": dashOf(s.style),
        "stroke-linejoin": "round",
      }),
      shape("path", {
        class: "markers",
        d: marks,
        fill: s.style % 2 ? "var(--paper)" : colourOf(s.style),
        stroke: colourOf(s.style),
        "stroke-width": 1.25,
      }),
    );
    if (spec.models) drawModel(svg, spec, f, s);
  }
}

// drawModel draws a thin line for each segment of a series' model, in the colour of its curve.
function drawModel(svg, spec, f, s) {
  for (const segment of s.model) {
    const line = insight(spec, segment, f)
      .map((p, i) => (i ? "L" : "M") + f.x.at(p.x).toFixed(1) + " " + f.y.at(p.value).toFixed(1))
      .join("");
    if (line)
      svg.append(
        shape("path", {
          class: "model",
          d: line,
          fill: "none",
          stroke: colourOf(s.style),
          "stroke-width": 1,
          "stroke-dasharray": "1.5 2.5",
        }),
      );
  }
}

// drawBands fills between bounds where neighbours have some; a point without them ends a band.
function drawBands(svg, spec, f, s, points) {
  let run = [];
  const close = () => {
    const up = run.map((p) => f.x.at(p.x).toFixed(1) + " " + f.y.at(p.hi).toFixed(1));
    const down = run.map((p) => f.x.at(p.x).toFixed(1) + " " + f.y.at(p.lo).toFixed(1)).reverse();
    if (run.length > 1)
      svg.append(
        shape("path", {
          class: "band",
          d: "M" + up.concat(down).join("L") + "Z",
          fill: colourOf(s.style),
          opacity: 0.18,
        }),
      );
    if (run.length === 1)
      svg.append(
        shape("path", {
          class: "band",
          d: "M" + up[0] + "L" + down[0],
          stroke: colourOf(s.style),
          "stroke-width": 5,
          opacity: 0.3,
        }),
      );
    run = [];
  };
  for (const p of points) {
    if (p.lo !== null && (!spec.ylog || p.lo > 0)) run.push(p);
    else close();
  }
  close();
}
