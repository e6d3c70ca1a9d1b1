// Tables of scores, what they cost over a range, and how sure differences are.

function decoded(value) {
  const [[kind, text]] = Object.entries(value);
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return kind === "f8" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

// First place of a sorted array whose value is at least x.
function placeOf(values, x) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function sumsOf(values) {
  const sums = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i += 1) {
    sums[i + 1] = sums[i] + values[i];
  }
  return sums;
}

class ScoreTable {
  constructor(columns) {
    this.scores = decoded(columns.scores);
    this.positives = decoded(columns.positives);
    this.negatives = decoded(columns.negatives);
    this.missed = sumsOf(this.positives);
    this.spared = sumsOf(this.negatives);
    this.size = this.scores.length;
    this.totalPositives = this.missed[this.size];
    this.totalNegatives = this.spared[this.size];
    this.total = this.totalPositives + this.totalNegatives;
  }

  // Integral of regret over the cost distribution per unit of weight, and the share acted on, averaged over it.
  sums(costs) {
    const { scores, positives, negatives } = this;
    const first = placeOf(scores, costs.low);
    const last = placeOf(scores, costs.high);
    const never = costs.positive(-Infinity);
    const times = (weight, loss) => (weight === 0 ? 0 : weight * loss);
    let [sum, acted] = [0, 0];
    for (let i = first; i < last; i += 1) {
      const [alarm, miss] = [costs.negative(scores[i]), costs.positive(scores[i])];
      sum += times(negatives[i], alarm) + times(positives[i], miss);
      // what acting on a negative costs and what acting on a positive saves: the cost ratios at or below the score
      acted += (negatives[i] + positives[i]) * (alarm + (never - miss));
    }
    // below the range every negative is free and every positive costs the same; above it the other way round
    sum += times(this.missed[first], never);
    sum += times(this.totalNegatives - this.spared[last], costs.negative(Infinity));
    acted += (this.total - this.missed[last] - this.spared[last]) * costs.mass;
    return { integral: sum / this.total, actedOn: acted / (costs.mass * this.total) };
  }

  // Decisions at a threshold, as shares of all weight: acted on where the score is at least the threshold.
  at(threshold) {
    const cut = placeOf(this.scores, threshold);
    return {
      missed: this.missed[cut] / this.total,
      found: (this.totalPositives - this.missed[cut]) / this.total,
      alarms: (this.totalNegatives - this.spared[cut]) / this.total,
      spared: this.spared[cut] / this.total,
    };
  }

  // Shares of the negatives and of the positives whose score decides the same over the whole range: below it, above it.
  outside(low, high) {
    let first = placeOf(this.scores, low);
    const last = placeOf(this.scores, high);
    if (low < high && this.scores[first] === low) {
      first += 1;
    }
    return [[this.spared, this.totalNegatives], [this.missed, this.totalPositives]].map(([sums, whole]) => ({
      below: sums[first] / whole,
      above: (whole - sums[last]) / whole,
    }));
  }

  // Cases whose score lies within a range: their share, mean score and event rate.
  within(low, high) {
    const first = placeOf(this.scores, low);
    let last = placeOf(this.scores, high);
    while (last < this.size && this.scores[last] === high) {
      last += 1;
    }
    let [weight, scored] = [0, 0];
    for (let i = first; i < last; i += 1) {
      const here = this.positives[i] + this.negatives[i];
      weight += here;
      scored += here * this.scores[i];
    }
    return [weight / this.total, scored / weight, (this.missed[last] - this.missed[first]) / weight];
  }
}

// Standard errors from covariances over stretches between cut points: approximate, exact where the range ends at
// cut points and all its cost ratios count alike.
class Spread {
  constructor({ cuts, covariances, quantiles }) {
    this.cuts = decoded(cuts);
    this.quantiles = decoded(quantiles);
    this.values = decoded(covariances);
    this.size = this.cuts.length - 1;
    this.length = (this.size * (this.size + 1)) / 2;
  }

  weigh(costs) {
    const weights = new Float64Array(this.size);
    for (let k = 0; k < this.size; k += 1) {
      const [from, to] = [this.cuts[k], this.cuts[k + 1]];
      const mass = costs.between
        ? costs.between(from, to)
        : Number(costs.low >= from && (costs.low < to || (to === 1 && costs.low === 1)));
      weights[k] = mass / (to - from);
    }
    this.weights = weights;
  }

  // Standard error of the integral of one rule.
  error(place) {
    let at = place * this.length;
    let sum = 0;
    for (let j = 0; j < this.size; j += 1) {
      const weight = this.weights[j];
      if (weight === 0) {
        at += this.size - j;
        continue;
      }
      sum += weight * weight * this.values[at];
      at += 1;
      for (let k = j + 1; k < this.size; k += 1, at += 1) {
        sum += 2 * weight * this.weights[k] * this.values[at];
      }
    }
    return Math.sqrt(Math.max(sum, 0));
  }
}

const page = JSON.parse(document.getElementById("payload").textContent);
const models = page.models.map((model, index) => ({
  ...model,
  index,
  scores: new ScoreTable(model.scores),
  blocks: new ScoreTable(model.blocks),
  deployed: model.deployed && new ScoreTable(model.deployed),
}));
const spread = page.spread && new Spread(page.spread);
const ALL = "treat all";
const NONE = "treat none";

// The table whose scores, taken at face value, decide as the rule of the evaluation does.
function actedOn(model) {
  return model[model.acted];
}

// Everything that follows the range, for every model and for treating all and none.
function evaluated(state) {
  const costs = costsOf(state);
  const defined = costs.mass > 0 && costs.mass < Infinity;
  const scale = page.scale === "regret" && !defined ? "loss" : page.scale;
  const per = page.scale === "regret" ? page.per * page.unit : 1;
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
    rule.more = factor * gapOf(rule.integral, order[0].integral);
    const paid = rule.model?.harm ? rule.model.harm * costs.positive(-Infinity) : 0;
    const [low, high] = intervalOf(rule, costs, factor);
    rule.interval = [Math.max(low, 0), Math.min(high, factor * (dearest + paid))];
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
  // obtaining the score costs as much as so many missed positives; the parts of the cost are of the scores alone
  found.bare = found.integral;
  found.integral += model.harm ? model.harm * costs.positive(-Infinity) : 0;
  return model.deployed ? { ...found, actedOn: model.deployed.at(0.5).found + model.deployed.at(0.5).alarms } : found;
}

// Decisions that are the same at every threshold: to act, or not to.
const ACTS = { below: 0, above: 1 };
const RESTS = { below: 1, above: 0 };
// with fewer rows of a class that carry a cost, those unseen matter: one more may cost as much as any can
const NEEDED = 5;
const NOTICED = 0.1;

// Student's t, and what one more row of the classes that too few rows show may bring, by the rule of three: none in n
// rows, at most -log(alpha) / n. Negatives below the range and positives above it cost nothing, and carry no cost.
function intervalOf(rule, costs, factor) {
  if (!spread || (rule.model && rule.place >= page.drawn)) {
    return [NaN, NaN];
  }
  const error = spread.error(rule.place);
  const worst = [page.shares.negative * costs.negative(Infinity), page.shares.positive * costs.positive(-Infinity)];
  const unseen = worst.map((cost, k) => {
    const carriers = page.rows[k] * (1 - rule.outside[k][["below", "above"][k]]);
    const one = cost / page.rows[k];
    // decisions that are the same whatever the score cost something for every row of a class or for none
    const known = !rule.model && (page.fixed || carriers === 0);
    return !known && carriers < NEEDED - 0.5 && one > NOTICED * error ? one : 0;
  });
  const half = Math.hypot(error === 0 ? 0 : spread.quantiles[rule.place] * error, Math.hypot(...unseen) * Math.log(1 - page.level));
  return Number.isFinite(half) ? [factor * (rule.integral - half), factor * (rule.integral + half)] : [NaN, NaN];
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
