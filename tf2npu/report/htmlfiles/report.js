"use strict";
// Filters, sorting and unfolding. The report reads completely without it.
(() => {
  document.documentElement.classList.add("js");

  // A table or list of class "filtered" shows the rows that hold every word of its search field and the chosen level.
  for (const tools of document.querySelectorAll(".tools[data-for]")) {
    const target = document.getElementById(tools.dataset.for);
    const field = tools.querySelector("input");
    const choice = tools.querySelector("select");
    const said = tools.querySelector("[role=status]");
    const rows = [...target.querySelectorAll("[data-row]")];
    // Findings and their places are two numbers: one finding may speak of several places.
    const sum = (some, what) => some.reduce((number, row) => number + Number(row.dataset[what] || 1), 0);
    const all = [sum(rows, "findings"), sum(rows, "places")];
    const apply = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const level = choice ? choice.value : "";
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((w) => text.includes(w)) || (level && !row.dataset.row.split(" ").includes(level));
      }
      for (const group of target.querySelectorAll("details.group")) {
        group.hidden = !group.querySelector("[data-row]:not([hidden])");
        if (words.length) group.open = true;
      }
      const seen = rows.filter((row) => !row.hidden);
      const numbers = [sum(seen, "findings"), all[0], sum(seen, "places"), all[1]];
      const text = all[0] === all[1] ? tools.dataset.said : tools.dataset.saidPlaces;
      said.textContent = text.replace(/#/g, () => numbers.shift());
    };
    field.addEventListener("input", apply);
    if (choice) choice.addEventListener("change", apply);
    apply();
  }

  // A column head becomes a button that sorts; numbers by value, the rest by text.
  for (const head of document.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      const body = head.closest("table").tBodies[0];
      const key = (row) => row.cells[head.cellIndex].textContent.trim();
      const order = head.dataset.sort === "number"
        ? (a, b) => Number(key(a)) - Number(key(b))
        : (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
      const sorted = [...body.rows].sort((a, b) => (ascending ? order(a, b) : order(b, a)));
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      body.append(...sorted);
    });
  }

  // "Show all" opens every fold; a link to a line inside a fold opens it.
  const unfold = document.querySelector("[data-unfold]");
  if (unfold) {
    unfold.addEventListener("click", () => {
      const open = unfold.getAttribute("aria-pressed") !== "true";
      unfold.setAttribute("aria-pressed", String(open));
      for (const fold of document.querySelectorAll("details.fold")) fold.open = open;
    });
  }

  // On paper nothing can be opened: what is closed is shown, but for unchanged lines, which say how many they are.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not(.fold):not([open])")];
    for (const part of closed) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of closed) part.open = false; });

  const reveal = () => {
    let name = "";
    try { name = decodeURIComponent(location.hash.slice(1)); } catch { /* a damaged link leads nowhere */ }
    const target = name && document.getElementById(name);
    if (!target) return;
    for (let at = target.parentElement; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
