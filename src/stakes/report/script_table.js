// The models of the page, what they cost over a range, and how sure that is.

const page = JSON.parse(document.getElementById("payload").textContent);
const models = page.models.map((model, index) => ({
  ...model,
  index,
  scores: new ScoreTable(model.scores),
  blocks: new ScoreTable(model.blocks),
  everyone: model.everyone && new ScoreTable(model.everyone),
  deployed: model.deployed && decisionTable(model.deployed),
}));
const spread = page.spread && new Spread(page.spread);
const ALL = "treat all";
const NONE = "treat none";

// Decisions of a rule in use, labels of 0 and 1, are the same at every threshold, 0 and 1 too.
function decisionTable(columns) {
  return new ScoreTable({ ...columns, scores: decoded(columns.scores).map((label) => (label === 0 ? -Infinity : Infinity)) });
}

// The table whose scores, taken at face value, decide as the rule of the evaluation does.
function actedOn(model) {
  return model[model.acted];
}

// Everything that follows the range, for every model and for treating all and none.
function evaluated(state) {
  const costs = costsOf(state);
  const defined = costs.mass > 0 && costs.mass < Infinity;
  const scale = page.scale === "regret" && !defined ? "loss" : page.scale;
  // without a mean there is no cost of a decision
  const per = scale === "regret" ? page.per * page.unit : 1;
  const factor = per * { regret: 1 / costs.mass, integral: 1, loss: costs.lossFactor }[scale];
  const { positive, negative } = page.shares;
  const times = (share, loss) => (share === 0 ? 0 : share * loss);
  const always = times(negative, costs.negative(Infinity));
  const never = times(positive, costs.positive(-Infinity));
  const uncertainty = times(negative, costs.negative(positive)) + times(positive, costs.positive(positive));
  const rules = models.map((model) => ({ model, place: model.index, ...decided(model, costs) }));
  rules.push({ name: ALL, place: page.drawn, integral: always, outside: [ACTS, ACTS] });
  rules.push({ name: NONE, place: page.drawn + 1, integral: never, outside: [RESTS, RESTS] });
  spread?.weigh(costs);
  // equal costs, but for rounding, keep the order given
  const cost = ({ integral }) => Number(integral.toPrecision(12));
  const order = rules.slice(0, models.length).sort((x, y) => (cost(x) === cost(y) ? x.model.given - y.model.given : cost(x) - cost(y)));
  const [all, none] = rules.slice(models.length);
  // no interval leaves what can be lost: all rows wrong of the dearer class, or of both where their shares are stated
  const dearest = page.fixed ? always + never : Math.max(costs.negative(Infinity), costs.positive(-Infinity));
  for (const rule of rules) {
    rule.score = factor * rule.integral;
    const gap = gapOf(rule.integral, order[0].integral);
    rule.more = Number.isFinite(gap) ? factor * gap : NaN;
    const paid = rule.model?.harm ? rule.model.harm * costs.positive(-Infinity) : 0;
    const [low, high] = intervalOf(rule, costs, factor);
    rule.interval = [Math.max(low, factor * paid), Math.min(high, factor * (dearest + paid))];
    if (rule.model) {
      rule.parts = partsOf(rule, costs, factor, uncertainty);
      rule.actsLike = likeOf(rule, [[all, 1 - rule.actedOn], [none, rule.actedOn]]);
    }
  }
  const bounds = rules.slice(0, models.length).map(({ model }) => boundOf(model, costs));
  return { costs, scale, factor, order, all, none, bound: Math.max(...bounds) * Math.abs(factor) };
}

// What a model's decisions cost, and how often they are to act.
function decided(model, costs) {
  const table = actedOn(model);
  const found = { ...table.sums(costs), outside: table.outside(costs.low, costs.high) };
  // obtaining the score costs a number of missed positives, its harm; the parts of the cost are of the scores alone
  found.bare = found.integral;
  found.integral += model.harm ? model.harm * costs.positive(-Infinity) : 0;
  return { ...found, actedOn: shareActedOn(model, costs, found) };
}

// The scores of all rows, where an outcome knows the class of some only; those that recalibration maps are of these.
function everyoneOf({ acted, everyone }) {
  return acted === "blocks" ? undefined : everyone;
}

function shareActedOn(model, costs, found) {
  return model.deployed ? shareActedAt(model) : (everyoneOf(model)?.sums(costs).actedOn ?? found.actedOn);
}

function shareActedAt(model, at) {
  const { found, alarms } = everyoneOf(model)?.at(page.rule === "score" ? at : page.rule) ?? decidedAt(model, at);
  return found + alarms;
}

function decidedAt(model, at) {
  return actedOn(model).at(page.rule === "score" ? at : 0.5);
}

// Decisions that are the same at every threshold: to act, or not to.
const ACTS = { below: 0, above: 1 };
const RESTS = { below: 1, above: 0 };

// Student's t, and what one more row of the classes that too few rows show may bring, by the rule of three.
function intervalOf(rule, costs, factor) {
  if (!spread || !Number.isFinite(rule.integral) || (rule.model && rule.place >= page.drawn)) {
    return [NaN, NaN];
  }
  const half = halfWidth(spreadOver(rule, costs), 1 - page.level);
  return [factor * (rule.integral - half), factor * (rule.integral + half)];
}

// Of independent rows that weigh alike within each class, the table tells how far the integral spreads.
function spreadOver(rule, costs) {
  const { sums, gaps } = sumsOver(rule, costs);
  const alike = varianceOf(sums, gaps, page.fixed);
  return page.even ? alike : spreadOfOthers(rule, costs, alike, sums, gaps);
}

function sumsOver(rule, costs) {
  const most = [costs.negative(Infinity), costs.positive(-Infinity)];
  const rows = spread.rows ?? page.rows;
  if (rule.model) {
    return { sums: tableSums(actedOn(rule.model), costs, rows), gaps: most };
  }
  // a decision that is the same whatever the score costs something for every row of one class, and none of the other
  const mine = most.map((loss, k) => (rule.name === [ALL, NONE][k] ? loss : 0));
  return { sums: constantSums(mine, [page.shares.negative, page.shares.positive], rows), gaps: page.fixed ? [0, 0] : mine };
}

// Of other rows the covariances tell it, and how their units and degrees of freedom differ from those of rows alike. One
// threshold has the covariances of a stretch, and is to that as it is among rows alike.
function spreadOfOthers(rule, costs, alike, sums, gaps) {
  let variance = spread.error(rule.place) ** 2;
  if (costs.low === costs.high) {
    const [from, to] = [-1, 0].map((step) => spread.cuts[spread.after(costs.low) + step]);
    const stretch = sumsOver(rule, costsOf({ low: from, high: to, weighting: "uniform" }));
    const beside = varianceOf(stretch.sums, stretch.gaps, page.fixed).variance / (to - from) ** 2;
    variance *= beside > 0 ? alike.variance / beside : 1;
  }
  const degrees = spread.degreesOf(rule.place, alike.degrees);
  const quantile = Number.isFinite(degrees) ? undefined : spread.quantiles[rule.place];
  return { variance, degrees, quantile, ...unseenOf(sums, gaps, variance, page.fixed, spread.unitsOver(rule.place, costs)) };
}

// What two equal rules leave is rounding, not a difference.
function gapOf(first, second) {
  const gap = first - second;
  return Number.isFinite(gap) && Math.abs(gap) <= 64 * Number.EPSILON * (Math.abs(first) + Math.abs(second)) ? 0 : gap;
}

// The constant decision that a model practically takes: the same for 99% of cases, at a cost within 1%.
const SAME = 0.01;

function likeOf({ integral }, constants) {
  const like = ([rule, other]) => other <= SAME && Math.abs(integral - rule.integral) <= SAME * rule.integral;
  return constants.find(like)?.[0].name ?? "";
}

// Cost = miscalibration - discrimination + uncertainty, of the scores taken at face value.
function partsOf({ model, bare }, costs, factor, uncertainty) {
  const of = (columns) => factor * (model.acted === columns ? bare : model[columns].sums(costs).integral);
  const [score, recalibrated] = [of("scores"), of("blocks")];
  return {
    score,
    miscalibration: Math.max(score - recalibrated, 0),
    discrimination: Math.max(factor * uncertainty - recalibrated, 0),
    uncertainty: factor * uncertainty,
    skill: 1 - score / (factor * uncertainty),
  };
}

// How far the integral may be from that of the full data: by parts, the bound for cost ratios that count alike times
// the least density at an end plus its total variation.
function boundOf(model, costs) {
  if (model.integralBound === 0) {
    return 0;
  }
  return Number.isNaN(costs.unevenness) ? model.shareBound : model.integralBound * costs.unevenness;
}
