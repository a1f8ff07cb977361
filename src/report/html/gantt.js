"use strict";
(() => {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => root.setAttribute("data-theme", dark.matches ? "dark" : "light");
  theme(); dark.addEventListener("change", theme);
  const svg = document.querySelector("svg.gantt"), all = svg.viewBox.baseVal;
  const whole = [all.x, all.y, all.width, all.height];
  let view = [...whole];
  const set = () => svg.setAttribute("viewBox", view.join(" "));
  const zoom = (factor, x, y) => {
    const width = Math.min(whole[2], Math.max(whole[2] / 400, view[2] * factor)), scale = width / view[2];
    view = [x - (x - view[0]) * scale, y - (y - view[1]) * scale, width, view[3] * scale];
    if (width >= whole[2]) view = [...whole];
    set();
  };
  const middle = () => [view[0] + view[2] / 2, view[1] + view[3] / 2];
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    return [view[0] + (event.clientX - box.left) / box.width * view[2], view[1] + (event.clientY - box.top) / box.height * view[3]];
  };
  svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, ...at(event)); }, { passive: false });
  let from = null;
  svg.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY, ...view]; svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const box = svg.getBoundingClientRect();
    view[0] = from[2] - (event.clientX - from[0]) / box.width * view[2];
    view[1] = from[3] - (event.clientY - from[1]) / box.height * view[3];
    set();
  });
  svg.addEventListener("pointerup", () => { from = null; });
  for (const button of document.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => { const by = Number(button.dataset.zoom); if (by) zoom(by, ...middle()); else { view = [...whole]; set(); } });
  document.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT") return;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (moves) { view[0] += moves[0] * view[2] / 10; view[1] += moves[1] * view[3] / 10; set(); event.preventDefault(); }
    else if (event.key === "+" || event.key === "=") zoom(0.5, ...middle());
    else if (event.key === "-") zoom(2, ...middle());
    else if (event.key === "0") { view = [...whole]; set(); }
  });
  const tip = document.getElementById("tip");
  svg.addEventListener("pointerover", (event) => {
    const mark = event.target.closest("[data-t]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.t;
    tip.style.left = Math.min(innerWidth - 430, event.clientX + 14) + "px";
    tip.style.top = Math.min(innerHeight - 130, event.clientY + 14) + "px";
  });
  document.getElementById("kind").addEventListener("change", (event) => {
    for (const bar of svg.querySelectorAll(".field > g, .field > .planned, .field > .overbooked, .field > .killed, .field > .lost, .field > .best-effort"))
      bar.classList.toggle("faint", event.target.value !== "" && !bar.classList.contains(event.target.value));
  });
})();
