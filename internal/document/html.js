"use strict";

// What every page has: elements for other scripts, the theme, copying, printing, and tables that are sorted.

const data = JSON.parse(document.getElementById("data")?.textContent || "{}");

function byId(id) { return document.getElementById(id); }

// make is an element with attributes and children; a function is a listener, a string child is text.
function make(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function shape(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// startTheme lets the reader choose between light, dark and the system's setting. A page from a file may not be allowed to
// remember it.
function startTheme() {
  const button = make("button", { type: "button", id: "theme" }), themes = ["auto", "light", "dark"];
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
  document.querySelector(".top").append(button);
}

// startCopies adds a button to each command. Where a page may not use the clipboard it selects the text.
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

// startSorting sorts a table by a press on a column.
function startSorting() {
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0], first = [...body.rows];
    const valueOf = (row, i) => {
      const cell = row.cells[i];
      if (!cell) return ""; // a row of fewer cells
      return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent.trim();
    };
    heads.forEach((head, i) => {
      head.setAttribute("aria-sort", "none");
      const press = () => {
        const before = head.getAttribute("aria-sort"), numbers = first.some((row) => row.cells[i]?.dataset.v !== undefined);
        const orders = numbers ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
        const order = orders[(orders.indexOf(before) + 1) % 3];
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", order);
        body.replaceChildren(...(order === "none" ? first : sortedRows(first, (row) => valueOf(row, i), order === "descending" ? -1 : 1)));
      };
      head.replaceChildren(make("button", { type: "button", click: press }, head.textContent));
    });
  }
}

// sortedRows puts rows without a value last in either direction.
function sortedRows(rows, valueOf, sign) {
  return [...rows].sort((a, b) => {
    const x = valueOf(a), y = valueOf(b);
    if (x === "" || y === "") return (x === "") - (y === "");
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }));
  });
}

for (const part of document.querySelectorAll(".scripted")) part.hidden = false;
startTheme();
startCopies();
startPrinting();
startSorting();
