// Opens the tour on the first visit, as far as the browser remembers.
"use strict";
(() => {
  const tour = document.querySelector("details.tour");
  if (!tour) return;
  const KEY = "tf2npu-tour";
  let seen = true;
  try {
    seen = localStorage.getItem(KEY) !== null;
    localStorage.setItem(KEY, "seen");
  } catch (refused) {
    seen = true; // a tour that opens at each visit would be in the way
  }
  if (!seen) tour.open = true;
})();
