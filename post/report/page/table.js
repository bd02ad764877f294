// The table of all points: filters, sorting, and pages, so that tens of thousands stay quick.

const pageRows = 50;

function startTable() {
  const rows = [];
  data.curves.forEach((curve, c) => {
    const notesAt = notesOf(curve);
    for (let i = 0; i < curve.time_us.length; i++) if (curve.time_us[i] !== null) rows.push({ c, i, notesAt });
  });
  const curveOf = (row) => data.curves[row.c],
    familyOf = (row) => data.families[curveOf(row).family];
  const figure = (name) => (row) => valueOf(metrics[name], curveOf(row), row.i)?.value ?? null;
  const share = (row) => {
    const curve = curveOf(row),
      bw = figure("busbw")(row);
    return !curve.peak || bw === null ? null : (100 * bw) / curve.peak.gbps;
  };
  const notes = (row) =>
    [...row.notesAt(row.i), ...foundAt(row).map((n) => "finding " + n), marksOf(curveOf(row))].filter(Boolean).join("; ");
  const written = (value, words) => (value === null ? "" : words(value));
  const kindOf = (row) =>
    [familyOf(row).type, familyOf(row).op, familyOf(row).root > 0 ? "root " + familyOf(row).root : ""]
      .filter(Boolean)
      .join(" ");
  // A column with the same word for every point is a sentence above the table.
  const all = [
    { name: "Collective", of: (row) => familyOf(row).collective },
    { name: "Type", of: kindOf, once: true },
    { name: "Placement", of: (row) => familyOf(row).placement, once: true },
    { name: "Mode", of: (row) => familyOf(row).mode, once: true },
    { name: "Way", of: (row) => familyOf(row).way.replace(/^, /, ""), once: true },
    { name: "Contender", of: (row) => curveOf(row).who, once: true },
    {
      name: "Ranks",
      number: true,
      of: (row) => curveOf(row).world,
      text: (row) => (curveOf(row).world ? String(curveOf(row).world) : ""),
    },
    {
      name: "Size",
      number: true,
      of: (row) => curveOf(row).sizes[row.i],
      text: (row) => sizeWords(curveOf(row).sizes[row.i]),
    },
    { name: "Time", number: true, of: figure("time"), text: (row) => written(figure("time")(row), timeWords) },
    {
      name: "95 % CI or range",
      number: true,
      of: width,
      text: (row) => {
        const v = valueOf(metrics.time, curveOf(row), row.i);
        return v ? boundsWords(metrics.time, v) : "";
      },
      title: (row) => valueOf(metrics.time, curveOf(row), row.i)?.basis,
    },
    { name: "algbw GB/s", number: true, of: figure("algbw"), text: (row) => written(figure("algbw")(row), three) },
    { name: "busbw GB/s", number: true, of: figure("busbw"), text: (row) => written(figure("busbw")(row), three) },
    { name: "% of peak", number: true, of: share, text: (row) => written(share(row), three) },
    {
      name: "Launches",
      number: true,
      of: (row) => curveOf(row).launches[row.i],
      text: (row) => String(curveOf(row).launches[row.i]),
    },
    { name: "Notes", of: notes },
  ].filter((column) => column.name !== "% of peak" || data.curves.some((c) => c.peak));
  for (const column of all) column.text ||= column.of;
  const same = all.filter((column) => column.once && rows.every((row) => column.of(row) === column.of(rows[0])));
  const columns = all.filter((column) => !same.includes(column));
  const common =
    rows.length === 0
      ? ""
      : same
          .map((column) => column.of(rows[0]))
          .filter(Boolean)
          .join(", ");

  function width(row) {
    const v = valueOf(metrics.time, curveOf(row), row.i);
    return v && v.lo !== null ? (v.hi - v.lo) / v.value : null;
  }

  const regions = new Map();
  for (const r of data.regions) regions.set(r.curve, [...(regions.get(r.curve) || []), r]);
  function foundAt(row) {
    const size = curveOf(row).sizes[row.i];
    return (regions.get(row.c) || []).filter((r) => size >= r.from && size <= r.to).map((r) => r.number);
  }

  const standings = {
    "in a finding": (row) => foundAt(row).length > 0,
    "with a note": (row) => row.notesAt(row.i).length > 0,
    "with bounds": (row) => width(row) !== null,
    "without bounds": (row) => width(row) === null,
    simulated: (row) => Boolean(curveOf(row).simulated),
    oversubscribed: (row) => Boolean(curveOf(row).crowded),
    imported: (row) => Boolean(curveOf(row).imported),
  };
  const filters = [
    ["Collective", (row) => familyOf(row).collective],
    ["Backend", (row) => curveOf(row).backend],
    ["Ranks", (row) => (curveOf(row).world ? String(curveOf(row).world) : "")],
    ["Mode", (row) => familyOf(row).mode],
    ["Placement", (row) => familyOf(row).placement],
  ].map(([name, of]) => {
    const values = [...new Set(rows.map(of))]
      .filter(Boolean)
      .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    return selectFilter(name, values, (row, value) => of(row) === value);
  });
  filters.push(
    selectFilter(
      "Status",
      Object.keys(standings).filter((name) => rows.some(standings[name])),
      (row, value) => standings[value](row),
    ),
  );
  const search = make("input", { type: "search", placeholder: "words, a size, a name", input: () => filter() });
  byId("filters").append(
    make("label", {}, "Text", search),
    make("button", { type: "button", id: "clear", click: clear }, "Clear filters"),
  );

  function selectFilter(name, values, holds) {
    const select = make("select", { "aria-label": name, change: () => filter() });
    options(select, [["", "all"], ...values.map((v) => [v, v])]);
    byId("filters").append(make("label", {}, name, select));
    return { select, holds };
  }

  let chosen = rows,
    sorted = null,
    down = false,
    page = 0;

  function clear() {
    for (const f of filters) f.select.value = "";
    search.value = "";
    filter();
  }

  function filter() {
    const asked = filters.filter((f) => f.select.value !== "");
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    chosen = rows.filter(
      (row) => asked.every((f) => f.holds(row, f.select.value)) && (words.length === 0 || contains(row, words)),
    );
    sort();
  }

  function contains(row, words) {
    const text = all
      .map((c) => c.text(row))
      .join(" ")
      .toLowerCase();
    return words.every((w) => text.includes(w));
  }

  // Points without a value come last in either direction.
  function sort() {
    if (sorted !== null) {
      const keys = new Map(chosen.map((row) => [row, columns[sorted].of(row)]));
      const sign = down ? -1 : 1;
      chosen = [...chosen].sort((a, b) => {
        const x = keys.get(a),
          y = keys.get(b);
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true }));
      });
    }
    page = 0;
    draw();
  }

  const heads = columns.map((column, i) =>
    make(
      "th",
      { scope: "col", class: column.number ? "n" : "" },
      make(
        "button",
        {
          type: "button",
          click: () => {
            down = sorted === i ? !down : false;
            sorted = i;
            filter();
          },
        },
        column.name,
      ),
    ),
  );
  byId("table").tHead.append(make("tr", {}, ...heads));
  const pages = make("span", {});
  const turn = (by) => () => {
    page += by;
    draw();
  };
  const back = make("button", { type: "button", click: turn(-1) }, "Previous"),
    on = make("button", { type: "button", click: turn(1) }, "Next");
  byId("pager").append(back, on, pages);

  function draw() {
    const last = Math.max(0, Math.ceil(chosen.length / pageRows) - 1),
      first = page * pageRows;
    heads.forEach((head, i) =>
      head.setAttribute("aria-sort", sorted === i ? (down ? "descending" : "ascending") : "none"),
    );
    byId("table").tBodies[0].replaceChildren(
      ...chosen
        .slice(first, first + pageRows)
        .map((row) =>
          make(
            "tr",
            {},
            ...columns.map((column) =>
              make(
                "td",
                {
                  class: column.number ? "n" : "",
                  title: column.title?.(row) || (column.number ? false : column.text(row)),
                },
                make("bdi", {}, column.text(row)),
              ),
            ),
          ),
        ),
    );
    byId("table-says").textContent =
      chosen.length === 0
        ? "No point is left by these filters."
        : `${chosen.length.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")} points` +
          (last > 0 ? `, ${first + 1} to ${Math.min(first + pageRows, chosen.length)} of them here` : "") +
          (common ? "; all: " + common : "");
    back.disabled = page === 0;
    on.disabled = page === last;
    pages.textContent = `page ${page + 1} of ${last + 1}`;
    byId("pager").hidden = last === 0;
  }
  draw();
}
