"use strict";
// A button behind each command that copies it.
for (const line of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = line.dataset.text;
  button.setAttribute("aria-label", `${line.dataset.text}: ${line.querySelector("code").textContent}`);
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => { button.textContent = line.dataset.text; }, 2000);
  };
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(line.querySelector("code").textContent);
      say(line.dataset.copied);
    } catch { // a page from a file may be refused: the line is selected, so that a key copies it
      getSelection().selectAllChildren(line.querySelector("code"));
      say(line.dataset.refused);
    }
  });
  line.append(" ", button);
}
