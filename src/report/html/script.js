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

  // What is shown: rows and curves by the values of axes, one situation of each quantity, series by their legend. It stands in the
  // address of the page, so that a link shows the same.
  const form = document.getElementById("filters");
  const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const remember = () => {
    const text = state.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };
  const filters = form ? [...form.querySelectorAll("select")] : [];
  const words = (series) => series.dataset.s.split(", ");
  const place = (mark) => mark.dataset.p ?? mark.dataset.x ?? "";
  const same = (text, choice) => text === choice || Number(text.replaceAll(",", "")) === Number(choice);
  // Whether a name has one of the values of an axis in it, and whether it has the wanted one.
  const speaks = (series, filter) => {
    const short = filter.parentElement.firstChild.textContent.trim();
    const has = (choice) => words(series).some((word) => word === choice || word === `${short} ${choice}`);
    const is = [...filter.options].some((option) => option.value !== "" && has(option.value));
    return !is || has(filter.value);
  };
  const situation = (panels) => {
    const figures = [...panels.querySelectorAll("figure[data-given]")];
    const selects = [...panels.querySelectorAll(".choose select")];
    for (const select of selects) {
      const wanted = state.get(select.dataset.axis) ?? state.get(`at ${select.dataset.axis}`);
      if (wanted !== null && [...select.options].some((option) => option.value === wanted)) select.value = wanted;
    }
    const fits = (figure) => selects.filter((select) => JSON.parse(figure.dataset.given)[select.dataset.axis] === select.value).length;
    const last = state.get("last");
    const best = figures.map((figure) => {
      const chosen = selects.find((select) => select.dataset.axis === last);
      const first = chosen && JSON.parse(figure.dataset.given)[last] === chosen.value ? selects.length : 0;
      return [first + fits(figure), figure];
    }).sort((a, b) => b[0] - a[0])[0][1];
    for (const figure of figures) figure.hidden = figure !== best;
    const given = JSON.parse(best.dataset.given);
    for (const select of selects) select.value = given[select.dataset.axis];
  };
  // On the first screen a choice of situation changes what is said and the rows of the table with the figure.
  const first = () => {
    const panels = document.querySelector("#headline .panels");
    const figure = panels && panels.querySelector("figure[data-given]:not([hidden])");
    const selects = panels ? [...panels.querySelectorAll(".choose select")] : [];
    const chosen = selects.some((select) => state.has(select.dataset.axis) || state.has(`at ${select.dataset.axis}`));
    const given = figure && chosen ? JSON.parse(figure.dataset.given) : null;
    const fits = (values) => given !== null && Object.entries(given).every(([axis, at]) => values[axis] === undefined || values[axis] === at);
    for (const said of document.querySelectorAll("#said .situation")) said.hidden = !fits(JSON.parse(said.dataset.given));
    const here = document.getElementById("of-situation");
    const whole = here && document.querySelector(`#${CSS.escape(here.dataset.of)} table.sorts`);
    if (!whole) return;
    const keys = [...whole.tHead.rows[0].cells].map((cell) => cell.dataset.key);
    const at = given === null ? [] : Object.entries(given).map(([axis, value]) => [keys.indexOf(axis), value]).filter(([column]) => column >= 0);
    const rows = at.length ? [...whole.tBodies[0].rows].filter((row) => at.every(([column, value]) => row.cells[column].textContent.trim() === value)) : [];
    const head = here.parentElement.querySelector("h2");
    head.dataset.all ??= head.textContent;
    head.textContent = rows.length ? `${document.querySelector(`#${CSS.escape(here.dataset.of)} h2`).textContent}: ${selects.map((select) => `${select.parentElement.firstChild.textContent.trim()} ${select.value}`).join(", ")}` : head.dataset.all;
    for (const other of here.parentElement.children) if (other !== head && other !== here) other.hidden = rows.length > 0;
    here.hidden = rows.length === 0;
    here.replaceChildren();
    if (rows.length === 0) return;
    const table = whole.cloneNode(true);
    table.removeAttribute("id");
    table.className = "stacks";
    const titles = keys.map((_, column) => whole.tHead.rows[0].cells[column].textContent);
    titles.forEach((title, column) => table.tHead.rows[0].cells[column].replaceChildren(title));
    [...table.tBodies[0].rows].forEach((row, place) => {
      row.hidden = false;
      if (!rows.includes(whole.tBodies[0].rows[place])) row.remove();
      [...row.cells].forEach((cell, column) => { cell.dataset.l = titles[column]; });
    });
    const shown = here.dataset.columns.split(" ");
    // From the last column on, so that those before it keep their places.
    const left = keys.map((_, column) => column).filter((column) => at.some(([held]) => held === column) || !shown.includes(keys[column])).reverse();
    for (const row of [table.tHead.rows[0], ...table.tBodies[0].rows])
      for (const column of left) row.deleteCell(column);
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.append(table);
    const note = document.createElement("p");
    note.className = "note";
    const all = document.createElement("a");
    all.href = "#";
    all.textContent = "All situations";
    all.addEventListener("click", (event) => {
      event.preventDefault();
      for (const select of selects) { state.delete(select.dataset.axis); state.delete(`at ${select.dataset.axis}`); }
      for (const filter of filters) if (selects.some((select) => select.dataset.axis === filter.dataset.axis)) filter.value = "";
      state.delete("last");
      remember();
      apply();
    });
    note.append(all);
    here.append(scroll, note);
  };
  const apply = () => {
    const wanted = filters.filter((select) => select.value !== "");
    const hidden = new Set(state.getAll("hide"));
    let rows = 0, figures = 0;
    for (const table of document.querySelectorAll("table.sorts")) {
      const keys = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.key);
      const tests = wanted.map((select) => {
        const name = select.dataset.axis === "scheduling.strategy" ? "strategy" : select.dataset.axis;
        return [keys.indexOf(name), select.value];
      }).filter(([column]) => column >= 0);
      for (const row of table.tBodies[0].rows) {
        row.hidden = !tests.every(([column, choice]) => row.cells[column].textContent.trim() === choice);
        rows += row.hidden ? 0 : 1;
      }
    }
    for (const figure of document.querySelectorAll("figure[data-given]")) {
      if (!figure.closest(".panels")) {
        const given = JSON.parse(figure.dataset.given);
        figure.hidden = !wanted.every((select) => given[select.dataset.axis] === undefined || given[select.dataset.axis] === select.value);
      }
      for (const series of figure.querySelectorAll(".series, .key")) {
        const off = hidden.has(series.dataset.s);
        const out = off || !wanted.every((select) => speaks(series, select));
        series.classList.toggle(series.matches(".key") ? "off" : "gone", out);
        if (series.matches(".key")) series.setAttribute("aria-pressed", String(!off));
      }
      const over = wanted.find((select) => select.dataset.axis === figure.dataset.x);
      for (const mark of figure.querySelectorAll(".m"))
        mark.classList.toggle("dim", over !== undefined && !same(place(mark), over.value));
    }
    document.querySelectorAll(".panels").forEach(situation);
    first();
    for (const figure of document.querySelectorAll("figure[data-given]")) figures += figure.hidden ? 0 : 1;
    const shown = document.getElementById("shown");
    if (shown) shown.textContent = wanted.length ? `${rows} rows, ${figures} figures` : "";
  };
  for (const select of filters) {
    const wanted = state.get(select.dataset.axis);
    if (wanted !== null && [...select.options].some((option) => option.value === wanted)) select.value = wanted;
    select.addEventListener("change", () => {
      if (select.value === "") state.delete(select.dataset.axis); else state.set(select.dataset.axis, select.value);
      state.delete("last");
      remember();
      apply();
    });
  }
  if (form) {
    form.addEventListener("reset", () => setTimeout(() => { [...state.keys()].forEach((key) => state.delete(key)); remember(); apply(); }));
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  for (const select of document.querySelectorAll(".choose select"))
    select.addEventListener("change", () => {
      state.set(`at ${select.dataset.axis}`, select.value);
      state.set("last", select.dataset.axis);
      const filter = filters.find((other) => other.dataset.axis === select.dataset.axis);
      if (filter && filter.value !== "") { filter.value = ""; state.delete(select.dataset.axis); }
      remember();
      apply();
    });
  const toggle = (key) => {
    const hidden = new Set(state.getAll("hide"));
    if (!hidden.delete(key.dataset.s)) hidden.add(key.dataset.s);
    state.delete("hide");
    hidden.forEach((name) => state.append("hide", name));
    remember();
    apply();
  };
  for (const key of document.querySelectorAll(".key")) {
    key.setAttribute("role", "button");
    key.setAttribute("tabindex", "0");
    key.dataset.s = key.textContent.trim();
  }
  const legend = (event) => event.target.closest ? event.target.closest(".key") : null;
  document.addEventListener("click", (event) => { const key = legend(event); if (key) toggle(key); });
  document.addEventListener("keydown", (event) => {
    const key = legend(event);
    if (key && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); toggle(key); }
  });
  apply();

  // Chapters: a link opens the one that it leads into, and paper shows them all.
  const chapters = [...document.querySelectorAll(".chapter")];
  const follow = () => {
    const target = location.hash.includes("=") ? null : document.getElementById(location.hash.slice(1));
    const chapter = target?.closest(".chapter");
    if (!chapter) return;
    chapter.open = true;
    target.scrollIntoView();
  };
  const all = document.getElementById("open-all");
  all?.addEventListener("click", () => {
    const opens = chapters.some((chapter) => !chapter.open);
    for (const chapter of chapters) chapter.open = opens;
  });
  const named = () => { if (all) all.textContent = chapters.some((chapter) => !chapter.open) ? "Open all" : "Close all"; };
  for (const chapter of chapters) chapter.addEventListener("toggle", named);
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = chapters.filter((chapter) => !chapter.open);
    for (const chapter of closed) chapter.open = true;
  });
  addEventListener("afterprint", () => { for (const chapter of closed) chapter.open = false; });
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest ? event.target.closest("a[href^='#']") : null;
    if (link && link.hash === location.hash) follow();
  });
  follow();

  // Saving: a figure as it is seen, data as they stand in the page.
  const keep = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const drawing = (svg) => {
    const copy = svg.cloneNode(true), style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText);
    style.textContent = rules.filter((rule) => /^(figure|\.gantt) \./.test(rule)).map((rule) => rule.replace(/^figure /, "")).join("\n") + "svg{font:12px system-ui,sans-serif}.gone{display:none}.off{opacity:.35}";
    copy.prepend(style);
    return new XMLSerializer().serializeToString(copy);
  };
  const field = (text) => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const rows = (table) => [...table.rows].map((row) => [...row.cells]
    .map((cell) => field(cell.dataset.v ?? cell.dataset.key ?? cell.textContent.trim())).join(",")).join("\n") + "\n";
  document.addEventListener("click", (event) => {
    const button = event.target.closest ? event.target.closest(".save") : null;
    if (!button) return;
    const figure = button.closest("figure"), kind = button.textContent.toLowerCase();
    const name = button.dataset.name ?? figure.id.replace("figure-", "");
    if (kind === "svg") keep(`${name}.svg`, "image/svg+xml", drawing(figure.querySelector("svg")));
    else if (figure) keep(`${name}.csv`, "text/csv", button.parentElement.querySelector("pre").textContent);
    else keep(`${name}.csv`, "text/csv", rows(document.getElementById(`table-${name}`)));
  });

  // Values under the pointer, a finger or the keyboard's focus.
  const tip = document.getElementById("tip");
  for (const mark of document.querySelectorAll(".m")) mark.setAttribute("tabindex", "0");
  const line = (mark) => mark.closest("g.series:not(.published)")?.dataset.s;
  // The second line of a mean is its difference from the series that it is paired with.
  const paired = (mark) => {
    const reference = mark.dataset.t.includes("\n") && mark.closest("g.series")?.dataset.r;
    return reference ? ` against ${reference}, paired` : "";
  };
  // Where all means of a line are over as many replications, the line says how many.
  const counted = (mark) => {
    const count = mark.closest("g.series")?.dataset.n;
    return count === undefined ? mark.dataset.t : mark.dataset.t.replace(/\n|$/, (end) => `, n = ${count}${end}`);
  };
  const told = (mark) => {
    const head = mark.dataset.x === undefined ? [] : [line(mark), `${mark.closest("figure").dataset.x}: ${place(mark)}`];
    return [...head.filter((text) => text !== undefined), counted(mark)].join("\n") + paired(mark);
  };
  const show = (mark) => {
    tip.textContent = told(mark);
    tip.hidden = false;
    const at = mark.getBoundingClientRect(), box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(innerWidth - box.width - 4, at.left + at.width / 2 - box.width / 2)) + "px";
    tip.style.top = (at.top - box.height - 8 > 0 ? at.top - box.height - 8 : at.bottom + 8) + "px";
  };
  // A server draws the plans of the points behind a mark: those with its values on the axes that it has.
  const own = (name) => filters.flatMap((filter) => {
    const short = filter.parentElement.firstChild.textContent.trim();
    const is = (choice) => choice !== "" && name.split(", ").some((word) => word === choice || word === `${short} ${choice}`);
    const choice = [...filter.options].map((option) => option.value).find(is);
    return choice === undefined ? [] : [[filter.dataset.axis, choice]];
  });
  const plans = (mark, figure, line) => {
    const address = document.body.dataset.plans, over = filters.find((filter) => filter.dataset.axis === figure.dataset.x);
    if (address === undefined || (over === undefined && !figure.querySelector(".behind:not(.plans)"))) return;
    const at = [...line, ...Object.entries(JSON.parse(figure.dataset.given))];
    const here = over && [...over.options].find((option) => option.value !== "" && same(place(mark), option.value));
    if (here) at.push([over.dataset.axis, here.value]);
    const room = figure.querySelector(".plans") ?? figure.appendChild(document.createElement("p"));
    room.className = "behind plans";
    const link = document.createElement("a");
    link.href = `${address}?${new URLSearchParams(at)}`;
    link.textContent = "The plans behind this mark";
    room.replaceChildren(link);
  };
  const quote = (text) => text.replaceAll("'", "''");
  const behind = (mark) => {
    const figure = mark.closest("figure"), name = line(mark);
    const room = figure.querySelector(".behind:not(.plans)");
    if (name !== undefined) plans(mark, figure, room ? [["scheduling.strategy", name.split(", ")[0]]] : own(name));
    if (!room || name === undefined) return;
    // A strategy may have several lines: "heuristic-overbooking, promised".
    const strategy = name.split(", ")[0];
    const words = [`run = ${document.body.dataset.run}`, `strategy = '${quote(strategy)}'`];
    for (const [key, choice] of Object.entries(JSON.parse(figure.dataset.given)))
      words.push(`axes ->> '$."${key}"' = ${Number.isNaN(Number(choice)) ? `'${quote(choice)}'` : choice}`);
    if (figure.dataset.x.includes(".") && !Number.isNaN(Number(mark.dataset.x)) && figure.querySelector("polyline"))
      words.push(`axes ->> '$."${figure.dataset.x}"' = ${mark.dataset.x}`);
    const code = document.createElement("code");
    code.textContent = `bookahead sql "SELECT place, replication, gain, successful, failed FROM v_point WHERE ${words.join(" AND ").replaceAll('"', '\\"')}"`;
    const after = document.createElement("span");
    after.textContent = " shows the points behind this mark; `bookahead show RUN --point PLACE` shows the jobs behind one of them.";
    room.replaceChildren(code, after);
    room.hidden = false;
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

  // Of a run under way its server tells more, as long as the page is seen.
  const news = document.getElementById("news");
  let source = null;
  const listen = () => {
    if (!news || source || document.hidden) return;
    source = new EventSource("/events");
    source.addEventListener("runs", (event) => {
      const told = JSON.parse(event.data).rows.find(({ run }) => String(run) === news.dataset.run);
      if (!told) return;
      const row = document.createElement("tbody");
      row.innerHTML = told.row;
      const cell = (name) => row.querySelector(`[data-l=${name}]`).textContent.trim();
      news.textContent = `The run is ${cell("State") === "running" ? "under way" : cell("State")}: ${cell("Points")} points done by now, ${cell("Failed")} failed.`;
    });
  };
  const stop = () => { source?.close(); source = null; };
  document.addEventListener("visibilitychange", () => document.hidden ? stop() : listen());
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);
  listen();

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
