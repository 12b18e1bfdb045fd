// What a browser with JavaScript adds: sending a file, charts, forms that show what matters.
// Every page can be read and every job be done without it, but for sending a file.
(function () {
  "use strict";

  // where the studio's addresses begin: at the host, or behind a token in the path
  const ROOT = new URL("..", document.currentScript.src).pathname;

  // ---- forms: a field that means something only for some choices is there only then

  function choose(form) {
    const chooser = form.querySelector("[data-chooser]");
    if (!chooser) return;
    const chosen = [...chooser.querySelectorAll("input:checked, option:checked")].map((c) => c.value);
    for (const field of form.querySelectorAll("[data-only]")) {
      const off = !field.dataset.only.split(" ").some((value) => chosen.includes(value));
      field.hidden = off;
      for (const control of field.querySelectorAll("input, select")) control.disabled = off;
    }
    for (const more of form.querySelectorAll("details.more")) {
      more.hidden = !more.querySelector(".field:not([hidden])");
    }
  }

  // ---- sections that are folded: open the one that an address or a link names

  function unfold() {
    const named = location.hash && document.getElementById(location.hash.slice(1));
    if (named && named.matches("details")) {
      named.open = true;
      named.scrollIntoView();
      const first = named.querySelector("input:not([type=hidden]), select, button");
      if (first) first.focus({ preventScroll: true });
    }
  }

  // ---- a job: what a reader of the screen hears, and where the eye goes at the end

  function announce(text) {
    const place = document.getElementById("announce");
    if (place && text && place.textContent !== text) place.textContent = text;
  }

  function followed(event) {
    const panel = event.target.querySelector && event.target.querySelector(".panel");
    if (panel && event.target.matches("[data-live]")) announce(panel.dataset.says);
  }

  // the stream of events opens again by itself; say so only where it does not
  let silent = 0;

  function lost() {
    if (silent) return;
    silent = setTimeout(() => {
      for (const word of document.querySelectorAll(".lost")) word.hidden = false;
    }, 3000);
  }

  function back() {
    clearTimeout(silent);
    silent = 0;
    for (const word of document.querySelectorAll(".lost")) word.hidden = true;
  }

  function settled(event) {
    const root = document.getElementById("main");
    prepare(root);
    if (event.target !== root) return;
    const head = root.querySelector("[data-focus]") || root.querySelector("h1");
    head.setAttribute("tabindex", "-1");
    head.focus();
    announce(head.textContent);
  }

  // ---- sending a file: its bytes, with progress, and a word when it is refused

  const MEGA = 1e6;

  function refuse(form, message, advice) {
    const trouble = form.querySelector(".trouble");
    trouble.replaceChildren();
    for (const text of [message, advice]) {
      if (!text) continue;
      const line = document.createElement("p");
      const inner = text === message ? document.createElement("strong") : line;
      inner.textContent = text;
      if (inner !== line) line.append(inner);
      trouble.append(line);
    }
    trouble.hidden = false;
  }

  function answer(request) {
    try {
      return JSON.parse(request.responseText);
    } catch {
      return {};
    }
  }

  // the files one after the other: `place` is the data set's address, empty before there is one
  function send(area, files, place) {
    const [{ role, file }, ...rest] = files;
    const form = area.closest("form");
    const button = form.querySelector("[type=submit]");
    const stop = area.querySelector(".stop");
    const sending = area.querySelector(".sending");
    const bar = sending.querySelector("progress");
    const says = sending.querySelector("span");
    const request = new XMLHttpRequest();
    const began = performance.now();
    const end = () => {
      button.disabled = false;
      sending.hidden = true;
    };
    area.querySelector(".trouble").hidden = true;
    button.disabled = true;
    sending.hidden = false;
    says.textContent = "Uploading " + file.name;
    request.upload.onprogress = (event) => {
      const share = event.loaded / Math.max(event.total, 1);
      const left = ((performance.now() - began) / 1000) * (1 / Math.max(share, 1e-9) - 1);
      bar.value = 100 * share;
      says.textContent =
        `${Math.round(100 * share)} % of ${(event.total / MEGA).toFixed(1)} MB uploaded` +
        (share < 1 && left > 2 ? `, about ${Math.ceil(left)} seconds left` : "");
    };
    request.onload = () => {
      end();
      const told = answer(request);
      if (request.status < 400 && told.location) {
        const field = role && form.elements[role];
        if (field) field.value = told.path;
        if (rest.length) return send(area, rest, told.location);
        return area === form ? location.assign(told.location) : form.submit();
      }
      const error = told.error || {};
      refuse(area, error.message || "The file was refused.", error.advice);
    };
    request.onerror = () => {
      end();
      refuse(area, "The upload failed.", "The file was not kept. Check that the studio is running, then upload it again.");
    };
    request.onabort = () => {
      end();
      refuse(area, "Upload stopped.", "The file was not kept.");
    };
    stop.onclick = () => request.abort();
    const query = new URLSearchParams({ name: file.name, more: rest.length > 0 || area !== form });
    if (role) query.set("role", role);
    request.open("POST", (role ? place + "/beside?" : area.dataset.upload + "?") + query);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader("Accept", "application/json");
    request.send(file);
  }

  // an area is a form, or lies in one, which is sent after its files
  function uploads(area) {
    const form = area.closest("form");
    const inputs = [...area.querySelectorAll("input[type=file]")];
    area.hidden = false;
    form.addEventListener("submit", (event) => {
      const files = inputs.flatMap((i) => [...i.files].map((file) => ({ role: i.dataset.role, file })));
      if (!files.length && area !== form) return;
      event.preventDefault();
      if (!files.length) return refuse(area, "No file was chosen.", "Choose one, or drop it here.");
      const most = Number(area.dataset.most);
      for (const { file } of files) {
        const size = `${file.name} has ${(file.size / MEGA).toFixed(0)} MB`;
        if (file.size > most) {
          return refuse(
            area,
            `${size}; at most ${(most / MEGA).toFixed(0)} MB can be uploaded.`,
            "Give its path on this machine instead.",
          );
        }
        if (!file.size) return refuse(area, `${file.name} is empty.`, "Export it again and check that it has rows.");
      }
      send(area, files, area.dataset.upload);
    });
    const over = (on) => (event) => {
      area.classList.toggle("over", on);
      if (event.type === "drop") return;
      event.preventDefault();
    };
    area.addEventListener("dragover", over(true));
    area.addEventListener("dragleave", over(false));
    area.addEventListener("drop", (event) => {
      event.preventDefault();
      area.classList.remove("over");
      if (event.dataTransfer.files.length) inputs[0].files = event.dataTransfer.files;
    });
  }

  // ---- charts: Vega-Lite without eval, in the page's colours, as wide as there is room

  const drawn = new WeakSet();
  const LIBRARIES = ["vega", "vega-lite", "vega-embed", "vega-interpreter"];
  let loaded = null;

  function library(name) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${ROOT}static/vendor/${name}.min.js`;
      script.async = false; // in their order
      script.onload = done;
      script.onerror = () => failed(new Error(`${name} did not load`));
      document.head.append(script);
    });
  }

  // 0.8 MB: only for a page with a chart, and after everything else
  function libraries() {
    loaded = loaded || Promise.all(LIBRARIES.map(library));
    return loaded;
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function looks() {
    const ink = colour("--ink"), soft = colour("--soft"), line = colour("--line");
    const text = { labelColor: soft, titleColor: ink };
    return {
      aria: false,
      font: "system-ui, sans-serif",
      mark: { color: colour("--accent") },
      background: "transparent",
      view: { stroke: null },
      axis: { ...text, gridColor: colour("--grid"), domainColor: line, tickColor: line },
      legend: { ...text, symbolFillColor: soft, symbolStrokeColor: soft },
      title: { color: ink, subtitleColor: soft },
      header: text,
    };
  }

  // colours that are too dark on a dark page, and what stands for them there
  const IN_THE_DARK = {
    "#0072B2": "#4ba6e3", "#882255": "#d883ab", "#777777": "#a9b4c1", "#D55E00": "#ee7d2b",
    "#009E73": "#2cc198", "#555": "#a9b4c1", "#777": "#a9b4c1", "#999": "#8a96a3", "black": "#e8ebef",
  };

  // side by side where there is room, else one below the other; legends move below
  function fitted(spec, room) {
    const narrow = room < 620;
    // one view fills its card, its axes included
    const alone = typeof spec.width !== "undefined" && !spec.facet && !spec.encoding?.column && !spec.encoding?.row;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const fit = (node) => {
      if (dark && typeof node === "string") return IN_THE_DARK[node] || node;
      if (Array.isArray(node)) return node.map((part) => fit(part));
      if (!node || typeof node !== "object") return node;
      const out = {};
      for (const [key, value] of Object.entries(node)) {
        if (key === "data" || key === "datasets") out[key] = value;
        else if (key === "hconcat" && narrow) out.vconcat = fit(value);
        else if (key === "width" && (alone || value === "container")) out.width = alone ? room : room - 80;
        else if (key === "width" && typeof value === "number") out.width = narrow ? Math.max(180, room - 80) : value;
        else out[key] = fit(value);
      }
      return out;
    };
    // the page says the title and the data already
    const { title, config, ...rest } = spec;
    const own = config || {};
    const look = looks();
    for (const part of ["axis", "legend", "title"]) look[part] = { ...own[part], ...look[part] };
    if (narrow) Object.assign(look.legend, { orient: "bottom", columns: 2, labelLimit: 140 });
    const autosize = alone ? { autosize: { type: "fit-x", contains: "padding" } } : {};
    return { ...fit(rest), ...autosize, config: { ...own, ...look, mark: { ...look.mark, ...own.mark } } };
  }

  async function draw(box) {
    drawn.add(box);
    const spec = JSON.parse(box.dataset.chart);
    await libraries();
    box.hidden = false;
    const place = document.createElement("div");
    place.setAttribute("aria-hidden", "true"); // the box around it is the image, and is described
    const made = await window.vegaEmbed(place, fitted(spec, box.clientWidth || 600), {
      actions: false,
      ast: true,
      defaultStyle: false,
      expr: window.vega.expressionInterpreter,
      renderer: "svg",
      mode: "vega-lite",
      tooltip: { disableDefaultStyle: true },
    });
    // only once it is whole: a chart that fails leaves the old one, or the table alone
    box.replaceChildren(place);
    made.view.addEventListener("click", (event, item) => {
      const point = item && ["symbol", "rule"].includes(item.mark.marktype);
      const href = point && item.datum && item.datum.href;
      if (typeof href === "string" && /^\/(?!\/)/.test(href)) location.assign(ROOT + href.slice(1));
    });
    for (const mark of box.querySelectorAll(".mark-symbol path")) {
      const datum = mark.__data__ && mark.__data__.datum;
      if (datum && datum.href) mark.setAttribute("data-go", "");
    }
  }

  function drawAll(again) {
    for (const box of document.querySelectorAll("[data-chart]")) {
      if (!again && drawn.has(box)) continue;
      draw(box).catch((error) => {
        box.hidden = true;
        console.error(error);
      });
    }
  }

  // ---- begin

  function prepare(root) {
    for (const part of root.querySelectorAll("form, [data-upload]")) {
      if (part.dataset.ready) continue;
      part.dataset.ready = "yes";
      if (part.matches("[data-upload]")) uploads(part);
      else choose(part);
    }
    for (const hint of root.querySelectorAll(".only")) hint.hidden = true;
    for (const button of root.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      button.onclick = () =>
        navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent).then(
          () => announce((button.textContent = "Copied")),
          () => announce((button.textContent = "Copying is not allowed here: select the text and copy it")),
        );
    }
    drawAll(false);
  }

  document.addEventListener("change", (event) => {
    const form = event.target.form;
    if (form) choose(form);
  });
  // pressed twice is asked once
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    const button = event.submitter;
    if (button) setTimeout(() => (button.disabled = true));
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) for (const button of document.querySelectorAll("button[disabled]")) button.disabled = false;
  });
  addEventListener("hashchange", unfold);
  document.body.addEventListener("htmx:sseMessage", followed);
  document.body.addEventListener("htmx:sseError", lost);
  document.body.addEventListener("htmx:sseOpen", back);
  document.body.addEventListener("htmx:afterSettle", settled);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll(true));
  let width = innerWidth;
  let later = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(later);
    later = setTimeout(() => drawAll(true), 200);
  });
  prepare(document);
  unfold();
})();
