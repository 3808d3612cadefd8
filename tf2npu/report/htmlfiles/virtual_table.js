"use strict";
// A table of many rows: it is filtered and sorted as a list of row numbers, and only rows in sight stand in the document.

// Gives a function for texts of the page's language, which fills each {} with a value. texts: by the English ones.
const translator = (texts) => (template, ...values) => {
  let at = 0;
  return texts[template].replace(/\{\}/g, () => values[at++]);
};

// An element with a text.
const made = (name, text) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  return element;
};

// Gives a test of rows: whether one holds every word. lower: each text once. columns: the number of its text for each row.
const rowSearch = (words, lower, columns) => {
  const sets = words.toLowerCase().split(/\s+/).filter(Boolean).map((word) => Uint8Array.from(lower, (one) => (one.includes(word) ? 1 : 0)));
  return (row) => sets.every((set) => columns.some((column) => set[column[row]]));
};

// The place of each text among all in the order of their characters.
const ranks = (lower) => {
  const rank = new Float64Array(lower.length);
  lower.map((_, at) => at).sort((a, b) => (lower[a] < lower[b] ? -1 : lower[a] > lower[b] ? 1 : 0)).forEach((place, at) => { rank[place] = at; });
  return rank;
};

// The table #rows in #window. What is found is said in #said, the row that is chosen in #chosen.
//   n: rows of all.  t: texts of the page.
//   columns(): what is shown, from left to right.  spoken(): what of it #chosen says.  head(column), text(column, row): its texts.
//   isNumber(column).  isName(column): whether its cells are heads of their rows.
//   rowClass(row), cellClass(column, row): class names.
//   keys(column): what each row is sorted by; what is NaN goes last.  firstSign(column): 1 where small ones come first at first.
//   sortedBy: the column in whose order the rows come.
//   fits(): a test of rows, for what the tools above the table ask.  said(count): how many rows fit.
const virtualTable = (page) => {
  const { n, t } = page;
  const byId = (id) => document.getElementById(id);
  const frame = byId("window");
  const table = byId("rows");
  const body = table.tBodies[0];
  const sorted = { column: page.sortedBy, sign: 1 };
  let order = Array.from({ length: n }, (_, row) => row);
  let found = order;
  let chosen = -1;
  let height = 34;

  const line = (row, at) => {
    const built = made("tr");
    built.tabIndex = row === chosen ? 0 : -1;
    built.dataset.row = row;
    built.setAttribute("aria-rowindex", at + 2);
    if (row === chosen) built.setAttribute("aria-current", "true");
    built.className = page.rowClass(row) + (row === chosen ? " chosen" : "");
    for (const column of page.columns()) {
      const cell = made(page.isName(column) ? "th" : "td", page.text(column, row));
      if (page.isName(column)) cell.scope = "row";
      cell.className = page.cellClass(column, row);
      cell.title = cell.textContent;
      built.append(cell);
    }
    return built;
  };
  const space = (high) => {
    const built = made("tr");
    built.className = "space";
    built.setAttribute("aria-hidden", "true");
    const cell = made("td");
    cell.colSpan = page.columns().length;
    cell.style.height = `${high}px`;
    built.append(cell);
    return built;
  };
  const draw = () => {
    const from = Math.max(0, Math.min(Math.floor(frame.scrollTop / height) - 10, found.length - 1));
    const to = Math.min(found.length, from + Math.ceil(frame.clientHeight / height) + 20);
    const rows = found.slice(from, to).map((row, at) => line(row, from + at));
    const hadFocus = document.activeElement && document.activeElement.dataset.row !== undefined;
    body.replaceChildren(space(from * height), ...rows, space((found.length - to) * height));
    if (rows.length) height = rows[0].offsetHeight || height;
    if (hadFocus) (body.querySelector(".chosen") || frame).focus({ preventScroll: true });
  };
  const filter = () => {
    found = order.filter(page.fits());
    byId("said").textContent = page.said(found.length);
    table.setAttribute("aria-rowcount", found.length + 1);
    frame.scrollTop = 0;
    draw();
  };

  const choose = (row, focus) => {
    chosen = row;
    const at = found.indexOf(row);
    if (at < 0) return;
    const top = at * height;
    if (top < frame.scrollTop || top > frame.scrollTop + frame.clientHeight - 3 * height) frame.scrollTop = Math.max(0, top - 4 * height);
    draw();
    if (focus) body.querySelector(".chosen").focus({ preventScroll: true });
    const words = page.spoken().map((column) => t("{}: {}", page.head(column), page.text(column, row)));
    byId("chosen").textContent = t("row {}: {}", at + 1, words.join("; "));
  };

  const sort = (column) => {
    sorted.sign = sorted.column === column ? -sorted.sign : page.firstSign(column);
    sorted.column = column;
    const keys = page.keys(column);
    // What has no number goes last whichever way the others stand.
    order = order.slice().sort((a, b) => {
      const x = keys[a], y = keys[b];
      if (x !== x || y !== y) return (x !== x) - (y !== y) || a - b;
      return x === y ? a - b : x < y ? -sorted.sign : sorted.sign;
    });
    drawHead();
    filter();
  };
  const drawHead = () => {
    const row = table.tHead.rows[0];
    const focused = [...row.cells].findIndex((cell) => cell.contains(document.activeElement));
    row.setAttribute("aria-rowindex", 1);
    row.replaceChildren(...page.columns().map((column) => {
      const cell = made("th");
      cell.scope = "col";
      if (page.isNumber(column)) cell.className = "number";
      if (sorted.column === column) cell.setAttribute("aria-sort", sorted.sign > 0 ? "ascending" : "descending");
      const button = made("button", page.head(column));
      button.type = "button";
      button.title = t("Sort by {}", page.head(column));
      button.addEventListener("click", () => sort(column));
      cell.append(button);
      return cell;
    }));
    if (focused >= 0) row.cells[focused].firstChild.focus({ preventScroll: true });
  };

  let waiting = 0;
  frame.addEventListener("scroll", () => {
    if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; draw(); });
  });
  frame.addEventListener("keydown", (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -n, End: n };
    if (!(event.key in moves) || !found.length) return;
    event.preventDefault();
    const at = found.indexOf(chosen);
    choose(found[Math.max(0, Math.min(found.length - 1, at < 0 ? 0 : at + moves[event.key]))], true);
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-row]");
    if (row) choose(Number(row.dataset.row), true);
  });

  drawHead();
  filter();
  return {
    choose, draw, drawHead, filter,
    // Chooses a row and leads the reader to it.
    show: (row) => {
      filter();
      choose(row, true);
      frame.scrollIntoView({ block: "center" });
    },
  };
};
