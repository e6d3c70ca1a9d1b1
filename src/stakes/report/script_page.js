// The page comes alive: what is in sight follows every change of the range at once, the rest and the figures after it.

const root = document.documentElement;
const thresholdFigures = ["regret", "decision"].map((key) => new ThresholdFigure(key));
const reliability = new ReliabilityFigure();
const roc = new RocFigure();
const decomposition = new DecompositionFigure();
const crossing = page.crossing.length ? [new CrossingFigure(page.crossing)] : [];
const allFigures = [...thresholdFigures, ...crossing, reliability, roc, decomposition];
const allCharts = allFigures.flatMap(({ chart, below }) => [chart, below]).filter(Boolean);
const SECTIONS = ["stake", "reliability", "decomposition", "threshold", "roc"];
// milliseconds without a move after which the rest follows; a held handle will probably move on
const REST = { free: 90, held: 400 };
const inSight = new Set();
const behind = new Set();
let latest = null;
let settling = 0;
let frame = 0;

const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    inSight[isIntersecting ? "add" : "delete"](target.id);
  }
});

// What follows the range: numbers, words and shading; of the sections those in sight, or all.
function update(state, keys = SECTIONS.filter((key) => inSight.has(key))) {
  const began = performance.now();
  const results = evaluated(state);
  const own = isOwn(state);
  if (own) {
    results.order.sort((x, y) => x.model.index - y.model.index);
  }
  latest = { state, results, own };
  root.dataset.own = String(own);
  SECTIONS.forEach((key) => behind.add(key));
  keys.forEach(write);
  shadeAll(state);
  root.dataset.update = String(performance.now() - began);
}

function write(key) {
  const { state, results, own } = latest;
  behind.delete(key);
  showResults(state, results, own, new Set([key]));
  if (key === "threshold") {
    showThreshold(state, results);
  } else if (key === "roc") {
    roc.follow(state);
  } else if (key === "decomposition") {
    decomposition.draw(state, results, own);
  }
}

function shadeAll(state) {
  for (const chart of [...thresholdFigures.map((figure) => figure.chart), reliability.chart, reliability.below]) {
    chart.shade(state.low, state.high);
  }
  for (const { chart, kind } of thresholdFigures) {
    if (chart.layers.cursor && state.at <= kind.last) {
      chart.mark(state.at);
    }
  }
}

function draw(figure) {
  const { state, results, own } = latest;
  figure.draw(state, results, own);
  shadeAll(state);
}

function changed() {
  root.dataset.settled = "false";
  clearTimeout(settling);
  // several moves of the mouse may fall between two pictures of the screen
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    update(range.state);
    settling = setTimeout(settle, range.held ? REST.held : REST.free);
  });
}

// Everything else, piece by piece, so that the next move of the reader need not wait; what is in sight first.
function settle() {
  const seen = ({ key }) => Number(inSight.has(`figure-${key}`));
  const figures = [...allFigures].sort((x, y) => seen(y) - seen(x));
  work([...[...behind].map((key) => () => write(key)), ...figures.map((figure) => () => draw(figure)), settled]);
}

function work([first, ...others]) {
  first();
  if (others.length) {
    settling = setTimeout(() => work(others), 0);
  }
}

function settled() {
  const { state, results } = latest;
  // what is drawn in words, for those who do not see it
  for (const host of document.querySelectorAll(".plot[data-label]")) {
    host.setAttribute("aria-label", `${host.dataset.label} ${shadedWords(state)}`);
  }
  const [best] = results.order;
  const least = Number.isFinite(best.integral) ? `${best.model.name} costs least` : "every model has an infinite cost";
  document.getElementById("status").textContent = `Thresholds ${percents(state.low, state.high).join(" to ")}: ${least}.`;
  root.dataset.settled = "true";
}

function listenTo(figure) {
  const block = document.getElementById(`figure-${figure.key}`);
  for (const name of ["view", "shape"]) {
    const buttons = [...block.querySelectorAll(`[data-${name}]`)];
    for (const button of buttons) {
      button.addEventListener("click", () => {
        buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
        figure[name] = button.dataset[name];
        draw(figure);
      });
    }
  }
  block.querySelector("[data-save]").addEventListener("click", () => figure.chart.save(`stakes-${figure.key}.svg`));
}

function toggle({ target }) {
  const model = Number(target.dataset.show);
  hiddenModels[target.checked ? "delete" : "add"](model);
  for (const box of document.querySelectorAll(`[data-show="${model}"]`)) {
    box.checked = target.checked;
  }
  allFigures.forEach(draw);
}

function chooseBand({ target }) {
  bandOf = target.value;
  for (const box of document.querySelectorAll("[data-band]")) {
    box.value = bandOf;
  }
  [...thresholdFigures, reliability].forEach(draw);
}

// On paper everything is open.
function forPaper(start) {
  for (const block of document.querySelectorAll("details")) {
    if (start) {
      block.dataset.open = String(block.open);
    }
    block.open = start || block.dataset.open === "true";
  }
  if (start) {
    // what was closed has no width of its own until now
    allCharts.forEach((chart) => chart.size(chart.host.clientWidth));
    allFigures.forEach(draw);
  }
}

controls.hidden = false;
const range = new Range(changed);
range.show();
range.ticks();
update(range.state, SECTIONS);
allFigures.forEach(draw);
settled();
SECTIONS.forEach((key) => sight.observe(document.getElementById(key)));
allFigures.forEach(({ key }) => sight.observe(document.getElementById(`figure-${key}`)));
allFigures.forEach(listenTo);
thresholdFigures.forEach(({ chart }) => range.dragIn(chart));
for (const box of document.querySelectorAll("[data-show]")) {
  box.addEventListener("change", toggle);
}
for (const box of document.querySelectorAll("[data-band]")) {
  box.addEventListener("change", chooseBand);
}
let resized = 0;
const room = new ResizeObserver((entries) => {
  const moved = entries.filter(({ target, contentRect }) => {
    const chart = allCharts.find(({ host }) => host === target);
    const before = chart.width;
    chart.size(contentRect.width);
    return chart.width !== before;
  });
  if (moved.length) {
    clearTimeout(resized);
    resized = setTimeout(() => {
      range.ticks();
      allFigures.forEach(draw);
    }, 100);
  }
});
allCharts.forEach(({ host }) => room.observe(host));
window.addEventListener("beforeprint", () => forPaper(true));
window.addEventListener("afterprint", () => forPaper(false));
root.dataset.drawn = "true";
