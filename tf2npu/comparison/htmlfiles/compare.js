"use strict";
// The table of all rows: it is filtered and sorted as a list of row numbers, and only rows in sight stand in the document.
(() => {
  document.documentElement.classList.add("js");
  const data = JSON.parse(document.getElementById("data").textContent);
  const heads = JSON.parse(document.getElementById("names").textContent);
  const byId = (id) => document.getElementById(id);
  const columns = data.columns;
  const n = columns.Index.length;
  const AGREES = 0, DIFFERS = 1, NOT_COMPARED = 3;
  const verdicts = ["agrees", "differs", "rounding", "not compared"];
  const t = (template, ...values) => {
    let at = 0;
    return data.texts[template].replace(/\{\}/g, () => values[at++]);
  };
  const made = (name, text) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const lower = data.list.map((text) => text.toLowerCase());
  const searched = ["Operator", "Type", "Reference", "Tensor", "Line", "Why"];
  const limits = data.sliders.map(() => null);
  let verdict = columns.Verdict.slice();
  let missed = data.missed.slice();
  let order = columns.Index.map((_, number) => number);
  let found = order;
  let chosen = -1;
  let shown = [...byId("columns").querySelectorAll("input:checked")].map((box) => box.value);

  // Sliders: the cosine by hundredths of its range, the others by powers of ten.
  const limitOf = (slider, position) => {
    const [name, least, most] = data.sliders[slider];
    const share = position / 1000;
    return name === "CosineSimilarity" ? least + (most - least) * share : least * (most / least) ** share;
  };
  const judge = () => {
    const moved = limits.map((limit, slider) => ({limit, slider, values: columns[data.sliders[slider][0]]})).filter((one) => one.limit !== null);
    for (let row = 0; row < n; row++) {
      let bits = data.missed[row];
      for (const {limit, slider, values} of moved) {
        const value = values[row];
        const isMissed = typeof value === "number" && (slider === 0 ? value < limit : value > limit);
        bits = isMissed ? bits | (1 << slider) : bits & ~(1 << slider);
      }
      missed[row] = bits;
      const was = columns.Verdict[row];
      verdict[row] = !moved.length || was > DIFFERS ? was : bits || data.others[row] ? DIFFERS : AGREES;
    }
  };

  const filter = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const sets = words.map((word) => Uint8Array.from(lower, (text) => (text.includes(word) ? 1 : 0)));
    const [only, invalid, inserted] = ["only", "invalid", "inserted"].map((id) => byId(id).checked);
    const star = data.list.indexOf("*");
    const names = searched.map((name) => columns[name]);
    found = order.filter((row) => {
      if (only && verdict[row] !== DIFFERS) return false;
      if (!invalid && verdict[row] === NOT_COMPARED) return false;
      if (!inserted && columns.Reference[row] === star) return false;
      return sets.every((set) => names.some((column) => set[column[row]]));
    });
    byId("said").textContent = found.length ? t("{} of {} rows", found.length, n) : t("no row fits");
    byId("rows").setAttribute("aria-rowcount", found.length + 1);
    frame.scrollTop = 0;
    draw();
  };

  const text = (name, row) => {
    const value = columns[name][row];
    if (name === "Verdict") return t(verdicts[verdict[row]]);
    if (data.kinds[name] === "text") return data.list[value];
    return value === null ? "-" : typeof value === "string" || name === "Index" ? String(value) : String(Number(value.toPrecision(6)));
  };
  const line = (row, at) => {
    const built = made("tr");
    built.tabIndex = row === chosen ? 0 : -1;
    built.dataset.row = row;
    built.setAttribute("aria-rowindex", at + 2);
    built.className = verdicts[verdict[row]].replace(" ", "-") + (row === chosen ? " chosen" : "");
    if (row === chosen) built.setAttribute("aria-current", "true");
    for (const name of shown) {
      const cell = made(name === "Operator" ? "th" : "td", text(name, row));
      if (name === "Operator") cell.scope = "row";
      cell.title = cell.textContent;
      if (data.kinds[name] === "number" && name !== "Verdict") cell.className = "number";
      const slider = data.sliders.findIndex((one) => one[0] === name);
      if (slider >= 0 && missed[row] & (1 << slider) && verdict[row] === DIFFERS) cell.className += " missed";
      built.append(cell);
    }
    return built;
  };
  const space = (height) => {
    const built = made("tr");
    built.className = "space";
    built.setAttribute("aria-hidden", "true");
    const cell = made("td");
    cell.colSpan = shown.length;
    cell.style.height = `${height}px`;
    built.append(cell);
    return built;
  };
  const frame = byId("window");
  const body = byId("rows").tBodies[0];
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
    const words = shown.map((name) => t("{}: {}", heads[name], text(name, row)));
    byId("chosen").textContent = t("row {}: {}", at + 1, words.join("; "));
  };

  const sorted = {name: "", sign: 1};
  const sort = (name) => {
    sorted.sign = sorted.name === name ? -sorted.sign : 1;
    sorted.name = name;
    const values = name === "Verdict" ? verdict : columns[name];
    let keys = values;
    if (data.kinds[name] === "text") {
      const places = data.list.map((_, at) => at).sort((a, b) => (lower[a] < lower[b] ? -1 : lower[a] > lower[b] ? 1 : 0));
      const rank = new Float64Array(places.length);
      places.forEach((place, at) => { rank[place] = at; });
      keys = values.map((value) => rank[value]);
    } else {
      keys = values.map((value) => (typeof value === "number" ? value : value === "inf" ? 1e308 : value === "-inf" ? -1e308 : NaN));
    }
    // What has no number goes last whichever way the others stand.
    order = order.slice().sort((a, b) => {
      const x = keys[a], y = keys[b];
      if (x !== x || y !== y) return (x !== x) - (y !== y) || a - b;
      return (x - y) * sorted.sign || a - b;
    });
    head();
    filter();
  };
  const head = () => {
    const row = byId("rows").tHead.rows[0];
    row.setAttribute("aria-rowindex", 1);
    row.replaceChildren(...shown.map((name) => {
      const cell = made("th");
      cell.scope = "col";
      if (data.kinds[name] === "number" && name !== "Verdict") cell.className = "number";
      if (sorted.name === name) cell.setAttribute("aria-sort", sorted.sign > 0 ? "ascending" : "descending");
      const button = made("button", heads[name]);
      button.type = "button";
      button.title = t("Sort by {}", heads[name]);
      button.addEventListener("click", () => sort(name));
      cell.append(button);
      return cell;
    }));
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
  byId("search").addEventListener("input", filter);
  for (const id of ["only", "invalid", "inserted"]) byId(id).addEventListener("change", filter);
  byId("columns").addEventListener("change", () => {
    shown = [...byId("columns").querySelectorAll("input:checked")].map((box) => box.value);
    head();
    draw();
  });
  const sliders = data.sliders.map((_, slider) => byId(`slider-${slider}`));
  const say = (slider) => {
    const limit = limits[slider];
    const shownLimit = limit === null ? t("default") : String(Number(limit.toPrecision(4)));
    byId(`value-${slider}`).textContent = shownLimit;
    sliders[slider].setAttribute("aria-valuetext", shownLimit);
  };
  sliders.forEach((input, slider) => {
    say(slider);
    input.addEventListener("input", () => {
      limits[slider] = limitOf(slider, Number(input.value));
      say(slider);
      judge();
      filter();
    });
  });
  byId("reset").addEventListener("click", () => {
    sliders.forEach((input, slider) => { limits[slider] = null; input.value = 0; say(slider); });
    judge();
    filter();
  });

  head();
  filter();
  if (data.first >= 0) {
    choose(data.first, false);
    byId("to-row").addEventListener("click", () => {
      for (const [id, value] of [["only", false], ["inserted", true]]) byId(id).checked = value;
      byId("search").value = "";
      filter();
      choose(data.first, true);
      frame.scrollIntoView({block: "center"});
    });
    byId("first").focus({preventScroll: true});
  }
})();
