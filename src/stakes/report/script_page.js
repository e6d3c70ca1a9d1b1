// The page comes alive: every change of the range updates numbers, words and shading; its end redraws the figures.

const root = document.documentElement;
const thresholdFigures = ["regret", "decision"].map((key) => new ThresholdFigure(key));
const reliability = new ReliabilityFigure();
const roc = new RocFigure();
const decomposition = new DecompositionFigure();
const allFigures = [...thresholdFigures, reliability, roc, decomposition];
let latest = null;
let settling = 0;
const SECTIONS = ["stake", "ranking-section", "reliability", "decomposition", "threshold", "roc"];

// While the reader moves, only what is in view follows; the rest does a moment later.
function update(state, all = true) {
  const began = performance.now();
  const own = isOwn(state);
  const results = evaluated(state);
  if (own) {
    results.order.sort((x, y) => x.model.index - y.model.index);
  }
  latest = { state, results, own };
  const seen = new Set(SECTIONS.filter((key) => all || inView(document.getElementById(key))));
  showResults(state, results, own, seen);
  if (seen.has("threshold")) {
    showThreshold(state, results);
  }
  if (seen.has("roc")) {
    roc.follow(state);
  }
  if (seen.has("decomposition")) {
    decomposition.draw(state, results, own);
  }
  shadeAll(state);
  root.dataset.update = String(performance.now() - began);
}

function inView(section) {
  const { top, bottom } = section.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
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

function drawAll() {
  const { state, results, own } = latest;
  for (const figure of allFigures) {
    figure.draw(state, results, own);
  }
  shadeAll(state);
  // what is drawn in words, for those who do not see it
  for (const host of document.querySelectorAll(".plot[data-label]")) {
    host.setAttribute("aria-label", `${host.dataset.label} ${shadedWords(state)}`);
  }
  root.dataset.settled = "true";
}

function changed(state) {
  update(state, false);
  root.dataset.settled = "false";
  clearTimeout(settling);
  settling = setTimeout(settle, 90);
}

function settle() {
  update(range.state);
  drawAll();
  const { low, high } = range.state;
  const [best] = latest.results.order;
  document.getElementById("status").textContent = `Thresholds ${percent(low)} to ${percent(high)}: ${best.model.name} costs least.`;
}

function listenTo(figure) {
  const block = document.getElementById(`figure-${figure.key}`);
  const buttons = [...block.querySelectorAll("[data-view]")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      figure.view = button.dataset.view;
      drawAll();
    });
  }
  block.querySelector("[data-save]").addEventListener("click", () => figure.chart.save(`stakes-${figure.key}.svg`));
}

function toggle({ target }) {
  const model = Number(target.dataset.show);
  hiddenModels[target.checked ? "delete" : "add"](model);
  for (const box of document.querySelectorAll(`[data-show="${model}"]`)) {
    box.checked = target.checked;
  }
  drawAll();
}

// On paper every table is open.
function forPaper(start) {
  for (const block of document.querySelectorAll("details")) {
    if (start) {
      block.dataset.open = String(block.open);
    }
    block.open = start || block.dataset.open === "true";
  }
}

controls.hidden = false;
const range = new Range(changed);
range.show();
range.ticks();
update(range.state);
drawAll();
allFigures.forEach(listenTo);
thresholdFigures.forEach(({ chart }) => range.dragIn(chart));
for (const box of document.querySelectorAll("[data-show]")) {
  box.addEventListener("change", toggle);
}
let resized = 0;
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => {
    range.ticks();
    drawAll();
  }, 100);
});
window.addEventListener("beforeprint", () => forPaper(true));
window.addEventListener("afterprint", () => forPaper(false));
root.dataset.drawn = "true";
