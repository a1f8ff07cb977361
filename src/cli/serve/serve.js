"use strict";
(() => {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = (name) => root.setAttribute("data-theme", name);
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () =>
    theme(root.getAttribute("data-theme") === "dark" ? "light" : "dark"));

  const list = document.getElementById("runs");
  if (!list) return;
  const compare = document.getElementById("compare");
  const ticked = () => { compare.disabled = list.querySelectorAll("input:checked").length < 2; };
  list.addEventListener("change", ticked);
  addEventListener("pageshow", ticked);
  ticked();
  if (list.dataset.live === undefined) return;

  const body = list.querySelector("tbody"), live = document.getElementById("live"), trouble = document.getElementById("trouble");
  const words = (running) => running === 0 ? "nothing runs" : running === 1 ? "1 run under way" : `${running} runs under way`;
  const say = (text) => { trouble.textContent = text; trouble.hidden = text === ""; };
  const put = ({ run, row }) => {
    const holder = document.createElement("tbody");
    holder.innerHTML = row;
    const fresh = holder.rows[0], known = body.querySelector(`tr[data-run="${run}"]`);
    if (known) {
      const tick = known.querySelector("input"), focused = document.activeElement === tick;
      fresh.querySelector("input").checked = tick.checked;
      known.replaceWith(fresh);
      if (focused) fresh.querySelector("input").focus();
    } else {
      // Newest first.
      const older = [...body.rows].find((other) => Number(other.dataset.run) < run);
      body.insertBefore(fresh, older ?? null);
    }
  };
  // Only a page that is seen asks: browsers allow few open connections, and a page behind others needs none.
  let source = null;
  const listen = () => {
    if (source || document.hidden) return;
    source = new EventSource("/events");
    source.addEventListener("runs", (event) => {
      const { rows, running } = JSON.parse(event.data);
      rows.forEach(put);
      live.textContent = words(running);
      say("");
    });
    source.addEventListener("trouble", (event) => say(event.data));
    source.addEventListener("open", () => say(""));
    source.addEventListener("error", () => say("No news from the server: is `bookahead serve` still running?"));
  };
  const stop = () => { if (source) source.close(); source = null; };
  document.addEventListener("visibilitychange", () => document.hidden ? stop() : listen());
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);
  listen();
})();
