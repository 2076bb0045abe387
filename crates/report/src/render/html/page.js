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
    download(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }), name + ".svg");
  };
  const download = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
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
    const list = section.querySelector(".rows"), all = [...list.children], rows = all.filter((row) => row.matches(".figure"));
    const find = section.querySelector(".find"), orders = [...section.querySelectorAll(".order")], direction = section.querySelector(".direction");
    const none = section.querySelector(".none");
    const units = { ns: 1, us: 1e3, "\u00b5s": 1e3, "\u03bcs": 1e3, ms: 1e6, s: 1e9 };
    // ">1us" and "<100ns" are prices; any other word stands in an id, an operation, a tag or a call.
    const test = (word) => {
      const price = /^([<>])([\d.]+)(ns|us|\u00b5s|\u03bcs|ms|s)$/.exec(word);
      if (!price) return (row) => (row.dataset.name + " " + row.dataset.find).toLowerCase().replaceAll("-", "_").includes(word.replaceAll("-", "_"));
      const bound = Number(price[2]) * units[price[3]];
      return (row) => row.dataset.price > 0 && (price[1] === ">" ? row.dataset.price > bound : row.dataset.price < bound);
    };
    const show = () => {
      const tests = find.value.toLowerCase().split(/\s+/).filter(Boolean).map(test);
      let shown = 0;
      rows.forEach((row) => {
        row.hidden = !tests.every((holds) => holds(row));
        shown += !row.hidden;
      });
      // A heading without rows says nothing.
      let heading = null, below = 0;
      const close = () => { if (heading) heading.hidden = below === 0; };
      all.forEach((row) => {
        if (row.matches(".family")) { close(); heading = row; below = 0; } else below += !row.hidden;
      });
      close();
      none.textContent = shown === 0 ? "No figure matches." : shown === rows.length ? "" : shown + " of " + rows.length + " figures.";
    };
    const sort = () => {
      const key = orders.find((order) => order.getAttribute("aria-pressed") === "true").value, back = direction.getAttribute("aria-pressed") === "true" ? -1 : 1;
      list.classList.toggle("ordered", key !== "position" || back < 0);
      // What has no number stands last, whatever the order.
      const by = (a, b) => (a.dataset[key] < 0) - (b.dataset[key] < 0) || back * (a.dataset[key] - b.dataset[key]);
      const byName = (a, b) => back * (a.dataset.name < b.dataset.name ? -1 : 1);
      if (key === "position" && back > 0) list.append(...all);
      else list.append(...all.filter((row) => !row.matches(".figure")), ...[...rows].sort(key === "name" ? byName : by));
    };
    find.addEventListener("input", show);
    orders.forEach((order) => order.addEventListener("click", () => {
      orders.forEach((one) => one.setAttribute("aria-pressed", one === order));
      sort();
    }));
    direction.addEventListener("click", () => {
      direction.setAttribute("aria-pressed", direction.getAttribute("aria-pressed") !== "true");
      sort();
    });
    section.querySelector(".controls").addEventListener("submit", (event) => event.preventDefault());
    const open = section.querySelector(".open");
    open.addEventListener("click", () => {
      const opens = open.dataset.opened !== "1";
      rows.forEach((row) => (row.querySelector("details").open = opens));
      open.dataset.opened = opens ? "1" : "";
      open.textContent = opens ? "Close all receipts" : "Open all receipts";
    });
    // Opening a receipt sets the address; a link to it opens it.
    rows.forEach((row) => row.querySelector("details").addEventListener("toggle", (event) => {
      if (event.target.open && event.target.parentElement === row && open.dataset.opened !== "1") history.replaceState(null, "", "#" + row.id);
    }));
    const button = section.querySelector(".save-rows");
    button.addEventListener("click", () => {
      const shown = [...list.children].filter((row) => row.matches(".figure") && !row.hidden);
      const whole = make("svg", { width: 1000, height: 30 + 22 * shown.length, viewBox: "0 0 1000 " + (30 + 22 * shown.length) });
      const style = getComputedStyle(document.body);
      whole.append(make("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.documentElement).backgroundColor }));
      const lines = section.querySelector("#lines");
      const place = (strip, y) => {
        const inner = make("svg", { x: 330, y, width: 450, height: 22, overflow: "visible" });
        if (lines) inner.append(...standalone(lines).childNodes);
        [...standalone(strip).children].filter((child) => !["use", "symbol", "title"].includes(child.tagName)).forEach((child) => inner.append(child));
        whole.append(inner);
      };
      const axis = section.querySelector(".head svg");
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
      const packed = select.selectedOptions[0].dataset, step = Number(packed.step), size = step > 0 ? 2 : 4;
      const bytes = Uint8Array.from(atob(packed.values), (letter) => letter.charCodeAt(0));
      const view = new DataView(bytes.buffer), us = new Array(bytes.length / size);
      for (let index = 0; index < us.length; index++) us[index] = (step > 0 ? step * view.getUint16(2 * index, true) : view.getFloat32(4 * index, true)) / 1000;
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
      says.textContent = `${position} ${from} to ${to} of ${us.length}: median ${exact(ordered[ordered.length >> 1])} \u00b5s, worst ${exact(window[most])} \u00b5s at ${position} ${from + most}${under.join("")}`;
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
        axes: [{ ...axis, size: 26, label: position, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000] }, { ...axis, label: value + ", \u00b5s", size: 52 }],
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
            tip.textContent = index == null ? "" : `${position} ${index + 1}: ${exact(us[index])} \u00b5s`;
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
        inner.append(make("text", { x: 54, y: y(at) + 4, "text-anchor": "end", fill: colour("--soft") }, at.toPrecision(3) + " \u00b5s"));
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
  // Copying; what was copied says so for a moment.
  const markdown = (paper) => {
    const cell = (element) => element.textContent.trim().replace(/\s+/g, " ").replaceAll("|", "\\|");
    const rows = [...paper.querySelectorAll("tr")].map((row) => "| " + [...row.children].map(cell).join(" | ") + " |");
    return ["| " + cell(paper.querySelector("caption")) + " | |", "|---|--:|", ...rows, ""].join("\n");
  };
  each(document, "[data-copy], [data-link], .markdown", (button) => button.addEventListener("click", async () => {
    const text = button.matches(".markdown") ? markdown(button.closest(".receipt").querySelector(".paper")) : button.dataset.copy ?? location.href.split("#")[0] + "#" + button.dataset.link, words = [...button.childNodes];
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = text;
    }
    setTimeout(() => button.replaceChildren(...words), 1500);
  }));

  // Of several comparisons one is seen at a time.
  const picks = [...document.querySelectorAll("[data-pick]")];
  if (picks.length > 1) {
    const label = document.createElement("label"), select = document.createElement("select");
    label.className = "pick";
    select.id = "pick";
    label.append("Compare ", select);
    picks.forEach((section, index) => select.append(new Option(section.dataset.pair, index)));
    const pick = () => picks.forEach((section, index) => (section.hidden = index !== Number(select.value)));
    select.addEventListener("change", pick);
    picks[0].before(label);
    pick();
  }

  // The cards as one picture of 1200 x 630, for where pages are told about.
  const cards = document.querySelector(".cards");
  const drawing = () => {
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
    const text = (where, what) => where.querySelector(what)?.textContent.trim() ?? "", pieces = [{ x: 0, y: 0, w: 1200, h: 630, fill: colour("--back") }];
    const pen = document.createElement("canvas").getContext("2d"), face = " system-ui, sans-serif";
    // Another program may have wider letters.
    const wide = (words, size, weight) => {
      pen.font = weight + " " + size + "px" + face;
      return pen.measureText(words).width * 1.08;
    };
    // Words in lines that fit: smaller letters where they do not, and what is left over is cut.
    const put = (words, x, y, size, fill, weight = 400, room = 1100, most = 1) => {
      const split = (size) => {
        const lines = [""];
        // A number stays beside its unit.
        const whole = words.replace(/\s+/g, " ").trim().replace(/(\d) (?=%|(?:ns|\u00b5s|ms|s)\b)/g, "$1\u00a0");
        whole.split(" ").forEach((word) => {
          const longer = (lines.at(-1) + " " + word).trim();
          if (lines.at(-1) && wide(longer, size, weight) > room) lines.push(word);
          else lines[lines.length - 1] = longer;
        });
        return lines;
      };
      const fits = (lines, size) => lines.length <= most && lines.every((line) => wide(line, size, weight) <= room);
      let own = size, lines = split(own);
      while (!fits(lines, own) && own > size * 0.65) lines = split((own *= 0.95));
      const cut = (line) => {
        while (line.length > 1 && wide(line + "\u2026", own, weight) > room) line = line.slice(0, -1);
        return line + "\u2026";
      };
      lines = lines.slice(0, most).map((line, index) => (wide(line, own, weight) > room || (index === most - 1 && lines.length > most) ? cut(line) : line));
      lines.filter(Boolean).forEach((line, index) => pieces.push({ x, y: y + index * own * 1.2, size: own, fill, weight, text: line }));
      return y + lines.length * own * 1.2;
    };
    const ink = colour("--ink"), soft = colour("--soft");
    put(text(document, ".brand"), 50, 60, 20, soft, 600);
    put(text(document, "h1"), 50, 118, 42, ink, 700, 1100, 3);
    const all = [...cards.children].slice(0, 6), column = 1100 / all.length, room = column - 14;
    all.forEach((card, index) => {
      const x = 50 + index * column, own = getComputedStyle(card).getPropertyValue("--c").trim();
      pieces.push({ x, y: 290, w: room, h: 5, fill: own || soft });
      put(text(card, ".big"), x, 345, 36, own || ink, 700, room);
      const y = put(text(card, "b"), x, 382, 18, ink, 600, room, 3);
      put(text(card, ".size") || text(card, "small"), x, y + 6, 15, soft, 400, room, 3);
    });
    put([...document.querySelectorAll(".chip")].slice(0, 6).map((chip) => chip.textContent).join(" \u00b7 "), 50, 530, 19, soft, 400, 1100, 2);
    const sizes = document.querySelector(".sizes")?.firstChild?.textContent.trim();
    const sum = text(document, "footer").match(/crc32:[0-9a-f]+/)?.[0];
    put([sizes, sum].filter(Boolean).join(" \u00b7 "), 50, 600, 17, soft);
    return pieces;
  };
  document.querySelector(".share")?.addEventListener("click", () => {
    const whole = make("svg", { width: 1200, height: 630, viewBox: "0 0 1200 630", "font-family": "system-ui, sans-serif" });
    drawing().forEach((piece) => whole.append(piece.text === undefined
      ? make("rect", { x: piece.x, y: piece.y, width: piece.w, height: piece.h, fill: piece.fill })
      : make("text", { x: piece.x, y: piece.y, "font-size": piece.size, "font-weight": piece.weight, fill: piece.fill }, piece.text)));
    save(whole, "oscost-card");
  });
  document.querySelector(".share-png")?.addEventListener("click", () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1200, height: 630 }), pen = canvas.getContext("2d");
    drawing().forEach((piece) => {
      pen.fillStyle = piece.fill;
      pen.font = `${piece.weight} ${piece.size}px system-ui, sans-serif`;
      if (piece.text === undefined) pen.fillRect(piece.x, piece.y, piece.w, piece.h);
      else pen.fillText(piece.text, piece.x, piece.y);
    });
    canvas.toBlob((blob) => download(blob, "oscost-card.png"));
  });

  // A link to a figure opens its receipt.
  const target = () => {
    const row = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const details = row && row.querySelector("details");
    if (!details || !row.matches(".figure")) return;
    details.open = true;
    row.scrollIntoView();
  };
  addEventListener("hashchange", target);
  target();
})();
