// The table of all rows, with sliders for the thresholds.
(() => {
  document.documentElement.classList.add("js");
  const data = JSON.parse(document.getElementById("data").textContent);
  const heads = JSON.parse(document.getElementById("names").textContent);
  const byId = (id) => document.getElementById(id);
  const columns = data.columns;
  const n = columns.Index.length;
  const AGREES = 0, DIFFERS = 1, NOT_COMPARED = 3;
  const verdicts = ["agrees", "differs", "rounding", "not compared"];
  const t = translator(data.texts);
  const lower = data.list.map((text) => text.toLowerCase());
  const searched = ["Operator", "Type", "Reference", "Tensor", "Line", "Why"];
  const limits = data.sliders.map(() => null);
  let verdict = columns.Verdict.slice();
  let missed = data.missed.slice();
  const checked = () => [...byId("columns").querySelectorAll("input:checked")].map((box) => box.value);
  let shown = checked();

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

  const isText = (name) => data.kinds[name] === "text";
  const isNumber = (name) => !isText(name) && name !== "Verdict";
  const misses = (name, row) => {
    const slider = data.sliders.findIndex((one) => one[0] === name);
    return slider >= 0 && missed[row] & (1 << slider) && verdict[row] === DIFFERS;
  };
  const table = virtualTable({
    n, t,
    columns: () => shown,
    spoken: () => shown,
    head: (name) => heads[name],
    text: (name, row) => {
      const value = columns[name][row];
      if (name === "Verdict") return t(verdicts[verdict[row]]);
      if (isText(name)) return data.list[value];
      return value === null ? "-" : typeof value === "string" || name === "Index" ? String(value) : String(Number(value.toPrecision(6)));
    },
    isNumber,
    isName: (name) => name === "Operator",
    rowClass: (row) => verdicts[verdict[row]].replace(" ", "-"),
    cellClass: (name, row) => (isNumber(name) ? "number" : "") + (misses(name, row) ? " missed" : ""),
    keys: (name) => {
      if (name === "Verdict") return verdict;
      if (isText(name)) {
        const rank = ranks(lower);
        return columns[name].map((value) => rank[value]);
      }
      return columns[name].map((value) => (typeof value === "number" ? value : value === "inf" ? Infinity : value === "-inf" ? -Infinity : NaN));
    },
    firstSign: () => 1,
    sortedBy: "",
    fits: () => {
      const [only, invalid, inserted] = ["only", "invalid", "inserted"].map((id) => byId(id).checked);
      const star = data.list.indexOf("*");
      const holds = rowSearch(byId("search").value, lower, searched.map((name) => columns[name]));
      return (row) => (!only || verdict[row] === DIFFERS) && (invalid || verdict[row] !== NOT_COMPARED)
        && (inserted || columns.Reference[row] !== star) && holds(row);
    },
    said: (count) => (count ? t("{} of {} rows", count, n) : t("no row fits")),
  });

  byId("search").addEventListener("input", table.filter);
  for (const id of ["only", "invalid", "inserted"]) byId(id).addEventListener("change", table.filter);
  byId("columns").addEventListener("change", () => {
    shown = checked();
    table.drawHead();
    table.draw();
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
      table.filter();
    });
  });
  byId("reset").addEventListener("click", () => {
    sliders.forEach((input, slider) => { limits[slider] = null; input.value = 0; say(slider); });
    judge();
    table.filter();
  });

  if (data.first >= 0) {
    table.choose(data.first, false);
    byId("to-row").addEventListener("click", () => {
      for (const [id, value] of [["only", false], ["inserted", true]]) byId(id).checked = value;
      byId("search").value = "";
      table.show(data.first);
    });
    byId("first").focus({preventScroll: true});
  }
})();
