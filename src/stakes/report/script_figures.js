// The figures: regret, net benefit, reliability, decomposition, ROC.

const hiddenModels = new Set();
const drawnModels = models.slice(0, page.drawn);
const LAST = 0.99;
const bandThresholds = page.bands && decoded(page.bands);
let bandOf = "best";
const REFERENCE_DASHES = { [ALL]: [7, 4], [NONE]: [2, 3] };

function shownModels() {
  return drawnModels.filter((model) => !hiddenModels.has(model.index));
}

function colourOf(model) {
  return `--model-${model.colour}`;
}

// Points of a curve of thresholds between two ends: both sides of every step, and enough between them where it bends.
function curvePoints(table, low, high, value, bends) {
  const [xs, ys] = [[], []];
  const { scores, missed, spared, total, size } = table;
  const room = (high - low) / 300;
  let from = low;
  for (let i = placeOf(scores, low); i <= size; i += 1) {
    const to = i < size ? Math.min(scores[i], high) : high;
    const [miss, alarm] = [missed[i] / total, (spared[size] - spared[i]) / total];
    const pieces = bends ? Math.max(1, Math.ceil((to - from) / room)) : 1;
    for (let k = 0; k <= pieces; k += 1) {
      const t = k === pieces ? to : from + ((to - from) * k) / pieces;
      xs.push(t);
      ys.push(value(t, alarm, miss));
    }
    from = to;
    if (to >= high) {
      break;
    }
  }
  return [xs, ys];
}

// In the unit of the answer.
const KINDS = {
  regret: {
    by: page.per * page.unit,
    value: (t, alarm, miss) => t * alarm + (1 - t) * miss,
    all: (t) => t * page.shares.negative,
    none: (t) => (1 - t) * page.shares.positive,
    last: 1,
  },
  decision: {
    by: page.per,
    value: (t, alarm, miss) => page.shares.positive - miss - (t / (1 - t)) * alarm,
    all: (t) => page.shares.positive - (t / (1 - t)) * page.shares.negative,
    none: () => 0,
    last: LAST,
  },
};

// What part of the axis is shown: the surroundings of the range, or everything.
function windowOf(state, view, last) {
  const { low, high } = state;
  if (view === "whole" || high - low >= 0.5) {
    return [0, last];
  }
  const margin = 0.5 * (high - low) || 0.5 * Math.min(low, 1 - low) || 0.05;
  const ends = [Math.max(0, low - margin), Math.min(last, high + margin)];
  return ends[0] < ends[1] ? ends : [0, last];
}

function thresholdTicks(state, low, high) {
  return (place) =>
    roundThresholds(low, high, place, state.view).map((value) => ({ value, text: VIEWS[state.view].write(value) }));
}

class ThresholdFigure {
  constructor(key) {
    const { by, value, all, none, last } = KINDS[key];
    const kind = { value: (...at) => by * value(...at), all: (t) => by * all(t), none: (t) => by * none(t), by, last };
    Object.assign(this, { key, kind, ends: key === "regret" ? "regret" : "net_benefit", view: "near" });
    this.host = document.getElementById(`plot-${key}`);
    this.chart = new Chart(this.host, { readout: (t) => this.readout(t) });
  }

  readout(t) {
    const at = (model) => {
      const { alarms: alarm, missed: miss } = decidedAt(model, t);
      return this.kind.value(t, alarm, miss + model.harm);
    };
    const rows = shownModels().map((model) => [model.name, number(at(model)), colourOf(model)]);
    const references = [ALL, NONE].map((name) => [page.words.rows[name], number(this.kind[name === ALL ? "all" : "none"](t)), "--reference"]);
    return { head: `${percent(t)} · ${odds(t)} · 1 miss = ${alarms(t)} alarms`, rows: [...rows, ...references] };
  }

  draw(state, results) {
    const [x0, x1] = windowOf(state, this.view, this.kind.last);
    const lines = drawnModels.map((model) => [model, ...this.points(model, x0, x1)]);
    const bands = banded(results).filter((model) => model.band?.[this.ends]).map((model) => [model, ...this.limits(model)]);
    const edges = bands.flatMap(([model, ...limits]) => limits.map((ys) => [model, bandThresholds, ys]));
    const [y0, y1] = this.heights([...lines, ...edges], x0, x1, state);
    const { chart } = this;
    chart.frame({ x0, x1, y0, y1, xTicks: thresholdTicks(state, x0, x1), yWrite: tidy, xTitle: VIEWS[state.view].axis });
    bands.forEach(([model, low, high]) => chart.area(bandThresholds, low, high, colourOf(model)));
    const grid = Array.from({ length: 201 }, (_, k) => x0 + ((x1 - x0) * k) / 200);
    for (const [name, curve] of [[ALL, this.kind.all], [NONE, this.kind.none]]) {
      chart.line(grid, grid.map(curve), { colour: "--reference", dash: REFERENCE_DASHES[name], width: 1.8 });
    }
    // the best model last, so that it lies on top
    for (const [model, xs, ys] of lines.reverse()) {
      if (!hiddenModels.has(model.index)) {
        const width = model === results.order[0].model ? 2.6 : 1.7;
        chart.line(xs, ys, { colour: colourOf(model), dash: model.dash, width });
      }
    }
  }

  points(model, x0, x1) {
    const value = (t, alarm, miss) => this.kind.value(t, alarm, miss + model.harm);
    return curvePoints(actedOn(model), x0, x1, value, this.key === "decision");
  }

  heights(lines, x0, x1, range) {
    const grid = Array.from({ length: 201 }, (_, k) => x0 + ((x1 - x0) * k) / 200);
    const references = grid.map((t) => [this.kind.all(t), this.kind.none(t)]);
    let [low, high, plausible] = [Infinity, -Infinity, Infinity];
    for (const [, xs, ys] of lines) {
      ys.forEach((y, k) => {
        if (xs[k] < x0 || xs[k] > x1) {
          return;
        }
        low = Math.min(low, y);
        high = Math.max(high, y);
        plausible = xs[k] >= range.low && xs[k] <= range.high ? Math.min(plausible, y) : plausible;
      });
    }
    if (this.key === "regret") {
      const cheaper = Math.max(...references.map((pair) => Math.min(...pair)));
      // the references do not squash the models
      return [0, 1.06 * Math.max(high, Math.min(cheaper, 3 * high)) || 1];
    }
    const better = references.map((pair) => Math.max(...pair));
    [low, high] = [Math.min(low, ...better), Math.max(high, ...better)];
    // a plunge does not squash the rest, but models that do harm are seen to within the range
    const deep = this.view === "whole" ? 0.4 : 3;
    low = Math.max(low, Math.min(-deep * (high || 0.25 * this.kind.by), Math.max(plausible, -deep * this.kind.by * page.shares.positive)));
    const pad = 0.06 * (high - low) || 0.05 * this.kind.by;
    return [low - pad, high + pad];
  }

  // Both ends of a simultaneous band over the report's own range.
  limits(model) {
    const limits = decoded(model.band[this.ends]).map((end) => end * this.kind.by);
    return [limits.slice(0, bandThresholds.length), limits.slice(bandThresholds.length)];
  }
}

// Differences of the decision chosen in the report and others that are shown to cost less somewhere, with their bands.
class CrossingFigure {
  constructor(pairs) {
    Object.assign(this, { key: "crossing" });
    this.lines = pairs.map(({ name, model, x, y, limits }) => {
      const look = model === null ? { colour: "--reference", dash: REFERENCE_DASHES[name] } : { colour: colourOf(models[model]), dash: models[model].dash };
      const [xs, ys, ends] = [decoded(x), ...[y, limits].map((values) => decoded(values).map((value) => value * page.per * page.unit))];
      return { name: page.words.rows[name] ?? name, xs, ys, low: ends.slice(0, xs.length), high: ends.slice(xs.length), ...look };
    });
    this.chart = new Chart(document.getElementById("plot-crossing"), { readout: (t) => this.readout(t) });
  }

  readout(t) {
    const rows = this.lines.map(({ name, xs, ys, low, high, colour }) => {
      const after = Math.min(placeOf(xs, t), xs.length - 1);
      const k = after > 0 && t - xs[after - 1] < xs[after] - t ? after - 1 : after;
      return [name, `${number(ys[k])} (${number(low[k])} to ${number(high[k])})`, colour];
    });
    return { head: `${percent(t)} · ${odds(t)}: difference and its band`, rows };
  }

  draw(state) {
    const all = this.lines.flatMap(({ xs }) => [xs[0], xs[xs.length - 1]]);
    const [x0, x1] = [Math.min(...all), Math.max(...all)];
    const ends = this.lines.flatMap(({ low, high }) => [...low, ...high]);
    const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
    const pad = 0.06 * (high - low);
    const xTicks = thresholdTicks(state, x0, x1);
    this.chart.frame({ x0, x1, y0: low - pad, y1: high + pad, xTicks, yWrite: tidy, xTitle: VIEWS[state.view].axis });
    for (const { xs, ys, low: lows, high: highs, ...look } of this.lines) {
      this.chart.area(xs, lows, highs, look.colour);
      this.chart.line(xs, ys, look);
    }
  }
}

// The models whose band is drawn: the one that is best now, the one that the reader chose, all or none.
function banded(results) {
  const chosen = { best: [results.order[0].model], all: drawnModels, none: [] }[bandOf] ?? [models[Number(bandOf)]];
  return chosen.filter((model) => model.index < page.drawn && !hiddenModels.has(model.index));
}

function tidy(value) {
  return plain(value, 3).replace("-", MINUS);
}

class ReliabilityFigure {
  constructor() {
    Object.assign(this, { key: "reliability", view: "near", shape: "isotonic", kind: { last: 1 } });
    this.chart = new Chart(document.getElementById("plot-reliability"), { readout: (s) => this.readout(s) });
    this.below = new Chart(document.getElementById("plot-scores"), { height: 0.22 });
    const points = ({ x, y }) => [decoded(x), decoded(y)];
    this.shapes = { isotonic: drawnModels.map((model) => points(model.reliability)) };
    for (const shape of page.shapes) {
      this.shapes[shape] = drawnModels.map((model) => points(model[shape]));
    }
  }

  get lines() {
    return this.shapes[this.shape];
  }

  band({ index, smooth }) {
    if (smooth.limits) {
      const [[xs], limits] = [this.lines[index], decoded(smooth.limits)];
      this.chart.area(xs, limits.slice(0, xs.length), limits.slice(xs.length), colourOf(models[index]));
    }
  }

  readout(s) {
    const rate = ([xs, ys]) => {
      const k = placeOf(xs, s);
      if (s < xs[0] || s > xs[xs.length - 1] || !xs.length) {
        return "no score there";
      }
      const width = k > 0 ? xs[k] - xs[k - 1] : 0;
      return percent(width > 0 ? ys[k - 1] + ((ys[k] - ys[k - 1]) * (s - xs[k - 1])) / width : ys[k]);
    };
    const rows = shownModels().map((model) => [model.name, rate(this.lines[model.index]), colourOf(model)]);
    return { head: `score ${percent(s)}: observed`, rows };
  }

  line({ index }, look) {
    this.chart.line(...this.lines[index], look);
  }

  dots({ index }, { colour }) {
    const [xs, ys] = this.lines[index];
    xs.forEach((x, k) => {
      const dot = shape("circle", { cx: this.chart.x(x), cy: this.chart.y(ys[k]), r: 5, class: "point" });
      dot.style.fill = `var(${colour})`;
      this.chart.layers.lines.append(dot);
    });
  }

  draw(state, results) {
    const [x0, x1] = windowOf(state, this.view, 1);
    const xTicks = (place) => roundThresholds(x0, x1, place, "probability").map((value) => ({ value, text: percent(value) }));
    let [y0, y1] = [x0, x1];
    for (const [xs, ys] of this.lines) {
      for (let i = 0; i < xs.length; i += 1) {
        if (xs[i] >= x0 && xs[i] <= x1) {
          [y0, y1] = [Math.min(y0, ys[i]), Math.max(y1, ys[i])];
        }
      }
    }
    const pad = 0.04 * (y1 - y0);
    this.chart.frame({ x0, x1, y0: y0 - pad, y1: y1 + pad, xTicks, yWrite: (y) => percent(y), xTitle: "score" });
    this.chart.line([x0, x1], [x0, x1], { colour: "--reference", width: 1.2 });
    if (this.shape === "smooth") {
      banded(results).forEach((model) => this.band(model));
    }
    this.below.frame({ x0, x1, y0: -0.02, y1: 1.02, xTicks, yWrite: (y) => percent(y), xTitle: "score", yTicks: [0, 0.5, 1] });
    for (const model of [...shownModels()].reverse()) {
      const look = { colour: colourOf(model), dash: model.dash };
      this[["binned", "followed"].includes(this.shape) ? "dots" : "line"](model, look);
      const table = model.everyone ?? model.scores;
      const negatives = table.totalNegatives / table.total;
      const share = (_, alarm, miss) => miss + negatives - alarm;
      this.below.line(...curvePoints(table, x0, x1, share, false), look);
    }
  }
}

class RocFigure {
  constructor() {
    Object.assign(this, { key: "roc" });
    this.chart = new Chart(document.getElementById("plot-roc"), { height: 0.6 });
    this.usable = page.shares.negative > 0 && page.shares.positive > 0;
  }

  points(model, low, high) {
    const { scores, missed, spared, totalPositives, totalNegatives, size } = model.scores;
    const [from, to] = [placeOf(scores, low), placeOf(scores, high)];
    const [xs, ys] = [[], []];
    for (let i = Math.min(to, size); i >= from; i -= 1) {
      xs.push((totalNegatives - spared[i]) / totalNegatives);
      ys.push((totalPositives - missed[i]) / totalPositives);
    }
    return [xs, ys];
  }

  draw(state) {
    if (!this.usable) {
      return;
    }
    const xTicks = (place) => roundThresholds(0, 1, place, "probability").map((value) => ({ value, text: percent(value) }));
    this.chart.frame({ x0: 0, x1: 1, y0: 0, y1: 1.02, xTicks, yWrite: (y) => percent(y), xTitle: "negatives acted on (false positive rate)" });
    this.chart.line([0, 1], [0, 1], { colour: "--reference", width: 1.2 });
    for (const model of [...shownModels()].reverse()) {
      this.chart.line(...this.points(model, 0, Infinity), { colour: colourOf(model), dash: model.dash, width: 1.4 });
    }
    this.follow(state);
  }

  // The part of each curve that the plausible thresholds use, thick.
  follow(state) {
    if (!this.usable || !this.chart.layers.band) {
      return;
    }
    this.chart.layers.band.replaceChildren();
    for (const model of shownModels()) {
      const [xs, ys] = this.points(model, state.low, state.high);
      const path = this.chart.line(xs, ys, { colour: colourOf(model), width: 9, layer: "band" });
      path.classList.add("used");
    }
  }
}

class DecompositionFigure {
  constructor() {
    Object.assign(this, { key: "decomposition" });
    this.host = document.getElementById("plot-decomposition");
    this.chart = this.host && new Chart(this.host, { height: 0.46 });
  }

  draw(state, results, own) {
    if (!this.chart) {
      return;
    }
    const points = results.order
      .filter(({ model }) => model.index < page.drawn && !hiddenModels.has(model.index))
      .map(({ model, parts }) => ({ model, ...(own ? model.ownParts : parts) }))
      .filter(({ miscalibration, discrimination }) => Number.isFinite(miscalibration) && Number.isFinite(discrimination));
    if (!points.length) {
      [this.chart.ground, this.chart.svg].forEach((sheet) => sheet?.replaceChildren());
      return;
    }
    const uncertainty = points[0].uncertainty;
    const least = 0.02 * uncertainty || 1e-3;
    const right = 1.15 * Math.max(least, ...points.map((p) => p.miscalibration));
    const top = 1.15 * Math.max(least, ...points.map((p) => p.discrimination));
    const [left, bottom] = [-0.06 * right, -0.06 * top];
    const xTicks = (place) => roundValues(left, right, (place(right) - place(left)) / 90).map((value) => ({ value, text: tidy(value) }));
    this.chart.frame({ x0: left, x1: right, y0: bottom, y1: top, xTicks, yWrite: tidy, xTitle: "miscalibration MCB (less is better)" });
    const ticks = this.equalCosts(uncertainty, left, right, bottom, top);
    const places = points.map((p) => ({ ...p, x: this.chart.x(p.miscalibration), y: this.chart.y(p.discrimination) }));
    const taken = [...places.map(({ x, y }) => ({ x, y, room: 7 })), ...ticks];
    [...places].reverse().forEach((place) => this.dot(place));
    places.forEach((place) => this.label(place, taken, results));
  }

  // Lines of equal cost, and where their numbers stand.
  equalCosts(uncertainty, left, right, bottom, top) {
    const ticks = [];
    const levels = roundValues(uncertainty + left - top, uncertainty + right - bottom, 6);
    for (const level of [...levels, uncertainty]) {
      const rise = uncertainty - level;
      const colour = level === uncertainty ? "--reference" : "--grid-strong";
      this.chart.line([left, right], [left + rise, right + rise], { colour, width: 1.2, layer: "shade" });
      const x = Math.min(right, top - rise);
      if (level !== uncertainty && x > left && x + rise > bottom) {
        const at = { x: this.chart.x(x) - 4, y: this.chart.y(x + rise) + (x < right ? 12 : -4), class: "tick end small" };
        this.chart.layers.marks.append(shape("text", at, tidy(level)));
        ticks.push({ x: at.x - 6, y: at.y - 4, room: 8 }, { x: at.x - 18, y: at.y - 4, room: 8 });
      }
    }
    return ticks;
  }

  dot({ model, x, y }) {
    const dot = shape("circle", { cx: x, cy: y, r: 6, class: "point" });
    dot.style.fill = `var(${colourOf(model)})`;
    this.chart.layers.marks.append(dot);
  }

  // The number of a model beside its dot, in the nearest free place; where that is further off, a line leads there.
  label({ model, x, y }, taken, results) {
    const rank = results.order.findIndex((rule) => rule.model === model) + 1;
    const { left, right, top, bottom } = this.chart;
    const turns = [0, 4, 2, 6, 1, 3, 5, 7].map((k) => (k * Math.PI) / 4);
    const places = [16, 28, 40, 52, 64, 80, 100].flatMap((far) =>
      turns.map((turn) => ({ x: x + far * Math.cos(turn), y: y - far * Math.sin(turn), far, room: 10 })),
    );
    const inside = (at) => at.x > left + 8 && at.x < right - 8 && at.y > top + 8 && at.y < bottom - 8;
    const free = (at) => taken.every((other) => Math.hypot(at.x - other.x, at.y - other.y) >= other.room + at.room - 1);
    const at = places.find((place) => inside(place) && free(place)) ?? places[0];
    taken.push(at);
    if (at.far > 16) {
      this.chart.layers.marks.append(shape("line", { x1: x, y1: y, x2: at.x, y2: at.y, class: "leader" }));
    }
    this.chart.layers.marks.append(shape("text", { x: at.x, y: at.y + 5, class: "tick middle label" }, String(rank)));
  }
}
