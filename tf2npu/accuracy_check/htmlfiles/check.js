"use strict";
// The table of all nodes: it is filtered and sorted as a list of row numbers, and only rows in sight stand in the document.
(() => {
  document.documentElement.classList.add("js");
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const n = data.texts.length ? data.texts[0].length : 0;
  const nTexts = data.texts.length || 3;
  const buttons = [...document.querySelectorAll("button.to-row")];
  const begins = new Set(buttons.map((button) => Number(button.dataset.to)));
  const t = (template, ...values) => {
    let at = 0;
    return data.words[template].replace(/\{\}/g, () => values[at++]);
  };
  const made = (name, text) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const lower = data.list.map((text) => text.toLowerCase());
  let order = Array.from({length: n}, (_, row) => row);
  let found = order;
  let chosen = -1;

  // Columns: the number, the texts, then error and own error of each run.
  const value = (column, row) => {
    if (column === 0) return row + 1;
    return column <= nTexts ? data.texts[column - 1][row] : data.errors[column - 1 - nTexts][row];
  };
  const text = (column, row) => {
    const held = value(column, row);
    return column > 0 && column <= nTexts ? data.list[held] : held === null ? "-" : String(held);
  };
  const isNumber = (column) => column === 0 || column > nTexts;
  const size = (held) => (held === "NaN" || held === "Infinity" ? Infinity : held === "-Infinity" ? -Infinity : held === null ? NaN : held);

  const frame = byId("window");
  const body = byId("rows").tBodies[0];
  const filter = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const sets = words.map((word) => Uint8Array.from(lower, (one) => (one.includes(word) ? 1 : 0)));
    const least = byId("least").value.trim() === "" ? NaN : Number(byId("least").value);
    const own = data.errors.filter((_, at) => at % 2 === 1);
    found = order.filter((row) => {
      if (!Number.isNaN(least) && !own.some((errors) => size(errors[row]) > least)) return false;
      return sets.every((set) => data.texts.some((column) => set[column[row]]));
    });
    byId("said").textContent = found.length ? t("{} of {} nodes", found.length, n) : t("no node fits");
    byId("rows").setAttribute("aria-rowcount", found.length + 1);
    frame.scrollTop = 0;
    draw();
  };

  const line = (row, at) => {
    const built = made("tr");
    built.tabIndex = row === chosen ? 0 : -1;
    built.dataset.row = row;
    built.setAttribute("aria-rowindex", at + 2);
    if (row === chosen) built.setAttribute("aria-current", "true");
    built.className = (begins.has(row) ? "begins" : "") + (row === chosen ? " chosen" : "");
    data.heads.forEach((_, column) => {
      const cell = made(column === 1 ? "th" : "td", text(column, row));
      if (column === 1) cell.scope = "row";
      if (isNumber(column)) cell.className = "number";
      cell.title = cell.textContent;
      built.append(cell);
    });
    return built;
  };
  const space = (height) => {
    const built = made("tr");
    built.className = "space";
    built.setAttribute("aria-hidden", "true");
    const cell = made("td");
    cell.colSpan = data.heads.length;
    cell.style.height = `${height}px`;
    built.append(cell);
    return built;
  };
  let height = 34;
  const draw = () => {
    const from = Math.max(0, Math.min(Math.floor(frame.scrollTop / height) - 10, found.length - 1));
    const to = Math.min(found.length, from + Math.ceil(frame.clientHeight / height) + 20);
    const rows = found.slice(from, to).map((row, at) => line(row, from + at));
    const hadFocus = document.activeElement && document.activeElement.dataset.row !== undefined;
    body.replaceChildren(space(from * height), ...rows, space((found.length - to) * height));
    if (rows.length) height = rows[0].offsetHeight || height;
    if (hadFocus) (body.querySelector(".chosen") || frame).focus({preventScroll: true});
  };
  const choose = (row, focus) => {
    chosen = row;
    const at = found.indexOf(row);
    if (at < 0) return;
    const top = at * height;
    if (top < frame.scrollTop || top > frame.scrollTop + frame.clientHeight - 3 * height) frame.scrollTop = Math.max(0, top - 4 * height);
    draw();
    if (focus) body.querySelector(".chosen").focus({preventScroll: true});
    const words = data.heads.map((head, column) => t("{}: {}", head, text(column, row))).slice(1);
    byId("chosen").textContent = t("row {}: {}", at + 1, words.join("; "));
  };

  const sorted = {column: 0, sign: 1};
  const sort = (column) => {
    sorted.sign = sorted.column === column ? -sorted.sign : isNumber(column) && column > 0 ? -1 : 1;
    sorted.column = column;
    let keys;
    if (isNumber(column)) {
      keys = order.map((_, row) => size(value(column, row)));
    } else {
      const rank = new Float64Array(lower.length);
      lower.map((_, at) => at).sort((a, b) => (lower[a] < lower[b] ? -1 : lower[a] > lower[b] ? 1 : 0)).forEach((place, at) => { rank[place] = at; });
      keys = data.texts[column - 1].map((held) => rank[held]);
    }
    // What has no number goes last whichever way the others stand.
    order = order.slice().sort((a, b) => {
      const x = keys[a], y = keys[b];
      if (x !== x || y !== y) return (x !== x) - (y !== y) || a - b;
      return x === y ? a - b : x < y ? -sorted.sign : sorted.sign;
    });
    head();
    filter();
  };
  const head = () => {
    const row = byId("rows").tHead.rows[0];
    const focused = [...row.cells].findIndex((cell) => cell.contains(document.activeElement));
    row.setAttribute("aria-rowindex", 1);
    row.replaceChildren(...data.heads.map((name, column) => {
      const cell = made("th");
      cell.scope = "col";
      if (isNumber(column)) cell.className = "number";
      if (sorted.column === column) cell.setAttribute("aria-sort", sorted.sign > 0 ? "ascending" : "descending");
      const button = made("button", name);
      button.type = "button";
      button.title = t("Sort by {}", name);
      button.addEventListener("click", () => sort(column));
      cell.append(button);
      return cell;
    }));
    if (focused >= 0) row.cells[focused].firstChild.focus({preventScroll: true});
  };

  let waiting = 0;
  frame.addEventListener("scroll", () => {
    if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; draw(); });
  });
  frame.addEventListener("keydown", (event) => {
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -n, End: n};
    if (!(event.key in moves) || !found.length) return;
    event.preventDefault();
    const at = found.indexOf(chosen);
    choose(found[Math.max(0, Math.min(found.length - 1, at < 0 ? 0 : at + moves[event.key]))], true);
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-row]");
    if (row) choose(Number(row.dataset.row), true);
  });
  for (const id of ["search", "least"]) byId(id).addEventListener("input", filter);
  for (const button of buttons) {
    button.addEventListener("click", () => {
      for (const id of ["search", "least"]) byId(id).value = "";
      filter();
      choose(Number(button.dataset.to), true);
      frame.scrollIntoView({block: "center"});
    });
  }

  head();
  filter();
  if (buttons.length) choose(Number(buttons[0].dataset.to), false);
  const first = byId("first");
  if (first) first.focus({preventScroll: true});
})();
