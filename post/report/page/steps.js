// The section on training steps: which group is drawn, how, and what is under the pointer.

function startSteps() {
  const groups = data.steps.flatMap((run) => run.groups.map((group) => ({ run, group }))).filter(({ group }) => group.points.some((p) => p.timed));
  const box = byId("steps-picture");
  if (!box) return;
  box.hidden = groups.length === 0;
  if (groups.length === 0) return;
  const first = groups.findIndex(({ run, group }) => run.groups.indexOf(group) === run.first);
  let shown = Math.max(0, first), way = "parts", bucket = 0, bar = -1, chosen = -1;
  const select = byId("steps-group"), buckets = byId("steps-bucket");
  const several = data.steps.length > 1;
  options(select, groups.map(({ run, group }, i) => [i, several ? run.title + " · " + group.title : group.title]));
  select.value = String(shown);
  select.addEventListener("change", () => { shown = Number(select.value); choose(); });
  buckets.addEventListener("change", () => { bucket = Number(buckets.value); chosen = -1; drawTime(); });
  choices(byId("steps-way"), [["parts", "parts"], ["modes", "four modes"]], way, (name) => { way = name; drawBars(); });

  const bars = lookedAt(byId("steps-bars"), "training step by bucket");
  const time = lookedAt(byId("steps-lanes"), "training step over time");
  let f = null, g = null;

  // choose shows a group, with its best step over time.
  function choose() {
    const points = groups[shown].group.points, drawn = points.map((p, i) => [i, p]).filter(([, p]) => p.lanes);
    byId("steps-time").hidden = drawn.length === 0;
    const leads = { best: " (best)", least: " (least median)" };
    options(buckets, drawn.map(([i, p]) => [i, p.bucket + (leads[p.verdict] || "")]));
    const best = drawn.find(([, p]) => leads[p.verdict]) || drawn[0];
    bucket = best ? best[0] : -1;
    if (best) buckets.value = String(bucket);
    bar = chosen = -1;
    drawBars();
    drawTime();
  }

  function drawBars() {
    const { run, group } = groups[shown];
    f = stepFrame(bars.width(), group.points.length, stepTop(run, way));
    const { svg } = bars;
    svg.setAttribute("viewBox", `0 0 ${f.width} ${f.height}`);
    svg.setAttribute("aria-label", `Time of a training step by bucket, ${group.title}. Arrow keys show figures.`);
    svg.replaceChildren(stripesOf("step-bar-stripes"));
    if (run.rehearsed) water(svg, (f.left + f.right) / 2, (f.top + f.bottom) / 2, f.right - f.left);
    drawStepAxes(svg, f, group.points);
    drawStepBars(svg, f, group.points, way);
    bars.legend.replaceChildren(...stepLegend(way));
    bars.hide();
  }

  function drawTime() {
    if (bucket < 0) return;
    const { run, group } = groups[shown], p = group.points[bucket];
    g = stepLaneFrame(time.width(), p.lanes);
    const { svg } = time;
    svg.setAttribute("viewBox", `0 0 ${g.width} ${g.height}`);
    svg.setAttribute("aria-label", `One training step over time, ${group.title}, bucket ${p.bucket}, rank ${p.lanes.rank}. Arrow keys go through its operations.`);
    svg.replaceChildren(stripesOf("step-lane-stripes"));
    if (run.rehearsed) water(svg, (g.left + g.right) / 2, (g.compute + g.bottom) / 2, g.right - g.left);
    drawStepLanes(svg, g, p.lanes);
    time.legend.replaceChildren(...stepLanesLegend(p.lanes));
    time.hide();
  }

  function water(svg, x, y, wide) {
    const mark = shape("text", { class: "water", x, y: y + wide / 30 }, "SIMULATED");
    mark.style.fontSize = Math.round(wide / 10) + "px";
    svg.append(mark);
  }

  const within = (m, words) => words(m.v) + (m.hi > m.lo ? ` (${words(m.lo)} to ${words(m.hi)})` : "");
  const msOf = (v) => timeWords(Math.abs(v) * 1e3).replace(/^/, v < 0 ? "−" : "");
  const shareOf = (v) => (100 * v).toFixed(Math.abs(v) < 0.1 ? 1 : 0) + " %";

  // linesOf are the figures of a bucket, as pairs.
  function linesOf(p) {
    if (!p.timed) return [];
    const lines = p.modes.map((m, k) => [stepModes[k], within(m, msOf)]);
    lines.push(["exposed", within(p.exposed, msOf)], ["exposed, of the step", shareOf(p.share)]);
    for (const [name, m, words] of [["hidden, wall clock", p.overlap, shareOf], ["hidden, intervals", p.intervals, shareOf], ["at most hidden", p.bound, shareOf],
      ["computing slowed", p.slower_compute, three], ["communication slowed", p.slower_comm, three], ["speed-up", p.speed_up, three], ["weak scaling", p.weak, shareOf]]) {
      if (m) lines.push([name, within(m, words)]);
    }
    return lines;
  }

  function showBar(i, aloud) {
    bar = i;
    const p = groups[shown].group.points[i], lines = linesOf(p), notes = [p.mark, p.rounds > 0 ? p.rounds + " rounds" : "", ...p.notes].filter(Boolean);
    bars.show(f.middle(i), f.top, f.width, [make("b", {}, "bucket " + p.bucket), ...lines.map(([name, text]) => make("div", {}, make("span", { class: "who" }, name), make("span", { class: "value" }, text))),
      ...notes.map((text) => make("span", { class: "note" }, make("bdi", {}, text)))], `M${f.middle(i)} ${f.top}V${f.bottom}`);
    if (aloud) bars.said.textContent = `bucket ${p.bucket}: ` + [...lines.map(([name, text]) => name + " " + text), ...notes].join("; ");
  }

  // showBox says what an operation, or a segment of computing, is.
  function showBox(one, kind, aloud) {
    const took = timeWords((one.to - one.from) * 1e3), exposed = (one.exposed || []).reduce((sum, [a, b]) => sum + b - a, 0);
    const words = [kind === "op" ? `operation ${one.n}` : one.work || "computing", took + ", from " + timeWords(one.from * 1e3)];
    if (kind === "op") words.push(exposed > 0 ? timeWords(exposed * 1e3) + " exposed" : "none exposed");
    const x = g.x.at((one.from + one.to) / 2);
    time.show(x, g.bottom, g.width, [make("b", {}, make("bdi", {}, one.name)), ...words.map((text) => make("span", { class: "note" }, text))], `M${x.toFixed(1)} ${g.top - 8}V${g.bottom + 4}`);
    if (aloud) time.said.textContent = [one.name, ...words].join(", ");
  }

  bars.on((x) => showBar(f.at(x), false), (key) => {
    const last = groups[shown].group.points.length - 1;
    const next = { ArrowRight: () => Math.min(last, bar + 1), ArrowLeft: () => Math.max(0, bar < 0 ? last : bar - 1), Home: () => 0, End: () => last }[key];
    if (next) showBar(next(), true);
    return Boolean(next);
  });
  time.on((x, y) => {
    const lanes = groups[shown].group.points[bucket].lanes, moment = g.x.value(x), reach = 2 * lanes.span / (g.right - g.left);
    const inside = (one) => moment >= one.from - reach && moment <= one.to + reach;
    const computing = y < g.compute + g.high + 3;
    const one = computing ? lanes.segments.find(inside) : lanes.ops.find((op) => inside(op) && (lanes.lanes < 2 || op.lane === Math.floor((y - g.low) / g.each)));
    if (one) showBox(one, computing ? "segment" : "op", false);
    else time.hide();
  }, (key) => {
    const ops = groups[shown].group.points[bucket].lanes.ops, last = ops.length - 1;
    const next = { ArrowRight: () => Math.min(last, chosen + 1), ArrowLeft: () => Math.max(0, chosen < 0 ? last : chosen - 1), Home: () => 0, End: () => last }[key];
    if (next && last >= 0) { chosen = next(); showBox(ops[chosen], "op", true); }
    return Boolean(next);
  });
  bars.resized(drawBars);
  time.resized(drawTime);
  choose();
}

// lookedAt makes a picture in a figure that shows what is under the pointer or chosen by a key.
function lookedAt(figure, what) {
  const svg = shape("svg", { class: "plot steps", tabindex: 0, role: "group", "aria-roledescription": what });
  const readout = make("div", { class: "readout", hidden: true }), said = make("p", { class: "aside", role: "status" }), legend = make("div", { class: "lanes-legend" });
  figure.append(svg, readout, legend, said);
  const hide = () => {
    readout.hidden = true;
    svg.querySelector(".cursor")?.remove();
  };
  return {
    svg, said, legend, hide,
    width: () => Math.max(280, Math.round(figure.clientWidth || 900)),
    show(x, y, width, children, line) {
      hide();
      svg.append(shape("path", { class: "cursor", d: line }));
      readout.replaceChildren(...children);
      readout.hidden = false;
      const scale = svg.clientWidth / width, wide = readout.offsetWidth, at = x * scale;
      readout.style.top = svg.offsetTop + y * scale + 4 + "px";
      readout.style.left = Math.max(0, at + 14 + wide <= figure.clientWidth ? at + 14 : at - 14 - wide) + "px";
    },
    on(pointed, pressed) {
      const place = (event) => {
        const area = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
        pointed((event.clientX - area.left) / area.width * view.width, (event.clientY - area.top) / area.height * view.height);
      };
      svg.addEventListener("pointermove", place);
      svg.addEventListener("pointerdown", place);
      svg.addEventListener("pointerleave", hide);
      svg.addEventListener("blur", hide);
      svg.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (event.key === "Escape") hide();
        else if (!pressed(event.key)) return;
        event.preventDefault();
      });
    },
    resized(draw) {
      let seen = 0;
      new ResizeObserver(() => {
        if (figure.clientWidth && figure.clientWidth !== seen) { seen = figure.clientWidth; draw(); }
      }).observe(figure);
    },
  };
}
