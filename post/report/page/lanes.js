// Drawing of GPUs over time, as SVG: a row for each GPU, with a lane for what computes, one for communication, one for copies. It keeps no state.

const laneStates = {
  C: "computing",
  O: "communication, overlapped with computing",
  X: "communication, exposed",
  M: "copying",
  I: "idle",
};

// runsOf gives the runs of a strip as [state, start, end] in ms of its row, made once.
function runsOf(strip) {
  if (strip.list) return strip.list;
  const list = [],
    each = strip.cells > 0 ? strip.span / strip.cells : 0;
  let cells = 0;
  for (const [, state, count] of strip.runs.matchAll(/([A-Z])([0-9a-z]+)/g)) {
    const n = parseInt(count, 36);
    list.push([state, strip.start + cells * each, strip.start + (cells + n) * each]);
    cells += n;
  }
  strip.list = list;
  return list;
}

// firstAfter is the index of the first entry of a sorted list that ends behind a moment.
function firstAfter(list, end, moment) {
  let low = 0,
    high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(list[middle]) > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

// piecesOf are strips and the parts of a span for which each is drawn: steps have finer cells than the whole, and it fills the gaps between them.
// from and to are ms of the row, perPixel is how many ms a pixel is.
function piecesOf(row, from, to, perPixel) {
  const [whole, ...steps] = row.strips;
  if (!whole) return [];
  if (whole.cells === 0 || whole.span / whole.cells <= perPixel) return [[whole, from, to]];
  const pieces = [];
  let place = from;
  for (const s of steps
    .filter((one) => one.start < to && one.start + one.span > from)
    .sort((a, b) => a.start - b.start)) {
    const begin = Math.max(place, s.start),
      end = Math.min(to, s.start + s.span);
    if (begin > place) pieces.push([whole, place, begin]);
    if (end > begin) pieces.push([s, begin, end]);
    place = Math.max(place, end);
  }
  if (place < to) pieces.push([whole, place, to]);
  return pieces;
}

// stateAt is the state of a row at a moment of its own, from the finest strip that has it; null outside.
function stateAt(row, moment) {
  let best = null;
  for (const s of row.strips) {
    if (moment < s.start || moment >= s.start + s.span || s.cells === 0) continue;
    if (best === null || s.span / s.cells < best.span / best.cells) best = s;
  }
  if (best === null) return null;
  const list = runsOf(best),
    i = firstAfter(list, (run) => run[2], moment);
  return i < list.length ? list[i][0] : null;
}

// laneFrame is the layout of rows and lanes for a width.
function laneFrame(rows, width) {
  const beside = width >= 640; // labels are left of the lanes, or above them on narrow screens
  const high = rows <= 4 ? 18 : rows <= 8 ? 15 : 12,
    copies = rows <= 8 ? 6 : 4;
  const lanes = 2 * high + copies + 4,
    above = beside ? 0 : 17,
    gap = rows <= 8 ? 12 : 9;
  const left = width >= 1000 ? 174 : beside ? 118 : 6,
    right = width - 12,
    top = 46;
  const each = above + lanes + gap,
    bottom = top + rows * each;
  return {
    width,
    left,
    right,
    top,
    bottom,
    each,
    beside,
    high,
    copies,
    height: bottom + 8,
    compute: (row) => top + row * each + above,
    comm: (row) => top + row * each + above + high + 2,
    copy: (row) => top + row * each + above + 2 * high + 4,
    label: (row) => top + row * each + (beside ? above + high - 2 : 12),
    end: (row) => top + row * each + above + lanes,
    rowAt: (y) => Math.max(0, Math.min(rows - 1, Math.floor((y - top) / each))),
  };
}

// drawLanes draws a row between two moments of the axis; x is the scale of the axis.
function drawLanes(svg, row, n, f, x) {
  const from = x.from - row.shift,
    to = x.to - row.shift,
    perPixel = (x.to - x.from) / (f.right - f.left);
  const box = (a, b, y, h, minimum) => {
    const start = x.at(a + row.shift),
      w = Math.max(minimum, x.at(b + row.shift) - start);
    return `M${start.toFixed(2)} ${y}h${w.toFixed(2)}v${h}h${(-w).toFixed(2)}z`;
  };
  const paths = { computing: "", hidden: "", exposed: "", copying: "" };
  for (const [strip, begin, end] of piecesOf(row, from, to, perPixel)) {
    const list = runsOf(strip);
    for (let i = firstAfter(list, (run) => run[2], begin); i < list.length && list[i][1] < end; i++) {
      const [state, a, b] = list[i],
        s = Math.max(a, begin),
        e = Math.min(b, end);
      if (state === "C" || state === "O") paths.computing += box(s, e, f.compute(n), f.high, 0);
      if (state === "O") paths.hidden += box(s, e, f.comm(n) + f.high / 2, f.high / 2, 0);
      if (state === "X") paths.exposed += box(s, e, f.comm(n), f.high, 0.35);
      if (state === "M") paths.copying += box(s, e, f.copy(n), f.copies, 0.35);
    }
  }
  const start = Math.max(f.left, Math.min(f.right, x.at(row.shift))),
    stop = Math.max(f.left, Math.min(f.right, x.at(row.shift + row.span)));
  svg.append(
    shape("path", {
      class: "lane-base",
      d: [f.compute(n) + f.high, f.comm(n) + f.high].map((y) => `M${start} ${y + 0.5}H${stop}`).join(""),
    }),
  );
  for (const [name, d] of Object.entries(paths)) if (d) svg.append(shape("path", { class: "lane " + name, d }));
  if (paths.exposed) svg.append(shape("path", { d: paths.exposed, fill: "url(#exposed-stripes)" }));
}

// drawBoxes draws the calls of a row that are wide enough, with their names where they fit before the next call begins.
function drawBoxes(svg, row, n, f, x, names) {
  const from = x.from - row.shift,
    to = x.to - row.shift,
    boxes = [];
  for (const [start, took, exposed, name] of row.calls) {
    if (start > to || boxes.length === 400) break;
    if (start + took < from) continue;
    const a = Math.max(f.left, x.at(start + row.shift)),
      b = Math.min(f.right, x.at(start + took + row.shift));
    if (b - a >= 4) boxes.push({ a, b, exposed, name });
  }
  let free = f.left; // where the last name ends
  boxes.forEach(({ a, b, exposed, name }, i) => {
    const hidden = exposed > 0 ? 0 : f.high / 2; // its lane is half as high
    svg.append(
      shape("rect", {
        class: "call",
        x: a.toFixed(2),
        y: f.comm(n) + hidden + 0.5,
        width: (b - a).toFixed(2),
        height: f.high - hidden - 1,
      }),
    );
    const end = Math.min(b, i + 1 < boxes.length ? boxes[i + 1].a : b),
      text = a < free ? "" : fitted(names[name], end - a - 6, 6.2);
    if (!text) return;
    svg.append(shape("text", { class: "call-name", x: a + 3, y: f.comm(n) + f.high - (f.high > 14 ? 5 : 3) }, text));
    free = end;
  });
}

// fitted is a text cut to a width, or "" if too little of it fits.
function fitted(text, room, perLetter) {
  const most = Math.floor(room / perLetter);
  if (text.length <= most) return text;
  return most < 9 ? "" : text.slice(0, most - 1) + "…";
}

// drawSteps shades every other step of a row.
function drawSteps(svg, row, n, f, x) {
  row.steps.forEach((step, i) => {
    const a = Math.max(f.left, x.at(step.start + row.shift)),
      b = Math.min(f.right, x.at(step.start + step.span + row.shift));
    if (b <= a || i % 2 === 1) return;
    svg.append(
      shape("rect", {
        class: "step-shade",
        x: a,
        y: f.compute(n) - 3,
        width: b - a,
        height: f.end(n) - f.compute(n) + 6,
      }),
    );
  });
}

// drawStepNames names the steps of one row above all rows: whole, or by the number at its end where there is little room.
function drawStepNames(svg, row, f, x) {
  for (const step of row.steps) {
    const a = Math.max(f.left, x.at(step.start + row.shift)),
      b = Math.min(f.right, x.at(step.start + step.span + row.shift));
    if (b - a < 2) continue;
    svg.append(shape("path", { class: "step-mark", d: `M${a.toFixed(1)} ${f.top - 18}V${f.top - 6}` }));
    const short = (step.name.match(/\d+$/) || [""])[0];
    const text = step.name.length * 6.4 + 8 <= b - a ? step.name : short.length * 6.6 + 6 <= b - a ? short : "";
    if (text) svg.append(shape("text", { class: "step-name", x: a + 4, y: f.top - 8 }, text));
  }
}

// drawTimes draws the axis of time above the rows.
function drawTimes(svg, f, x) {
  const ticks = linearTicks(x.from, x.to, Math.max(2, Math.floor((f.right - f.left) / 90)));
  for (const tick of ticks) {
    const at = x.at(tick);
    svg.append(
      shape("path", { class: "grid", d: `M${at.toFixed(1)} 20V${f.bottom}` }),
      shape(
        "text",
        { x: at, y: 14, "text-anchor": at > f.right - 34 ? "end" : at < f.left + 24 ? "start" : "middle" },
        tickWords(tick, ticks) + " ms",
      ),
    );
  }
}

// tickWords writes as many decimals as distinguish the ticks.
function tickWords(tick, ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : Math.abs(tick) || 1;
  const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
  return (tick || 0).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
