// The library's sentences for a range of the reader's own: page.sentences has the words, here they get their numbers.

// The nodes of a sentence whose slots are filled with text, a node or nodes.
function told(sentence, filled = {}) {
  return page.sentences[sentence].split(/\{(\w+)\}/).flatMap((part, k) => (k % 2 ? filled[part] : part));
}

function said(sentence, filled) {
  return told(sentence, filled).join("");
}

// Nodes with a comma or "and" between them.
function enumerated(nodes) {
  return nodes.flatMap((node, k) => (k === 0 ? [node] : [k === nodes.length - 1 ? " and " : ", ", node]));
}

// What a model or a reference is called in a sentence.
function calledOf(rule, first = false) {
  const text = page.words.decisions[rule.name] ?? "";
  return rule.model ? nameOf(rule) : first ? text[0].toUpperCase() + text.slice(1) : text;
}

// How many false alarms one missed event is as bad as, as the library says it.
function asBadAs({ low, high }) {
  const [most, least] = [low, high].map((end) => (end === 0 || end === 1 ? "" : times((1 - end) / end)));
  const many = high === 1 ? most : low === 0 || least === most ? least : said("low_to_high", { low: least, high: most });
  const words = high === 0 ? "worse" : low === 1 ? "no_alarm" : high === 1 ? (low === 0 ? "any_number" : "at_most") : low === 0 ? "at_least" : "as_bad";
  return said(words, { many, plural: many === "1" ? "" : "s" });
}

function meaning(state) {
  const [low, high] = percents(state.low, state.high);
  const where = low === high ? low : said("low_to_high", { low, high });
  const words = { acting: page.words.acting, event: page.words.event, where, weighting: state.low === state.high ? "" : said(state.weighting), bad: asBadAs(state) };
  return page.rule === "score" ? said("meaning", words) : said("meaning_rule", { ...words, rule: plain(page.rule, 6) });
}

// What costs least on these rows, that nothing is claimed of it, and its cost.
function advice(state, results) {
  const { order, all, none } = results;
  const cheapest = [all, none, order[0]].reduce((first, rule) => (rule.integral < first.integral ? rule : first));
  const least = Number.isFinite(cheapest.integral) ? cheapest : order[0];
  const alike = order.filter(({ integral }) => gapOf(integral, least.integral) === 0);
  const words = !Number.isFinite(least.integral) ? "all_infinite" : least.model ? (alike.length > 1 ? "same_cost" : "least") : "no_model";
  const lead = told(words, { best: calledOf(least, true), models: enumerated(alike.map(nameOf)) });
  return [
    make("p", { class: "advice" }, ...lead),
    make("p", { class: "cost" }, ...costOf(least, results)),
    make("p", { class: "looked" }, said("looked")),
  ];
}

function costOf(rule, results) {
  const write = costWriter(results);
  const [low, high] = rule.interval.map(write);
  const filled = { best: calledOf(rule, true), cost: write(rule.score), per: perOf(results) };
  const level = Number.isNaN(rule.interval[0]) ? "" : said("alone", { level: LEVEL, low, high });
  return Number.isFinite(rule.score) ? told("costs", { ...filled, level, against: againstOf(rule, results, write) }) : told("infinite", filled);
}

// Beside the cheaper reference, or the best model.
function againstOf(rule, { order, all, none }, write) {
  if (!rule.model) {
    const [{ score, integral }, best] = [order[0], nameOf(order[0])];
    const words = !Number.isFinite(score) ? "best_infinite" : gapOf(integral, rule.integral) === 0 ? "as_much" : "best_model";
    return told(words, { best, other: best, cost: write(score) });
  }
  const other = none.integral < all.integral ? none : all;
  if (other.integral === Infinity) {
    return told("best_infinite", { best: calledOf(other) });
  }
  const share = 1 - rule.integral / other.integral;
  const filled = { other: calledOf(other), cost: write(other.score), share: shareOf(share) };
  return told(!Number.isFinite(share) ? "other_cost" : Math.abs(share) < 0.005 ? "as_much" : share > 0 ? "less" : "dearer", filled);
}

// A share of a cost in whole percents; one short of all of it is not called all.
function shareOf(share) {
  return share >= 0.995 && share < 1 ? said("nearly_all") : `${grouped(100 * Math.abs(share), 0, 0)}%`;
}

// What is shown and what is not, is known of the reported range only.
function beneath(_, { scale }) {
  return [make("ul", { class: "findings" }, make("li", {}, scale === page.scale ? page.words.unit : said("unit_on_scale", { scale })))];
}

function precisionWords(results) {
  const { bound } = results;
  const sure = page.even && bound === 0 ? "sure" : "approximate";
  const sureness = said(spread ? sure : "unsure_here", { why: page.unsure });
  const reach = Number.isFinite(bound) ? said("within", { bound: bound.toPrecision(2), per: perOf(results) }) : said("boundless_error");
  return said(bound === 0 ? "exact" : "thinned", { reach, sureness });
}
