// Shared by all parts of the page: number formats, and the metrics of the data. Texts of the data are inserted as text, never
// as markup.

// three formats a number with three significant digits, without an exponent.
function three(x) {
  if (!isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 100) return Math.round(x).toLocaleString("en-US");
  return x.toFixed(Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(size)))));
}

function sizeWords(bytes) {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let n = bytes,
    unit = 0;
  while (unit < names.length - 1 && n !== 0 && n % 1024 === 0) {
    n /= 1024;
    unit++;
  }
  if (n >= 100000) {
    while (unit < names.length - 1 && n >= 1024) {
      n /= 1024;
      unit++;
    }
    return three(n) + " " + names[unit];
  }
  return String(n) + " " + names[unit];
}

// timeWords takes microseconds.
function timeWords(us) {
  if (us >= 999500) return three(us / 1e6) + " s";
  if (us >= 999.5) return three(us / 1e3) + " ms";
  if (us >= 0.9995 || us === 0) return three(us) + " µs";
  return three(us * 1e3) + " ns";
}

function rateWords(gbps) {
  return three(gbps) + " GB/s";
}

function rankWords(n) {
  return n === 1 ? "1 rank" : n + " ranks";
}

// Metrics of a point, from times in microseconds. A factor of 0 is unknown.
const metrics = {
  busbw: {
    name: "busbw",
    title: "Bus bandwidth",
    words: rateWords,
    of: (curve, size, us) => (curve.factor > 0 && us > 0 ? (size / us / 1e3) * curve.factor : null),
  },
  algbw: {
    name: "algbw",
    title: "Algorithm bandwidth",
    words: rateWords,
    of: (curve, size, us) => (us > 0 && size >= 0 ? size / us / 1e3 : null),
  },
  time: { name: "time", title: "Time", words: timeWords, of: (curve, size, us) => (us > 0 ? us : null) },
};

// valueOf is a value of a point with its bounds, or null; lo and hi are null without bounds.
function valueOf(metric, curve, i) {
  const size = curve.sizes[i];
  const value = metric.of(curve, size, curve.time_us[i]);
  if (value === null || !isFinite(value)) return null;
  let lo = null,
    hi = null;
  if (curve.lo_us[i] > 0 && curve.hi_us[i] > 0) {
    lo = metric.of(curve, size, curve.lo_us[i]);
    hi = metric.of(curve, size, curve.hi_us[i]);
    if (lo > hi) [lo, hi] = [hi, lo];
  }
  return { value, lo, hi, basis: data.bases[curve.bases[i]] };
}

function boundsWords(metric, v) {
  return v.lo === null ? "" : metric.words(v.lo) + " to " + metric.words(v.hi);
}

// choices is a row of buttons of which one is pressed; chosen receives its key.
function choices(parent, entries, first, chosen) {
  const row = make("div", { class: "choices" });
  const press = (key) => {
    for (const button of row.children) button.setAttribute("aria-pressed", String(button.dataset.key === key));
  };
  for (const [key, label] of entries) {
    row.append(
      make(
        "button",
        {
          type: "button",
          "data-key": key,
          "aria-pressed": String(key === first),
          click: () => {
            press(key);
            chosen(key);
          },
        },
        label,
      ),
    );
  }
  parent.append(row);
  return press;
}

// options fills a select; entries are pairs of a value and a text.
function options(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => make("option", { value }, text)));
}
