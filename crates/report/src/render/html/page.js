"use strict";
// Sorting, filtering and saving; everything that is read is on the page without it.
(() => {
  const each = (where, what, act) => where.querySelectorAll(what).forEach(act);
  const properties = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "text-anchor", "font-size", "font-family", "font-weight"];

  // A copy of a picture that looks the same outside the page.
  const standalone = (svg) => {
    const copy = svg.cloneNode(true);
    copy.removeAttribute("class");
    const from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
    from.forEach((element, index) => {
      const style = getComputedStyle(element);
      properties.forEach((name) => to[index].setAttribute(name, style.getPropertyValue(name)));
      to[index].removeAttribute("class");
    });
    return copy;
  };
  const save = (svg, name) => {
    svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const text = new XMLSerializer().serializeToString(svg);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = name + ".svg";
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const make = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  each(document, "section.prices", (section) => {
    const list = section.querySelector(".rows"), rows = [...list.children];
    const find = section.querySelector(".find"), family = section.querySelector(".family"), order = section.querySelector(".order");
    const none = section.querySelector(".none");
    const show = () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row) => {
        const name = row.dataset.name.toLowerCase();
        row.hidden = (family.value !== "" && row.dataset.family !== family.value) || !words.every((word) => name.includes(word));
        shown += !row.hidden;
      });
      none.textContent = shown === 0 ? "No figure matches." : shown === rows.length ? "" : shown + " of " + rows.length + " figures.";
    };
    const sort = () => {
      const key = order.value;
      const by = key === "name" ? (a, b) => (a.dataset.name < b.dataset.name ? -1 : 1) : (a, b) => a.dataset[key] - b.dataset[key];
      list.append(...[...rows].sort(by));
    };
    find.addEventListener("input", show);
    family.addEventListener("change", show);
    order.addEventListener("change", sort);
    section.querySelector(".controls").addEventListener("submit", (event) => event.preventDefault());
    const open = section.querySelector(".open");
    open.addEventListener("click", () => {
      const opens = open.dataset.opened !== "1";
      each(list, ":scope > li > details", (one) => (one.open = opens));
      open.dataset.opened = opens ? "1" : "";
      open.textContent = opens ? "Close all receipts" : "Open all receipts";
    });
    const button = section.querySelector(".save-rows");
    button.addEventListener("click", () => {
      const shown = [...list.children].filter((row) => !row.hidden);
      const whole = make("svg", { width: 1000, height: 30 + 22 * shown.length, viewBox: "0 0 1000 " + (30 + 22 * shown.length) });
      const style = getComputedStyle(document.body);
      whole.append(make("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.documentElement).backgroundColor }));
      const lines = section.querySelector("symbol");
      const place = (strip, y) => {
        const inner = make("svg", { x: 330, y, width: 450, height: 22, overflow: "visible" });
        if (lines) inner.append(...standalone(lines).childNodes);
        [...standalone(strip).children].filter((child) => child.tagName !== "use" && child.tagName !== "symbol").forEach((child) => inner.append(child));
        whole.append(inner);
      };
      const axis = section.querySelector(".axis svg");
      if (axis) place(axis, 4);
      shown.forEach((row, index) => {
        const y = 30 + 22 * index, text = { "font-size": 13, "font-family": "sans-serif", fill: style.color };
        whole.append(make("text", { x: 8, y: y + 16, ...text }, row.dataset.name));
        const strip = row.querySelector("svg.strip"), value = row.querySelector(".value");
        if (strip) place(strip, y);
        whole.append(make("text", { x: 800, y: y + 16, ...text }, value ? value.textContent : ""));
      });
      save(whole, button.dataset.name);
    });
  });

  // A picture with its finding above it, on its own ground.
  const framed = (inner, width, height, finding) => {
    const style = getComputedStyle(document.body), letters = Math.max(20, Math.floor(width / 7)), lines = [""];
    finding.split(" ").forEach((word) => {
      if ((lines[lines.length - 1] + word).length > letters) lines.push("");
      lines[lines.length - 1] += word + " ";
    });
    const top = 12 + 20 * lines.length;
    const whole = make("svg", { width: width + 24, height: height + top + 12 });
    whole.append(make("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.documentElement).backgroundColor }));
    lines.forEach((line, index) => whole.append(make("text", { x: 12, y: 22 + 20 * index, "font-size": 14, "font-weight": 600, "font-family": "sans-serif", fill: style.color }, line)));
    inner.setAttribute("x", 12);
    inner.setAttribute("y", top);
    inner.setAttribute("width", width);
    inner.setAttribute("height", height);
    whole.append(inner);
    return whole;
  };
  each(document, "figure:not(.tracks)", (figure) => {
    const svg = figure.querySelector("svg.plot"), button = figure.querySelector("button.save");
    if (!svg || !button) return;
    const finding = figure.querySelector("figcaption").textContent;
    button.addEventListener("click", () => {
      const box = svg.getBoundingClientRect();
      save(framed(standalone(svg), Math.round(box.width), Math.round(box.height), finding), "plot");
    });
  });

  // One of several series of values, drawn value by value and looked into from afar to a single one.
  each(document, "figure.tracks", (figure) => {
    const select = figure.querySelector("select.track"), canvas = figure.querySelector(".canvas"), says = figure.querySelector(".window");
    const { position, value } = select.dataset;
    const exact = (number) => String(Number(number.toPrecision(4)));
    const values = () => {
      const bytes = Uint8Array.from(atob(select.selectedOptions[0].dataset.values), (letter) => letter.charCodeAt(0));
      const view = new DataView(bytes.buffer), us = new Array(bytes.length / 4);
      for (let index = 0; index < us.length; index++) us[index] = view.getFloat32(4 * index, true) / 1000;
      return us;
    };
    let us = [], phases = [], from = 1, to = 1, plot = null;
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const seen = () => us.slice(from - 1, to);
    const tell = () => {
      const window = seen(), ordered = [...window].sort((a, b) => a - b);
      let most = 0;
      window.forEach((one, index) => { if (one > window[most]) most = index; });
      const under = phases.filter((phase) => phase[1] >= from && phase[0] <= to).map((phase) => `; ${phase[2]} from ${position} ${phase[0]} to ${phase[1]}`);
      says.textContent = `${position} ${from} to ${to} of ${us.length}: median ${exact(ordered[ordered.length >> 1])} us, worst ${exact(window[most])} us at ${position} ${from + most}${under.join("")}`;
    };
    const show = (one, other) => {
      const wide = Math.max(Math.min(us.length, 10), Math.min(us.length, Math.round(other - one + 1)));
      from = Math.min(Math.max(1, Math.round(one)), us.length - wide + 1);
      to = from + wide - 1;
      if (plot) plot.setScale("x", { min: from, max: to });
      tell();
    };
    const draw = () => {
      if (plot) plot.destroy();
      plot = null;
      const font = "12px system-ui, sans-serif", ink = colour("--soft"), line = colour("--line"), tip = document.createElement("div");
      tip.className = "tip";
      const grouped = (u, values) => values.map((one) => String(one).replace(/\B(?=(\d{3})+$)/g, "\u00a0"));
      const axis = { values: grouped, stroke: ink, font, labelFont: font, labelSize: 18, grid: { stroke: line, width: 1 }, ticks: { show: false } };
      plot = new uPlot({
        width: canvas.clientWidth, height: canvas.clientHeight, legend: { show: false }, pxAlign: 1,
        scales: { x: { time: false }, y: { range: (u, low, high) => [0, (high || 1) * 1.05] } },
        axes: [{ ...axis, size: 26, label: position, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000] }, { ...axis, label: value + ", us", size: 52 }],
        series: [{}, { stroke: colour("--blue"), width: 1.25, points: { show: (u) => u.scales.x.max - u.scales.x.min < 120, size: 5, fill: colour("--blue") } }],
        cursor: { y: false, drag: { x: true, y: false }, points: { size: 7, fill: colour("--orange") } },
        hooks: {
          init: [(u) => u.over.append(tip)],
          drawClear: [(u) => phases.forEach(([first, last, name]) => {
            const left = Math.max(u.bbox.left, u.valToPos(first - 0.5, "x", true)), right = Math.min(u.bbox.left + u.bbox.width, u.valToPos(last + 0.5, "x", true));
            if (right <= left) return;
            u.ctx.fillStyle = colour("--band");
            u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
            u.ctx.fillStyle = ink;
            u.ctx.font = 12 * devicePixelRatio + "px system-ui, sans-serif";
            u.ctx.textAlign = "left";
            u.ctx.fillText(name, left + 6 * devicePixelRatio, u.bbox.top + 15 * devicePixelRatio);
          })],
          setCursor: [(u) => {
            const index = u.cursor.idx;
            tip.textContent = index == null ? "" : `${position} ${index + 1}: ${exact(us[index])} us`;
            tip.hidden = index == null;
          }],
          setSelect: [(u) => { if (u.select.width > 0) show(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")); }],
        },
      }, [us.map((_, index) => index + 1), us], canvas);
      plot.over.addEventListener("dblclick", () => show(1, us.length));
      show(from, to);
    };
    const take = () => {
      us = values();
      phases = JSON.parse(select.selectedOptions[0].dataset.phases);
      from = 1;
      to = us.length;
      draw();
    };
    const click = (name, act) => figure.querySelector("." + name).addEventListener("click", act);
    const zoom = (factor) => {
      const middle = (from + to) / 2, half = ((to - from + 1) * factor) / 2;
      show(middle - half, middle + half - 1);
    };
    const move = (share) => show(from + share * (to - from + 1), to + share * (to - from + 1));
    click("nearer", () => zoom(0.5));
    click("farther", () => zoom(2));
    click("earlier", () => move(-0.5));
    click("later", () => move(0.5));
    click("whole", () => show(1, us.length));
    click("save", () => {
      const width = 960, height = 300, window = seen(), most = Math.max(...window) * 1.05 || 1, inner = make("svg", { "font-family": "sans-serif", "font-size": 12 });
      const x = (index) => 60 + ((width - 70) * index) / Math.max(1, window.length - 1), y = (one) => (height - 40) * (1 - one / most);
      for (let part = 0; part <= 4; part++) {
        const at = (most * part) / 4;
        inner.append(make("line", { x1: 60, x2: width - 10, y1: y(at), y2: y(at), stroke: colour("--line") }));
        inner.append(make("text", { x: 54, y: y(at) + 4, "text-anchor": "end", fill: colour("--soft") }, at.toPrecision(3) + " us"));
      }
      inner.append(make("polyline", { points: window.map((one, index) => x(index).toFixed(1) + "," + y(one).toFixed(1)).join(" "), fill: "none", stroke: colour("--blue") }));
      inner.append(make("text", { x: 60, y: height - 18, fill: colour("--soft") }, position + " " + from));
      inner.append(make("text", { x: width - 10, y: height - 18, "text-anchor": "end", fill: colour("--soft") }, position + " " + to));
      save(framed(inner, width, height, select.selectedOptions[0].textContent + ", " + says.textContent), "timeline");
    });
    select.addEventListener("change", take);
    new ResizeObserver(() => { if (plot && canvas.clientWidth > 0) plot.setSize({ width: canvas.clientWidth, height: canvas.clientHeight }); }).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    take();
  });
  // A link to a figure opens its receipt.
  const target = () => {
    const row = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const details = row && row.querySelector("details");
    if (details) details.open = true;
  };
  addEventListener("hashchange", target);
  target();
  // On paper there is nothing to click.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((one) => (one.open = true));
  });
  addEventListener("afterprint", () => closed.forEach((one) => (one.open = false)));
})();
