// Tables that stand in the page are sorted by a press on a column.

function startSorting() {
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0], first = [...body.rows];
    const valueOf = (row, i) => {
      const cell = row.cells[i];
      return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent.trim();
    };
    heads.forEach((head, i) => {
      head.setAttribute("aria-sort", "none");
      const press = () => {
        const before = head.getAttribute("aria-sort"), figures = first.some((row) => row.cells[i].dataset.v !== undefined);
        const orders = figures ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
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
