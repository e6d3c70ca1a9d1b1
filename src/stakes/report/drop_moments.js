// Mean losses of decisions on the same rows, and the variance of each and of every difference: Student's t with degrees
// of freedom from the fourth moment, widened for classes of which too few rows carry the estimate (rule of three).

const ENOUGH = 5; // effective rows of a class that carry the value
const SEEN = 0.1; // what one more row may bring matters from this share of the standard error on
const LARGER = 3;
const ROUNDING = 1e-12;
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

// The highest power about a centre that lies below the mean by a gap.
function recentred(sums, gap) {
  const choose = { 2: [1, 2, 1], 4: [1, 4, 6, 4, 1] }[sums.length - 1];
  return sums.reduce((found, sum, j) => (j ? found * gap + choose[j] * sum : sum), 0);
}

function varianceOf(sums, gaps) {
  const whole = sums[0].weight + sums[1].weight;
  const value = (sums[0].weight * sums[0].mean + sums[1].weight * sums[1].mean) / whole;
  const raw = sums.map(({ second, fourth, mean }) => [recentred(second, mean), recentred(fourth, mean)]);
  let [n, squares, fourths] = [0, 0, 0];
  sums.forEach(({ count, mean, second, fourth }, k) => {
    const about = recentred(second, mean - value);
    n += count;
    if (!(about <= 1e-24 * raw[k][0])) {
      squares += about;
      fourths += recentred(fourth, mean - value);
    }
  });
  const variance = ((n > 1 ? n / (n - 1) : NaN) * squares) / whole ** 2;
  const uneven = fourths - squares ** 2 / Math.max(n, 1);
  const degrees = Math.min(n - 1, uneven > ROUNDING * squares ** 2 ? (2 * squares ** 2) / uneven : Infinity);
  return { variance, degrees, ...unseenOf(sums, raw, gaps, variance, whole) };
}

// What one more row of each class too few rows of which carry the value might bring.
function unseenOf(sums, raw, gaps, variance, whole) {
  const overall = whole / Math.max(sums[0].count + sums[1].count, 1);
  let unseen = 0;
  const carrying = raw.map(([second, fourth]) => (fourth > 0 ? second ** 2 / fourth : 0));
  const scarce = sums.map(({ count, weight, nonzero }, k) => {
    const shift = (gaps[k] * (count > 0 ? weight / count : overall)) / whole;
    const [second, fourth] = raw[k];
    const dominant = second > 0 ? Math.sqrt(fourth / second) : 0;
    const jump = nonzero < ENOUGH ? shift : Math.min(shift, (LARGER * dominant) / whole);
    const few = carrying[k] < ENOUGH * (1 - ROUNDING) && jump > SEEN * Math.sqrt(variance);
    unseen += few ? (shift === Infinity ? Infinity : jump) ** 2 : 0;
    return few;
  });
  return { unseen, scarce, equal: sums.map(({ weight, mean }, k) => (weight * mean) ** 2 / raw[k][0]) };
}

// Half of the width of an interval; NaN where the variance is unknown or what unseen rows may bring has no bound.
function halfWidth({ variance, degrees, unseen }, alpha) {
  const t = studentQuantile(alpha, variance > 0 ? degrees : Infinity);
  const wide = Math.sqrt(t * t * variance + Math.log(alpha) ** 2 * unseen);
  return Number.isFinite(wide) ? wide : NaN;
}

// Probability that a standard normal variable lies further out than x, either way.
function normalTails(x) {
  const z = x / Math.SQRT2;
  if (z < 2.5) {
    let [term, sum] = [z, z];
    for (let k = 1; Math.abs(term) > 1e-18 * sum; k += 1) {
      term *= (2 * z * z) / (2 * k + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * sum;
  }
  let fraction = 0;
  for (let k = 80; k > 0; k -= 1) {
    fraction = k / 2 / (z + fraction);
  }
  return Math.exp(-z * z) / (Math.sqrt(Math.PI) * (z + fraction));
}

// Where a falling function of positive numbers has a value, by halving.
function fallingRoot(value, goal) {
  let [low, high] = [0, 1];
  while (value(high) > goal && high < 1e12) {
    [low, high] = [high, 2 * high];
  }
  for (let k = 0; k < 200 && high - low > 1e-15 * high; k += 1) {
    const middle = 0.5 * (low + high);
    [low, high] = value(middle) > goal ? [middle, high] : [low, middle];
  }
  return 0.5 * (low + high);
}

const normalQuantile = remembered((alpha) => fallingRoot(normalTails, alpha));

// The t that Student's variable exceeds, either way, with probability alpha.
const studentQuantile = remembered((alpha, degrees) => {
  const z = normalQuantile(alpha);
  if (degrees > 1e6) {
    return degrees === Infinity ? z : z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
  }
  return degrees > 0 ? fallingRoot((t) => incompleteBeta(degrees / (degrees + t * t), 0.5 * degrees, 0.5), alpha) : NaN;
});

function remembered(work) {
  const known = new Map();
  return (...given) => {
    const key = given.join(" ");
    if (!known.has(key)) {
      known.set(key, work(...given));
    }
    return known.get(key);
  };
}
