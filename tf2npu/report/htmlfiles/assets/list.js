"use strict";
// A long list: its data come as blocks of <script src>, and a hundred of its rows are drawn at a time.
// A row is [cells, kinds, number of findings, number of places]; texts are numbers of the blocks of texts.
(() => {
  const { kept, keep, counted } = window.tf2npu;
  const table = document.querySelector("table[data-letters]");
  const letters = [...table.dataset.letters];
  const words = JSON.parse(table.dataset.words);
  const odd = new RegExp(table.dataset.odd, "gu");
  const tools = document.querySelector(`.tools[data-for="${table.id}"]`);
  const [field, choice, said] = ["input", "select", "[role=status]"].map((one) => tools.querySelector(one));
  const walk = document.querySelector("nav.pages");
  const perPage = 100;
  let texts = [];
  let rows = [];
  let lower = null;  // the texts in small letters, once somebody searches

  window.tf2npu.texts = (more) => { texts = texts.concat(more); };
  window.tf2npu.rows = (more) => { rows = rows.concat(more); };

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children);
    return made;
  };
  // Characters that a browser would obey, reorder or hide are shown as their code points.
  const seen = (text) => {
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(odd)) {
      parts.push(text.slice(at, found.index));
      const name = `U+${found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
      const shown = element("span", "odd", name);
      shown.title = `character ${name}`;
      parts.push(shown);
      at = found.index + found[0].length;
    }
    return [...parts, text.slice(at)];
  };
  const told = (text) => text.split(/`([^`\n]+)`/).flatMap((part, n) => (n % 2 ? [element("code", "", ...seen(part))] : seen(part)));
  const badge = (word, number) => element("span", `badge ${word}`, number === null ? "" : `${number} `, words[word] || word);
  const linked = (made, href) => { made.setAttribute("href", href); return made; };
  const draw = {
    l: ([text, suffix, href, anchor]) => {
      const name = element("bdi", "", ...seen(texts[text]));
      const way = texts[href];
      return [way ? linked(element("a", "path", name, ...seen(suffix)), anchor ? `${way}#${anchor}` : way) : element("span", "path", name, ...seen(suffix))];
    },
    b: (flat) => {
      const shown = [];
      for (let n = 0; n < flat.length; n += 2) shown.push(badge(flat[n], flat[n + 1]), " ");
      return shown;
    },
    c: (text) => (texts[text] ? [element("code", "", ...seen(texts[text]))] : []),
    r: ([id, href]) => (href ? [linked(element("a", "", element("code", "", ...seen(id))), href)] : id ? [element("code", "", ...seen(id))] : []),
    s: (text) => told(texts[text]),
    n: (number) => [String(number)],
  };
  const drawn = (row) => {
    const made = document.createElement("tr");
    row[0].forEach((cell, n) => {
      const shown = element(n ? "td" : "th", letters[n] === "n" ? "number" : "", ...draw[letters[n]](cell));
      if (!n) shown.scope = "row";
      made.append(shown);
    });
    return made;
  };

  // What a cell is searched for: the numbers of its texts, and what stands in it as it is.
  const columns = (some) => letters.map((letter, n) => (some.includes(letter) ? n : -1)).filter((n) => n >= 0);
  const [links, named, rules, badges] = [columns("l"), columns("cs"), columns("r"), columns("b")];
  // Whether a row holds a word. Each text is searched once; of places, rules and words there are few, so that they are kept.
  const holds = (word) => {
    lower = lower || texts.map((text) => text.toLowerCase());
    const flags = Uint8Array.from(lower, (text) => (text.includes(word) ? 1 : 0));
    const isPlace = /\d/.test(word);
    const known = new Map();
    const short = (text) => {
      let is = known.get(text);
      if (is === undefined) known.set(text, is = text.toLowerCase().includes(word));
      return is;
    };
    const isIn = (cells) => {
      for (const n of links) if (flags[cells[n][0]] || (isPlace && (lower[cells[n][0]] + cells[n][1]).includes(word))) return true;
      for (const n of named) if (flags[cells[n]]) return true;
      for (const n of rules) if (short(cells[n][0])) return true;
      for (const n of badges) for (let m = 0; m < cells[n].length; m += 2) if (short(words[cells[n][m]] || cells[n][m])) return true;
      return false;
    };
    return isIn;
  };
  const keys = {
    l: (cell) => texts[cell[0]], c: (cell) => texts[cell], s: (cell) => texts[cell], r: (cell) => cell[0], n: (cell) => cell,
    b: (cell) => (cell.length > 1 && cell[1] !== null ? cell.reduce((sum, one) => sum + (Number.isInteger(one) ? one : 0), 0) : cell[0] || ""),
  };
  const sorted = (found, column, ascending) => {
    const key = keys[letters[column]];
    const isNumber = table.tHead.rows[0].cells[column].dataset.sort === "number";
    const value = (row) => (isNumber ? Number(key(row[0][column])) || 0 : String(key(row[0][column])));
    const pairs = found.map((row, n) => [value(row), n, row]);
    const sign = ascending ? 1 : -1;
    pairs.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]));
    return pairs.map((pair) => pair[2]);
  };

  const names = { words: table.id, only: `${table.id}-only`, by: `${table.id}-by`, page: "page" };
  let all = null;
  const sum = (some, index) => { let number = 0; for (const row of some) number += row[index]; return number; };
  const step = (label, page, to) => {
    const button = element("button", "", label);
    button.type = "button";
    button.disabled = to === page;
    button.addEventListener("click", () => { keep(names.page, to > 1 ? String(to) : ""); show(); });
    return button;
  };
  const apply = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean).map(holds);
    const level = choice.value;
    return rows.filter((row) => {
      if (level && !row[1].split(" ").includes(level)) return false;
      for (const is of wanted) if (!is(row[0])) return false;
      return true;
    });
  };
  // An address may name a column that the list does not have.
  const known = (by) => {
    const head = /^-?\d+$/.test(by) ? table.tHead.rows[0].cells[Number(by.replace("-", ""))] : null;
    return head && head.dataset.sort ? by : "";
  };
  function show() {
    const by = known(kept(names.by));
    let found = field.value || choice.value ? apply() : rows;
    if (by) found = sorted(found, Math.abs(Number(by.replace("-", ""))) || 0, !by.startsWith("-"));
    const n_pages = Math.max(1, Math.ceil(found.length / perPage));
    const page = Math.min(n_pages, Math.max(1, Number(kept(names.page)) || 1));
    table.tBodies[0].replaceChildren(...found.slice((page - 1) * perPage, page * perPage).map(drawn));
    all = all || [sum(rows, 2), sum(rows, 3)];
    const those = found === rows ? all : [sum(found, 2), sum(found, 3)];
    said.textContent = counted(tools, [those[0], all[0], those[1], all[1]]);
    const numbers = [page, n_pages];
    const text = walk.dataset.text.replace(/#/g, () => numbers.shift());
    walk.replaceChildren(step(walk.dataset.previous, page, Math.max(1, page - 1)), ` ${text} `, step(walk.dataset.next, page, Math.min(n_pages, page + 1)));
    for (const head of table.tHead.rows[0].cells) {
      head.removeAttribute("aria-sort");
      if (by && by.replace("-", "") === String(head.cellIndex)) head.setAttribute("aria-sort", by.startsWith("-") ? "descending" : "ascending");
    }
  }

  for (const head of table.querySelectorAll("th[data-sort]")) {
    const button = element("button", "", ...head.childNodes);
    button.type = "button";
    head.append(button);
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      keep(names.by, (ascending ? "" : "-") + head.cellIndex);
      keep(names.page, "");
      show();
    });
  }
  const changed = (name, value) => { keep(name, value); keep(names.page, ""); show(); };
  field.addEventListener("input", () => changed(names.words, field.value));
  choice.addEventListener("change", () => changed(names.only, choice.value));
  const restore = () => {
    field.value = kept(names.words);
    choice.value = [...choice.options].some((one) => one.value === kept(names.only)) ? kept(names.only) : "";
    show();
  };
  // The blocks of data are deferred scripts behind this one: they have been read when the document is.
  document.addEventListener("DOMContentLoaded", () => {
    restore();
    addEventListener("popstate", restore);
    addEventListener("pageshow", restore);
    document.documentElement.dataset.list = "ready";
  });
})();
