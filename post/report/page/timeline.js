// The picture of GPUs over time: zoom, pan, what is under the pointer, and the ways to what is worth a look.

function startTimeline() {
  const picture = data.timeline;
  if (!picture || !byId("timeline-chart")) return;
  const rows = picture.rows.filter((row) => row.strips.length > 0);
  byId("timeline-picture").hidden = rows.length === 0;
  if (rows.length === 0) return;
  const figure = byId("timeline-chart");
  const svg = shape("svg", { class: "plot timeline", tabindex: 0, role: "group", "aria-roledescription": "timeline" });
  const readout = make("div", { class: "readout", hidden: true });
  const live = make("p", { class: "aside", role: "status" });
  const whole = [Math.min(...rows.map((r) => r.shift)), Math.max(...rows.map((r) => r.shift + r.span))];
  if (!(whole[1] > whole[0])) whole[1] = whole[0] + 1;
  const finest = 0.002; // minimum visible span in ms
  let span = [...whole],
    frame = null,
    x = null,
    cursor = null,
    drag = null;
  const fingers = new Map();

  const tool = (label, title, act) => make("button", { type: "button", title, "aria-label": title, click: act }, label);
  const buttons = {
    closer: tool("+", "Zoom in", () => zoom(0.5)),
    wider: tool("−", "Zoom out", () => zoom(2)),
    back: tool("◂", "Earlier", () => pan(-0.5)),
    on: tool("▸", "Later", () => pan(0.5)),
    reset: tool("Reset", "Show all of the time", () => look(...whole)),
  };
  const steps = make("select", { "aria-label": "Go to a step" });
  const longest = rows.reduce((a, b) => (b.steps.length > a.steps.length ? b : a));
  options(steps, [["", "all of the time"], ["part", "a part of it"], ...longest.steps.map((s, i) => [i, s.name])]);
  steps.options[1].hidden = true;
  steps.addEventListener("change", () => {
    const s = steps.value === "" ? null : longest.steps[Number(steps.value)];
    if (s) wider(longest.shift + s.start, longest.shift + s.start + s.span);
    else look(...whole);
  });
  steps.hidden = longest.steps.length === 0;
  figure.append(
    make(
      "div",
      { class: "tools" },
      ...Object.values(buttons),
      steps,
      make(
        "span",
        { class: "aside" },
        "Drag to zoom, with Shift to move; arrow keys, or a touch, show what runs; n and p go to calls.",
      ),
    ),
    svg,
    readout,
    lanesLegend(),
    live,
  );

  function draw() {
    const width = Math.max(280, Math.round(figure.clientWidth || 900));
    frame = laneFrame(rows.length, width);
    x = scaleOf(false, span[0], span[1], frame.left, frame.right);
    const f = frame;
    svg.setAttribute("viewBox", `0 0 ${f.width} ${f.height}`);
    svg.setAttribute(
      "aria-label",
      `${picture.unit}s over time, ${timeOf(span[0])} to ${timeOf(span[1])}. Left and right arrows show what runs, up and down choose a ${picture.unit}, n and p go to calls, plus and minus zoom, 0 shows all.`,
    );
    svg.replaceChildren(
      shape(
        "defs",
        {},
        shape(
          "clipPath",
          { id: "lanes-clip" },
          shape("rect", { x: f.left, y: 0, width: f.right - f.left, height: f.height }),
        ),
        shape(
          "pattern",
          {
            id: "exposed-stripes",
            width: 5,
            height: 5,
            patternUnits: "userSpaceOnUse",
            patternTransform: "rotate(45)",
          },
          shape("rect", { class: "stripe", width: 1.6, height: 5 }),
        ),
      ),
    );
    const under = shape("g", { "clip-path": "url(#lanes-clip)" }),
      body = shape("g", { "clip-path": "url(#lanes-clip)" });
    rows.forEach((row, n) => drawSteps(under, row, n, f, x));
    drawStepNames(under, longest, f, x);
    rows.forEach((row, n) => {
      drawLanes(body, row, n, f, x);
      drawBoxes(body, row, n, f, x, picture.names);
    });
    svg.append(under);
    drawTimes(svg, f, x);
    svg.append(body, ...rows.map((row, n) => labelOf(row, n, f)));
    const all = span[0] <= whole[0] && span[1] >= whole[1];
    buttons.reset.disabled = buttons.wider.disabled = all;
    buttons.back.disabled = span[0] <= whole[0];
    buttons.on.disabled = span[1] >= whole[1];
    buttons.closer.disabled = span[1] - span[0] <= finest * 1.01;
    const nearly = (a, b) => Math.abs(a - b) < 0.15 * (span[1] - span[0]);
    const one = longest.steps.findIndex(
      (s) => nearly(longest.shift + s.start, span[0]) && nearly(longest.shift + s.start + s.span, span[1]),
    );
    steps.value = all ? "" : one < 0 ? "part" : String(one);
    hide();
  }

  function labelOf(row, n, f) {
    const label = shape("g", {}, shape("title", {}, [row.label, row.about, row.why].filter(Boolean).join(" · ")));
    if (f.beside) {
      label.append(
        shape("text", { class: "row-name", x: 0, y: f.label(n) }, fitted(row.label, f.left - 8, 6.8)),
        shape("text", { class: "row-why", x: 0, y: f.label(n) + 13 }, fitted(row.why || row.about, f.left - 8, 5.6)),
      );
    } else {
      label.append(
        shape(
          "text",
          { class: "row-name", x: f.left, y: f.label(n) },
          fitted([row.label, row.why || row.about].filter(Boolean).join(" · "), f.right - f.left, 6.6),
        ),
      );
    }
    return label;
  }

  function look(from, to) {
    const wide = Math.max(finest, Math.min(to - from, whole[1] - whole[0]));
    const start = Math.max(whole[0], Math.min(from, whole[1] - wide));
    span = [start, start + wide];
    draw();
  }

  // wider looks at a span with a little around it.
  function wider(from, to) {
    look(from - 0.02 * (to - from), to + 0.02 * (to - from));
  }

  function zoom(by, place) {
    const middle = x.value(place === undefined ? (frame.left + frame.right) / 2 : place);
    look(middle - (middle - span[0]) * by, middle + (span[1] - middle) * by);
  }

  function pan(share) {
    const by = share * (span[1] - span[0]);
    look(span[0] + by, span[1] + by);
  }

  function hide() {
    readout.hidden = true;
    svg.querySelector(".cursor")?.remove();
  }

  // callsAt are the calls of a row at a moment of the axis.
  function callsAt(row, moment) {
    const own = moment - row.shift,
      reach = (1.5 * (span[1] - span[0])) / (frame.right - frame.left);
    return row.calls
      .filter(([start, took]) => own >= start - reach && own <= start + took + reach)
      .sort((a, b) => a[1] - b[1]);
  }

  function callWords([start, took, exposed, name, stream]) {
    return [
      picture.names[name],
      `${timeOf(took)}, of which ${exposed > 0 ? timeOf(exposed) + " exposed" : "none exposed"}`,
      `stream ${stream}, from ${timeOf(start)}`,
    ];
  }

  // show shows what is under the cursor, and announces it to screen readers.
  function show(n, moment, aloud) {
    hide();
    cursor = { n, moment };
    const row = rows[n],
      own = moment - row.shift,
      state = stateAt(row, own);
    const step = row.steps.find((s) => own >= s.start && own < s.start + s.span);
    const calls = callsAt(row, moment),
      words = [own < 0 || own > row.span ? "not in this trace" : laneStates[state] || "idle"];
    if (step) words.push(step.name);
    const place = x.at(moment),
      f = frame,
      most = 3;
    svg.append(
      shape("path", { class: "cursor", d: `M${place.toFixed(1)} 20V${f.bottom}M${f.left} ${f.end(n) + 2}H${f.right}` }),
    );
    readout.replaceChildren(
      make("b", {}, make("bdi", {}, row.label), " at " + timeOf(moment)),
      make("span", { class: "note" }, words.join(" · ")),
    );
    for (const call of calls.slice(0, most)) {
      const [name, ...rest] = callWords(call);
      readout.append(
        make("div", { class: "call-line" }, make("bdi", {}, name)),
        ...rest.map((text) => make("span", { class: "note" }, text)),
      );
    }
    if (calls.length > most) readout.append(make("span", { class: "note" }, `and ${calls.length - most} more here`));
    readout.hidden = false;
    const scale = svg.clientWidth / f.width,
      x0 = place * scale,
      wide = readout.offsetWidth,
      y0 = f.end(n) + 6;
    readout.style.top = svg.offsetTop + y0 * scale + "px";
    readout.style.left = Math.max(0, x0 + 14 + wide <= figure.clientWidth ? x0 + 14 : x0 - 14 - wide) + "px";
    if (aloud)
      live.textContent =
        `${row.label} at ${timeOf(moment)}: ${words.join(", ")}` +
        calls
          .slice(0, most)
          .map((call) => "; " + callWords(call).join(", "))
          .join("");
  }

  const clamp = (place) => Math.max(frame.left, Math.min(frame.right, place));

  function placeOf(event) {
    const box = svg.getBoundingClientRect(),
      scale = frame.width / box.width;
    return { x: clamp((event.clientX - box.left) * scale), n: frame.rowAt((event.clientY - box.top) * scale) };
  }

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const place = placeOf(event);
    svg.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place.x);
    if (fingers.size === 2) {
      drag?.box?.remove();
      drag = { pinch: true, span: [...span], at: [...fingers.values()].map((p) => x.value(p)) };
      return;
    }
    const moves = event.shiftKey || event.pointerType === "touch";
    drag = { start: place.x, moves, span: [...span], box: null, x };
    if (!moves) {
      drag.box = shape("rect", { class: "zoom", y: frame.top - 4, height: frame.bottom - frame.top, width: 0 });
      svg.append(drag.box);
    }
  });
  svg.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, place.x);
    if (drag?.pinch && fingers.size === 2) {
      pinch([...fingers.values()]);
      return;
    }
    if (drag?.moves) {
      const by = drag.x.value(drag.start) - drag.x.value(place.x);
      if (Math.abs(place.x - drag.start) > 4) {
        drag.moved = true;
        look(drag.span[0] + by, drag.span[1] + by);
      }
      return;
    }
    if (drag?.box) {
      drag.box.setAttribute("x", Math.min(drag.start, place.x));
      drag.box.setAttribute("width", Math.abs(place.x - drag.start));
    }
    show(place.n, x.value(place.x), false);
  });

  // pinch keeps under two fingers what they were put on.
  function pinch(places) {
    const apart = places[1] - places[0];
    if (Math.abs(apart) < 12) return;
    const perPixel = (drag.at[1] - drag.at[0]) / apart;
    if (!(perPixel > 0)) return;
    const from = drag.at[0] - (places[0] - frame.left) * perPixel;
    look(from, from + (frame.right - frame.left) * perPixel);
  }

  function lift(event) {
    fingers.delete(event.pointerId);
    drag?.box?.remove();
    const done = drag;
    if (fingers.size === 0) drag = null;
    return done;
  }
  svg.addEventListener("pointerup", (event) => {
    const done = lift(event),
      place = placeOf(event);
    if (!done || done.pinch || done.moved) return;
    if (done.box && Math.abs(place.x - done.start) > 8) {
      look(x.value(Math.min(done.start, place.x)), x.value(Math.max(done.start, place.x)));
      return;
    }
    show(place.n, x.value(place.x), true);
  });
  svg.addEventListener("pointercancel", (event) => {
    lift(event);
    hide();
  });
  svg.addEventListener("pointerleave", () => {
    if (!drag) hide();
  });
  svg.addEventListener("dblclick", () => look(...whole));
  // The wheel scrolls the page unless the picture has been chosen, by a click or by its key.
  svg.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && document.activeElement !== svg) return;
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        pan((event.deltaX || event.deltaY) > 0 ? 0.1 : -0.1);
      else zoom(event.deltaY > 0 ? 1.25 : 0.8, placeOf(event).x);
    },
    { passive: false },
  );

  // go shows a moment, which comes into sight where it is not.
  function go(n, moment) {
    const at = Math.max(whole[0], Math.min(whole[1], moment));
    if (at < span[0] || at > span[1]) look(at - (span[1] - span[0]) / 2, at + (span[1] - span[0]) / 2);
    show(n, at, true);
  }

  // toCall shows the next call of the row, or the one before.
  function toCall(ahead) {
    const { n, moment } = cursor || { n: 0, moment: ahead > 0 ? span[0] : span[1] };
    const middles = rows[n].calls.map(([start, took]) => rows[n].shift + start + took / 2);
    const next = ahead > 0 ? middles.find((m) => m > moment + 1e-9) : middles.findLast((m) => m < moment - 1e-9);
    if (next === undefined) live.textContent = "There is no further call in this row.";
    else go(n, next);
  }

  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const now =
      cursor && cursor.moment >= span[0] && cursor.moment <= span[1]
        ? cursor
        : { n: cursor?.n ?? 0, moment: (span[0] + span[1]) / 2 };
    const little = (span[1] - span[0]) / 50;
    const act = {
      ArrowRight: () => (event.shiftKey ? pan(0.25) : go(now.n, now.moment + little)),
      ArrowLeft: () => (event.shiftKey ? pan(-0.25) : go(now.n, now.moment - little)),
      ArrowDown: () => go(Math.min(rows.length - 1, now.n + 1), now.moment),
      ArrowUp: () => go(Math.max(0, now.n - 1), now.moment),
      Home: () => go(now.n, whole[0]),
      End: () => go(now.n, whole[1]),
      n: () => toCall(1),
      p: () => toCall(-1),
      "+": () => zoom(0.5, cursor ? x.at(now.moment) : undefined),
      "=": () => zoom(0.5, cursor ? x.at(now.moment) : undefined),
      "-": () => zoom(2),
      0: () => look(...whole),
      Escape: hide,
    }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  });
  svg.addEventListener("blur", hide);
  document.querySelectorAll("#timeline-look li").forEach((item, i) => {
    const sight = picture.sights[i];
    addButton(item, "Show", () => {
      wider(sight.from, sight.to);
      byId("timeline").scrollIntoView();
      svg.focus({ preventScroll: true });
      live.textContent = sight.label + ": " + sight.text;
    });
  });
  let seen = 0;
  new ResizeObserver(() => {
    if (figure.clientWidth && figure.clientWidth !== seen) {
      seen = figure.clientWidth;
      draw();
    }
  }).observe(figure);
  draw();
}

// timeOf takes milliseconds.
function timeOf(ms) {
  const size = Math.abs(ms);
  if (size >= 1 || size === 0) return ms.toFixed(3) + " ms";
  return (ms * 1000).toFixed(size < 0.01 ? 2 : 1) + " µs";
}

// lanesLegend explains the colours and heights of states.
function lanesLegend() {
  const key = (name, text, ...shapes) =>
    make("span", { class: "lane-key" }, shape("svg", { viewBox: "0 0 22 14", "aria-hidden": "true" }, ...shapes), text);
  return make(
    "div",
    { class: "lanes-legend" },
    key("computing", "computing", shape("rect", { class: "lane computing", y: 1, width: 22, height: 12 })),
    key(
      "exposed",
      "communication, exposed",
      shape("rect", { class: "lane exposed", y: 1, width: 22, height: 12 }),
      shape("rect", { y: 1, width: 22, height: 12, fill: "url(#exposed-stripes)" }),
    ),
    key("hidden", "communication, overlapped", shape("rect", { class: "lane hidden", y: 7, width: 22, height: 6 })),
    key("copying", "copying alone", shape("rect", { class: "lane copying", y: 9, width: 22, height: 4 })),
    key("idle", "idle", shape("path", { class: "lane-base", d: "M0 13.5H22" })),
  );
}
