// Plain sentences for a range of the reader's own, as the library writes them for that of the report.

const WORTH_RECALIBRATING = 0.05;
const FEW = 3;

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

function conclusion(state, results) {
  const sentences = [...rivals(results), againstConstants(results), ...calibration(state, results), ...likeConstants(results)];
  const items = sentences.map((nodes) => make("li", {}, ...nodes));
  return [make("p", { class: "lead" }, ...lead(state, results)), make("ul", { class: "findings" }, ...items)];
}

function lead(state, { order, scale }) {
  const [best] = order;
  const where =
    state.low === state.high
      ? `At a threshold of ${percent(state.low)}, `
      : `With thresholds anywhere between ${percent(state.low)} and ${percent(state.high)}${weightingWords(state)}, `;
  const what = order.length > 1 ? " has the lowest expected cost: " : " has an expected cost of ";
  const per = scale === "regret" ? page.decisions : "decision";
  const unit = scale === "regret" && page.inUnits ? ", in units of cost" : "";
  return [where, nameOf(best), `${what}${number(best.score)} per ${per} (${scale}${unit})${spreadWords(best.interval)}.`];
}

function spreadWords(interval) {
  return Number.isNaN(interval[0]) ? "" : `, approximate ${LEVEL} interval ${number(interval[0])} to ${number(interval[1])}`;
}

function differenceWords({ difference, interval, p }) {
  if (!Number.isFinite(difference)) {
    return "an infinite difference";
  }
  const tail = chance(p);
  return `difference ${number(difference)}${spreadWords(interval)}${tail && `, ${tail}`}`;
}

function aside(...nodes) {
  return make("span", { class: "detail" }, " (", ...nodes, ")");
}

// All differences where they are few; else that to the closest model, and how sure the least sure of them is.
function listedDifferences(found) {
  const told = (one) => [nameOf(one.rule), `: ${differenceWords(one)}`];
  if (found.length <= FEW) {
    return aside(...found.flatMap((one, k) => [k ? "; " : "", ...told(one)]));
  }
  return aside("the closest, ", ...told(found[0]), tailsWords(found.map(({ p }) => p)));
}

function tailsWords(tails) {
  const [least, most] = [Math.min(...tails), Math.max(...tails)];
  const words = (p) => (p < 0.001 ? "below 0.001" : `about ${plain(p, 2)}`);
  if (Number.isNaN(most)) return "";
  return words(least) === words(most) ? `; every p ${words(most)}` : `; p from ${words(least)} to ${words(most)}`;
}

function rivals({ order, between, costs }) {
  const [best, ...others] = order;
  const compared = others.map((rule) => ({ rule, ...between(best, rule) }));
  const boundless = compared.filter(({ rule }) => rule.integral === Infinity);
  const bounded = compared.filter((one) => !boundless.includes(one));
  const unknown = bounded.filter(({ interval }) => Number.isNaN(interval[0]));
  const beaten = bounded.filter(sure);
  const tied = bounded.filter((one) => !beaten.includes(one) && !unknown.includes(one));
  const names = (found) => listed(found.map(({ rule }) => nameOf(rule)));
  const sentences = [];
  if (tied.length) {
    const each = ["", "either of ", "any of "][Math.min(tied.length, 3) - 1];
    sentences.push(["The data do not show a real difference between ", nameOf(best), ` and ${each}`, ...names(tied), listedDifferences(tied), "."]);
  }
  if (beaten.length) {
    sentences.push([nameOf(best), " costs less than ", ...names(beaten), ", beyond chance", listedDifferences(beaten), "."]);
  }
  if (unknown.length) {
    const far = costs.mass === Infinity ? "the approximation fails so near to 0 or 1" : "only the best models as reported have intervals";
    const why = page.unsure || far;
    sentences.push([nameOf(best), " costs less on these rows than ", ...names(unknown), `; how sure that is cannot be said here, for ${why}.`]);
  }
  if (boundless.length) {
    const verb = boundless.length === 1 ? " has" : " have";
    sentences.push([...names(boundless), `${verb} an infinite cost: a score of exactly 0 for a positive case, or of exactly 1 for a negative one.`]);
  }
  return sentences;
}

function againstConstants({ order: [best], all, none, between }) {
  const parts = [[all, "treating everyone"], [none, "treating no one"]].map(([rule, words]) => {
    const found = between(best, rule);
    if (Number.isNaN(found.difference)) {
      return [`as infinitely costly as ${words}`];
    }
    const unknown = Number.isNaN(found.interval[0]) && Number.isFinite(found.difference);
    const sided = found.difference < 0 ? ["better than", "cheaper on these rows than"] : ["worse than", "dearer on these rows than"];
    const verdict = unknown ? sided[1] : sure(found) || !Number.isFinite(found.difference) ? sided[0] : "not shown to differ from";
    return [`${verdict} ${words}`, aside(differenceWords(found))];
  });
  return ["Acting on ", nameOf(best), " is ", ...parts[0], " and ", ...parts[1], "."];
}

function calibration(state, { order: [best] }) {
  if (!(page.shares.positive > 0 && page.shares.negative > 0)) {
    return [["All cases are of one class, so these data say nothing of calibration or ranking."]];
  }
  const sentences = [];
  const [share, mean, rate] = best.model.scores.within(state.low, state.high);
  if (share > 0 && state.low < state.high) {
    const span = `${percent(share)} of cases get a score between ${percent(state.low)} and ${percent(state.high)} from `;
    const cases = share === 1 ? "All cases get a score in this range from " : span;
    sentences.push([cases, nameOf(best), `: their mean score is ${percent(mean)}, and ${percent(rate)} of them were positive.`]);
  }
  const { miscalibration, score } = best.parts;
  if (Number.isFinite(miscalibration) && score > 0) {
    const saving = miscalibration / score;
    const amount = saving < WORTH_RECALIBRATING ? `little there, at most ${percent(saving)}` : `up to ${percent(saving)}`;
    sentences.push(["Recalibrating ", nameOf(best), ` would save ${amount} of its cost (in-sample, so an optimistic figure).`]);
  }
  return sentences;
}

function likeConstants({ order }) {
  const given = [...order].sort((x, y) => x.model.given - y.model.given);
  return [[ALL, "treating everyone"], [NONE, "treating no one"]].flatMap(([name, words]) => {
    const alike = given.filter(({ actsLike }) => actsLike === name);
    const verb = alike.length === 1 ? "acts" : "act";
    return alike.length ? [["In this range ", ...listed(alike.map(nameOf)), ` practically ${verb} like ${words}.`]] : [];
  });
}

function precisionWords({ bound }) {
  const exact = "Computed in this page from the table it holds, as the library computes it";
  const sureness = spread ? "intervals and p-values are approximate." : `there are no intervals, for ${page.unsure}.`;
  if (bound === 0) {
    return `${exact}: exact but for rounding; ${sureness}`;
  }
  const reach = Number.isFinite(bound) ? `costs are within ${bound.toPrecision(2)} of those of all rows` : "so near to 0 or 1 no bound of the error can be given";
  return `${exact}; the table is thinned, and ${reach}; ${sureness}`;
}
