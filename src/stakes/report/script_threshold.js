// What each model does to 1,000 cases, or the number that costs are counted for, at one threshold that the reader chooses.

// Decisions of a rule at the threshold, as shares of all cases.
function decisionsAt(rule, at) {
  if (rule.model) {
    return decidedAt(rule.model, at);
  }
  const { positive, negative } = page.shares;
  const acts = rule.name === ALL;
  return { found: acts ? positive : 0, missed: acts ? 0 : positive, alarms: acts ? negative : 0, spared: acts ? 0 : negative };
}

// Each number of a rule, with limits where rows count alike: [value, limits]. What a constant decision is by definition
// has none, nor has a model beyond those drawn.
function measuresAt(rule, at) {
  const { found, missed, alarms, spared } = decisionsAt(rule, at);
  const size = rule.model && rule.place >= page.drawn ? null : page.counted;
  const constant = (share) => !rule.model && (share === 0 || share === 1);
  const rate = (top, bottom) => {
    const value = bottom > 0 ? top / bottom : NaN;
    const unknown = size === null || Number.isNaN(value) || constant(value);
    return [value, unknown ? [] : shareLimits(Math.round(top * size), Math.round(bottom * size), page.level)];
  };
  const sum = (terms, harm, defined = true) => {
    if (!defined) {
      return [NaN, []];
    }
    const shares = terms.map(([times, share, side]) => ({ times, share, known: constant(share) || (side === "below" && at <= 0 && page.rule === "score") }));
    const value = shares.reduce((total, { times, share }) => total + times * share, 0);
    const limits = size === null || shares.every(({ known }) => known) ? [] : sumLimits(shares, size, page.level);
    return [value - harm, limits.map((end) => end - harm)];
  };
  const [harm, odds] = [rule.model?.harm ?? 0, at / (1 - at)];
  return {
    regret: sum([[at, alarms], [1 - at, missed, "below"]], -(1 - at) * harm),
    acted: rule.model ? shareActedAt(rule.model, at) : found + alarms, found, alarms, missed,
    rates: [rate(found, found + missed), rate(spared, spared + alarms), rate(found, found + alarms), rate(spared, spared + missed)],
    benefit: sum([[1, found], [-odds, alarms]], harm, at < 1),
    // against treating everyone: negatives left alone, less what the positives missed are worth in them
    avoided: sum([[1, spared, "below"], [-1 / odds, missed, "below"]], harm / odds, at > 0 && at < 1),
  };
}

function thresholdTable(state, results) {
  const limited = ([value, limits], write, times = 1) => {
    const ends = limits.map((end) => times * end);
    return cell(write(times * value), times * value, ends, ends.length ? spanned(ends, write) : "");
  };
  const count = (value) => (Number.isNaN(value) ? fixed(value, 0) : tidy(value));
  const rows = [...results.order, results.all, results.none].map((rule, k) => {
    const { regret, acted, found, alarms, missed, rates, benefit, avoided } = measuresAt(rule, state.at);
    const per = (share) => cell(count(page.per * share), page.per * share);
    const costs = [limited(regret, tidy, page.per * page.unit), ...[acted, found, alarms, missed].map(per)];
    const worth = [benefit, avoided].map((one) => limited(one, count, page.per));
    return [rule.model ? String(k + 1) : "", rowHead(rule), ...costs, ...rates.map((one) => limited(one, percent)), ...worth];
  });
  const heads = [
    ["#"], ["Model"], ["Cost"], ["Acted on"], ["True positives"], ["False alarms"], ["Missed"], ["Sensitivity"], ["Specificity"],
    ["PPV", "positive predictive value"], ["NPV", "negative predictive value"], ["Net benefit"], ["Avoided", `against ${page.words.decisions[ALL]}, net`],
  ];
  const known = models.some(everyoneOf) ? said("known_in_part") : "";
  const sure = page.counted === null ? known : said("limits", { level: LEVEL });
  const caption = said("at_threshold", { sure, count: plain(page.per, 15), at: percent(state.at), odds: odds(state.at), bad: asBadAs({ low: state.at, high: state.at }), event: page.words.event });
  return tableOf(caption, heads, rows);
}

function showThreshold(state, results) {
  document.getElementById("threshold-table").replaceChildren(thresholdTable(state, results));
}

// Limits of shares of rows that count alike, and of sums of two such shares.

// Where a rising function between two places is nearest to zero: false position, halving the end that stays.
function risingRoot(value, low, high) {
  let [below, above, side] = [value(low), value(high), 0];
  for (let step = 0; step < 100 && high - low > 1e-12 * high; step += 1) {
    const middle = Math.min(Math.max((low * above - high * below) / (above - below), low), high);
    const found = value(middle);
    if (Math.abs(found) < 1e-13) {
      return middle;
    }
    if (found < 0) {
      [low, below] = [middle, found];
      above *= side === -1 ? 0.5 : 1;
      side = -1;
    } else {
      [high, above] = [middle, found];
      below *= side === 1 ? 0.5 : 1;
      side = 1;
    }
  }
  return (low + high) / 2;
}

// Mid-p limits of a binomial share (Lancaster 1961): as likely to lie beyond one as beyond the other.
function shareLimits(hits, size, level) {
  if (!(size > 0)) {
    return [NaN, NaN];
  }
  const alpha = (1 - level) / 2;
  const atLeast = (p, count) => (count <= 0 ? 1 : count > size ? 0 : incompleteBeta(p, count, size - count + 1));
  const beyond = (p) => (atLeast(p, hits) + atLeast(p, hits + 1)) / 2;
  const share = hits / size;
  return [
    hits > 0 ? risingRoot((p) => beyond(p) - alpha, 0, share) : 0,
    hits < size ? risingRoot((p) => beyond(p) - (1 - alpha), share, 1) : 1,
  ];
}

// Limits of a sum of shares of disjoint sets of the same rows: the distances to the limits of each share are combined
// as standard errors would be (Zou and Donner 2008).
function sumLimits(terms, size, level) {
  const estimate = terms.reduce((sum, { times, share }) => sum + times * share, 0);
  const [down, up] = [[], []];
  for (const { times, share, known } of terms) {
    const [low, high] = known ? [share, share] : shareLimits(share * size, size, level);
    const ends = [Math.abs(times) * (share - low), Math.abs(times) * (high - share)];
    down.push(times > 0 ? ends[0] : ends[1]);
    up.push(times > 0 ? ends[1] : ends[0]);
  }
  const [p, q] = terms.map(({ share }) => share);
  const spread = p * (1 - p) * q * (1 - q);
  const sign = Math.sign(terms[0].times * terms[1].times);
  const together = spread > 0 ? sign * Math.max((-p * q) / Math.sqrt(spread), -1) : 0;
  const reach = ([a, b]) => Math.sqrt(Math.max(a * a + b * b + 2 * together * a * b, 0));
  const worth = [0, ...terms.map(({ times }) => times)];
  return [
    Math.max(estimate - reach(down), Math.min(...worth, estimate)),
    Math.min(estimate + reach(up), Math.max(...worth, estimate)),
  ];
}
