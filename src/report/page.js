// Interactive features of the page: showing or hiding a system everywhere, and reading values out of charts by pointer,
// touch and keyboard. Everything else works without this script.
"use strict";
(() => {
  const svgName = "http://www.w3.org/2000/svg";
  const hidden = new Set();
  const charts = [];

  function make(parent, name, attributes = {}, text = "") {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    parent.append(node);
    return node;
  }
  function draw(parent, name, attributes) {
    const node = document.createElementNS(svgName, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    parent.append(node);
    return node;
  }

  class Chart {
    constructor(figure) {
      this.svg = figure.querySelector(".chart-drawing");
      const data = this.svg.dataset;
      this.left = Number(data.left);
      this.right = Number(data.right);
      this.low = Number(data.xLow);
      this.high = Number(data.xHigh);
      this.log = data.xScale === "log";
      this.xName = data.xName;
      this.labels = data.xLabels ? JSON.parse(data.xLabels) : null;
      this.width = this.svg.viewBox.baseVal.width;
      this.lines = [...this.svg.querySelectorAll(".line:not(.faint)")].map((group) => this.readLine(group));
      this.groups = [...this.svg.querySelectorAll(".line")];
      this.values = new Map([...figure.querySelectorAll(".legend li")].map((item) =>
        [item.dataset.name, make(item, "span", {class: "value", "aria-hidden": "true"})]));
      this.title = figure.querySelector("figcaption").textContent;
      this.cursor = make(figure.querySelector(".plot"), "div", {class: "cursor", role: "slider", tabindex: "0",
        "aria-label": "Read values: " + this.title, "aria-valuemin": "0", "aria-valuenow": "0",
        "aria-valuetext": "nothing chosen yet"});
      this.cursor.addEventListener("pointermove", (event) => this.point(event));
      this.cursor.addEventListener("pointerdown", (event) => this.point(event));
      this.cursor.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse" && document.activeElement !== this.cursor) this.clear();
      });
      this.cursor.addEventListener("keydown", (event) => this.press(event));
      this.cursor.addEventListener("focus", () => {
        if (this.cursor.matches(":focus-visible")) this.show(this.index ?? 0);
      });
      this.cursor.addEventListener("blur", () => this.clear());
      this.update();
    }

    readLine(group) {
      const list = (name) => (group.dataset[name] ? group.dataset[name].split(" ") : []);
      const x = list("x").map(Number);
      return {name: group.dataset.name, style: [...group.classList].find((c) => /^s\d$/.test(c)), x,
        shift: Number(group.dataset.shift ?? 0), across: x.map((value) => this.across(value)), xText: list("xText"), down: list("y").map(Number),
        yText: list("yText"), lowText: list("low"), highText: list("high")};
    }
    across(x) {
      const share = this.log ? Math.log(x / this.low) / Math.log(this.high / this.low) : (x - this.low) / (this.high - this.low);
      return this.left + share * (this.right - this.left);
    }
    visible() {
      return this.lines.filter((line) => !hidden.has(line.name));
    }

    // Called after a system was shown or hidden.
    update() {
      for (const group of this.groups) group.classList.toggle("off", hidden.has(group.dataset.name));
      const places = new Map();
      for (const line of this.visible()) line.x.forEach((x, i) => places.set(x, {across: line.across[i], text: line.xText[i]}));
      this.places = [...places].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
      this.cursor.setAttribute("aria-valuemax", String(Math.max(0, this.places.length - 1)));
      this.clear();
    }

    point(event) {
      const box = this.svg.getBoundingClientRect();
      const across = (event.clientX - box.left) / box.width * this.width;
      let best = 0;
      this.places.forEach((place, i) => {
        if (Math.abs(place.across - across) < Math.abs(this.places[best].across - across)) best = i;
      });
      this.show(best);
    }

    press(event) {
      const last = this.places.length - 1, now = this.index ?? 0, far = Math.max(1, Math.round(last / 10));
      const to = {ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1, Home: 0, End: last,
        PageUp: now + far, PageDown: now - far}[event.key];
      if (event.key === "Escape") this.clear();
      if (to === undefined) return;
      event.preventDefault();
      this.show(Math.min(last, Math.max(0, to)));
    }

    show(index) {
      const place = this.places[index];
      if (!place) return;
      this.index = index;
      this.overlay?.remove();
      this.overlay = draw(this.svg, "g", {class: "overlay", "aria-hidden": "true"});
      draw(this.overlay, "line", {class: "guide", x1: place.across, x2: place.across, y1: this.svg.dataset.top,
        y2: this.svg.dataset.bottom});
      const where = this.labels ? this.labels[Number(place.text)] + " " + this.xName : this.xName + " " + place.text;
      draw(this.overlay, "text", {class: "at", x: this.right, y: 13.5, "text-anchor": "end"}).textContent = where;
      const told = [];
      for (const line of this.lines) {
        const value = this.values.get(line.name);
        if (!value) continue;
        value.textContent = "";
        if (hidden.has(line.name)) continue;
        let best = -1;
        line.across.forEach((across, i) => {
          if (best < 0 || Math.abs(across - place.across) < Math.abs(line.across[best] - place.across)) best = i;
        });
        // A line that has no point near this place is not read out.
        const near = this.labels ? 0.5 : (this.right - this.left) / 40;
        if (best < 0 || Math.abs(line.across[best] - place.across) > near) {
          value.textContent = "\u2013";
          continue;
        }
        let text = line.yText[best];
        if (line.lowText.length && line.lowText[best] !== "-") text += ` [${line.lowText[best]}, ${line.highText[best]}]`;
        if (line.xText[best] !== place.text) text += ` (at ${line.xText[best]})`;
        value.textContent = text;
        told.push(line.name + " " + text);
        draw(this.overlay, "circle", {class: "spot " + line.style, cx: line.across[best] + line.shift, cy: line.down[best], r: 6.5});
      }
      this.cursor.setAttribute("aria-valuenow", String(index));
      this.cursor.setAttribute("aria-valuetext", where + ": " + told.join(", "));
    }

    clear() {
      this.overlay?.remove();
      this.overlay = null;
      this.index = undefined;
      for (const value of this.values.values()) value.textContent = "";
    }
  }

  function makeSwitch(item) {
    const name = item.dataset.name;
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.title = "Show or hide " + name + " in all charts";
    button.append(...item.querySelectorAll(".key, .name"));
    item.prepend(button);
    button.addEventListener("click", () => {
      if (!hidden.delete(name)) hidden.add(name);
      for (const other of document.querySelectorAll(".legend li[data-name]")) {
        const off = hidden.has(other.dataset.name);
        other.classList.toggle("off", off);
        other.querySelector("button").setAttribute("aria-pressed", String(!off));
      }
      for (const chart of charts) chart.update();
    });
  }

  for (const figure of document.querySelectorAll(".chart")) {
    if (figure.querySelector(".chart-drawing")) charts.push(new Chart(figure));
  }
  for (const item of document.querySelectorAll(".legend li[data-name]")) makeSwitch(item);

  // Opens all details for printing.
  const folded = [...document.querySelectorAll("details")];
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = folded.filter((details) => !details.open);
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });

  // Only regions that can scroll get the keyboard focus.
  const regions = new ResizeObserver((entries) => {
    for (const {target} of entries) {
      if (target.scrollWidth > target.clientWidth) {
        target.setAttribute("tabindex", "0");
      } else {
        target.removeAttribute("tabindex");
      }
    }
  });
  for (const region of document.querySelectorAll(".scroll")) regions.observe(region);
})();
