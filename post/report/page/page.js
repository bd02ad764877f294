// What starts the page: theme, copying, printing, and the sections.

const statusColours = { ok: "var(--good)", skipped: "var(--s7)", unsupported: "var(--s7)", left: "var(--rule)", wrong: "var(--serious)", failed: "var(--serious)", timeout: "var(--serious)", oom: "var(--warning)" };

// startTheme lets the reader choose between light, dark and what the system says. A page from a file may not remember.
function startTheme() {
  const button = byId("theme"), themes = ["auto", "light", "dark"];
  let theme = "auto";
  try { theme = localStorage.getItem("theme") || theme; } catch { theme = "auto"; }
  const apply = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
  };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    apply();
    try { localStorage.setItem("theme", theme); } catch { button.title = "The choice is not kept."; }
  });
  if (!themes.includes(theme)) theme = "auto";
  apply();
}

// startDone draws the counts of the plan as one bar.
function startDone() {
  const bar = byId("done");
  if (!bar) return;
  const items = [...document.querySelectorAll(".plan .counts li")];
  const all = items.reduce((sum, item) => sum + Number(item.dataset.n), 0);
  let x = 0;
  for (const item of items) {
    const colour = statusColours[item.dataset.status] || "var(--muted)", width = 100 * Number(item.dataset.n) / (all || 1);
    const part = shape("rect", { x, y: 0, width, height: 2 }), key = make("span", { class: "key" });
    part.style.fill = colour;
    key.style.backgroundColor = colour;
    bar.append(part);
    item.prepend(key);
    x += width;
  }
}

// startCopies puts a button on what is meant to be typed. Where a page may not use the clipboard the text is selected.
function startCopies() {
  for (const box of document.querySelectorAll(".copy")) {
    const code = box.querySelector("code");
    const button = make("button", {
      type: "button", "aria-label": "Copy the command", click: async () => {
        try {
          await navigator.clipboard.writeText(code.textContent);
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(code);
          button.textContent = "Selected";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      },
    }, "Copy");
    box.classList.add("has-button");
    box.append(button);
  }
}

// startPrinting opens all that is folded for the time of printing.
function startPrinting() {
  let opened = [];
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) {
      one.open = true;
      opened.push(one);
    }
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    opened = [];
  });
}

for (const part of document.querySelectorAll(".scripted")) part.hidden = false;
startTheme();
startDone();
startCopies();
startPrinting();
startSteps();
startTimeline();
startSorting();
if (byId("curves")) {
  const showFinding = startCurves();
  for (const button of document.querySelectorAll(".show")) button.addEventListener("click", () => showFinding(Number(button.dataset.finding)));
  startTable();
  startHeat();
}
