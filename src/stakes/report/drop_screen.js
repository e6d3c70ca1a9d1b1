// The screen of a report that a page has made: legends, names, and the answer for the range that was named.

const PER = page.per;
// what is undefined comes as null, for JSON has no word for it
const known = (value) => (Array.isArray(value) ? value.map(known) : value ?? NaN);
const asked = page.result.rules.map((rule, k) => {
  const numbers = Object.fromEntries(Object.entries(rule).map(([key, value]) => [key, key === "possible" ? value : known(value)]));
  return { ...numbers, model: models[k], name: [ALL, NONE][k - models.length], cost: PER * numbers.score };
});

function part(key) {
  return document.querySelectorAll(`[data-part="${key}"]`);
}

// A sample of a line, hidden from screen readers.
function swatchOf(colour, dash) {
  const look = { viewBox: "0 0 34 10", width: 34, height: 10, class: "swatch", "aria-hidden": "true" };
  const [sample, line] = [shape("svg", look), shape("path", { d: "M1 5H33", stroke: `var(${colour})`, "stroke-width": 3, fill: "none" })];
  if (dash.length) {
    line.setAttribute("stroke-dasharray", dash.join(","));
  }
  sample.append(line);
  return sample;
}

function sampleOf(model) {
  return make("span", { class: "name" }, swatchOf(`--model-${model.colour}`, model.dash), " ", make("bdi", {}, model.name));
}

function referenceOf(name) {
  return [swatchOf("--reference", { [ALL]: [7, 4], [NONE]: [2, 3] }[name]), " ", make("bdi", {}, page.words.rows[name])];
}

function fillLegend(legend) {
  models.slice(0, page.drawn).forEach((model, k) => {
    const box = make("input", { type: "checkbox", checked: "", "data-show": k });
    legend.append(make("label", {}, box, " ", make("span", { class: "rank" }, String(k + 1)), " ", sampleOf(model)));
  });
  if (["figure-regret", "figure-decision"].includes(legend.closest("figure").id)) {
    [ALL, NONE].forEach((name) => legend.append(make("span", { class: "reference" }, ...referenceOf(name))));
  }
}

// Costs as the answer writes them: three digits of the least, and two decimals at most.
const writeAsked = costWriter({ order: asked.slice(0, models.length).map(({ cost }) => ({ score: cost })), all: { score: asked[models.length].cost }, none: { score: asked[models.length + 1].cost } });

function spannedAsked(ends, write = writeAsked) {
  return spanned(ends.map((end) => PER * end), (value) => write(value));
}

function answerRow(rule, k) {
  const head = rule.model
    ? make("th", { scope: "row", "data-model": k }, sampleOf(rule.model))
    : make("th", { scope: "row" }, make("span", { "data-reference": rule.name }, ...referenceOf(rule.name)));
  const ends = (interval) => interval.map((end) => PER * end);
  const cost = cell(writeAsked(rule.cost), rule.cost, ends(rule.simultaneous), spannedAsked(rule.simultaneous));
  const more = k === 0 ? cell("–") : cell(writeAsked(PER * rule.more), PER * rule.more, ends(rule.moreSimultaneous), spannedAsked(rule.moreSimultaneous));
  const auc = rule.model?.auc ?? NaN;
  const best = cell(rule.possible === null ? "–" : rule.possible ? "yes" : "no");
  const area = cell(Number.isNaN(auc) ? "" : fixed(auc, 3).replace(/^0/, ""), auc);
  return [rule.model ? make("span", { class: "rank" }, String(k + 1)) : "", head, cost, more, best, area];
}

function askedTable() {
  const interval = said("interval_head", { level: percent(page.level, 6) });
  const heads = [["#"], ["Model"], ["Cost", interval], ["More than the first", interval], ["May be best"], ["AUC"]];
  return tableOf(said("answer_all", { per: page.perWords }), heads, asked.map(answerRow), "answer");
}

part("legend").forEach(fillLegend);
document.querySelector('[data-follows="answer"]').replaceChildren(askedTable());
