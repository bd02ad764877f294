// What starts the parts of a report's page.

// addButton adds a button behind the text of an item.
function addButton(item, text, act) {
  item.querySelector("p").append(" ", make("button", { type: "button", class: "show", click: act }, text));
}

startTimeline();
if (byId("curve-plots")) {
  const showFinding = startCurves();
  for (const number of new Set(data.regions.map((r) => r.number)))
    addButton(byId("finding-" + number), "Show in the plot", () => showFinding(number));
  startTable();
}
