// Tables and sentences that follow the range. For the report's own range they are those of the library, kept as they
// were written; for any other they are made here.

const followers = new Map(
  [...document.querySelectorAll("[data-follows]")].map((block) => [block.dataset.follows, { block, own: [...block.childNodes] }])
);
const nameNodes = models.map((model) => document.querySelector(`#ranking [data-model="${model.index}"] .name`));
const SCALES = { regret: page.regret, integral: "integral of regret", loss: "loss" };
const LEVEL = `${plain(100 * page.level, 4)}%`;

function follow(key, nodes) {
  const { block, own } = followers.get(key) ?? {};
  block?.replaceChildren(...(nodes ?? own));
}

// The attributes hold the numbers in full, for those who want more digits.
function cell(text, details = [], { value = NaN, interval = [], p = NaN, before = [] } = {}) {
  const number = make("span", {}, text);
  const notes = details.map((detail) => make("small", {}, detail));
  const full = {
    "data-value": value,
    ...(interval.length ? { "data-interval": interval.join(" ") } : {}),
    ...(Number.isNaN(p) ? {} : { "data-p": p }),
  };
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

function rowHead(rule, like = "") {
  const attributes = { scope: "row", role: "rowheader" };
  if (!rule.model) {
    return make("th", attributes, document.querySelector(`[data-reference="${rule.name}"]`).cloneNode(true));
  }
  const note = like ? [make("small", { class: "note" }, `acts like ${like}`)] : [];
  return make("th", { ...attributes, "data-model": rule.model.index }, nameNodes[rule.model.index].cloneNode(true), ...note);
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

// A sentence about the range, with its ends as the page writes them.
function ranged(one, more, { low, high }) {
  const filled = { low: percent(low), high: percent(high), odds: odds(low), odds_high: odds(high) };
  return said(low === high ? one : more, filled);
}

function captioned(caption, state) {
  return said(caption, { over: ranged("over_one", "over", state) });
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
    const details = [spanned(found.interval, decimals), chance(found.p)].filter(Boolean);
    return cell(fixed(found.difference, decimals, true), details, { ...found, value: found.difference });
  };
  const rows = [...order, all, none].map((rule, k) => {
    const rank = rule.model ? make("span", { class: "rank" }, String(k + 1)) : "";
    const scales = ["regret", "integral", "loss"].map((name) => {
      const main = name === scale;
      const options = { value: rule[name], ...(main ? { interval: rule.interval, before: whisker(rule, ends) } : {}) };
      return cell(fixed(rule[name], places[name]), main ? [spanned(rule.interval, decimals)] : [], options);
    });
    const skill = rule.model ? skillCell(rule.parts) : cell("–");
    const compared = [versus(rule, "best"), skill, versus(rule, "all"), versus(rule, "none")];
    return [rank, rowHead(rule, rule.actsLike), ...scales, ...compared];
  });
  const note = spread ? `difference, approximate pointwise ${LEVEL} interval and p; of this pair alone` : "difference";
  const detail = (name) => [unitOf(scale), spread && `approximate pointwise ${LEVEL} interval`].filter((part) => part && name === scale).join(", ");
  const heads = [
    ["#"], ["Model"], ["Mean regret", detail("regret")], ["Integral", detail("integral")], ["Loss", detail("loss")],
    ["More than the best", note], ["Skill"], ["Against treat all", note], ["Against treat none", note],
  ];
  return tableOf(captioned("ranking", state), heads, rows, { id: "ranking", cards: true });
}

// In which unit a cost is, beside the name of its column.
function unitOf(scale) {
  return scale === "regret" ? page.unitWords : "";
}

function skillCell({ skill }) {
  return cell(Number.isFinite(skill) ? `${fixed(100 * skill, 1)}%` : fixed(skill, 1), [], { value: skill });
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
  const body = rows.map((row) => [String(row.rank), rowHead(row), ...cells(row), skillCell(row.parts)]);
  const heads = [["#"], ["Model"], ["Cost", SCALES[results.scale]], ["MCB"], ["DSC"], ["UNC"], ["Skill"]];
  return tableOf(captioned("decomposition", state), heads, body);
}

function inRangeTable(state, results) {
  const body = results.order.map(({ model }, k) => {
    const cells = model.scores.within(state.low, state.high).map((value) => cell(percent(value), [], { value }));
    return [String(k + 1), rowHead({ model }), ...cells];
  });
  const heads = [["#"], ["Model"], ["Share of cases"], ["Mean score"], ["Observed positives"]];
  return tableOf(ranged("in_range", "in_range", state), heads, body);
}

const FOLLOWING = [
  ["stake", "stake", conclusion],
  ["stake", "meaning", (state) => [meaning(state)]],
  ["ranking-section", "ranking", (state, results) => [rankingTable(state, results)]],
  ["decomposition", "decomposition", (state, results) => [decompositionTable(state, results)]],
  ["decomposition", "missing", () => []],
  ["reliability", "in-range", (state, results) => [inRangeTable(state, results)]],
  ["regret", "precision", (_, results) => [precisionWords(results)]],
  ["regret", "shaded", (state) => [shadedWords(state)]],
];

// Write what follows the range in the sections that are seen; the report's own words where the range is its own.
function showResults(state, results, own, seen) {
  for (const [section, key, nodes] of FOLLOWING) {
    if (seen.has(section)) {
      follow(key, own ? undefined : nodes(state, results));
    }
  }
}

function shadedWords(state) {
  return ranged("shaded_one", "shaded", state);
}
