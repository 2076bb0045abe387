"use strict";
// Sorting, filtering and saving; everything that is read is on the page without it.
(() => {
  const each = (where, what, act) => where.querySelectorAll(what).forEach(act);
  const properties = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "text-anchor", "font-size", "font-family"];

  // A copy of a picture that looks the same outside the page.
  const standalone = (svg) => {
    const copy = svg.cloneNode(true);
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

  each(document, "figure", (figure) => {
    const svg = figure.querySelector("svg.plot"), button = figure.querySelector("button.save");
    if (svg && button) button.addEventListener("click", () => save(standalone(svg), "plot"));
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
