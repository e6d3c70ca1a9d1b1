// Which decision is best, and what may be said of it although it was chosen on these rows: intervals that hold for all
// decisions at once (max-T), and multiple comparisons with the best (Hsu 1981). The joint distribution of the errors is
// drawn, from a fixed seed.

const DRAWS = [4_000, 20_000];
const MOST_DRAWN = 6_000_000;

// Even random numbers, the same in each run.
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// A lower triangular root of a covariance; what is left of a variance by rounding counts as nothing.
function rootOf(covariance) {
  const size = covariance.length;
  const largest = Math.max(...covariance.map((row, i) => row[i]));
  const root = covariance.map(() => new Float64Array(size));
  for (let j = 0; j < size; j += 1) {
    const left = covariance[j][j] - root[j].subarray(0, j).reduce((sum, x) => sum + x * x, 0);
    if (left <= ROUNDING * largest) {
      continue;
    }
    root[j][j] = Math.sqrt(left);
    for (let i = j + 1; i < size; i += 1) {
      let sum = covariance[i][j];
      for (let k = 0; k < j; k += 1) {
        sum -= root[i][k] * root[j][k];
      }
      root[i][j] = sum / root[j][j];
    }
  }
  return root;
}

// Draws of the errors: one list for each decision.
function drawnErrors(covariance) {
  const count = covariance.length;
  const draws = Math.min(Math.max(Math.floor(MOST_DRAWN / count), DRAWS[0]), DRAWS[1]);
  const [random, root] = [randomNumbers(1), rootOf(covariance)];
  const errors = covariance.map(() => new Float64Array(draws));
  const normal = new Float64Array(count + 1);
  for (let draw = 0; draw < draws; draw += 1) {
    for (let k = 0; k < count; k += 2) {
      const [far, turn] = [Math.sqrt(-2 * Math.log(1 - random())), 2 * Math.PI * random()];
      normal[k] = far * Math.cos(turn);
      normal[k + 1] = far * Math.sin(turn);
    }
    for (let i = 0; i < count; i += 1) {
      let sum = 0;
      for (let k = 0; k <= i; k += 1) {
        sum += root[i][k] * normal[k];
      }
      errors[i][draw] = sum;
    }
  }
  return errors;
}

function quantileOf(values, level) {
  const sorted = values.slice().sort();
  const at = level * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
}

// The quantile of the largest of several standardised errors, not below that of one alone; each is made when its turn
// comes.
function largestQuantile(makers, level, twoSided) {
  const least = normalQuantile(twoSided ? 1 - level : 2 * (1 - level));
  if (makers.length < 2) {
    return least;
  }
  const largest = makers[0]().fill(-Infinity);
  for (const make of makers) {
    const line = make();
    for (let draw = 0; draw < line.length; draw += 1) {
      const value = twoSided ? Math.abs(line[draw]) : line[draw];
      largest[draw] = value > largest[draw] ? value : largest[draw];
    }
  }
  return Math.max(quantileOf(largest, level), least);
}

class Contest {
  constructor(decisions) {
    this.decisions = decisions;
    const every = Array.from(decisions.means, (_, k) => k);
    this.places = every.filter((k) => Number.isFinite(decisions.means[k]));
    this.means = this.places.map((k) => decisions.means[k]);
    const whole = decisions.covariance;
    const own = this.places.map((i) => (whole[i][i] > (ROUNDING * decisions.means[i]) ** 2 ? 1 : 0));
    this.covariance = this.places.map((i, a) => this.places.map((j, b) => whole[i][j] * own[a] * own[b]));
    this.errors = drawnErrors(this.covariance);
    this.variance = this.covariance.map((row, i) => row.map((both, j) => {
      const scale = this.covariance[i][i] + this.covariance[j][j];
      const found = scale - 2 * both;
      return found <= ROUNDING * scale ? 0 : found;
    }));
    this.same = this.means.map((mean, i) => this.means.findIndex((other, j) => this.variance[i][j] === 0 && Math.abs(mean - other) <= ROUNDING * (Math.abs(mean) + Math.abs(other))));
  }

  get known() {
    return this.places.length > 0 && this.covariance.every((row) => row.every(Number.isFinite));
  }

  isReference(k) {
    return this.places[k] >= this.decisions.models;
  }

  // How far an interval of the difference of two decisions reaches at a normal critical value; of one alone with -1.
  reach(first, second, critical) {
    return halfWidth(this.decisions.spread(this.places[first], second < 0 ? -1 : this.places[second]), normalTails(critical));
  }

  // The decision of the lowest cost, references first among equals.
  lowest() {
    const least = Math.min(...this.means);
    const tied = this.means.flatMap((mean, k) => (mean - least <= 64 * Number.EPSILON * Math.abs(least) ? [k] : []));
    return tied.find((k) => this.isReference(k)) ?? tied[0];
  }

  // Intervals of all costs at once.
  intervals(level) {
    const moving = this.means.flatMap((_, k) => (this.covariance[k][k] > 0 ? [k] : []));
    const distinct = moving.filter((k, at) => !moving.slice(0, at).some((other) => this.correlation(k, other) >= 1 - ROUNDING));
    const makers = distinct.map((k) => () => this.errors[k].map((error) => error / Math.sqrt(this.covariance[k][k])));
    const critical = largestQuantile(makers, level, true);
    const highest = Math.max(...this.decisions.most);
    return this.spreadOver([NaN, NaN], (k) => {
      const far = this.reach(k, -1, critical);
      return [Math.max(this.means[k] - far, 0), Math.min(this.means[k] + far, highest)];
    });
  }

  correlation(i, j) {
    return this.covariance[i][j] / Math.sqrt(this.covariance[i][i] * this.covariance[j][j]);
  }

  // Values of the decisions of finite cost, in the place of each among all.
  spreadOver(otherwise, value) {
    const found = Array.from(this.decisions.means, () => otherwise);
    this.places.forEach((place, k) => { found[place] = value(k); });
    return found;
  }

  // How much more each decision costs than the first model, with intervals that hold for all at once.
  moreThan(first, level) {
    const makers = [];
    this.means.forEach((_, i) => this.means.forEach((__, j) => {
      const models = !this.isReference(i) && !this.isReference(j);
      const of = models ? j > i : i === first && this.isReference(j);
      if (of && this.variance[i][j] > 0) {
        makers.push(() => this.gapErrors(i, j));
      }
    }));
    const critical = largestQuantile(makers, level, true);
    const span = Math.max(...this.decisions.most); // a cost is not negative
    return this.spreadOver([NaN, NaN, NaN], (k) => {
      if (this.same[k] === this.same[first]) {
        return [0, 0, 0];
      }
      const [gap, far] = [this.means[k] - this.means[first], this.reach(k, first, critical)];
      return [gap, Math.max(gap - far, -span), Math.min(gap + far, span)];
    });
  }

  gapErrors(i, j) {
    const scale = Math.sqrt(this.variance[i][j]);
    return this.errors[i].map((error, draw) => (error - this.errors[j][draw]) / scale);
  }

  // Which decisions may be the best: those that no rival excludes.
  possible(level) {
    const leader = this.means.indexOf(Math.min(...this.means));
    return this.spreadOver(false, (i) => {
      const ratios = this.means.map((mean, j) => {
        const gap = this.means[i] - mean;
        return this.same[i] === this.same[j] ? -Infinity : gap === 0 ? 0 : gap / Math.sqrt(this.variance[i][j]);
      });
      const most = Math.max(...ratios);
      return most <= normalQuantile(2 * (1 - level)) || !this.isExcluded(i, [...new Set([ratios.indexOf(most), leader])], level);
    });
  }

  isExcluded(i, witnesses, level) {
    const beyond = (critical) => witnesses.some((j) => this.means[i] - this.means[j] > this.reach(i, j, critical));
    if (!beyond(normalQuantile(2 * (1 - level))) || beyond(normalQuantile((2 * (1 - level)) / (this.means.length - 1)))) {
      return beyond(normalQuantile((2 * (1 - level)) / (this.means.length - 1)));
    }
    const rivals = this.means.flatMap((_, j) => (this.same[j] === j && this.variance[i][j] > 0 ? [j] : []));
    return beyond(largestQuantile(rivals.map((j) => () => this.gapErrors(i, j)), level, false));
  }
}

// What may be said of the best decision; null where no variance is known.
function selected(decisions, order, level) {
  const contest = new Contest(decisions);
  if (!contest.known) {
    return null;
  }
  const first = contest.places.indexOf(order[0]);
  return {
    chosen: contest.places[contest.lowest()],
    intervals: contest.intervals(level),
    possible: contest.possible(level),
    more: first < 0 ? null : contest.moreThan(first, level),
  };
}
