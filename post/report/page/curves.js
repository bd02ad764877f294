// The curves section: one plot for each operation over message sizes, and one over the number of ranks.

// mostShown is how many curves of one operation are shown at first.
const mostShown = 9;

// startCurves fills the section, and gives a function that shows a finding by its number.
function startCurves() {
  const state = { family: 0, metric: "busbw", xlog: true, ylog: false };
  const byFamily = data.families.map(() => []);
  data.curves.forEach((curve, i) => byFamily[curve.family].push(i));
  // The first plot is that of the first headline, unless it has a single point; else that with most sizes.
  const longest = byFamily.map((list) => Math.max(0, ...list.map((i) => data.curves[i].sizes.length)));
  state.family = longest[data.first] > 1 ? data.first : Math.max(0, longest.indexOf(Math.max(...longest)));
  byId("models").parentElement.hidden = data.curves.every((curve) => !curve.segments);
  const over = chartIn(byId("curve-chart")),
    scaling = chartIn(byId("scaling-chart"));

  // A style belongs to a curve as long as the page is open, whatever is hidden.
  function seriesOf(list) {
    const metric = metrics[state.metric];
    return list.map((index, place) => {
      const curve = data.curves[index],
        points = [];
      const notesAt = notesOf(curve);
      curve.time_us.forEach((_, i) => {
        const v = valueOf(metric, curve, i);
        if (v) points.push({ x: curve.sizes[i], notesAt: notesAt(i), ...v });
      });
      return {
        id: String(index),
        label: curve.label,
        style: place,
        points,
        model: modelOf(metric, index),
        mark: marksOf(curve),
        rehearsed: curve.simulated,
      };
    });
  }

  // modelOf are the values of each line of a model, at the measured sizes.
  function modelOf(metric, index) {
    const curve = data.curves[index];
    return (curve.segments || []).map((segment) => {
      const sizes = curve.sizes.filter((size) => size >= segment.from && size <= segment.to);
      return sizes
        .map((size) => ({ x: size, value: metric.of(curve, size, segment.us[0] + segment.us[1] * size) }))
        .filter((p) => p.value !== null);
    });
  }

  function draw() {
    const list = byFamily[state.family] || [],
      metric = metrics[state.metric];
    const family = data.families[state.family] || { title: "" };
    const regions = data.regions.filter((r) => list.includes(r.curve));
    const series = seriesOf(list);
    over.set(
      {
        label: metric.title + " over message size, " + family.title,
        xKind: "size",
        xTitle: "message size",
        xWords: sizeWords,
        xlog: state.xlog,
        ylog: state.ylog,
        metric,
        bands: byId("bands").checked,
        models: byId("models").checked,
        series,
        regions: byId("shades").checked ? eachOnce(regions) : [],
        ceilings: ceilingsOf(list),
        water: series.some((s) => s.rehearsed) ? "SIMULATED" : "",
      },
      "family " + state.family,
      hiddenFirst(list, regions),
    );
    drawScaling(list);
  }

  // eachOnce makes one region of those of a finding on several curves, over all its sizes.
  function eachOnce(regions) {
    const once = new Map();
    for (const r of regions) {
      const before = once.get(r.number) || r;
      once.set(r.number, { ...before, from: Math.min(before.from, r.from), to: Math.max(before.to, r.to) });
    }
    return [...once.values()];
  }

  // hiddenFirst are the curves that are hidden at first if there are many; curves with findings stay visible.
  function hiddenFirst(list, regions) {
    if (list.length <= mostShown) return [];
    const found = new Set(regions.map((r) => r.curve));
    const order = [...list].sort((a, b) => Number(found.has(b)) - Number(found.has(a)));
    return order.slice(mostShown).map(String);
  }

  // ceilingsOf are those of bus bandwidth, each with the curves that it is one for.
  function ceilingsOf(list) {
    if (state.metric !== "busbw") return [];
    const once = new Map();
    for (const i of list) {
      const peak = data.curves[i].peak;
      if (!peak) continue;
      const key = peak.name + " " + peak.gbps;
      once.set(key, { value: peak.gbps, name: peak.name, of: [...(once.get(key)?.of || []), String(i)] });
    }
    return [...once.values()].map((c) => ({
      ...c,
      part: c.of.length < list.length ? ` (${c.of.length} of ${list.length} curves)` : "",
    }));
  }

  // drawScaling draws contenders that were measured in several worlds, at one size.
  function drawScaling(list) {
    const groups = new Map();
    for (const i of list) {
      const curve = data.curves[i];
      if (curve.world > 0) groups.set(curve.who, [...(groups.get(curve.who) || []), i]);
    }
    const wide = [...groups].filter(([, of]) => new Set(of.map((i) => data.curves[i].world)).size > 1);
    byId("scaling").hidden = wide.length === 0;
    if (wide.length === 0) return;
    const sizes = [...new Set(wide.flatMap(([, of]) => of.flatMap((i) => data.curves[i].sizes)))].sort((a, b) => a - b);
    const select = byId("scaling-size"),
      before = Number(select.value);
    options(
      select,
      sizes.map((s) => [s, sizeWords(s)]),
    );
    select.value = String(sizes.includes(before) && select.dataset.chosen ? before : sizes[sizes.length - 1]);
    const size = Number(select.value),
      metric = metrics[state.metric];
    const series = wide.map(([who, of], place) => {
      const points = [];
      for (const i of of) {
        const curve = data.curves[i],
          at = curve.sizes.indexOf(size);
        const v = at < 0 ? null : valueOf(metric, curve, at);
        if (v) points.push({ x: curve.world, notesAt: notesOf(curve)(at), ...v });
      }
      points.sort((a, b) => a.x - b.x);
      return {
        id: who,
        label: who,
        style: place,
        points,
        mark: marksOf(data.curves[of[0]]),
        rehearsed: data.curves[of[0]].simulated,
      };
    });
    scaling.set(
      {
        label: metric.title + " over the number of ranks at " + sizeWords(size),
        xKind: "ranks",
        xTitle: "ranks",
        xWords: (n) => String(n),
        xlog: true,
        ylog: state.ylog,
        metric,
        bands: byId("bands").checked,
        series,
        regions: [],
        ceilings: [],
        water: series.some((s) => s.rehearsed) ? "SIMULATED" : "",
      },
      "family " + state.family,
    );
  }

  const family = byId("family");
  options(
    family,
    data.families.map((f, i) => [i, f.title + (byFamily[i].length > 1 ? ` (${byFamily[i].length} curves)` : "")]),
  );
  family.value = String(state.family);
  family.addEventListener("change", () => {
    state.family = Number(family.value);
    draw();
  });
  const pressMetric = choices(
    byId("metric"),
    Object.values(metrics).map((m) => [m.name, m.name]),
    state.metric,
    (name) => {
      state.metric = name;
      state.ylog = name === "time";
      pressY(state.ylog ? "log" : "linear");
      draw();
    },
  );
  choices(
    byId("xscale"),
    [
      ["log", "log"],
      ["linear", "linear"],
    ],
    "log",
    (name) => {
      state.xlog = name === "log";
      draw();
    },
  );
  const pressY = choices(
    byId("yscale"),
    [
      ["log", "log"],
      ["linear", "linear"],
    ],
    "linear",
    (name) => {
      state.ylog = name === "log";
      draw();
    },
  );
  byId("bands").addEventListener("change", draw);
  byId("shades").addEventListener("change", draw);
  byId("models").addEventListener("change", draw);
  byId("scaling-size").addEventListener("change", (event) => {
    event.target.dataset.chosen = "yes";
    draw();
  });
  // One rank has no bus bandwidth.
  if ((byFamily[state.family] || []).every((i) => data.curves[i].factor === 0)) {
    state.metric = "time";
    pressMetric("time");
  }
  draw();

  return (number) => {
    const r = data.regions.find((one) => one.number === number);
    if (!r) return;
    state.family = data.curves[r.curve].family;
    family.value = String(state.family);
    if (data.curves[r.curve].factor === 0 && state.metric === "busbw") {
      state.metric = "algbw";
      pressMetric("algbw");
    }
    byId("shades").checked = true;
    draw();
    over.reveal(r.curve);
    const sizes = data.curves[r.curve].sizes;
    const first = sizes.findIndex((s) => s >= r.from),
      last = sizes.findLastIndex((s) => s <= r.to);
    over.zoomTo(sizes[Math.max(0, first - 2)], sizes[Math.min(sizes.length - 1, last + 2)]);
    byId("curves").scrollIntoView();
    byId("curve-chart").querySelector(".plot").focus({ preventScroll: true });
  };
}

// notesOf returns a function from a point of a curve to its notes.
function notesOf(curve) {
  return (i) => (curve.notes?.[i] || []).map((n) => data.notes[n]);
}

// marksOf is the reasons why the values of a curve do not show speed, for the legend.
function marksOf(curve) {
  const marks = [];
  if (curve.simulated) marks.push("simulated");
  if (curve.crowded) marks.push("oversubscribed");
  if (curve.imported) marks.push("imported");
  return marks.join(", ");
}
