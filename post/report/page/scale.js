// Scales: from values to places on a plot, and ticks.

// scaleOf is linear or logarithmic between two figures and two places.
function scaleOf(log, from, to, start, end) {
  const map = log ? Math.log : (x) => x;
  const back = log ? Math.exp : (x) => x;
  const a = map(from),
    span = map(to) - a || 1;
  return {
    log,
    from,
    to,
    at: (x) => start + ((map(x) - a) / span) * (end - start),
    value: (place) => back(a + ((place - start) / (end - start)) * span),
  };
}

// thin keeps at most so many ticks, evenly.
function thin(ticks, most) {
  const step = Math.ceil(ticks.length / Math.max(1, most));
  return ticks.filter((_, i) => i % step === 0);
}

// niceStep is 1, 2 or 5 times a power of the base that cuts a span into at most so many.
function niceStep(span, most) {
  const power = Math.pow(10, Math.floor(Math.log10(span / most)));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => span / step <= most) || 10 * power;
}

function linearTicks(from, to, most) {
  const step = niceStep(to - from, most),
    ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++) ticks.push(i * step);
  return ticks;
}

// binaryTicks are round in powers of 1024.
function binaryTicks(from, to, most) {
  let step = Math.pow(2, Math.floor(Math.log2((to - from) / most)));
  while ((to - from) / step > most) step *= 2;
  step = Math.max(1, step);
  const ticks = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) ticks.push(i * step);
  return ticks;
}

// powerTicks are powers of two.
function powerTicks(from, to, most) {
  const ticks = [];
  for (let p = Math.ceil(Math.log2(from) - 1e-9); Math.pow(2, p) <= to * (1 + 1e-9); p++) ticks.push(Math.pow(2, p));
  return thin(ticks, most);
}

// decadeTicks are powers of ten, with 2 and 5 between them where there is room.
function decadeTicks(from, to, most) {
  const all = [],
    low = Math.floor(Math.log10(from)),
    high = Math.ceil(Math.log10(to));
  for (let p = low; p <= high; p++) for (const n of [1, 2, 5]) all.push(n * Math.pow(10, p));
  const inside = (list) => list.filter((x) => x >= from * (1 - 1e-9) && x <= to * (1 + 1e-9));
  const fine = inside(all);
  if (fine.length <= most) return fine.length > 1 ? fine : linearTicks(from, to, most);
  return thin(inside(all.filter((_, i) => i % 3 === 0)), most);
}

// sizeTicks are those of an axis of sizes in bytes.
function sizeTicks(scale, most) {
  const ticks = scale.log
    ? powerTicks(Math.max(1, scale.from), scale.to, most)
    : binaryTicks(scale.from, scale.to, most);
  return ticks.length > 1 ? ticks : [scale.from, scale.to];
}

// figureTicks are those of an axis of figures.
function figureTicks(scale, most) {
  return scale.log ? decadeTicks(scale.from, scale.to, most) : linearTicks(scale.from, scale.to, most);
}
