// Bars of training steps by bucket, as SVG. It keeps no state.

const stepModes = ["computing", "communication", "in turn", "overlapped"];
const stepParts = ["computing", "hidden", "exposed"];
const stepPartNames = ["computing", "communication, hidden", "communication, exposed"];

// stepTop is the longest time that is drawn of all groups of a run, so that groups are drawn on one scale.
function stepTop(run, way) {
  let most = 0;
  for (const group of run.groups) for (const p of group.points) for (const m of p.timed ? p.modes.slice(way === "parts" ? 2 : 0) : []) most = Math.max(most, m.v, m.hi);
  return most || 1;
}

// stepFrame is where bars stand in a picture so wide.
function stepFrame(width, bars, most) {
  const height = Math.round(Math.max(270, Math.min(380, width * 0.42))), left = 60, right = width - 8, top = 34, bottom = height - 58;
  const slot = (right - left) / Math.max(1, bars);
  return {
    width, height, left, right, top, bottom, slot, each: Math.min(slot, 120),
    y: scaleOf(false, 0, most * 1.08, bottom, top), middle: (i) => left + slot * (i + 0.5),
    at: (x) => Math.max(0, Math.min(bars - 1, Math.floor((x - left) / slot))),
  };
}

// stripesOf are the stripes of exposed communication, under a name of the picture's own.
function stripesOf(name) {
  return shape("defs", {}, shape("pattern", { id: name, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, shape("rect", { class: "stripe", width: 1.6, height: 5 })));
}

function drawStepAxes(svg, f, points) {
  for (const tick of linearTicks(0, f.y.to, Math.max(3, Math.floor((f.bottom - f.top) / 46)))) {
    const y = f.y.at(tick);
    svg.append(shape("path", { class: "grid", d: `M${f.left} ${y.toFixed(1)}H${f.right}` }), shape("text", { x: f.left - 7, y: y + 4, "text-anchor": "end" }, plainTick(tick)));
  }
  svg.append(shape("path", { class: "axis", d: `M${f.left} ${f.bottom}H${f.right}` }), shape("text", { x: 0, y: 14 }, "Time of a step (ms)"),
    shape("text", { x: (f.left + f.right) / 2, y: f.height - 6, "text-anchor": "middle" }, "Bucket, and its operations"));
  const step = Math.ceil(58 / f.slot);
  points.forEach((p, i) => {
    if (i % step !== 0) return;
    svg.append(shape("text", { class: "bucket", x: f.middle(i), y: f.bottom + 17, "text-anchor": "middle" }, p.bucket));
    if (p.ops > 0) svg.append(shape("text", { x: f.middle(i), y: f.bottom + 33, "text-anchor": "middle" }, String(p.ops)));
  });
}

// drawStepBars draws the parts of the overlapped step with what one after the other takes beside it, or the four modes.
function drawStepBars(svg, f, points, way) {
  points.forEach((p, i) => {
    const middle = f.middle(i);
    if (!p.timed) {
      svg.append(shape("text", { class: "nothing", x: middle, y: f.bottom - 8 }, f.slot > 60 ? p.mark : "×"));
      return;
    }
    if (way === "parts") drawStepParts(svg, f, p, middle);
    else drawStepModes(svg, f, p, middle);
    const mark = { best: "best", least: "least", same: "≈", few: "?" }[p.verdict];
    if (mark) svg.append(shape("text", { class: "step-verdict", x: middle - (way === "parts" ? 0.13 * f.each : -0.3 * f.each), y: f.y.at(Math.max(p.modes[3].hi, p.modes[3].v)) - 6, "text-anchor": "middle" }, mark));
  });
}

function barBox(f, from, to, low, high, name) {
  const top = f.y.at(high);
  return shape("rect", { class: name, x: from.toFixed(1), width: Math.max(1, to - from).toFixed(1), y: top.toFixed(1), height: Math.max(0, f.y.at(low) - top).toFixed(1) });
}

function drawStepParts(svg, f, p, middle) {
  const left = middle - 0.36 * f.each, mid = middle + 0.1 * f.each, right = middle + 0.36 * f.each;
  let low = 0;
  p.parts.forEach((v, k) => {
    if (v <= 0) return;
    svg.append(barBox(f, left, mid, low, low + v, "lane " + stepParts[k]));
    if (k === 2) svg.append(fill(barBox(f, left, mid, low, low + v, ""), { fill: "url(#step-bar-stripes)" }, []));
    low += v;
  });
  const compute = Math.min(p.modes[0].v, p.modes[2].v);
  svg.append(barBox(f, mid + 2, right, 0, compute, "lane computing pale"), barBox(f, mid + 2, right, compute, p.modes[2].v, "lane exposed pale"));
  drawWhisker(svg, f, (left + mid) / 2, p.modes[3]);
  drawWhisker(svg, f, (mid + 2 + right) / 2, p.modes[2]);
}

function drawStepModes(svg, f, p, middle) {
  const wide = 0.18 * f.each;
  p.modes.forEach((m, k) => {
    const from = middle + (k - 2) * (wide + 2);
    svg.append(barBox(f, from, from + wide, 0, m.v, "mode mode-" + k));
    drawWhisker(svg, f, from + wide / 2, m);
  });
}

function drawWhisker(svg, f, x, m) {
  if (!(m.hi > m.lo)) return;
  const lo = f.y.at(m.lo).toFixed(1), hi = f.y.at(m.hi).toFixed(1);
  svg.append(shape("path", { class: "whisker", d: `M${x.toFixed(1)} ${lo}V${hi}M${(x - 3).toFixed(1)} ${lo}h6M${(x - 3).toFixed(1)} ${hi}h6` }));
}

// stepLegend says what the bars are.
function stepLegend(way) {
  const key = (text, ...shapes) => make("span", { class: "lane-key" }, shape("svg", { viewBox: "0 0 22 14", "aria-hidden": "true" }, ...shapes), text);
  const whole = { y: 1, width: 22, height: 12 };
  if (way !== "parts") return stepModes.map((name, k) => key(name, shape("rect", { class: "mode mode-" + k, ...whole })));
  return [...stepPartNames.map((name, k) => key(name, shape("rect", { class: "lane " + stepParts[k], ...whole }), ...(k === 2 ? [shape("rect", { ...whole, fill: "url(#step-bar-stripes)" })] : []))),
    key("one after the other: computing, then communication", shape("rect", { class: "lane computing pale", y: 1, width: 11, height: 12 }), shape("rect", { class: "lane exposed pale", x: 11, y: 1, width: 11, height: 12 }))];
}
