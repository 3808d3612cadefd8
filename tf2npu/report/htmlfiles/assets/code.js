"use strict";
// What a person does with the code of a file: shows it in one column, copies a patch, a comment or a link.
(() => {
  const code = document.getElementById("code-table");
  const tools = document.querySelector("#code .tools");
  const said = tools.querySelector("[role=status]");
  const words = document.getElementById("keys").dataset;
  const say = (text) => { said.textContent = text; };

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      say(words.copied);
    } catch {
      const shown = document.createElement("textarea");
      shown.value = text;
      shown.rows = Math.min(20, text.split("\n").length);
      shown.setAttribute("aria-label", words.refused);
      say(words.refused);
      for (const old of tools.parentElement.querySelectorAll("textarea")) old.remove();
      tools.after(shown);
      shown.select();
    }
  };

  const unified = tools.querySelector("[data-unified]");
  if (unified) {
    const put = (is) => { code.classList.toggle("unified", is); unified.setAttribute("aria-pressed", String(is)); };
    let is = false;
    try { is = localStorage.getItem("tf2npu-unified") === "1"; } catch { /* a browser may keep nothing for files */ }
    put(is);
    unified.addEventListener("click", () => {
      is = !is;
      put(is);
      try { localStorage.setItem("tf2npu-unified", is ? "1" : ""); } catch { /* then it holds for this page */ }
    });
  }

  for (const note of code.querySelectorAll(".note")) {
    const buttons = document.createElement("p");
    buttons.className = "copies";
    const add = (label, text) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", () => copied(text()));
      buttons.append(button, " ");
    };
    add(words.suppress, () => `# tf2npu: ignore[${note.dataset.rule}]`);
    add(words.link, () => { const here = new URL(location.href); here.hash = note.id; return here.href; });
    note.append(buttons);
  }

  // The text of a cell as it stands in the file: characters that are shown as code points are put back; null for a cut line.
  const textOf = (cell) => {
    if (cell.querySelector(".rest")) return null;
    const copy = cell.cloneNode(true);
    for (const odd of copy.querySelectorAll(".odd")) odd.replaceWith(String.fromCodePoint(parseInt(odd.textContent.slice(2), 16)));
    return copy.textContent;
  };
  // Rows of a table as lines of a patch: [sign, text, number before, number after].
  const linesOf = (table) => {
    const lines = [];
    for (const row of table.tBodies[0].rows) {
      if (row.cells.length !== 4) continue;
      const [before, left, after, right] = row.cells;
      if (!left.className.includes("old") && !right.className.includes("new") && before.textContent && after.textContent) {
        lines.push([" ", textOf(left), Number(before.textContent), Number(after.textContent)]);
        continue;
      }
      if (before.textContent) lines.push(["-", textOf(left), Number(before.textContent), 0]);
      if (after.textContent) lines.push(["+", textOf(right), 0, Number(after.textContent)]);
    }
    return lines;
  };
  const context = 3;  // lines around a change, as diff and git have them
  const hunksOf = (lines) => {
    const hunks = [];
    lines.forEach((line, n) => {
      if (line[0] === " ") return;
      const [from, to] = [Math.max(0, n - context), Math.min(lines.length, n + context + 1)];
      const last = hunks[hunks.length - 1];
      if (last && from <= last[1]) last[1] = to;
      else hunks.push([from, to]);
    });
    return hunks.map(([from, to]) => lines.slice(from, to));
  };
  const header = (hunk, delta) => {
    const n_before = hunk.filter((line) => line[0] !== "+").length;
    const n_after = hunk.filter((line) => line[0] !== "-").length;
    const first = hunk.find((line) => line[2]);
    const before = first ? first[2] : 0;
    return [`@@ -${before},${n_before} +${before + delta},${n_after} @@`, delta + n_after - n_before];
  };
  const patch = (path, end) => {
    const hunks = [...code.querySelectorAll("table.diff")].flatMap((table) => hunksOf(linesOf(table)));
    if (hunks.some((hunk) => hunk.some((line) => line[1] === null))) return "";
    const name = /[\s"\\]/.test(path) ? null : path;
    if (name === null) return "";
    const text = [`--- a/${name}`, `+++ b/${name}`];
    let delta = 0;
    for (const hunk of hunks) {
      const [head, next] = header(hunk, delta);
      delta = next;
      text.push(head);
      const lines = hunk.filter((line) => line[0] === " " || line[0] === "-" || line[0] === "+");
      for (const line of grouped(lines)) text.push(line[0] + line[1] + (end === "crlf" ? "\r" : ""));
    }
    return `${text.join("\n")}\n`;
  };
  // What goes stands before what comes, as diff has it.
  const grouped = (lines) => {
    const result = [];
    let [gone, come] = [[], []];
    const flush = () => { result.push(...gone, ...come); [gone, come] = [[], []]; };
    for (const line of lines) {
      if (line[0] === " ") { flush(); result.push(line); } else (line[0] === "-" ? gone : come).push(line);
    }
    flush();
    return result;
  };
  const button = tools.querySelector("[data-patch]");
  if (button) {
    const text = patch(button.dataset.patch, button.dataset.lineEnd);
    if (text) button.addEventListener("click", () => copied(text));
    else button.remove();
  }
})();
