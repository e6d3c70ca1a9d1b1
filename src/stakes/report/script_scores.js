// Tables of scores, what they cost over a range, and standard errors from covariances.

// An array as the page holds it; one that is decoded already is returned as it is.
function decoded(value) {
  if (ArrayBuffer.isView(value)) {
    return value;
  }
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
// cut points and all its cost ratios count alike. One threshold takes the stretch that ends there, in which a score
// equal to it is acted on.
class Spread {
  constructor({ cuts, covariances, quantiles, units, rows, degrees }) {
    this.cuts = decoded(cuts);
    this.units = units && decoded(units);
    this.degrees = degrees && decoded(degrees);
    const counts = rows ? decoded(rows) : [NaN, NaN, 1, 1, NaN];
    Object.assign(this, { rows: rows && counts.slice(0, 2), together: counts.slice(2, 4), mostDegrees: counts[4] });
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
        : Number((from < costs.low || k === 0) && costs.low <= to);
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
  // Degrees of freedom from those of rows that weigh alike.
  degreesOf(place, alike) {
    if (!this.degrees || !(alike > 0)) {
      return NaN;
    }
    const inverse = this.degrees[place] / alike + this.degrees[this.degrees.length / 2 + place];
    return inverse > 0 ? Math.min(1 / inverse, this.mostDegrees) : this.mostDegrees;
  }

  // Which cut point ends the stretch that one threshold takes.
  after(at) {
    return clip(placeOf(this.cuts, at), 1, this.size);
  }

  // How the units that errors consist of, weighed rows or clusters, differ from rows of a table, by class: rows that come
  // together; and of those that carry a cost their effective number, number and dominant cost, between two cut points.
  unitsOver(place, { low, high }) {
    const { cuts, units, together } = this;
    return [low, high].map((end, k) => {
      const next = this.after(end);
      const part = (end - cuts[next - 1]) / (cuts[next] - cuts[next - 1]);
      const ratios = [0, 1, 2].map((which) => {
        const at = ((2 * place + k) * 3 + which) * cuts.length + next;
        return units ? (1 - part) * units[at - 1] + part * units[at] : 1;
      });
      return { together: together[k], effective: ratios[0], number: ratios[1], dominant: ratios[2] };
    });
  }
}
