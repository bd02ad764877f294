// One training step over time, as SVG: a row of computing and one of communication. It keeps no state.

// stepLaneFrame is where the rows are in a picture so wide.
function stepLaneFrame(width, lanes) {
  const beside = width >= 640, left = beside ? 118 : 6, right = width - 12, top = 40, above = beside ? 0 : 17;
  const high = 26, comm = Math.max(30, Math.min(90, 16 * lanes.lanes));
  const compute = top + above, low = compute + high + 6 + above;
  return {
    width, left, right, top, beside, high, comm, compute, low, each: comm / Math.max(1, lanes.lanes), bottom: low + comm, height: low + comm + 10,
    x: scaleOf(false, 0, lanes.span || 1, left, right),
  };
}

function drawStepLanes(svg, f, lanes) {
  const name = (text, y, high) => svg.append(shape("text", { class: "row-name", x: f.beside ? 0 : f.left, y: f.beside ? y + high / 2 + 4 : y - 4 }, text));
  drawTimes(svg, { ...f, bottom: f.bottom + 4 }, f.x);
  name("computing", f.compute, f.high);
  name("communication", f.low, f.comm);
  for (const s of lanes.segments) svg.append(laneBox(f, s.from, s.to, f.compute, f.high, "lane work " + (s.work || "backward")));
  for (const op of lanes.ops) {
    const y = f.low + op.lane * f.each, high = Math.max(1, f.each - (f.each > 6 ? 1.5 : 0));
    svg.append(laneBox(f, op.from, op.to, y, high, "lane hidden"));
    for (const [from, to] of op.exposed || []) {
      svg.append(laneBox(f, from, to, y, high, "lane exposed"), fill(laneBox(f, from, to, y, high, ""), { fill: "url(#step-lane-stripes)" }, []));
    }
    const wide = f.x.at(op.to) - f.x.at(op.from);
    if (wide > 8 * String(op.n).length + 6 && high >= 9) svg.append(shape("text", { class: "call-name", x: (f.x.at(op.from) + wide / 2).toFixed(1), y: y + high / 2 + 4, "text-anchor": "middle" }, String(op.n)));
  }
  const end = f.x.at(lanes.span).toFixed(1);
  svg.append(shape("path", { class: "axis", d: `M${end} ${f.compute - 4}V${f.bottom + 4}` }));
}

// laneBox is a stretch of time; a gap of half a pixel keeps it apart from the next where there is room.
function laneBox(f, from, to, y, high, name) {
  const x = f.x.at(from), wide = f.x.at(to) - x;
  return shape("rect", { class: name, x: x.toFixed(2), y: y.toFixed(1), width: Math.max(0.4, wide - (wide > 3 ? 0.8 : 0)).toFixed(2), height: high.toFixed(1) });
}

// workWords are the kinds of work of a step, each once.
function workWords(lanes) { return [...new Set(lanes.segments.map((s) => s.work || "backward"))]; }

function stepLanesLegend(lanes) {
  const key = (text, ...shapes) => make("span", { class: "lane-key" }, shape("svg", { viewBox: "0 0 22 14", "aria-hidden": "true" }, ...shapes), text);
  const whole = { y: 1, width: 22, height: 12 };
  return [...workWords(lanes).map((work) => key(work, shape("rect", { class: "lane work " + work, ...whole }))),
    key("communication, hidden", shape("rect", { class: "lane hidden", ...whole })),
    key("communication, exposed", shape("rect", { class: "lane exposed", ...whole }), shape("rect", { ...whole, fill: "url(#step-lane-stripes)" }))];
}
