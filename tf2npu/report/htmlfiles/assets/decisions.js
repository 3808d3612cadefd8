"use strict";
// Answers to the cards of decisions: kept by the browser, exported as a check-list and as the file that `convert --decisions` reads.
(() => {
  const panel = document.getElementById("answers");
  const cards = [...document.querySelectorAll("[data-decision]")];
  const [said, show, who] = ["kept", "show", "who"].map((id) => document.getElementById(id));
  const exported = document.getElementById("exported");
  const store = `tf2npu-decisions:${panel.dataset.report}`;
  const CHOICES = ["edit", "suppress", "accept"];
  const NEEDED = { edit: 1, suppress: 2, accept: 0 };  // the bit that a finding needs for a choice
  let isKept = true;

  // What was kept, whoever wrote it: only what has the form of an answer.
  const text = (value, most) => (typeof value === "string" ? value.slice(0, most) : "");
  const answerOf = (value) => ({
    choice: CHOICES.includes(value.choice) ? value.choice : "", who: text(value.who, 200), note: text(value.note, 2000), done: value.done === true,
  });
  const read = () => {
    let found = {};
    try { found = JSON.parse(localStorage.getItem(store) || "{}"); } catch (error) { isKept = error instanceof SyntaxError; }
    const all = new Map();
    for (const [id, value] of Object.entries(found && typeof found === "object" ? found : {})) {
      if (/^[0-9a-f]{16}$/.test(id) && value && typeof value === "object") all.set(id, answerOf(value));
    }
    return all;
  };
  let answers = read();
  let name = "";
  try { name = text(localStorage.getItem("tf2npu-who"), 200); } catch { isKept = false; }

  const write = () => {
    try {
      localStorage.setItem(store, JSON.stringify(Object.fromEntries(answers)));
      if (name) localStorage.setItem("tf2npu-who", name);
      isKept = true;
    } catch { isKept = false; }
    tell();
  };
  const tell = () => {
    const all = [...answers.values()];
    const numbers = [all.filter((one) => one.choice).length, panel.dataset.cards, all.filter((one) => one.done).length];
    const counts = said.dataset.decided.replace(/#/g, () => numbers.shift());
    said.textContent = isKept ? counts : `${counts}. ${said.dataset.lost}`;
  };

  const part = (card, field) => card.querySelector(`input[name=${field}]`);
  const draw = (card) => {
    const answer = answers.get(card.dataset.decision) || answerOf({});
    for (const one of card.querySelectorAll("input[type=radio]")) one.checked = one.value === answer.choice;
    part(card, "done").checked = answer.done;
    part(card, "who").value = answer.who;
    part(card, "note").value = answer.note;
    card.dataset.state = answer.done ? "done" : answer.choice ? "decided" : "open";
  };
  const take = (card) => {
    const chosen = card.querySelector("input[type=radio]:checked");
    const answer = answerOf({ choice: chosen ? chosen.value : "", who: part(card, "who").value, note: part(card, "note").value, done: part(card, "done").checked });
    if (chosen && !answer.who) answer.who = name;
    if (answer.choice || answer.done || answer.note || answer.who) answers.set(card.dataset.decision, answer);
    else answers.delete(card.dataset.decision);
    draw(card);
    write();
  };
  for (const card of cards) {
    card.addEventListener("change", () => take(card));
    card.querySelector("button[name=clear]").addEventListener("click", () => { answers.delete(card.dataset.decision); draw(card); write(); });
  }
  who.addEventListener("change", () => { name = text(who.value, 200); write(); });

  const { kept, keep } = window.tf2npu;
  const list = document.getElementById("decisions");
  const filter = () => {
    show.value = [...show.options].some((one) => one.value === kept("show")) ? kept("show") : "";
    list.dataset.show = show.value;
  };
  show.addEventListener("change", () => { keep("show", show.value); filter(); });

  // The data of all cards, also of those on other pages: read once somebody exports.
  const known = [];
  window.tf2npu.decisions = (items) => {
    for (const item of items) {
      if (item.length === 6) known.push({ id: item[0], rule: item[1], title: item[2], question: item[3], sentence: item[4], places: item[5], files: [] });
      else known[known.length - 1].files.push(item);
    }
  };
  const load = (block) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = block;
    script.async = false;
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    document.head.append(script);
  });
  let loading = null;
  const data = () => { loading = loading || Promise.all(JSON.parse(panel.dataset.blocks).map(load)); return loading; };

  // Strings as TOML has them: JSON's, without what TOML does not take.
  const quoted = (value) => JSON.stringify(value.replace(/[\ud800-\udfff]/gu, "\ufffd")).replace(/\u007f/g, "\\u007f");
  const entry = (card, answer) => {
    const files = new Map();
    let [n_findings, n_places] = [0, 0];
    for (const [path, keys, allowed, places] of card.files) {
      keys.forEach((key, n) => {
        if ((allowed[n] & NEEDED[answer.choice]) !== NEEDED[answer.choice]) return;
        files.set(path, [...(files.get(path) || []), key]);
        n_findings += 1;
        n_places += places[n];
      });
    }
    if (!n_findings) return "";
    const lines = [
      "", "[[decisions]]", `id = ${quoted(card.id)}`, `rule = ${quoted(card.rule)}`, `sentence = ${quoted(card.sentence)}`, `choice = ${quoted(answer.choice)}`,
      `who = ${quoted(answer.who)}`, `note = ${quoted(answer.note)}`, `places = ${n_places}`, `findings = ${n_findings}`, "[decisions.files]",
    ];
    for (const [path, keys] of files) lines.push(`${quoted(path)} = [${keys.map(quoted).join(", ")}]`);
    return lines.join("\n");
  };
  const toml = () => {
    const entries = known.filter((card) => answers.get(card.id)?.choice).map((card) => entry(card, answers.get(card.id))).filter(Boolean);
    const head = ["# `tf2npu convert SRC OUT --decisions tf2npu-decisions.toml` carries these decisions out.", 'tool = "tf2npu"', 'schema_version = "1.0"',
      `report = ${quoted(panel.dataset.report)}`, `count = ${entries.length}`];
    return [`${head.join("\n")}\n${entries.length ? "" : "decisions = []\n"}${entries.join("\n")}\n`, entries.length];
  };
  const plain = (value) => value.replace(/\s+/g, " ").replace(/[\\*_<>[\]|#]/g, "\\$&");
  const checklist = () => {
    const lines = known.map((card) => {
      const answer = answers.get(card.id) || answerOf({});
      const told = [answer.choice, answer.who, answer.note].filter(Boolean).map(plain).join(" - ");
      return `- [${answer.done ? "x" : " "}] ${plain(card.rule)} ${plain(card.title)} (${card.places}): ${plain(card.question)}${told ? ` **${told}**` : ""}\n  ${plain(card.sentence)}`;
    });
    return [`# tf2npu ${panel.dataset.report}\n\n${lines.join("\n")}\n`, lines.length];
  };
  const save = (file, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "text/plain" }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const give = (kind) => {
    const [content, number] = kind === "toml" ? toml() : checklist();
    exported.hidden = false;
    exported.querySelector("textarea").value = content;
    tell();
    if (!number) { said.textContent = said.dataset.nothing; return; }
    try { save(kind === "toml" ? "tf2npu-decisions.toml" : "tf2npu-decisions.md", content); } catch { exported.open = true; }
  };
  for (const button of panel.querySelectorAll("[data-export]")) {
    button.addEventListener("click", () => {
      data().then(() => give(button.dataset.export), () => { said.textContent = said.dataset.failed; });
    });
  }

  const restore = () => { cards.forEach(draw); who.value = name; filter(); tell(); };
  addEventListener("storage", (event) => { if (event.key === store) { answers = read(); restore(); } });
  addEventListener("popstate", filter);
  addEventListener("pageshow", restore);
  restore();
  document.documentElement.dataset.decisions = "ready";
})();
