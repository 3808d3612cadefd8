"use strict";
// Before the page is drawn: the reader's own choice of colours, where there is one.
(() => {
  let chosen = "";
  try { chosen = localStorage.getItem("tf2npu-theme") || ""; } catch { /* a browser may keep nothing for files */ }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  document.documentElement.classList.add("js");
})();
