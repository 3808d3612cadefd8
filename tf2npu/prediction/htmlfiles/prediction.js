"use strict";
// The timeline, and tables that are searched and sorted. The page reads without it, but for the timeline.
(() => {
  document.documentElement.classList.add("js");
  const data = JSON.parse(document.getElementById("data").textContent);
  const t = (template, ...values) => {
    let at = 0;
    return data.texts[template].replace(/\{(\d*)\}/g, (_, number) => values[number === "" ? at++ : Number(number)]);
  };
  const made = (name, text) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // A table shows the rows that hold every word of its search field, in the chosen order, so many at a time.
  const table = (element, onName) => {
    const tools = document.querySelector(`[data-for="${element.id}"]`);
    const field = tools.querySelector("input");
    const said = tools.querySelector("[role=status]");
    const more = document.querySelector(`[data-more="${element.id}"]`);
    const heads = [...element.tHead.rows[0].cells];
    const kinds = heads.map((head) => head.dataset.kind);
    const words = data.rows.map((row) => row.filter((cell) => typeof cell === "string").join("\n").toLowerCase());
    let order = data.rows.map((_, number) => number);
    let shown = data.most;

    const cell = (row, column) => {
      const kind = kinds[column];
      const value = row[column];
      const built = made(column ? "td" : "th");
      if (kind !== "text") {
        built.className = "number";
        built.textContent = value === null ? "-" : value.toFixed(Number(kind));
      } else if (column) {
        built.textContent = value;
      } else {
        built.scope = "row";
        const name = made(onName ? "button" : "code", value);
        if (onName) {
          name.type = "button";
          name.className = "name code";
          name.addEventListener("click", () => onName(row));
        }
        built.append(name);
      }
      return built;
    };

    const apply = () => {
      const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = order.filter((number) => wanted.every((word) => words[number].includes(word)));
      const rows = found.slice(0, shown).map((number) => {
        const line = made("tr");
        line.append(...kinds.map((_, column) => cell(data.rows[number], column)));
        return line;
      });
      element.tBodies[0].replaceChildren(...rows);
      said.textContent = t("{} of {} shown", rows.length, data.rows.length);
      more.hidden = rows.length === found.length;
    };

    field.addEventListener("input", () => { shown = data.most; apply(); });
    more.addEventListener("click", () => { shown += data.most; apply(); });
    heads.forEach((head, column) => {
      const button = made("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const ascending = head.getAttribute("aria-sort") !== "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        const sign = ascending ? 1 : -1;
        const value = (number) => data.rows[number][column];
        // What is not known stands last in either order.
        order.sort((a, b) => {
          const [one, other] = [value(a), value(b)];
          if (one === null || other === null) return (one === null) - (other === null);
          return sign * (one < other ? -1 : one > other ? 1 : 0);
        });
        apply();
      });
    });
    apply();
  };

  // The timeline draws at most one mark for each pixel and lane, however many tasks there are.
  const timeline = (place) => {
    const NAME = 0, TIME = 1, START = 2, TYPE = 3, ENGINE = 4, SOURCE = 6, STREAM = 12; // columns of a row
    const LANE = 26, GAP = 6, HEAD = 20, MOST_LANES = 16, LABEL = 84, NARROW = 1;
    const range = document.getElementById("range"), chosenText = document.getElementById("chosen");
    const end = data.end_us || 1;
    let from = 0, to = end, chosen = -1;
    const tasks = [...data.rows].sort((a, b) => a[START] - b[START]);
    const time = new Map();
    for (const task of tasks) time.set(task[STREAM], (time.get(task[STREAM]) || 0) + task[TIME]);
    const busiest = [...time].sort((a, b) => b[1] - a[1]).slice(0, MOST_LANES).map(([stream]) => stream);
    const lanes = busiest.sort((a, b) => a - b);
    const of_lane = new Map(lanes.map((stream) => [stream, []]));
    tasks.forEach((task, number) => { if (of_lane.has(task[STREAM])) of_lane.get(task[STREAM]).push(number); });
    const shape = (name, attributes, text) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      if (text !== undefined) element.textContent = text;
      return element;
    };
    const us = (value) => value >= 1000 ? `${(value / 1000).toFixed(3)} ms` : `${value.toFixed(2)} us`;
    const told = (task) => `${task[NAME]} (${[task[TYPE], task[ENGINE], task[SOURCE]].filter(Boolean).join(", ")}): ${us(task[TIME])}`;

    const marks = (stream, y, at, wide) => {
      const drawn = [];
      let group = null;
      const put = () => {
        if (!group) return;
        const first = tasks[group.first];
        const mark = shape("rect", { class: (Object.hasOwn(data.marks, first[ENGINE]) && data.marks[first[ENGINE]]) || "other", x: group.left.toFixed(1), y, height: LANE,
          width: Math.max(group.right - group.left - (group.count > 1 ? 0 : .4), NARROW).toFixed(1), "data-task": group.first });
        if (group.first <= chosen && chosen <= group.last && (group.count > 1 || group.first === chosen)) mark.classList.add("chosen");
        mark.append(shape("title", {}, group.count > 1 ? t("{} tasks, {} in all", group.count, us(group.time)) : told(first)));
        drawn.push(mark);
      };
      for (const number of of_lane.get(stream)) {
        const task = tasks[number];
        if (task[START] + task[TIME] < from || task[START] > to) continue;
        const left = Math.max(at(task[START]), LABEL), right = Math.min(at(task[START] + task[TIME]), wide);
        if (group && right - left < NARROW && left < group.left + NARROW) {
          group.right = Math.max(group.right, right);
          group.last = number; group.count += 1; group.time += task[TIME];
          continue;
        }
        put();
        group = { first: number, last: number, count: 1, time: task[TIME], left, right };
      }
      put();
      return drawn;
    };

    const draw = () => {
      const wide = Math.max(place.clientWidth, 320);
      const high = HEAD + lanes.length * (LANE + GAP);
      const at = (moment) => LABEL + (moment - from) / (to - from) * (wide - LABEL);
      const picture = shape("svg", { viewBox: `0 0 ${wide} ${high}`, height: high, "aria-hidden": "true" });
      for (let part = 0; part <= 4; part += 1) {
        const moment = from + (to - from) * part / 4, x = at(moment);
        picture.append(shape("line", { class: "grid", x1: x, x2: x, y1: HEAD - 4, y2: high }));
        picture.append(shape("text", { x: part === 4 ? x - 2 : x + 2, y: 13, "text-anchor": part === 4 ? "end" : "start" }, us(moment)));
      }
      lanes.forEach((stream, number) => {
        const y = HEAD + number * (LANE + GAP);
        picture.append(shape("rect", { class: "lane", x: LABEL, y, width: wide - LABEL, height: LANE }));
        picture.append(shape("text", { x: 6, y: y + 17 }, t("stream {}", stream)));
        picture.append(...marks(stream, y, at, wide));
      });
      place.replaceChildren(picture);
      const rest = time.size - lanes.length;
      if (rest) place.append(made("p", t("{} further streams are not drawn: {} lanes fit", rest, MOST_LANES)));
      range.textContent = t("{} to {} of {}", us(from), us(to), us(end));
      chosenText.textContent = chosen < 0 ? t("no task is chosen") : `${t("task {} of {}", chosen + 1, tasks.length)}: ${told(tasks[chosen])}`;
    };

    const show = (low, high) => {
      const least = Math.min(end, .05);
      const span = Math.min(Math.max(high - low, least), end);
      from = Math.min(Math.max(low, 0), end - span);
      to = from + span;
      draw();
    };
    const zoom = (factor, moment = (from + to) / 2) => show(moment - (moment - from) * factor, moment + (to - moment) * factor);
    const move = (part) => show(from + (to - from) * part, to + (to - from) * part);
    const choose = (number) => {
      chosen = Math.min(Math.max(number, 0), tasks.length - 1);
      const task = tasks[chosen], middle = task[START] + task[TIME] / 2;
      if (task[START] < from || task[START] + task[TIME] > to) show(middle - (to - from) / 2, middle + (to - from) / 2);
      else draw();
    };
    const actions = { in: () => zoom(.5), out: () => zoom(2), left: () => move(-.25), right: () => move(.25), all: () => show(0, end),
      next: () => choose(chosen + 1), previous: () => choose(chosen < 0 ? 0 : chosen - 1) };
    const KEYS = { "+": "in", "=": "in", "-": "out", "ArrowLeft": "left", "ArrowRight": "right", "0": "all", "n": "next", "p": "previous" };
    for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", actions[button.dataset.do]);
    place.addEventListener("keydown", (event) => {
      const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      actions[action]();
    });
    const moment_at = (event) => {
      const box = place.getBoundingClientRect();
      return from + Math.max(event.clientX - box.left - LABEL, 0) / (box.width - LABEL) * (to - from);
    };
    place.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? .8 : 1.25, moment_at(event));
    }, { passive: false });
    let held = null;
    place.addEventListener("pointerdown", (event) => { held = { x: event.clientX, low: from, high: to }; });
    addEventListener("pointermove", (event) => {
      if (!held || !(event.buttons & 1)) { held = null; return; }
      const moved = (event.clientX - held.x) / (place.clientWidth - LABEL) * (held.high - held.low);
      if (Math.abs(event.clientX - held.x) > 3) show(held.low - moved, held.high - moved);
    });
    addEventListener("pointerup", () => { held = null; });
    place.addEventListener("click", (event) => {
      const mark = event.target.closest("[data-task]");
      if (mark) choose(Number(mark.dataset.task));
    });
    addEventListener("resize", draw);
    addEventListener("beforeprint", draw);
    draw();
    return (row) => {
      const number = tasks.indexOf(row), spare = Math.max(row[TIME] * 2, end / 200);
      chosen = number;
      show(row[START] - spare, row[START] + row[TIME] + spare);
      place.scrollIntoView({ block: "center" });
      place.focus({ preventScroll: true });
    };
  };

  const place = document.getElementById("timeline");
  const onName = place ? timeline(place) : null;
  for (const element of document.querySelectorAll("table.rows")) table(element, onName);
})();
