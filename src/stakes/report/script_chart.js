// Charts as SVG: axes, lines that change between points or step, shading, a readout of the values under the pointer.

const SVG = "http://www.w3.org/2000/svg";
const FAR = 1e6;
// what the style sheet says of a drawing, for one that is saved without it
const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "opacity", "text-anchor"];
const MARGIN = { left: 58, right: 20, top: 12, bottom: 46 };

function shape(tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.textContent = text;
  return element;
}

// Round values between two ends, about so many.
function roundValues(low, high, count) {
  const raw = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    values.push(Number((k * step).toPrecision(12)));
  }
  return values;
}

const ALARMS = [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70];
const ROUND_ALARMS = [0, ...[0.01, 0.1, 1, 10, 100, 1000].flatMap((power) => ALARMS.map((count) => count * power))];

// Round thresholds as the chosen view writes them, so far apart that they can be read.
function roundThresholds(low, high, place, view, room = 56) {
  if (view === "probability") {
    return roundValues(low, high, Math.floor((place(high) - place(low)) / (room + 12)));
  }
  const seen = [...new Set([1, ...ROUND_ALARMS.map((n) => 1 / (1 + n))])].filter((c) => c >= low && c <= high);
  const candidates = [low === 0 ? [0] : [], seen].flat().sort((x, y) => roundness(y) - roundness(x));
  const kept = [];
  for (const c of candidates) {
    if (kept.every((other) => Math.abs(place(other) - place(c)) >= room)) {
      kept.push(c);
    }
  }
  return kept.sort((x, y) => x - y);
}

// How round a threshold is as a number of false alarms: powers of ten first.
function roundness(c) {
  if (c === 0 || c === 1) {
    return 3;
  }
  const ratio = (1 - c) / c;
  const digits = Number(Math.max(ratio, 1 / ratio).toExponential(2).split("e")[0]);
  return digits === 1 ? 3 : digits === 5 || digits === 2 ? 2 : digits === 3 ? 1 : 0;
}

class Chart {
  constructor(host, { height = 0.46, xTitle = "", readout = null } = {}) {
    Object.assign(this, { host, ratio: height, xTitle, readout });
    this.layers = {};
    this.size(this.host.clientWidth);
    if (readout) {
      this.box = make("div", { class: "readout", hidden: "" });
      this.host.append(this.box);
      this.host.addEventListener("pointermove", (event) => this.read(event));
      this.host.addEventListener("pointerleave", () => this.silence());
    }
  }

  // Measured once: asking for it again while the page changes would lay it out each time.
  size(room) {
    const width = Math.max(Math.round(room), 280);
    const height = Math.round(Math.min(460, Math.max(this.ratio < 0.3 ? 150 : 300, this.ratio * width)));
    Object.assign(this, { width, height });
  }

  // Start anew: axes with their ticks, and empty layers for what is drawn on them.
  frame({ x0, x1, y0, y1, xTicks, yWrite, xTitle = this.xTitle, yTicks = null }) {
    Object.assign(this, { x0, x1, y0, y1 });
    const [left, right] = [MARGIN.left, this.width - MARGIN.right];
    const [top, bottom] = [MARGIN.top, this.height - MARGIN.bottom];
    Object.assign(this, { left, right, top, bottom });
    this.x = (value) => left + ((value - x0) / (x1 - x0)) * (right - left);
    this.y = (value) => bottom - ((value - y0) / (y1 - y0)) * (bottom - top);
    this.ground?.remove();
    this.svg?.remove();
    // what moves with the reader lies behind, in a picture of its own: the lines need not be painted again for it
    this.layers = {};
    this.ground = this.sheet("ground", ["shade", "band", "cursor"]);
    this.svg = this.sheet("front", ["grid", "lines", "marks"]);
    this.axes(xTicks ?? ((place) => roundThresholds(x0, x1, place, "probability")), yWrite, xTitle, yTicks);
    this.host.prepend(this.ground, this.svg);
  }

  sheet(kind, layers) {
    const { left, right, top, bottom } = this;
    const look = { viewBox: `0 0 ${this.width} ${this.height}`, class: kind, "aria-hidden": "true", focusable: "false" };
    const [svg, name] = [shape("svg", look), `clip-${kind}-${this.host.id}`];
    const area = shape("clipPath", { id: name });
    area.append(shape("rect", { x: left, y: top, width: right - left, height: bottom - top }));
    svg.append(area);
    for (const layer of layers) {
      this.layers[layer] = shape("g", layer === "grid" || layer === "marks" ? {} : { "clip-path": `url(#${name})` });
      svg.append(this.layers[layer]);
    }
    return svg;
  }

  axes(xTicks, yWrite, xTitle, yTicks) {
    const { grid } = this.layers;
    const { left, right, top, bottom } = this;
    for (const value of yTicks ?? roundValues(this.y0, this.y1, Math.floor((bottom - top) / 55))) {
      const y = this.y(value);
      grid.append(shape("line", { x1: left, x2: right, y1: y, y2: y, class: value === 0 ? "zero" : "grid" }));
      grid.append(shape("text", { x: left - 8, y: y + 4, class: "tick end" }, yWrite(value)));
    }
    for (const { value, text } of xTicks(this.x)) {
      const x = this.x(value);
      grid.append(shape("line", { x1: x, x2: x, y1: bottom, y2: bottom + 5, class: "axis-line" }));
      grid.append(shape("text", { x, y: bottom + 19, class: "tick middle" }, text));
    }
    grid.append(shape("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis-line" }));
    grid.append(shape("line", { x1: left, x2: left, y1: top, y2: bottom, class: "axis-line" }));
    grid.append(shape("text", { x: (left + right) / 2, y: bottom + 39, class: "tick middle" }, xTitle));
  }

  // A line through points in drawing order; in each column of pixels its first, lowest, highest and last are enough.
  path(xs, ys) {
    const parts = [];
    const tenth = (value) => Math.round(10 * value) / 10;
    let column = NaN;
    let [first, last, low, high] = [0, 0, 0, 0];
    const flush = (x) => {
      const start = tenth(x);
      let before = NaN;
      for (const y of [first, low, high, last].map(tenth)) {
        if (y !== before) {
          parts.push(`${start} ${y}`);
        }
        before = y;
      }
    };
    let at = 0;
    for (let i = 0; i < xs.length; i += 1) {
      const x = this.x(xs[i]);
      // only what is infinite is cut: a line cut nearer would lean another way where it is seen
      const y = clip(this.y(ys[i]), -FAR, FAR);
      if (Math.round(2 * x) !== column) {
        if (i > 0) {
          flush(at);
        }
        [first, low, high, column] = [y, y, y, Math.round(2 * x)];
      }
      at = x;
      last = y;
      low = Math.min(low, y);
      high = Math.max(high, y);
    }
    if (xs.length) {
      flush(at);
    }
    return parts.length ? "M" + parts.join("L") : "";
  }

  line(xs, ys, { colour, dash = [], width = 1.7, layer = "lines" }) {
    const attributes = { d: this.path(xs, ys), class: "curve", "stroke-width": width };
    if (dash.length) {
      attributes["stroke-dasharray"] = dash.join(" ");
    }
    const path = shape("path", attributes);
    path.style.stroke = `var(${colour})`;
    this.layers[layer].append(path);
    return path;
  }

  area(xs, lows, highs, colour) {
    const back = (values) => Array.from(values).reverse();
    const [up, down] = [this.path(xs, highs), this.path(back(xs), back(lows))];
    const path = shape("path", { d: `${up}L${down.slice(1)}Z`, class: "band" });
    path.style.fill = `var(${colour})`;
    this.layers.band.append(path);
  }

  // The plausible thresholds: a band with its two ends.
  shade(low, high) {
    const { shade: layer } = this.layers;
    if (!layer) {
      return;
    }
    const hold = (value) => Math.min(Math.max(this.x(value), -10), this.width + 10);
    const [from, to] = [hold(low), hold(high)];
    const [y, height] = [this.top, this.bottom - this.top];
    if (!layer.childNodes.length) {
      layer.append(shape("rect", { y, height, class: "shade" }));
      layer.append(shape("line", { y1: y, y2: y + height, class: "edge" }));
      layer.append(shape("line", { y1: y, y2: y + height, class: "edge" }));
    }
    const [rect, first, second] = layer.childNodes;
    rect.setAttribute("x", from);
    rect.setAttribute("width", Math.max(to - from, 0));
    [[first, from], [second, to]].forEach(([line, x]) => {
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    });
  }

  // A threshold of its own, such as the one chosen for the table.
  mark(value) {
    this.marker ??= shape("line", { class: "chosen" });
    const x = this.x(value);
    for (const [name, where] of [["x1", x], ["x2", x], ["y1", this.top], ["y2", this.bottom]]) {
      this.marker.setAttribute(name, where);
    }
    this.layers.cursor.append(this.marker);
  }

  valueAt(event) {
    const box = this.svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.width;
    return this.x0 + ((x - this.left) / (this.right - this.left)) * (this.x1 - this.x0);
  }

  read(event) {
    const value = this.valueAt(event);
    if (!(value >= this.x0 && value <= this.x1)) {
      this.silence();
      return;
    }
    const { head, rows } = this.readout(value);
    const items = rows.map(([name, text, colour]) => {
      const key = make("span", { class: "key" });
      key.style.background = `var(${colour})`;
      return make("div", {}, key, make("bdi", {}, name), make("span", { class: "amount" }, text));
    });
    this.box.replaceChildren(make("div", { class: "head" }, head), ...items);
    this.box.hidden = false;
    const share = (value - this.x0) / (this.x1 - this.x0);
    this.box.style.left = share < 0.5 ? `${this.x(value) + 14}px` : "auto";
    this.box.style.right = share < 0.5 ? "auto" : `${this.host.clientWidth - this.x(value) + 14}px`;
    this.pointer ??= shape("line", { class: "pointer" });
    for (const [name, where] of [["x1", this.x(value)], ["x2", this.x(value)], ["y1", this.top], ["y2", this.bottom]]) {
      this.pointer.setAttribute(name, where);
    }
    this.layers.cursor.append(this.pointer);
  }

  silence() {
    this.box.hidden = true;
    this.pointer?.remove();
  }

  // The text of the drawing as a file of its own, its colours as they are on the page now.
  picture() {
    const sheets = [this.ground, this.svg];
    const copies = sheets.map((sheet) => sheet.cloneNode(true));
    sheets.forEach((sheet, n) => {
      const [own, others] = [sheet, copies[n]].map((one) => one.querySelectorAll("*"));
      own.forEach((element, k) => {
        const look = getComputedStyle(element);
        for (const property of KEPT) {
          others[k].style.setProperty(property, look.getPropertyValue(property));
        }
      });
    });
    const [copy, front] = copies;
    copy.append(...front.childNodes);
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("width", this.width);
    copy.setAttribute("height", this.height);
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
  }

  save(name) {
    saveFile(new Blob([this.picture()], { type: "image/svg+xml" }), name);
  }
}
