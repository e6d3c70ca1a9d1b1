// Tables and sentences that follow the range. For the report's own range they are those of the library, kept as they
// were written; for any other they are made here.

const followers = new Map(
  [...document.querySelectorAll("[data-follows]")].map((block) => [block.dataset.follows, { block, own: [...block.childNodes] }])
);
const nameNodes = models.map((model) => document.querySelector(`#ranking [data-model="${model.index}"] .name`));
const SCALES = { regret: "mean regret", integral: "integral of regret", loss: "loss" };

function follow(key, nodes) {
  const { block, own } = followers.get(key) ?? {};
  block?.replaceChildren(...(nodes ?? own));
}

// The attributes hold the numbers in full, for those who want more digits.
function cell(text, details = [], { value = NaN, interval = [], strong = false, before = [] } = {}) {
  const number = make(strong ? "b" : "span", {}, text);
  const notes = details.map((detail) => make("small", {}, detail));
  const full = { "data-value": value, ...(interval.length ? { "data-interval": interval.join(" ") } : {}) };
  return make("td", { role: "cell", ...full }, ...before, number, ...notes);
}

// A table as the page writes them: heads are texts with an optional detail, rows are lists of cells.
function tableOf(caption, heads, rows, { id = "", cards = false } = {}) {
  const top = heads.map(([head, detail]) =>
    make("th", { scope: "col", role: "columnheader" }, head, ...(detail ? [make("br"), make("small", {}, detail)] : []))
  );
  const body = rows.map(([rank, name, ...cells]) => {
    if (cards) {
      cells.forEach((one, k) => one.setAttribute("data-label", heads[k + 2][0]));
    }
    return make("tr", { role: "row" }, make("td", { role: "cell" }, rank), name, ...cells);
  });
  const attributes = { role: "table", ...(id ? { id } : {}), ...(cards ? { class: "cards" } : {}) };
  return make(
    "table",
    attributes,
    make("caption", {}, caption),
    make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...top)),
    make("tbody", { role: "rowgroup" }, ...body)
  );
}

function rowHead(rule) {
  const attributes = { scope: "row", role: "rowheader" };
  if (!rule.model) {
    return make("th", attributes, document.querySelector(`[data-reference="${rule.name}"]`).cloneNode(true));
  }
  return make("th", { ...attributes, "data-model": rule.model.index }, nameNodes[rule.model.index].cloneNode(true));
}

function whisker(rule, ends) {
  const place = (value) => 5 + 86 * Math.min(Math.max((value - ends[0]) / (ends[1] - ends[0]), 0), 1);
  const { score, interval } = rule;
  if (!(score >= ends[0] && score <= ends[1] && ends[0] < ends[1])) {
    return [];
  }
  const picture = shape("svg", { viewBox: "0 0 96 16", width: 96, height: 16, "aria-hidden": "true" });
  if (Number.isFinite(interval[0])) {
    picture.append(shape("path", { d: `M${place(interval[0]).toFixed(1)} 8H${place(interval[1]).toFixed(1)}`, class: "whisker" }));
  }
  picture.append(shape("circle", { cx: place(score).toFixed(1), cy: 8, r: 4, class: "dot" }));
  return [picture];
}

function rangeWords({ low, high }) {
  return low === high ? `at threshold ${percent(low)}` : `over thresholds from ${percent(low)} to ${percent(high)}`;
}

function rankingTable(state, results) {
  const { order, all, none, scale } = results;
  const finite = (rule) => [rule.score, ...rule.interval].filter(Number.isFinite);
  const seen = order.flatMap(finite);
  const ends = [Math.min(...seen), Math.max(...seen)];
  const errors = errorsOf(order);
  const decimals = decimalsFor(errors, order.map((rule) => rule.score));
  const others = (name) => decimalsFor(errors.map((e) => (e / results.factor) * factorOf(order, name)), order.map((rule) => rule[name]));
  const places = Object.fromEntries(["regret", "integral", "loss"].map((name) => [name, name === scale ? decimals : others(name)]));
  const versus = (rule, other) => {
    const found = rule.versus[other];
    if (rule === { best: order[0], all, none }[other]) {
      return cell("–");
    }
    const strong = found.interval[0] > 0 || found.interval[1] < 0;
    return cell(fixed(found.difference, decimals, true), [spanned(found.interval, decimals)], { ...found, value: found.difference, strong });
  };
  const rows = [...order, all, none].map((rule, k) => {
    const rank = rule.model ? make("span", { class: "rank" }, String(k + 1)) : "";
    const scales = ["regret", "integral", "loss"].map((name) => {
      const main = name === scale;
      const options = { value: rule[name], ...(main ? { interval: rule.interval, before: whisker(rule, ends) } : {}) };
      return cell(fixed(rule[name], places[name]), main ? [spanned(rule.interval, decimals)] : [], options);
    });
    const skill = rule.model ? fixed(100 * rule.skill, 1) + (Number.isFinite(rule.skill) ? "%" : "") : "–";
    const compared = [versus(rule, "best"), cell(skill, [], { value: rule.skill }), versus(rule, "all"), versus(rule, "none")];
    return [rank, rowHead(rule), ...scales, ...compared];
  });
  const level = `approximate ${plain(100 * page.level, 4)}% interval`;
  const note = `${SCALES[scale]}: difference, ${level}`;
  const detail = (name) => (name === scale ? level : "");
  const heads = [
    ["#"], ["Model"], ["Mean regret", detail("regret")], ["Integral", detail("integral")], ["Loss", detail("loss")],
    ["More than the best", note], ["Skill"], ["Against treat all", note], ["Against treat none", note],
  ];
  const caption = `Models by expected cost ${rangeWords(state)}; lower is better, a negative difference favours the model of the row`;
  return tableOf(caption, heads, rows, { id: "ranking", cards: true });
}

function errorsOf(order) {
  return order.map(({ interval }) => (interval[1] - interval[0]) / (2 * page.z)).filter((error) => !Number.isNaN(error));
}

function factorOf(order, name) {
  return order[0][name] / order[0].integral || NaN;
}

function decompositionTable(state, results) {
  const rows = results.order.map(({ model, parts }, k) => ({ model, parts, rank: k + 1 }));
  const decimals = decimalsFor(errorsOf(results.order), rows.map(({ parts }) => parts.score));
  const cells = ({ parts }) =>
    ["score", "miscalibration", "discrimination", "uncertainty"].map((term) => cell(fixed(parts[term], decimals), [], { value: parts[term] }));
  const skill = ({ parts }) => cell(Number.isFinite(parts.skill) ? fixed(100 * parts.skill, 1) + "%" : "undefined", [], { value: parts.skill });
  const body = rows.map((row) => [String(row.rank), rowHead(row), ...cells(row), skill(row)]);
  const heads = [["#"], ["Model"], ["Cost", SCALES[results.scale]], ["MCB"], ["DSC"], ["UNC"], ["Skill"]];
  return tableOf(`Decomposition of the expected cost ${rangeWords(state)}, in-sample`, heads, body);
}

function inRangeTable(state, results) {
  const body = results.order.map(({ model }, k) => {
    const cells = model.scores.within(state.low, state.high).map((value) => cell(percent(value), [], { value }));
    return [String(k + 1), rowHead({ model }), ...cells];
  });
  const heads = [["#"], ["Model"], ["Share of cases"], ["Mean score"], ["Observed positives"]];
  return tableOf(`Cases with a score between ${percent(state.low)} and ${percent(state.high)}`, heads, body);
}

// What a threshold says about misses and false alarms.
function exchange(threshold) {
  if (threshold === 0 || threshold === 1) {
    return threshold === 0 ? "false alarms cost nothing" : "missed positives cost nothing";
  }
  const ratio = (1 - threshold) / threshold;
  return ratio >= 1
    ? `one missed positive is as bad as ${times(ratio)} false alarm${times(ratio) === "1" ? "" : "s"}`
    : `one false alarm is as bad as ${times(1 / ratio)} missed positives`;
}

function meaning({ low, high }) {
  if (low === high) {
    return `To act from a threshold of ${percent(low)} on is to say that ${exchange(low)}.`;
  }
  if (low === 0 && high === 1) {
    return (
      "This is the whole range of thresholds: every exchange of false alarms for misses, from free false alarms to " +
      "free misses. If you can say which are plausible for your decision, the answer becomes sharper."
    );
  }
  return (
    `To act from a threshold of ${percent(low)} on is to say that ${exchange(low)}; at ${percent(high)}, that ` +
    `${exchange(high)}. The thresholds in between are those that someone might plausibly hold.`
  );
}

function weightingWords({ weighting, a, b }) {
  return { uniform: "", "log-odds": ", uniform in log-odds", beta: `, weighted by Beta(${a}, ${b})` }[weighting];
}

function detail(text) {
  return make("span", { class: "detail" }, ` (${text})`);
}

function differenceWords({ difference, interval }) {
  return `difference ${number(difference)}${spreadWords(interval)}`;
}

function spreadWords(interval) {
  const level = `${plain(100 * page.level, 4)}%`;
  return Number.isNaN(interval[0]) ? "" : `, approximate ${level} interval ${number(interval[0])} to ${number(interval[1])}`;
}

function conclusion(state, results) {
  const { order, all, none, scale } = results;
  const [best, ...others] = order;
  const where =
    state.low === state.high
      ? `At a threshold of ${percent(state.low)}, `
      : `With thresholds anywhere between ${percent(state.low)} and ${percent(state.high)}${weightingWords(state)}, `;
  const what = others.length ? " has the lowest expected cost: " : " has an expected cost of ";
  const lead = make("p", { class: "lead" }, where, nameOf(best), `${what}${number(best.score)} (${SCALES[scale]}${spreadWords(best.interval)}).`);
  const compared = others.map((rule) => ({ rule, ...results.between(best, rule) }));
  const beaten = compared.filter(({ interval }) => interval[1] < 0);
  const unknown = compared.filter(({ interval }) => Number.isNaN(interval[0]));
  const tied = compared.filter((one) => !beaten.includes(one) && !unknown.includes(one));
  const sentences = [];
  const told = (found) => (found.length <= 3 ? found : found.slice(0, 1)).flatMap((one, k) => [k ? "; " : "", make("bdi", {}, one.rule.model.name), `: ${differenceWords(one)}`]);
  const names = (found) => listed(found.map(({ rule }) => nameOf(rule)));
  const aside = (found) => make("span", { class: "detail" }, " (", found.length > 3 ? "the closest, " : "", ...told(found), ")");
  if (tied.length) {
    const each = tied.length === 1 ? "" : tied.length === 2 ? "either of " : "any of ";
    sentences.push(["The data do not show a real difference between ", nameOf(best), ` and ${each}`, ...names(tied), aside(tied), "."]);
  }
  if (beaten.length) {
    sentences.push([nameOf(best), " costs less than ", ...names(beaten), ", beyond chance", aside(beaten), "."]);
  }
  if (unknown.length) {
    sentences.push([nameOf(best), " costs less on these rows than ", ...names(unknown), "; how sure that is cannot be said here."]);
  }
  const parts = [[all, "treating everyone"], [none, "treating no one"]].flatMap(([rule, words], k) => {
    const found = results.between(best, rule);
    const sure = found.interval[0] > 0 || found.interval[1] < 0;
    const unsure = Number.isNaN(found.interval[0]) ? "cheaper on these rows than " : "not shown to differ from ";
    const dearer = Number.isNaN(found.interval[0]) && found.difference > 0 ? "dearer on these rows than " : unsure;
    const verdict = sure ? (found.difference < 0 ? "better than " : "worse than ") : dearer;
    return [k ? " and " : "", verdict + words, detail(differenceWords(found))];
  });
  sentences.push(["Acting on ", nameOf(best), " is ", ...parts, "."]);
  const [share, mean, rate] = best.model.scores.within(state.low, state.high);
  if (share > 0 && state.low < state.high) {
    const cases = `${percent(share)} of cases get a score between ${percent(state.low)} and ${percent(state.high)} from `;
    sentences.push([cases, nameOf(best), `: their mean score is ${percent(mean)}, and ${percent(rate)} of them were positive.`]);
  }
  return [lead, make("ul", { class: "findings" }, ...sentences.map((nodes) => make("li", {}, ...nodes)))];
}

function precisionWords({ bound }) {
  const exact = "Computed in this page from the table it holds, as the library computes it";
  const sure = "; intervals are approximate.";
  if (bound === 0) {
    return `${exact}: exact but for rounding${spread ? sure : ", without intervals."}`;
  }
  const reach = Number.isFinite(bound) ? `costs are within ${bound.toPrecision(2)} of those of all rows` : "so near to 0 or 1 no bound of the error can be given";
  return `${exact}; the table is thinned, and ${reach}${spread ? sure : ". There are no intervals."}`;
}

const FOLLOWING = [
  ["stake", "stake", conclusion],
  ["stake", "meaning", (state) => [meaning(state)]],
  ["ranking-section", "ranking", (state, results) => [rankingTable(state, results)]],
  ["decomposition", "decomposition", (state, results) => [decompositionTable(state, results)]],
  ["decomposition", "missing", () => []],
  ["reliability", "in-range", (state, results) => [inRangeTable(state, results)]],
  [null, "precision", (_, results) => [precisionWords(results)]],
  [null, "shaded", (state) => [shadedWords(state)]],
];

// Write what follows the range in the sections that are seen; the report's own words where the range is its own.
function showResults(state, results, own, seen) {
  for (const [section, key, nodes] of FOLLOWING) {
    if (section === null || seen.has(section)) {
      follow(key, own ? undefined : nodes(state, results));
    }
  }
}

function shadedWords({ low, high }) {
  return low === high
    ? `The line marks the threshold ${percent(low)} (odds ${odds(low)}).`
    : `Shaded: the plausible thresholds, ${percent(low)} to ${percent(high)} (odds ${odds(low)} to ${odds(high)}).`;
}
