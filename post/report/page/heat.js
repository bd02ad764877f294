// The map of ranks: how each rank's time, or when it issued, stands at each size.

function startHeat() {
  const select = byId("heat");
  if (!select || data.heats.length === 0) return;
  let shown = 0,
    late = false;

  // The colour goes from pale to deep with the share of the greatest figure on the map.
  function colour(share) {
    const x = Math.max(0, Math.min(1, share));
    const mix = (a, b) => Math.round(a + (b - a) * x);
    return `rgb(${mix(240, 232)} ${mix(244, 126)} ${mix(247, 58)})`;
  }

  function draw() {
    const heat = data.heats[shown],
      curve = data.curves[heat.curve],
      sizes = heat.sizes;
    const hasLate = heat.late_us.some((row) => row.length > 0);
    byId("heat-figure").hidden = !hasLate;
    const lateness = late && hasLate;
    const rows = lateness ? heat.late_us : heat.median_us;
    const cells = rows.map((row) => {
      if (lateness) return row.map((us) => ({ weight: us, text: us === null ? "" : timeWords(us) }));
      const sorted = row.filter((x) => x !== null).sort((a, b) => a - b);
      const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
      return row.map((us) =>
        us === null || !(middle > 0)
          ? { weight: null, text: "" }
          : { weight: us / middle - 1, text: percent(us / middle - 1), title: timeWords(us) },
      );
    });
    const kept = sizes.map((_, i) => i).filter((i) => (cells[i] || []).length > 0);
    // In time each map is its own scale, down to a twentieth, lest noise look like a finding; lateness spans powers of ten.
    let greatest = lateness ? 0 : 0.05;
    for (const row of cells)
      for (const cell of row) if (cell.weight !== null) greatest = Math.max(greatest, cell.weight);
    const share = (weight) => (lateness ? Math.sqrt(weight / (greatest || 1)) : weight / greatest);
    const head = make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "Rank"),
        ...kept.map((i) => make("th", { scope: "col", class: "n" }, sizeWords(sizes[i]))),
      ),
    );
    const body = make(
      "tbody",
      {},
      ...heat.ranks.map((name, rank) =>
        make(
          "tr",
          {},
          make("th", { scope: "row", title: name }, make("bdi", {}, name)),
          ...kept.map((i) => {
            const cell = cells[i][rank];
            if (!cell || cell.weight === null) return make("td", { class: "none" }, "–");
            const td = make(
              "td",
              { title: `rank ${name}, ${sizeWords(sizes[i])}: ${cell.title || cell.text}` },
              cell.text,
            );
            td.style.backgroundColor = colour(share(cell.weight));
            return td;
          }),
        ),
      ),
    );
    byId("heat-map").replaceChildren(head, body);
    byId("heat-legend").textContent =
      (lateness
        ? "How much later than the first a rank issued its operation, the median." +
          (heat.uncertainty_us > 0
            ? ` Less than ${timeWords(heat.uncertainty_us)} says nothing: the clocks of hosts are no better.`
            : "")
        : "A rank's median time against that of the median rank. Where ranks wait for each other all take as long as the slowest.") +
      (curve.simulated ? " Simulated: this says nothing about hardware." : "");
  }

  options(
    select,
    data.heats.map((heat, i) => [
      i,
      data.families[data.curves[heat.curve].family].title + " · " + data.curves[heat.curve].label,
    ]),
  );
  select.addEventListener("change", () => {
    shown = Number(select.value);
    draw();
  });
  choices(
    byId("heat-figure"),
    [
      ["time", "time"],
      ["late", "lateness"],
    ],
    "time",
    (name) => {
      late = name === "late";
      draw();
    },
  );
  draw();
}

function percent(x) {
  const points = 100 * x;
  return (
    (points < 0 ? "−" : "+") +
    (Math.abs(points) >= 10 ? Math.round(Math.abs(points)) : Math.abs(points).toFixed(1)) +
    " %"
  );
}
