"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = (name) => root.setAttribute("data-theme", name);
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () =>
    theme(root.getAttribute("data-theme") === "dark" ? "light" : "dark"));

  // Sorting: numbers by value, names by letters, what is missing last.
  const value = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    const number = Number(text.replaceAll(",", "").replace(/ ?%$/, ""));
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const missing = (item) => item === "–" || item === "undefined" || item === "";
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };
  for (const table of document.querySelectorAll("table.sorts")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = [...body.rows].map((row, place) => ({ row, place, key: value(row.cells[column]) }));
      rows.sort((a, b) => {
        const gone = missing(a.key) - missing(b.key);
        return gone || (up ? compare(a.key, b.key) : compare(b.key, a.key)) || a.place - b.place;
      });
      body.append(...rows.map((item) => item.row));
    }));
  }

  // Filtering: rows by the columns that are axes, figures by what they are fixed at, marks by their strategy.
  const form = document.getElementById("filters");
  const filter = () => {
    const wanted = [...form.querySelectorAll("select")].filter((select) => select.value !== "")
      .map((select) => [select.dataset.axis, select.value]);
    let rows = 0, figures = 0;
    for (const table of document.querySelectorAll("table.sorts")) {
      const keys = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.key);
      const tests = wanted.map(([axis, choice]) => {
        const name = axis === "scheduling.strategy" ? "strategy" : axis;
        return [keys.indexOf(name), choice];
      }).filter(([column]) => column >= 0);
      for (const row of table.tBodies[0].rows) {
        row.hidden = !tests.every(([column, choice]) => row.cells[column].textContent.trim() === choice);
        rows += row.hidden ? 0 : 1;
      }
    }
    for (const figure of document.querySelectorAll("figure[data-given]")) {
      const given = JSON.parse(figure.dataset.given);
      figure.hidden = !wanted.every(([axis, choice]) => given[axis] === undefined || given[axis] === choice);
      figures += figure.hidden ? 0 : 1;
    }
    document.getElementById("shown").textContent =
      wanted.length ? `${rows} rows, ${figures} figures` : "";
  };
  if (form) {
    form.addEventListener("change", filter);
    form.addEventListener("reset", () => setTimeout(filter));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  // Values under the pointer, a finger or the keyboard's focus.
  const tip = document.getElementById("tip");
  const show = (mark) => {
    tip.textContent = mark.dataset.t;
    tip.hidden = false;
    const at = mark.getBoundingClientRect(), box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(innerWidth - box.width - 4, at.left + at.width / 2 - box.width / 2)) + "px";
    tip.style.top = (at.top - box.height - 8 > 0 ? at.top - box.height - 8 : at.bottom + 8) + "px";
  };
  const quote = (text) => text.replaceAll("'", "''");
  const behind = (mark) => {
    const figure = mark.closest("figure"), line = figure.querySelector(".behind");
    if (!line) return;
    // A strategy may have several lines: "heuristic-overbooking, promised".
    const strategy = mark.dataset.s.split(", ")[0];
    const words = [`run = ${document.body.dataset.run}`, `strategy = '${quote(strategy)}'`];
    for (const [key, choice] of Object.entries(JSON.parse(figure.dataset.given)))
      words.push(`axes ->> '$."${key}"' = ${Number.isNaN(Number(choice)) ? `'${quote(choice)}'` : choice}`);
    if (figure.dataset.x.includes(".") && !Number.isNaN(Number(mark.dataset.x)) && figure.querySelector("polyline"))
      words.push(`axes ->> '$."${figure.dataset.x}"' = ${mark.dataset.x}`);
    const code = document.createElement("code");
    code.textContent = `bookahead sql "SELECT place, replication, gain, successful, failed FROM v_point WHERE ${words.join(" AND ").replaceAll('"', '\\"')}"`;
    const after = document.createElement("span");
    after.textContent = " shows the points behind this mark; `bookahead show RUN --point PLACE` shows the jobs behind one of them.";
    line.replaceChildren(code, after);
    line.hidden = false;
  };
  const marked = (event) => event.target.closest ? event.target.closest("[data-t]") : null;
  for (const name of ["pointerover", "focusin"])
    document.addEventListener(name, (event) => { const mark = marked(event); if (mark) show(mark); });
  for (const name of ["pointerout", "focusout"])
    document.addEventListener(name, (event) => { if (marked(event)) tip.hidden = true; });
  document.addEventListener("click", (event) => { const mark = marked(event); if (mark) { show(mark); behind(mark); } });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
    const mark = marked(event);
    if (mark && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); behind(mark); }
  });

  for (const button of document.querySelectorAll(".copy"))
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("pre").textContent;
      try { await navigator.clipboard.writeText(text); } catch {
        const area = document.createElement("textarea");
        area.value = text; document.body.append(area); area.select(); document.execCommand("copy"); area.remove();
      }
      button.textContent = "copied";
    });
})();
