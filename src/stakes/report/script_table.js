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

  // Integral of regret over the cost distribution, per unit of weight.
  integral(costs) {
    const { scores, positives, negatives } = this;
    const first = placeOf(scores, costs.low);
    const last = placeOf(scores, costs.high);
    const times = (weight, loss) => (weight === 0 ? 0 : weight * loss);
    let sum = 0;
    for (let i = first; i < last; i += 1) {
      sum += times(negatives[i], costs.negative(scores[i])) + times(positives[i], costs.positive(scores[i]));
    }
    // below the range every negative is free and every positive costs the same; above it the other way round
    sum += times(this.missed[first], costs.positive(-Infinity));
    sum += times(this.totalNegatives - this.spared[last], costs.negative(Infinity));
    return sum / this.total;
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

  regret(threshold) {
    const { alarms, missed } = this.at(threshold);
    return threshold * alarms + (1 - threshold) * missed;
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
  constructor({ cuts, pairs, covariances }) {
    this.cuts = decoded(cuts);
    this.values = decoded(covariances);
    this.size = this.cuts.length - 1;
    this.length = (this.size * (this.size + 1)) / 2;
    this.places = new Map(pairs.map(([i, j], place) => [i * 1e6 + j, place]));
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

  // Standard error of the integral of one rule less that of another.
  error(first, second) {
    const place = this.places.get(Math.min(first, second) * 1e6 + Math.max(first, second));
    if (place === undefined) {
      return NaN;
    }
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
  const factors = { regret: defined ? page.unit / costs.mass : NaN, integral: 1, loss: costs.lossFactor };
  const scale = page.scale === "regret" && !defined ? "loss" : page.scale;
  const { positive, negative } = page.shares;
  const times = (share, loss) => (share === 0 ? 0 : share * loss);
  const always = times(negative, costs.negative(Infinity));
  const never = times(positive, costs.positive(-Infinity));
  const uncertainty = times(negative, costs.negative(positive)) + times(positive, costs.positive(positive));
  const rules = models.map((model) => ({ model, place: model.index, integral: actedOn(model).integral(costs) }));
  rules.push({ name: ALL, place: page.drawn, integral: always }, { name: NONE, place: page.drawn + 1, integral: never });
  spread?.weigh(costs);
  const known = (rule) => !rule.model || rule.model.index < page.drawn;
  const factor = factors[scale];
  const compared = (rule, other) => {
    const difference = factor * (rule.integral - other.integral);
    const error = spread && known(rule) && known(other) ? factor * spread.error(rule.place, other.place) : NaN;
    return { difference, interval: around(difference, error) };
  };
  const nothing = { place: page.drawn + 2, integral: 0 };
  // equal costs, but for rounding, keep the order given
  const cost = ({ integral }) => Number(integral.toPrecision(12));
  const order = rules.slice(0, models.length).sort((x, y) => (cost(x) === cost(y) ? x.model.given - y.model.given : cost(x) - cost(y)));
  const [all, none] = rules.slice(models.length);
  for (const rule of rules) {
    rule.regret = factors.regret * rule.integral;
    rule.loss = factors.loss * rule.integral;
    rule.score = factor * rule.integral;
    const { interval } = compared(rule, nothing);
    rule.interval = [Math.max(interval[0], 0), interval[1]];
    rule.skill = 1 - rule.integral / uncertainty;
    rule.versus = { best: compared(rule, order[0]), all: compared(rule, all), none: compared(rule, none) };
    if (rule.model) {
      rule.parts = partsOf(rule.model, costs, factor, uncertainty);
    }
  }
  const bounds = rules.slice(0, models.length).map(({ model }) => boundOf(model, costs));
  const bound = Math.max(...bounds) * Math.abs(factor);
  return { costs, scale, factor, order, all, none, bound, uncertainty: factor * uncertainty, between: compared };
}

function around(value, error) {
  return Number.isFinite(value) && Number.isFinite(error)
    ? [value - page.z * error, value + page.z * error]
    : [NaN, NaN];
}

// Cost = miscalibration - discrimination + uncertainty, of the scores taken at face value.
function partsOf(model, costs, factor, uncertainty) {
  const score = factor * model.scores.integral(costs);
  const recalibrated = factor * model.blocks.integral(costs);
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
