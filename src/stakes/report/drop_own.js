// What else a page says of the range that was named: the advice, what is shown, the parts of the cost, groups, where
// the numbers come from, and the commands that do the same and more.

const { read, result } = page;
const askedState = startState();
const askedModels = asked.slice(0, models.length);
const refuses = asked.slice(models.length);
// the first model and those that cost as much on every row
const equal = askedModels.filter(({ moreSimultaneous }, k) => !k || moreSimultaneous.every((end) => end === 0));
const FEW_ROWS = 10; // of a class, from which on an interval means something

function setOwn(key, nodes) {
  const follower = followers.get(key);
  follower.own = nodes;
  follower.block.replaceChildren(...nodes);
}

function namesOf(rules, word = "and") {
  return rules.flatMap((rule, k) => [k === 0 ? "" : k === rules.length - 1 ? ` ${word} ` : ", ", calledOf(rule)]);
}

// What to do, or that the rows do not tell.
function adviceAsked() {
  const first = askedModels[0];
  const chosen = result.chosen === null ? null : asked[result.chosen];
  const best = calledOf(first);
  if (!chosen) {
    return told("no_choice");
  }
  if (!chosen.model) {
    const row = page.words.rows[chosen.name];
    return told("no_model_shown", { best: row[0].toUpperCase() + row.slice(1) });
  }
  const rivals = asked.filter((rule) => rule.possible && !equal.includes(rule));
  const names = namesOf(equal);
  if (rivals.length) {
    return told("cannot_tell", { best: [...names, equal.length > 1 ? said("alike") : ""], others: namesOf(rivals, "or") });
  }
  if (equal.length > 1) {
    return told("equal", { models: names, either: said(equal.length > 2 ? "any" : "either") });
  }
  if (read.distinct[first.model.given] === 1) {
    const score = percent(first.model.scores.scores[0]);
    return told("constant", { best, score, share: percent(page.shares.positive), events: page.words.events });
  }
  return told("use", { best, instead: insteadAsked() });
}

// What the model costs that one would else have taken.
function insteadAsked() {
  const [first, rival] = askedModels;
  if (!rival || !Number.isFinite(rival.cost)) {
    return "";
  }
  const though = fixed(rival.auc, 3) > fixed(first.auc, 3) ? said("though") : "";
  return make("span", {}, ...told("instead", { rival: calledOf(rival), more: writeAsked(PER * rival.more), per: page.perWords, though }));
}

function costAsked() {
  const rule = asked[result.chosen ?? 0];
  if (!Number.isFinite(rule.cost)) {
    return told("infinite", { best: calledOf(rule, true) });
  }
  const [low, high] = rule.simultaneous.map((end) => writeAsked(PER * end));
  const level = Number.isNaN(rule.simultaneous[0]) ? "" : said("alone", { level: LEVEL, low, high });
  const cost = told("costs", { best: calledOf(rule, true), cost: writeAsked(rule.cost), per: page.perWords, level, against: againstAsked(rule) });
  return [...cost, carriedAsked(rule)];
}

// How many rows add to the cost, and how unevenly, where their being few widens intervals.
function carriedAsked({ score, carried }) {
  const { count, name } = result.fewest;
  if (score === 0 || (count >= FEW_ROWS && !askedModels[0].scarce)) {
    return "";
  }
  if (!carried) {
    const weighted = Number.isInteger(count) ? "" : said("equal_weight");
    return count < FEW_ROWS ? said("few_of_class", { count: String(Number(count.toPrecision(3))), name, weighted, needed: String(FEW_ROWS) }) : "";
  }
  const { add, alike, rows, positive } = carried;
  if (Math.round(rows) === 1) {
    return said("only", { one: positive ? page.words.event : said("other"), nothing: add ? "" : said("nothing") });
  }
  const what = positive ? page.words.events : said("others");
  const uneven = alike < add ? said("uneven", { alike: String(alike) }) : "";
  const few = !add ? said("none") : uneven ? grouped(add, 0, 0) : said("just", { count: String(add) });
  return said("carried", { few, rows: grouped(rows, 0, 0), what, verb: said(add === 1 ? "adds" : "add"), uneven });
}

function againstAsked(rule) {
  if (!rule.model) {
    const { cost } = askedModels[0];
    const words = !Number.isFinite(cost) ? "best_infinite" : rule.more === 0 ? "as_much" : models.length === 1 ? "only_model" : "best_model";
    const best = calledOf(askedModels[0]);
    return told(words, { best, other: best, cost: writeAsked(cost) }).reduce((span, node) => (span.append(node), span), make("span"));
  }
  const other = refuses[1].cost < refuses[0].cost ? refuses[1] : refuses[0];
  const share = 1 - rule.cost / other.cost;
  const filled = { other: calledOf(other), cost: writeAsked(other.cost), share: shareOf(share) };
  if (!Number.isFinite(share) || Math.abs(share) < 0.005) {
    return said(Number.isFinite(share) ? "as_much" : "other_cost", filled);
  }
  return said(share > 0 ? "less" : "dearer", filled) + (result.chosen !== null && other.possible ? said("here") : "");
}

// What the differences from the first model show, all at once, and what they leave open.
function shownAsked() {
  const first = askedModels[0];
  if (result.chosen !== 0) {
    return [];
  }
  const others = asked.filter((rule) => !equal.includes(rule));
  const alone = asked.every(({ possible }, k) => possible === (k === 0));
  const less = others.filter(({ moreSimultaneous }) => alone || moreSimultaneous[0] > 0);
  const open = others.filter((rule) => rule.possible && !less.includes(rule));
  const every = less.length === others.length && equal.length === 1 && models.length > 1;
  const filled = { level: LEVEL, best: calledOf(first), average: askedState.low === askedState.high ? "" : said("average") };
  const lines = less.length ? [told("shown_less", { ...filled, others: every ? [said("every_other")] : namesOf(less) })] : [];
  if (others.some((rule) => !rule.possible && rule.moreSimultaneous[0] <= 0)) {
    lines.push(told("one_sided"));
  }
  return open.length ? [...lines, told("not_shown", { best: calledOf(first), others: namesOf(open, "or") })] : lines;
}

function beneathAsked() {
  const few = askedModels.filter(({ scarce }) => scarce);
  const lines = [[page.words.unit], ...shownAsked(), ...(few.length ? [told("few", { models: namesOf(few) })] : [])];
  const more = [result.chosen === null ? [] : [told("drawn")], [told("checks")]].flat();
  return [make("ul", { class: "findings" }, ...[...lines, ...more].map((line) => make("li", {}, ...line.flat())))];
}

// The parts of the cost over the range that was named, of all rows.
function partsAsked() {
  const terms = ["miscalibration", "discrimination", "uncertainty"];
  const rule = ({ model, cost, skill, ...own }) => ({ model, score: cost, parts: { score: cost, skill, ...Object.fromEntries(terms.map((term) => [term, PER * own[term]])) } });
  return { order: askedModels.map(rule), all: { score: refuses[0].cost }, none: { score: refuses[1].cost } };
}

function withinAsked() {
  const body = askedModels.map(({ model, within }, k) => [String(k + 1), rowHead({ model }), ...within.map((value) => cell(percent(value), value))]);
  const heads = [["#"], ["Model"], ["Share of cases"], ["Mean score"], ["Observed positives"]];
  return tableOf(ranged("in_range", "in_range", askedState), heads, body);
}

function groupsAsked() {
  if (!page.groups.length) {
    return [make("p", {}, said("no_groups"))];
  }
  const rows = page.groups.flatMap(({ name, rows: count, prevalence, models: numbers }) => numbers.map((own, k) => {
    const cost = cell(writeAsked(PER * own.score), PER * own.score, own.interval.map((end) => PER * end), spannedAsked(own.interval));
    const area = Number.isFinite(own.auc) ? cell(fixed(own.auc, 3).replace(/^0/, ""), own.auc) : cell("");
    return [make("bdi", {}, models[k].name), make("th", { scope: "row" }, make("bdi", {}, name)), cell(grouped(count, 0, 0), count), cell(percent(prevalence), prevalence), cost, area];
  }));
  const heads = [["Model"], ["Group"], ["Rows"], ["Positive"], ["Cost", said("interval_head", { level: LEVEL })], ["AUC"]];
  const table = tableOf(said("group_table", { group: read.group }), heads, rows);
  table.className = "groups";
  const words = make("p", {}, said("groups", { per: page.perWords, level: LEVEL }));
  return [words, make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Groups" }, table)];
}

// A word of a command line, in quotation marks where the shell would take it apart.
function shellWord(text) {
  return /^[\w./:,=+@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function commandOptions() {
  const names = (list) => shellWord(list.map((name) => name.replaceAll(",", "\\,")).join(","));
  const range = askedState.low === askedState.high ? askedState.low : `${askedState.low}:${askedState.high}`;
  return [
    shellWord(read.file.replace(/^-/, "./-")), "--label", shellWord(read.label), "--costs", String(range), "--models", names(read.models),
    ...(read.asked.posLabel === null ? [] : ["--pos-label", shellWord(read.asked.posLabel)]), ...(read.weight === null ? [] : ["--weight", shellWord(read.weight)]),
    ...(read.group === null ? [] : ["--groups", names([read.group])]), ...(read.asked.onMissing === "drop" ? ["--on-missing", "drop"] : []),
  ].join(" ");
}

function pythonCall() {
  const text = (value) => JSON.stringify(value);
  const range = askedState.low === askedState.high ? askedState.low : `(${askedState.low}, ${askedState.high})`;
  const rest = [
    ...(read.weight === null ? [] : [`weight=${text(read.weight)}`]), ...(read.group === null ? [] : [`groups=[${text(read.group)}]`]),
    ...(read.asked.posLabel === null ? [] : [`pos_label=${read.positive}`]), ...(read.asked.onMissing === "drop" ? ['on_missing="drop"'] : []),
  ].map((each) => `, ${each}`).join("");
  // polars keeps quotation marks in a header doubled
  const marked = [read.label, ...read.models, read.weight, read.group].some((name) => name?.includes('"'));
  return [
    "import polars as pl", "from stakes import evaluate_frame", `frame = pl.read_csv(${text(read.file)}, infer_schema_length=None${read.separator === "," ? "" : `, separator=${text(read.separator)}`}${read.dropped ? ', null_values=["NA", "N/A", "NaN", "nan", "null", "NULL"]' : ""})`,
    ...(marked ? [`frame.columns = [name.replace('""', '"') for name in frame.columns]`] : []),
    `result = evaluate_frame(frame, label=${text(read.label)}, models=[${read.models.map(text).join(", ")}], costs=${range}${rest})`, "print(result.answer)",
  ].join("\n");
}

const BEYOND = [
  ["The same, with bands, findings, calibration in numbers and a smooth curve", () => `stakes evaluate ${commandOptions()} --report report.html`],
  ["What to know of the scores and rows before acting on them", () => `stakes check ${commandOptions()}`],
  ["Rows that depend on each other: patients, centres, days", () => `stakes evaluate ${commandOptions()} --clusters COLUMN`],
  ["Outcomes after a time, or amounts by row", () => "stakes evaluate --help"],
  ["Class weights or sampling undone", () => "stakes correct --help"],
  ["The same in Python", pythonCall],
];

function beyondAsked() {
  const items = BEYOND.flatMap(([words, command]) => [make("dt", {}, words), make("dd", {}, make("pre", { tabindex: "0" }, make("code", {}, command())))]);
  return [make("p", {}, said("beyond")), make("dl", { class: "calls" }, ...items)];
}

function dataAsked() {
  const { distinct } = read;
  const [fewest, most] = [Math.min(...distinct), Math.max(...distinct)].map((count) => grouped(count, 0, 0));
  const facts = [
    ["Source", read.file], ["Rows", grouped(read.rows, 0, 0)], ["Rows dropped as incomplete", grouped(read.dropped, 0, 0)], ["Label column", read.label], ["Positive label", read.positive],
    ["Positives", `${percent(page.shares.positive, 4)} of the weight`], ["Weights", read.weight === null ? "none: every row counts once" : read.weight],
    ["Models", grouped(models.length, 0, 0)], ["Distinct scores", fewest === most ? fewest : `${fewest} to ${most} a model`],
  ];
  return facts.map(([term, value]) => make("div", {}, make("dt", {}, term), make("dd", {}, make("bdi", {}, value))));
}

// The answer's numbers as a file, with every interval.
function answerCsv() {
  const quotedCell = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const names = ["model", "kind", "cost", "ci_low", "ci_high", "simultaneous_low", "simultaneous_high", "more_than_first", "more_simultaneous_low", "more_simultaneous_high", "may_be_best", "auc", "miscalibration", "discrimination", "uncertainty", "skill", "share_acted_on"];
  const number = (value) => (value === undefined || value === null || Number.isNaN(value) ? "" : String(value));
  const by = (values) => values.map((value) => number(PER * value));
  const rows = asked.map((rule, k) => [
    rule.model ? read.models[rule.model.given] : rule.name, rule.model ? "model" : "reference", ...by([rule.score, ...rule.interval, ...rule.simultaneous, rule.more, ...rule.moreSimultaneous]),
    rule.possible === null ? "" : rule.possible ? "yes" : "no", number(rule.auc), ...(k < models.length ? by([rule.miscalibration, rule.discrimination, rule.uncertainty]) : ["", "", ""]), number(rule.skill), number(rule.actedOn),
  ]);
  return [names, ...rows].map((row) => `${row.map(quotedCell).join(",")}\n`).join("");
}

// A picture as PNG, twice as fine as on the screen.
function savePng(chart, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", { width: 2 * chart.width, height: 2 * chart.height });
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveFile(blob, name), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(chart.picture())}`;
}

for (const button of document.querySelectorAll("[data-save]")) {
  const png = make("button", { type: "button", "data-png": "" }, "PNG");
  const key = button.closest("figure").id.replace("figure-", "");
  png.setAttribute("aria-label", "Save picture as PNG");
  png.addEventListener("click", () => savePng(allFigures.find((figure) => figure.key === key).chart, `stakes-${key}.png`));
  button.after(png);
}
part("saves").forEach((bar) => {
  const button = make("button", { type: "button", "data-csv": "" }, "Save table as CSV");
  button.addEventListener("click", () => saveFile(new Blob([answerCsv()], { type: "text/csv" }), "stakes-answer.csv"));
  bar.append(button);
});
part("groups").forEach((block) => block.replaceChildren(...groupsAsked()));
part("beyond").forEach((block) => block.replaceChildren(...beyondAsked()));
part("data").forEach((block) => block.replaceChildren(...dataAsked()));
setOwn("meaning", [meaning(askedState)]);
setOwn("advice", [make("p", { class: "advice" }, ...adviceAsked().flat()), make("p", { class: "cost" }, ...costAsked().flat())]);
setOwn("beneath", beneathAsked());
setOwn("shaded", [shadedWords(askedState)]);
setOwn("decomposition", [decompositionTable(askedState, partsAsked())]);
setOwn("in-range", [withinAsked()]);
