// The library's sentences for a range of the reader's own: page.sentences has the words, here they get their numbers.

const WORTH_RECALIBRATING = 0.05;

// The nodes of a sentence whose slots are filled with text, a node or nodes.
function told(sentence, filled = {}) {
  return page.sentences[sentence].split(/\{(\w+)\}/).flatMap((part, k) => (k % 2 ? filled[part] : part));
}

function said(sentence, filled) {
  return told(sentence, filled).join("");
}

// What a threshold says about misses and false alarms.
function exchange(threshold) {
  if (threshold === 0 || threshold === 1) {
    return said(threshold === 0 ? "no_cost" : "no_miss");
  }
  const ratio = (1 - threshold) / threshold;
  const many = times(Math.max(ratio, 1 / ratio));
  return said(ratio < 1 ? "misses" : many === "1" ? "one_alarm" : "alarms", { times: many });
}

function meaning({ low, high }) {
  const words = low === high ? "meaning_one" : low === 0 && high === 1 ? "meaning_whole" : "meaning";
  return said(words, { low: percent(low), says: exchange(low), high: percent(high), says_high: exchange(high) });
}

function conclusion(state, results) {
  const found = selectionOf(results);
  const [first, ...others] = found.why ? unsaid(state, results, found) : choiceSentences(whereOf(state), found, results.scale);
  const sentences = [...others, ...everyThreshold(state, found), ...harmed(), ...boundless(results), ...calibration(state, results), ...likeConstants(results)];
  const items = sentences.map((nodes) => make("li", {}, ...nodes));
  return [make("p", { class: "lead", "data-selection": inFull(found) }, ...first), make("ul", { class: "findings" }, ...items)];
}

// The numbers of the selection in full, for those who want more digits.
function inFull({ why, chosen, cost, corrected, interval, critical, loss, possible, chances, against }) {
  const name = (rule) => rule.model?.name ?? rule.name;
  return JSON.stringify(why ? { why } : {
    ...{ chosen: name(chosen), cost, corrected, interval, critical, loss, possible: possible.map(name) },
    chances: Object.fromEntries(chances.map(({ rule, share }) => [name(rule), share])),
    limits: Object.fromEntries(against.map(({ rule, limit }) => [name(rule), limit])),
  });
}

function whereOf(state) {
  const [low, high] = [percent(state.low), percent(state.high)];
  return said(state.low === state.high ? "at" : "average", { low, high, weighting: said(state.weighting) });
}

// What is seen on these rows, and why no more can be said of it here.
function unsaid(state, results, { why }) {
  const { order, all, none } = results;
  const chosen = [all, none, order[0]].reduce((first, rule) => (rule.integral < first.integral ? rule : first));
  const tied = [all, none, ...order].filter(({ integral }) => gapOf(integral, chosen.integral) === 0);
  const seen = { chosen, tied, best: order[0], count: order.length, cost: chosen.score };
  return [leadOf(whereOf(state), seen, ""), told("unsaid", { why })];
}

// Bands of differences are not in the page.
function everyThreshold({ low, high }, { why }) {
  return why || low === high ? [] : [told("every_unsaid")];
}

// What obtaining a score costs, whatever the range.
function harmed() {
  return page.harmed ? [[page.harmed]] : [];
}

function boundless({ order }) {
  const found = order.filter(({ integral }) => integral === Infinity);
  return found.length ? [told(found.length === 1 ? "boundless_one" : "boundless", { others: listed(found.map(nameOf)) })] : [];
}

function calibration(state, { order: [best], factor }) {
  const sentences = [];
  const [share, mean, rate] = best.model.scores.within(state.low, state.high);
  if (share > 0 && state.low < state.high) {
    const [low, high] = [percent(state.low), percent(state.high)];
    const filled = { share: percent(share), low, high, best: nameOf(best), mean: percent(mean), rate: percent(rate) };
    sentences.push(told(share === 1 ? "all_cases" : "cases", filled));
  }
  const { miscalibration, score } = best.parts;
  if (Number.isFinite(miscalibration) && score > 0) {
    const saving = miscalibration / (score + (best.score - factor * best.bare));
    const words = saving < WORTH_RECALIBRATING ? "recalibrate_little" : "recalibrate";
    sentences.push(told(words, { best: nameOf(best), saving: percent(saving) }));
  }
  return sentences;
}

function likeConstants({ order }) {
  const given = [...order].sort((x, y) => x.model.given - y.model.given);
  return [ALL, NONE].flatMap((name) => {
    const alike = given.filter(({ actsLike }) => actsLike === name);
    const filled = { models: listed(alike.map(nameOf)), constant: said(name) };
    return alike.length ? [told(alike.length === 1 ? "acts_like" : "act_like", filled)] : [];
  });
}

function precisionWords({ bound }) {
  const sureness = said(spread ? "approximate" : "unsure_here", { why: page.unsure });
  const reach = Number.isFinite(bound) ? said("within", { bound: bound.toPrecision(2) }) : said("boundless_error");
  return said(bound === 0 ? "exact" : "thinned", { reach, sureness });
}
