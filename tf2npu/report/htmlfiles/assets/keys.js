"use strict";
// Keys as in coverage.py's report, and the switch between light and dark.
(() => {
  const root = document.body.dataset.root;
  document.querySelector("footer").insertAdjacentHTML("beforeend", window.tf2npuHelp);  // a text of the report's own
  const help = document.getElementById("keys");

  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const switchTheme = () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("tf2npu-theme", next); } catch { /* then it holds for this page */ }
  };
  const showHelp = () => { if (help.open) help.close(); else help.showModal(); };
  document.querySelector("[data-switch-theme]").addEventListener("click", switchTheme);
  document.querySelector("[data-show-keys]").addEventListener("click", showHelp);

  // The finding in whose note the focus is, or else the first one below the upper border of the window.
  const step = (by) => {
    const notes = [...document.querySelectorAll(".note")].filter((note) => note.checkVisibility());
    if (!notes.length) return;
    const here = notes.indexOf(document.activeElement);
    const below = notes.findIndex((note) => note.getBoundingClientRect().top > 0);
    const to = here >= 0 ? here + by : by > 0 ? below : (below < 0 ? notes.length : below) - 1;
    const note = notes[Math.min(notes.length - 1, Math.max(0, to < 0 && by > 0 ? notes.length - 1 : to))];
    note.tabIndex = -1;
    note.focus();
    note.scrollIntoView({ block: "center" });
  };
  const follow = (selector) => { const link = document.querySelector(selector); if (link) location.href = link.href; };
  const up = () => {
    if (root) location.href = `${root}files.html`;
    else if (!/\/index\.html$/.test(location.pathname)) location.href = "index.html";
  };
  const search = () => { const field = document.querySelector("input[type=search]"); if (field) { field.focus(); field.select(); } };
  const actions = {
    j: () => step(1), k: () => step(-1), "[": () => follow("a[rel=prev]"), "]": () => follow("a[rel=next]"), u: up, "/": search,
    t: switchTheme, "?": showHelp,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  });
})();
