// What each model does to 1,000 cases at one threshold that the reader chooses.

const CASES = 1000;

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
    const per = (share) => cell(Number.isNaN(share) ? fixed(share, 0) : tidy(CASES * share), [], { value: CASES * share });
    const rate = (value) => cell(percent(value), [], { value });
    const cost = (value) => cell(number(value), [], { value });
    const rates = [ratio(found, found + missed), ratio(spared, spared + wrong), ratio(found, found + wrong), ratio(spared, spared + missed)];
    const rank = rule.model ? String(k + 1) : "";
    return [rank, rowHead(rule), per(found + wrong), per(found), per(wrong), per(missed), ...rates.map(rate), per(benefit), per(avoided), cost(regret)];
  });
  const heads = [
    ["#"], ["Model"], ["Acted on"], ["True positives"], ["False alarms"], ["Missed"], ["Sensitivity"], ["Specificity"],
    ["PPV", "positive predictive value"], ["NPV", "negative predictive value"], ["Net benefit"],
    ["Avoided", "against treat all, net"], ["Regret", "per decision"],
  ];
  const caption = `Per ${plain(CASES, 4)} cases at a threshold of ${percent(state.at)} (odds ${odds(state.at)}), where ${exchange(state.at)}`;
  return tableOf(caption, heads, rows, { cards: true });
}

function showThreshold(state, results) {
  document.getElementById("threshold-table").replaceChildren(thresholdTable(state, results));
}
