// A chart that is looked into: hover, touch and keys show values, dragging and the wheel zoom, a legend hides series.

let charts = 0;

// chartIn makes a chart in a figure. set(spec) draws what it is given; a spec has
//   label, xKind ("size" or "ranks"), xTitle, xWords, xlog, ylog, metric, bands, water (a word across it, or ""),
//   series [{ id, label, style, points [{ x, value, lo, hi, notesAt }], model [[{ x, value }]] }], models (whether they are drawn), regions,
//   ceilings [{ value, name, of (ids of series), part (words where it is not for all) }]
// and keeps what is hidden and zoomed as long as the key stays the same.
function chartIn(figure) {
  const id = "clip" + charts++;
  const svg = shape("svg", { class: "plot", tabindex: 0, role: "group", "aria-roledescription": "plot" });
  const readout = make("div", { class: "readout", hidden: true });
  const live = make("p", { class: "aside", role: "status" });
  const legend = make("div", { class: "legend", role: "group", "aria-label": "Curves: press to hide or show" });
  let spec = null,
    key = null,
    hidden = new Set(),
    zoomed = null,
    frame = null,
    cursor = -1,
    drag = null;

  const tool = (label, title, act) => make("button", { type: "button", title, "aria-label": title, click: act }, label);
  const buttons = {
    closer: tool("+", "Zoom in", () => zoom(0.5)),
    wider: tool("−", "Zoom out", () => zoom(2)),
    reset: tool("Reset", "Show all sizes", reset),
    all: tool("All", "Show all curves", () => {
      hidden = new Set();
      draw();
    }),
    none: tool("None", "Hide all curves", () => {
      hidden = new Set(spec.series.map((s) => s.id));
      draw();
    }),
  };
  const hint = make("span", { class: "aside" }, "Drag to zoom; arrow keys, or a touch, show values.");
  figure.append(
    make("div", { class: "tools" }, buttons.closer, buttons.wider, buttons.reset, buttons.all, buttons.none, hint),
    svg,
    readout,
    legend,
    live,
  );

  function room() {
    return spec.series.filter((s) => !hidden.has(s.id));
  }

  // whole is the span of all sizes, a little wider than they are.
  function whole() {
    const xs = spec.series.flatMap((s) => s.points.map((p) => p.x)).filter((x) => !spec.xlog || x > 0);
    if (xs.length === 0) return [1, 2];
    let low = xs[0],
      high = xs[0];
    for (const x of xs) {
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
    if (spec.xlog) return low === high ? [low / 2, high * 2] : [low, high];
    return low === high ? [0, high * 2 || 1] : [spec.xKind === "size" ? 0 : low, high];
  }

  function set(next, nextKey, start) {
    spec = next;
    if (nextKey !== key) {
      hidden = new Set(start || []);
      zoomed = null;
      key = nextKey;
    }
    cursor = -1;
    draw();
  }

  function draw() {
    const width = Math.max(280, Math.round(figure.clientWidth || 900));
    const shown = room(),
      all = whole();
    const span = zoomed || all;
    const ceilings = spec.ceilings.filter((c) => shown.some((s) => c.of.includes(s.id)));
    frame = frameOf(spec, shown, ceilings, width, span);
    const f = frame;
    svg.setAttribute("viewBox", `0 0 ${f.width} ${f.height}`);
    svg.setAttribute("aria-label", spec.label + ". Arrow keys show values, plus and minus zoom, 0 shows all.");
    svg.replaceChildren(
      shape(
        "clipPath",
        { id },
        shape("rect", { x: f.left - 5, y: f.top - 5, width: f.right - f.left + 10, height: f.bottom - f.top + 10 }),
      ),
    );
    drawAxes(svg, spec, f);
    const body = shape("g", { "clip-path": `url(#${id})` });
    const badges = drawRegions(body, spec, f);
    if (spec.water) {
      const water = shape(
        "text",
        { class: "water", transform: `translate(${(f.left + f.right) / 2} ${(f.top + f.bottom) / 2}) rotate(-16)` },
        spec.water,
      );
      water.style.fontSize = Math.round(f.width / 11) + "px";
      body.append(water);
    }
    drawSeries(body, spec, f, shown);
    svg.append(body);
    drawCeilings(svg, spec, f, ceilings);
    svg.append(...badges);
    if (!shown.some((s) => s.points.length))
      svg.append(
        shape(
          "text",
          { class: "nothing", x: (f.left + f.right) / 2, y: (f.top + f.bottom) / 2 },
          spec.series.length ? "No curve is shown, or none has this metric." : "There is no curve.",
        ),
      );
    buttons.reset.disabled = buttons.wider.disabled = zoomed === null;
    buttons.all.disabled = hidden.size === 0;
    buttons.none.disabled = hidden.size === spec.series.length;
    drawLegend();
    hide();
  }

  function drawLegend() {
    const focused = legend.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    legend.replaceChildren(
      ...spec.series.map((s) => {
        const button = make(
          "button",
          { type: "button", "data-id": s.id, "aria-pressed": String(!hidden.has(s.id)), click: () => toggle(s.id) },
          keyOf(s.style),
          make("bdi", {}, s.label),
        );
        if (s.mark) button.append(make("span", { class: "where" }, s.mark));
        return button;
      }),
    );
    for (const button of legend.children) if (button.dataset.id === focused) button.focus();
  }

  function toggle(which) {
    if (!hidden.delete(String(which))) hidden.add(String(which));
    draw();
  }

  // zoom scales the visible span around a place, by default its middle.
  function zoom(by, place) {
    const all = whole(),
      now = zoomed || all;
    const middle = place === undefined ? (frame.left + frame.right) / 2 : place;
    const from = frame.x.value(middle - (middle - frame.left) * by),
      to = frame.x.value(middle + (frame.right - middle) * by);
    zoomTo(Math.max(all[0], from), Math.min(all[1], to), now);
  }

  function zoomTo(from, to, now) {
    const all = whole();
    if (spec.xlog ? to / from < 1.5 : to - from < (all[1] - all[0]) / 200) return;
    zoomed = from <= all[0] * (1 + 1e-9) && to >= all[1] * (1 - 1e-9) ? null : [from, to];
    if (now === undefined || zoomed === null || zoomed[0] !== now[0] || zoomed[1] !== now[1]) draw();
  }

  function reset() {
    zoomed = null;
    draw();
  }

  // places are the sizes in sight that a series has.
  function places() {
    const all = new Set();
    for (const s of room())
      for (const p of s.points) if (p.x >= frame.x.from && p.x <= frame.x.to && (!spec.xlog || p.x > 0)) all.add(p.x);
    return [...all].sort((a, b) => a - b);
  }

  function hide() {
    readout.hidden = true;
    svg.querySelector(".cursor")?.remove();
  }

  // show shows the values at one size beside it, and announces them to screen readers.
  function show(x, aloud) {
    hide();
    const here = [];
    for (const s of room()) {
      const p = s.points.find((q) => q.x === x);
      if (p) here.push([s, p]);
    }
    if (here.length === 0) return;
    here.sort((a, b) => b[1].value - a[1].value);
    const place = frame.x.at(x),
      most = 9;
    svg.append(shape("path", { class: "cursor", d: `M${place} ${frame.top}V${frame.bottom}` }));
    readout.replaceChildren(make("b", {}, spec.xWords(x)));
    for (const [s, p] of here.slice(0, most)) {
      readout.append(
        make(
          "div",
          {},
          make("bdi", { class: "who" }, s.label),
          make("span", { class: "value" }, spec.metric.words(p.value)),
        ),
      );
      const bounds = boundsWords(spec.metric, p);
      if (bounds && here.length <= 4) readout.append(make("span", { class: "note" }, bounds + " (" + p.basis + ")"));
      else if (bounds) readout.lastChild.lastChild.append(" [" + three(p.lo) + ", " + three(p.hi) + "]");
      if (here.length <= 4) for (const note of p.notesAt) readout.append(make("span", { class: "note" }, note));
    }
    if (here.length > most) readout.append(make("span", { class: "note" }, `and ${here.length - most} more below`));
    readout.hidden = false;
    const scale = svg.clientWidth / frame.width,
      x0 = place * scale,
      wide = readout.offsetWidth;
    readout.style.top = svg.offsetTop + frame.top * scale + 4 + "px";
    readout.style.left = Math.max(0, x0 + 14 + wide <= figure.clientWidth ? x0 + 14 : x0 - 14 - wide) + "px";
    if (aloud)
      live.textContent =
        spec.xWords(x) +
        ": " +
        here
          .slice(0, most)
          .map(
            ([s, p]) =>
              s.label + " " + spec.metric.words(p.value) + (p.lo === null ? "" : ", " + boundsWords(spec.metric, p)),
          )
          .join("; ");
  }

  function placeOf(event) {
    const box = svg.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * frame.width;
  }

  function nearest(place) {
    const all = places();
    let best = -1;
    all.forEach((x, i) => {
      if (best < 0 || Math.abs(frame.x.at(x) - place) < Math.abs(frame.x.at(all[best]) - place)) best = i;
    });
    cursor = best;
    return best < 0 ? null : all[best];
  }

  const clamp = (place) => Math.max(frame.left, Math.min(frame.right, place));

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("a")) return;
    drag = {
      start: clamp(placeOf(event)),
      box: shape("rect", { class: "zoom", y: frame.top, height: frame.bottom - frame.top, width: 0 }),
    };
    svg.append(drag.box);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    if (drag) {
      const end = clamp(place);
      drag.box.setAttribute("x", Math.min(drag.start, end));
      drag.box.setAttribute("width", Math.abs(end - drag.start));
    }
    const x = nearest(place);
    if (x !== null) show(x, false);
  });
  svg.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const from = drag.start,
      to = clamp(placeOf(event));
    drag.box.remove();
    drag = null;
    if (Math.abs(to - from) > 8) {
      zoomTo(frame.x.value(Math.min(from, to)), frame.x.value(Math.max(from, to)));
      return;
    }
    const x = nearest(from);
    if (x !== null) show(x, true);
  });
  svg.addEventListener("pointercancel", () => {
    drag?.box.remove();
    drag = null;
    hide();
  });
  svg.addEventListener("pointerleave", () => {
    if (!drag) hide();
  });
  svg.addEventListener("dblclick", reset);
  // The wheel scrolls the page unless the plot has been chosen, by a click or by its key.
  svg.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && document.activeElement !== svg) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, clamp(placeOf(event)));
    },
    { passive: false },
  );
  svg.addEventListener("keydown", (event) => {
    const all = places(),
      last = all.length - 1;
    const step = {
      ArrowRight: () => Math.min(last, cursor + 1),
      ArrowLeft: () => Math.max(0, cursor < 0 ? last : cursor - 1),
      Home: () => 0,
      End: () => last,
    }[event.key];
    if (step && last >= 0) {
      cursor = step();
      show(all[cursor], true);
    } else if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0") reset();
    else if (event.key === "Escape") hide();
    else return;
    event.preventDefault();
  });
  svg.addEventListener("blur", hide);
  let seen = 0;
  new ResizeObserver(() => {
    if (spec && figure.clientWidth && figure.clientWidth !== seen) {
      seen = figure.clientWidth;
      draw();
    }
  }).observe(figure);

  return {
    set,
    zoomTo: (from, to) => {
      zoomed = null;
      draw();
      zoomTo(from, to);
    },
    reveal: (which) => {
      hidden.delete(String(which));
      draw();
    },
  };
}
