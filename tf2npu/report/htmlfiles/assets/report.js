"use strict";
// Filters, sorting and unfolding. The report reads completely without it.
(() => {
  // Filters and order stand in the address, so that going back, reloading and a copied link show the same.
  const restorers = [];
  const kept = (name) => new URLSearchParams(location.search).get(name) || "";
  const keep = (name, value) => {
    const address = new URL(location.href);
    if (kept(name) === value) return;
    if (value) address.searchParams.set(name, value);
    else address.searchParams.delete(name);
    try { history.replaceState(null, "", address); } catch { /* a page inside another may not do so, and filters all the same */ }
  };

  // Findings and their places are two numbers: one finding may speak of several places.
  const counted = (tools, [n_findings, of_findings, n_places, of_places]) => {
    const numbers = [n_findings, of_findings, n_places, of_places];
    const text = of_findings === of_places ? tools.dataset.said : tools.dataset.saidPlaces;
    return text.replace(/#/g, () => numbers.shift());
  };
  window.tf2npu = { kept, keep, counted };

  // A table or list shows the rows that hold every word of its search field and the chosen level; one with data has its own script.
  for (const tools of document.querySelectorAll(".tools[data-for]")) {
    const target = document.getElementById(tools.dataset.for);
    if (target.dataset.letters) continue;
    const field = tools.querySelector("input");
    const choice = tools.querySelector("select");
    const said = tools.querySelector("[role=status]");
    const rows = [...target.querySelectorAll("[data-row]")];
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
      said.textContent = counted(tools, [sum(seen, "findings"), all[0], sum(seen, "places"), all[1]]);
    };
    const names = [tools.dataset.for, `${tools.dataset.for}-only`];
    field.addEventListener("input", () => { keep(names[0], field.value); apply(); });
    if (choice) choice.addEventListener("change", () => { keep(names[1], choice.value); apply(); });
    restorers.push(() => {
      field.value = kept(names[0]);
      if (choice) choice.value = [...choice.options].some((one) => one.value === kept(names[1])) ? kept(names[1]) : "";
      apply();
    });
  }

  // A column head becomes a button that sorts; numbers by value, the rest by text.
  for (const head of document.querySelectorAll("table:not([data-letters]) th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const table = head.closest("table");
    const sort = (ascending) => {
      const body = table.tBodies[0];
      const key = (row) => row.cells[head.cellIndex].textContent.trim();
      const order = head.dataset.sort === "number"
        ? (a, b) => Number(key(a)) - Number(key(b))
        : (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
      const sorted = [...body.rows].sort((a, b) => (ascending ? order(a, b) : order(b, a)));
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      body.append(...sorted);
    };
    const [name, column] = [`${table.id}-by`, String(head.cellIndex)];
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      keep(name, (ascending ? "" : "-") + column);
      sort(ascending);
    });
    restorers.push(() => { if (kept(name).replace("-", "") === column) sort(!kept(name).startsWith("-")); });
  }
  for (const table of document.querySelectorAll("table.list:not([data-letters])")) {
    const [body, rows] = [table.tBodies[0], [...table.tBodies[0].rows]];
    restorers.unshift(() => {
      if (kept(`${table.id}-by`) || !table.querySelector("th[aria-sort]")) return;
      for (const head of table.querySelectorAll("th[aria-sort]")) head.removeAttribute("aria-sort");
      body.append(...rows);
    });
  }
  const restore = () => { for (const one of restorers) one(); };
  restore();
  addEventListener("popstate", restore);
  addEventListener("pageshow", restore);  // by then the browser has put back what stood in the fields

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

  // The fold that holds a line: folded lines have no anchors of their own.
  const foldOf = (name) => {
    const line = /^L(\d+)$/.exec(name);
    const folds = line ? [...document.querySelectorAll("details.fold[data-first]")] : [];
    return folds.filter((fold) => Number(fold.dataset.first) <= Number(line[1])).pop();
  };
  const reveal = () => {
    let name = "";
    try { name = decodeURIComponent(location.hash.slice(1)); } catch { /* a damaged link leads nowhere */ }
    const target = name && (document.getElementById(name) || foldOf(name));
    if (!target) return;
    if (target.matches("details.fold")) target.open = true;
    for (let at = target.parentElement; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
