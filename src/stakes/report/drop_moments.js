// Mean losses of decisions on the same rows, and the variance of each and of every difference: Student's t with degrees
// of freedom from the fourth moment, widened for classes of which too few rows carry the estimate (rule of three).

const AT_ONCE = 1 << 12;

// The models, then acting on everyone, on no one, and a decision that costs nothing.
class Decisions {
  constructor({ y, weight, scores }, costs) {
    this.models = scores.length;
    this.rules = this.models + 2;
    this.most = [costs.negative(Infinity), costs.positive(-Infinity)];
    Object.assign(this, { y, weight, scores, costs });
    this.pairs = Array.from({ length: this.models }, (_, i) => [i, -1]);
    for (let i = 0; i < this.models; i += 1) {
      for (let j = i + 1; j < this.models; j += 1) {
        this.pairs.push([i, j]);
      }
    }
    this.place = new Map(this.pairs.map(([i, j], at) => [`${i} ${j}`, at]));
    this.measure();
    this.found = new Map();
  }

  // Losses of the models on some rows of one class each: the rows, then what they cost.
  *blocks() {
    const { y, scores, costs, models } = this;
    const lines = Array.from({ length: models }, () => new Float64Array(AT_ONCE));
    const rows = [new Uint32Array(AT_ONCE), new Uint32Array(AT_ONCE)];
    for (let start = 0; start < y.length; start += AT_ONCE) {
      const end = Math.min(start + AT_ONCE, y.length);
      const sizes = [0, 0];
      for (let row = start; row < end; row += 1) {
        rows[y[row]][sizes[y[row]]++] = row;
      }
      for (const k of [0, 1]) {
        const loss = k ? costs.positive : costs.negative;
        for (let model = 0; model < models; model += 1) {
          const [line, mine] = [lines[model], scores[model]];
          for (let at = 0; at < sizes[k]; at += 1) {
            line[at] = loss(mine[rows[k][at]]);
          }
        }
        yield [k, sizes[k], rows[k], lines];
      }
    }
  }

  measure() {
    const { models, weight, pairs } = this;
    this.mass = [0, 0];
    this.count = [0, 0];
    const sums = [new Float64Array(models), new Float64Array(models)];
    this.unlike = [new Float64Array(models), new Float64Array(models)];
    for (const [k, size, rows, lines] of this.blocks()) {
      this.count[k] += size;
      for (let at = 0; at < size; at += 1) {
        this.mass[k] += weight ? weight[rows[at]] : 1;
      }
      for (let model = 0; model < models; model += 1) {
        const line = lines[model];
        let [sum, unlike] = [0, 0];
        for (let at = 0; at < size; at += 1) {
          sum += weight ? weight[rows[at]] * line[at] : line[at];
          unlike += Number(line[at] !== this.most[k]);
        }
        sums[k][model] += sum;
        this.unlike[k][model] += unlike;
      }
    }
    this.classMeans = sums.map((mine, k) => mine.map((sum) => (this.mass[k] > 0 ? sum / this.mass[k] : 0)));
    this.powers = pairs.map(([i, j]) => [0, 1].map((k) => this.start(k, this.classMeans[k][i] - (j < 0 ? 0 : this.classMeans[k][j]))));
    for (const [k, size, rows, lines] of this.blocks()) {
      pairs.forEach(([i, j], at) => this.add(this.powers[at][k], lines[i], j < 0 ? null : lines[j], size, rows));
    }
    const whole = this.mass[0] + this.mass[1];
    this.means = Float64Array.from({ length: this.rules }, (_, i) => this.meanOf(i) / whole);
  }

  meanOf(rule) {
    const times = (mass, loss) => (mass === 0 ? 0 : mass * loss);
    return rule < this.models
      ? times(this.mass[0], this.classMeans[0][rule]) + times(this.mass[1], this.classMeans[1][rule])
      : times(this.mass[rule - this.models], this.most[rule - this.models]);
  }

  start(k, mean) {
    return { count: this.count[k], weight: this.mass[k], mean, nonzero: 0, second: [0, 0, 0], fourth: [0, 0, 0, 0, 0] };
  }

  // Add sums of w^2 d^j and w^4 d^j, where d is the difference of two losses less its mean.
  add(sums, first, second, size, rows) {
    const { weight } = this;
    const { mean } = sums;
    let [n, a0, a1, a2, b0, b1, b2, b3, b4] = [0, 0, 0, 0, 0, 0, 0, 0, 0];
    for (let at = 0; at < size; at += 1) {
      const gap = second === null ? first[at] : first[at] - second[at];
      const d = gap - mean;
      const square = weight ? weight[rows[at]] ** 2 : 1;
      const fourth = square * square;
      const d2 = d * d;
      n += Number(gap !== 0);
      a0 += square;
      a1 += square * d;
      a2 += square * d2;
      b0 += fourth;
      b1 += fourth * d;
      b2 += fourth * d2;
      b3 += fourth * d2 * d;
      b4 += fourth * d2 * d2;
    }
    sums.nonzero += n;
    [a0, a1, a2].forEach((sum, j) => { sums.second[j] += sum; });
    [b0, b1, b2, b3, b4].forEach((sum, j) => { sums.fourth[j] += sum; });
  }

  // Sums of the difference of two rules; a second of -1 costs nothing.
  sums(first, second) {
    const [n, none] = [this.models, second < 0];
    if (first < n && (none || second < n)) {
      return this.powers[this.place.get(`${first} ${second}`)];
    }
    const by = (rule, k) => (rule >= n && rule - n === k ? this.most[k] : 0);
    if (first < n) {
      return this.powers[first].map((mine, k) => this.shifted(mine, -by(second, k), second - n === k ? this.unlike[k][first] : mine.nonzero));
    }
    return [0, 1].map((k) => {
      const shift = by(first, k) - (none ? 0 : by(second, k));
      const alone = this.powers[0][k];
      const zero = { ...this.start(k, 0), second: [alone.second[0], 0, 0], fourth: [alone.fourth[0], 0, 0, 0, 0] };
      return this.shifted(zero, shift, shift === 0 ? 0 : this.count[k]);
    });
  }

  shifted(sums, by, nonzero) {
    return { ...sums, mean: sums.count > 0 ? sums.mean + by : sums.mean, nonzero };
  }

  // How far the losses of a row of each class can lie apart.
  gaps(first, second) {
    const n = this.models;
    return this.most.map((most, k) => (second < 0 && first - n === 1 - k ? 0 : most));
  }

  // Variance, degrees of freedom and the square of what unseen rows may bring, of the difference of two rules.
  spread(first, second) {
    const [low, high] = second < 0 || first < second ? [first, second] : [second, first];
    const key = `${low} ${high}`;
    if (!this.found.has(key)) {
      const mine = this.sums(low, high);
      const found = varianceOf(mine, this.gaps(low, high));
      const alike = high >= 0 && high < this.models && mine[0].nonzero + mine[1].nonzero === 0 && sameScores(this.scores[low], this.scores[high]);
      this.found.set(key, alike ? { ...found, unseen: 0, scarce: [false, false] } : found);
    }
    return this.found.get(key);
  }

  // Two-sided interval of a mean, and of a difference of means.
  interval(rule, level) {
    const half = halfWidth(this.spread(rule, -1), 1 - level);
    return this.reach(this.means[rule], half, 0, Math.max(...this.most));
  }

  difference(first, second) {
    const [a, b] = [this.means[first], this.means[second]];
    const gap = a - b;
    return Number.isFinite(gap) && Math.abs(gap) <= 64 * Number.EPSILON * (Math.abs(a) + Math.abs(b)) ? 0 : gap;
  }

  differenceInterval(first, second, level) {
    const most = Math.max(...this.most);
    return first === second ? [0, 0] : this.reach(this.difference(first, second), halfWidth(this.spread(first, second), 1 - level), -most, most);
  }

  reach(value, half, least, most) {
    const [low, high] = [Math.max(value - half, Math.min(least, value)), Math.min(value + half, Math.max(most, value))];
    return Number.isFinite(value) && Number.isFinite(half) ? [low, high] : [NaN, NaN];
  }

  // Covariances of the mean losses of all rules.
  get covariance() {
    const alone = Array.from({ length: this.rules }, (_, i) => this.spread(i, -1).variance);
    return alone.map((own, i) => alone.map((other, j) => (i === j ? own : 0.5 * (own + other - this.spread(i, j).variance))));
  }
}

function sameScores(first, second) {
  return first.every((score, k) => score === second[k]);
}
