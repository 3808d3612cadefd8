// The table of all nodes.
(() => {
  document.documentElement.classList.add("js");
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const n = data.texts.length ? data.texts[0].length : 0;
  const nTexts = data.texts.length || 3;
  const buttons = [...document.querySelectorAll("button.to-row")];
  const begins = new Set(buttons.map((button) => Number(button.dataset.to)));
  const t = translator(data.words);
  const lower = data.list.map((text) => text.toLowerCase());

  // Columns: the number, the texts, then error and own error of each run.
  const value = (column, row) => {
    if (column === 0) return row + 1;
    return column <= nTexts ? data.texts[column - 1][row] : data.errors[column - 1 - nTexts][row];
  };
  const isNumber = (column) => column === 0 || column > nTexts;
  const size = (held) => (held === "NaN" || held === "Infinity" ? Infinity : held === "-Infinity" ? -Infinity : held === null ? NaN : held);

  const all = data.heads.map((_, column) => column);
  const ofRuns = byId("of-runs");
  const chosenColumns = () => {
    const checked = new Set([...ofRuns.querySelectorAll("input:checked")].map((box) => Number(box.value)));
    return all.filter((column) => column <= nTexts || checked.has((column - 1 - nTexts) >> 1));
  };
  let shown = chosenColumns();

  const table = virtualTable({
    n, t,
    columns: () => shown,
    spoken: () => shown.slice(1),
    head: (column) => data.heads[column],
    text: (column, row) => {
      const held = value(column, row);
      return !isNumber(column) ? data.list[held] : held === null ? "-" : String(held);
    },
    isNumber,
    isName: (column) => column === 1,
    rowClass: (row) => (begins.has(row) ? "begins" : ""),
    cellClass: (column) => (isNumber(column) ? "number" : ""),
    keys: (column) => {
      if (isNumber(column)) return Array.from({ length: n }, (_, row) => size(value(column, row)));
      const rank = ranks(lower);
      return data.texts[column - 1].map((held) => rank[held]);
    },
    firstSign: (column) => (isNumber(column) && column > 0 ? -1 : 1),
    sortedBy: 0,
    fits: () => {
      const least = byId("least").value.trim() === "" ? NaN : Number(byId("least").value);
      const own = data.errors.filter((_, at) => at % 2 === 1);
      const holds = rowSearch(byId("search").value, lower, data.texts);
      return (row) => (Number.isNaN(least) || own.some((errors) => size(errors[row]) > least)) && holds(row);
    },
    said: (count) => (count ? t("{} of {} nodes", count, n) : t("no node fits")),
  });

  ofRuns.addEventListener("change", () => {
    shown = chosenColumns();
    table.drawHead();
    table.draw();
  });
  const fields = ["search", "least"].map(byId);
  for (const field of fields) field.addEventListener("input", table.filter);
  for (const button of buttons) {
    button.addEventListener("click", () => {
      for (const field of fields) field.value = "";
      table.show(Number(button.dataset.to));
    });
  }
  if (buttons.length) table.choose(Number(buttons[0].dataset.to), false);
  const first = byId("first");
  if (first) first.focus({ preventScroll: true });
})();
