// Tables and sentences that follow the range. For the report's own range they are those of the library, kept as they
// were written; for any other they are made here.

const followers = new Map(
  [...document.querySelectorAll("[data-follows]")].map((block) => [block.dataset.follows, { block, own: [...block.childNodes] }])
);
const nameNodes = models.map((model) => document.querySelector(`#answer [data-model="${model.index}"] .name`));
const LEVEL = percent(page.level, 6);

function follow(key, nodes) {
  const { block, own } = followers.get(key) ?? {};
  block?.replaceChildren(...(nodes ?? own));
}

// The attributes hold the numbers in full, for those who want more digits.
function cell(text, value = NaN, interval = [], detail = "") {
  const full = { "data-value": value, ...(interval.length ? { "data-interval": interval.join(" ") } : {}) };
  return make("td", full, text, ...(detail ? [make("small", {}, detail)] : []));
}

// A table as the page writes them: heads are texts with an optional detail, rows are lists of cells.
function tableOf(caption, heads, rows, id = "") {
  const top = heads.map(([head, detail]) => make("th", { scope: "col" }, head, ...(detail ? [make("br"), make("small", {}, detail)] : [])));
  const body = rows.map(([rank, name, ...cells]) => make("tr", {}, make("td", {}, rank), name, ...cells));
  return make("table", id ? { id } : {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...top)), make("tbody", {}, ...body));
}

function rowHead(rule, like = "") {
  if (!rule.model) {
    return make("th", { scope: "row" }, document.querySelector(`[data-reference="${rule.name}"]`).cloneNode(true));
  }
  const note = like ? [make("small", { class: "note" }, said("note_like", { constant: page.words.rows[like] }))] : [];
  return make("th", { scope: "row", "data-model": rule.model.index }, nameNodes[rule.model.index].cloneNode(true), ...note);
}

// Ends of a range with as many digits as tell them apart.
function percents(low, high, digits = 3) {
  const [a, b] = [percent(low, digits), percent(high, digits)];
  return a !== b || low === high || digits > 16 ? [a, b] : percents(low, high, digits + 1);
}

// A sentence about the range, with its ends as the page writes them.
function ranged(one, more, { low, high }) {
  const [a, b] = percents(low, high);
  const filled = { low: a, high: b, odds: odds(low), odds_high: odds(high) };
  return said(low === high ? one : more, filled);
}

// What costs are counted per, or the scale that they are on where the page left that of the report.
function perOf({ scale = page.scale }) {
  return scale === page.scale ? page.perWords : said("on_scale", { scale });
}

// Three digits of the least cost, and no more decimals than the library shows of costs per 1,000 decisions.
function costWriter({ order, all, none, scale = page.scale }) {
  const decimals = Math.min(decimalsOf([...order, all, none].map(({ score }) => score), 3), scale === "regret" ? 2 : 4);
  const least = 10 ** -decimals;
  return (value) => (value !== 0 && Math.abs(value) < least / 2 ? said("below", { least: fixed(least, decimals) }) : fixed(value, decimals));
}

function answerTable(state, results) {
  const { order, all, none } = results;
  const write = costWriter(results);
  const rows = [...order, all, none].map((rule, k) => {
    const rank = rule.model ? make("span", { class: "rank" }, String(k + 1)) : "";
    const cost = cell(write(rule.score), rule.score, rule.interval, spanned(rule.interval, write));
    const more = rule === order[0] || Number.isNaN(rule.more) ? cell("–") : cell(write(rule.more), rule.more);
    const auc = rule.model?.auc ?? NaN;
    return [rank, rowHead(rule, rule.actsLike), cost, more, cell("–"), cell(Number.isNaN(auc) ? "" : fixed(auc, 3).replace(/^0/, ""), auc)];
  });
  const heads = [["#"], ["Model"], ["Cost", spread ? said("interval_head", { level: LEVEL }) : ""], ["More than the first"], ["May be best"], ["AUC"]];
  return tableOf(said("answer_alone", { per: perOf(results) }), heads, rows, "answer");
}

function skillCell({ skill }) {
  return cell(Number.isFinite(skill) ? `${fixed(100 * skill, 1)}%` : fixed(skill, 1), skill);
}

function decompositionTable(state, results) {
  const write = costWriter(results);
  const body = results.order.map((rule, k) => {
    const terms = ["score", "miscalibration", "discrimination", "uncertainty"].map((term) => cell(write(rule.parts[term]), rule.parts[term]));
    return [String(k + 1), rowHead(rule), ...terms, skillCell(rule.parts)];
  });
  const over = ranged("over_one", "over", state);
  return tableOf(said("decomposition", { per: perOf(results), over }), [["#"], ["Model"], [page.words.cost ?? "Cost"], ["MCB"], ["DSC"], ["UNC"], ["Skill"]], body);
}

function inRangeTable(state, results) {
  const body = results.order.map(({ model }, k) => {
    const [[share, mean], [, , rate]] = [model.everyone ?? model.scores, model.scores].map((table) => table.within(state.low, state.high));
    const cells = [share, mean, rate].map((value) => cell(percent(value), value));
    return [String(k + 1), rowHead({ model }), ...cells];
  });
  const heads = [["#"], ["Model"], ["Share of cases"], ["Mean score"], ["Observed positives"]];
  return tableOf(ranged("in_range", "in_range", state), heads, body);
}

const FOLLOWING = [
  ["stake", "meaning", (state) => [meaning(state)]],
  ["stake", "advice", advice],
  ["stake", "answer", (state, results) => [answerTable(state, results)]],
  ["stake", "beneath", beneath],
  ["stake", "precision", (_, results) => [precisionWords(results)]],
  ["stake", "shaded", (state) => [shadedWords(state)]],
  ["decomposition", "decomposition", (state, results) => [decompositionTable(state, results)]],
  ["decomposition", "missing", () => []],
  ["reliability", "in-range", (state, results) => [inRangeTable(state, results)]],
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
