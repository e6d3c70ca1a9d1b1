// What each model does to 1,000 cases, or the number that costs are counted for, at one threshold that the reader chooses.

function thresholdTable(state, results) {
  const ratio = (top, bottom) => (bottom > 0 ? top / bottom : NaN);
  const rows = [...results.order, results.all, results.none].map((rule, k) => {
    const { positive, negative } = page.shares;
    const acts = rule.name === ALL;
    const counts = rule.model
      ? actedOn(rule.model).at(page.rule === "score" ? state.at : 0.5)
      : { found: acts ? positive : 0, missed: acts ? 0 : positive, alarms: acts ? negative : 0, spared: acts ? 0 : negative };
    const { found, missed, alarms: wrong, spared } = counts;
    const harm = rule.model?.harm ?? 0;
    const regret = state.at * wrong + (1 - state.at) * (missed + harm);
    const worth = (1 - state.at) / state.at;
    const benefit = state.at < 1 ? found - harm - wrong / worth : NaN;
    // against treating everyone: negatives left alone, less what the positives missed are worth in them
    const avoided = state.at > 0 && state.at < 1 ? spared - worth * (missed + harm) : NaN;
    const per = (share) => cell(Number.isNaN(share) ? fixed(share, 0) : tidy(page.per * share), page.per * share);
    const rate = (value) => cell(percent(value), value);
    const cost = page.per * page.unit * regret;
    const rates = [ratio(found, found + missed), ratio(spared, spared + wrong), ratio(found, found + wrong), ratio(spared, spared + missed)];
    const rank = rule.model ? String(k + 1) : "";
    return [rank, rowHead(rule), cell(tidy(cost), cost), per(found + wrong), per(found), per(wrong), per(missed), ...rates.map(rate), per(benefit), per(avoided)];
  });
  const heads = [
    ["#"], ["Model"], ["Cost"], ["Acted on"], ["True positives"], ["False alarms"], ["Missed"], ["Sensitivity"], ["Specificity"],
    ["PPV", "positive predictive value"], ["NPV", "negative predictive value"], ["Net benefit"], ["Avoided", `against ${page.words.decisions[ALL]}, net`],
  ];
  const caption = said("at_threshold", { count: plain(page.per, 4), at: percent(state.at), odds: odds(state.at), bad: asBadAs({ low: state.at, high: state.at }), event: page.words.event });
  return tableOf(caption, heads, rows);
}

function showThreshold(state, results) {
  document.getElementById("threshold-table").replaceChildren(thresholdTable(state, results));
}
