// The sentences of a selection, as the library writes them: the decision with the lowest cost, how sure that is, and what
// being wrong would cost. Slots are filled with new nodes each time, for a node can stand in one place only.

const COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const MOST_NAMED = 5;
const WORTH_NAMING = 0.005;
const SURE = 0.995;
const TOO_SMALL = 1e-4;

function calledOf(rule, first = false) {
  const text = rule.model ? "" : said(rule.name);
  return rule.model ? nameOf(rule) : first ? text[0].toUpperCase() + text.slice(1) : text;
}

// Nodes with a comma or "and" between them; each is a node or a list of nodes.
function enumerated(parts, last = " and ") {
  return parts.flatMap((part, k) => [...(k === 0 ? [] : [k === parts.length - 1 ? last : ", "]), part].flat());
}

function choiceSentences(where, found, scale) {
  const sentences = [leadOf(where, found, sureOf(found, scale)), setOf(found), probabilityOf(found), lossOf(found), againstOf(found)];
  if (found.scarce) {
    sentences.push(told("few_carry", { decision: calledOf(found.chosen) }));
  }
  return sentences.filter((nodes) => nodes.length);
}

function leadOf(where, found, sure) {
  const { chosen, tied, best, count } = found;
  const filled = {
    where: `${where}, `,
    rows: grouped(page.n, 0, 0),
    amount: number(found.cost),
    decisions: page.decisions,
    sure,
  };
  if (!chosen.model) {
    const same = tied.filter((rule) => rule.model);
    const other = same.length
      ? told("other_same", { models: enumerated(same.map((rule) => nameOf(rule))) })
      : told(count > 1 ? "other_best_model" : "other_model", { model: nameOf(best), amount: number(best.score) });
    return told("no_model", { ...filled, best: calledOf(chosen), other });
  }
  const words = tied.length > 1 ? "costs_shared" : count === 1 ? "costs" : "costs_least";
  return told(words, { ...filled, best: enumerated(tied.map((rule) => nameOf(rule))) });
}

function sureOf({ chosen, count, corrected, interval }, scale) {
  const [low, high] = interval;
  const filled = {
    unit: scale === "regret" ? "" : said("unit", { scale }),
    interval: said(Number.isFinite(high) ? "picked_interval" : "picked_no_interval", { level: `approximate ${LEVEL}`, low: number(low), high: number(high) }),
  };
  const tried = Math.max(page.tried ?? 0, count);
  if (chosen.model && tried > count) {
    return detail("sure_untried", { unit: filled.unit, count: grouped(tried, 0, 0) });
  }
  if (!chosen.model || tried === 1) {
    return detail("sure", filled);
  }
  return detail("sure_picked", { ...filled, among: said("among_shown", { count: grouped(count, 0, 0) }), corrected: number(corrected) });
}

function detail(words, filled) {
  return make("span", { class: "detail" }, said(words, filled));
}

function setOf({ possible }) {
  const level = percent(page.level);
  const what = said("best_decision");
  const included = said("included", { references: said("all_or_none") });
  if (possible.length === 1) {
    const [alone] = possible;
    return told("only_possible", { best: calledOf(alone, true), what, included: alone.model ? included : "", level });
  }
  const names = possible.map((rule) => calledOf(rule));
  const more = names.length - MOST_NAMED + 1;
  const listed = names.length <= MOST_NAMED ? enumerated(names) : told("count_of", {
    count: String(names.length),
    names: enumerated([...names.slice(0, MOST_NAMED - 1), said("more", { count: String(more) })]),
  });
  return told("best_among", { what, included: `${included},`, names: listed, level });
}

function probabilityOf({ chances, chosen, tied }) {
  const each = ({ rule, share }) => told("share_of", { name: calledOf(rule), share: shareWords(share) });
  const rest = chances.filter(({ rule, share }) => !tied.includes(rule) && share >= WORTH_NAMING);
  const others = rest.sort((x, y) => y.share - x.share).slice(0, 3).map(each);
  if (tied.length > 1) {
    const equal = chances.filter(({ rule }) => tied.includes(rule)).map(each);
    return told("probable_each", { each: enumerated([...equal, ...others], ", ") });
  }
  const own = chances.find(({ rule }) => rule === chosen).share;
  const besides = others.length ? told("aside", { text: enumerated(others, ", ") }) : "";
  return told("probable", { best: calledOf(chosen, true), share: shareWords(own), aside: besides });
}

function shareWords(share) {
  return share > SURE ? said("sure_share") : `${grouped(100 * share, 0, 0)}%`;
}

function lossOf({ chosen, loss }) {
  const amount = (1000 * loss) / page.per;
  const more = amount >= TOO_SMALL ? number(amount) : said("less_than", { amount: String(TOO_SMALL) });
  const choosing = chosen.model ? told("choosing", { best: nameOf(chosen) }) : calledOf(chosen, true);
  return told("choice_loss", { choosing, loss: more, decisions: "decisions" });
}

function againstOf({ against, chosen }) {
  const name = (rule) => (rule.model ? told("beforehand", { name: nameOf(rule) }) : calledOf(rule));
  const shown = against.filter(({ limit }) => limit < 0);
  const unshown = against.filter(({ limit }) => !(limit < 0));
  if (!against.length) {
    return [];
  }
  return told(shown.length && unshown.length ? "shown_partly" : shown.length ? "shown" : "not_shown", {
    best: calledOf(chosen, true),
    shown: enumerated(shown.map(({ rule, limit }) => told("by_at_least", { name: name(rule), amount: number(-limit) }))),
    unshown: enumerated(unshown.map(({ rule }) => name(rule))),
    limits: said("limits", { level: percent(0.5 + page.level / 2) }),
  });
}
