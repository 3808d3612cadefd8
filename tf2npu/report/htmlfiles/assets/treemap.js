"use strict";
// The treemap: a click goes into a folder, Escape goes back, arrow keys move between boxes.
(() => {
  const map = document.getElementById("treemap");
  if (!map) return;
  const boxes = [...map.children];
  const whole = map.getAttribute("viewBox");
  const parent = (box) => boxes[Number(box.dataset.parent)];
  const beside = (box) => boxes.filter((other) => other.dataset.parent === box.dataset.parent);
  const inside = (box) => boxes.filter((other) => parent(other) === box);
  let shown = boxes[0];

  const show = (box) => {
    const area = box.querySelector("rect");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(area.getAttribute(name)));
    map.setAttribute("viewBox", box === boxes[0] ? whole : `${x} ${y} ${width} ${height}`);
    const scale = Math.max(width / Number(whole.split(" ")[2]), height / Number(whole.split(" ")[3]));
    map.style.setProperty("--letter", `${11 * scale}px`);
    for (const other of boxes) label(other, scale);
    shown = box;
  };
  // As much of a box's name as there is room for; where the picture is larger, units are.
  const label = (box, scale) => {
    const area = box.querySelector("rect");
    const room = Math.floor((Number(area.getAttribute("width")) / scale - 8) / 6.6);
    const name = box.dataset.name;
    const fits = Number(area.getAttribute("height")) / scale >= 14 && room >= 3;
    let text = box.querySelector("text");
    if (!text) box.append(text = document.createElementNS(map.namespaceURI, "text"));
    text.setAttribute("x", Number(area.getAttribute("x")) + 4 * scale);
    text.setAttribute("y", Number(area.getAttribute("y")) + 12 * scale);
    text.textContent = !fits ? "" : name.length <= room ? name : `${name.slice(0, room - 1)}\u2026`;
  };
  const focus = (box) => {
    if (!box) return;
    for (const other of boxes) other.setAttribute("tabindex", "-1");
    box.setAttribute("tabindex", "0");
    box.focus();
  };
  const enter = (box) => {
    if (!box.classList.contains("folder")) return;
    show(box);
    focus(inside(box)[0] || box);
  };
  const leave = () => {
    const from = shown;
    show(parent(from) || boxes[0]);
    focus(from === boxes[0] ? boxes[0] : from);
  };

  boxes.forEach((box, number) => {
    box.setAttribute("tabindex", number ? "-1" : "0");
    if (box.tagName !== "a") box.setAttribute("role", box.classList.contains("folder") ? "button" : "img");
    box.addEventListener("click", (event) => {
      if (box.classList.contains("folder")) { event.preventDefault(); if (box === shown) leave(); else enter(box); }
    });
  });
  const moves = {
    ArrowRight: (box) => { const all = beside(box); return all[(all.indexOf(box) + 1) % all.length]; },
    ArrowLeft: (box) => { const all = beside(box); return all[(all.indexOf(box) + all.length - 1) % all.length]; },
    ArrowDown: (box) => inside(box)[0], ArrowUp: (box) => parent(box),
  };
  map.addEventListener("keydown", (event) => {
    const box = event.target.closest("#treemap > *");
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(moves, event.key)) focus(moves[event.key](box));
    else if ((event.key === "Enter" || event.key === " ") && box.classList.contains("folder")) enter(box);
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  });
})();
