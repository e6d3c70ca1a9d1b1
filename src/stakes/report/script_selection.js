// Which decision is best at a range of the reader's own, said so that having picked the best does not make it false: the
// mathematics of the library's `select_best` on the costs and covariances of this page, with draws that are always the
// same. The best is picked from all models, treating all and treating none.

const DRAWS = 10000;
// pairs whose difference varies by less than this share of their own variances are one decision
const ROUNDING = 1e-12;
// the covariances of the page have seven digits: what is left below that is none
const DIGITS = 1e-7;

// Standard normal draws, a row for each decision, from one stream with a fixed seed (mulberry32; Box and Muller).
const normalRows = [];
let seed = 1;

function uniform() {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
}

function normalRow(k) {
  while (normalRows.length <= k) {
    const row = new Float64Array(DRAWS);
    for (let m = 0; m < DRAWS; m += 2) {
      const [radius, angle] = [Math.sqrt(-2 * Math.log(uniform())), 2 * Math.PI * uniform()];
      row[m] = radius * Math.cos(angle);
      row[m + 1] = radius * Math.sin(angle);
    }
    normalRows.push(row);
  }
  return normalRows[k];
}

// Draws of jointly normal errors by Cholesky's root; a row without a variance of its own adds nothing.
function drawn(covariance) {
  const root = covariance.map((row) => row.map(() => 0));
  return covariance.map((row, i) => {
    for (let j = 0; j <= i; j += 1) {
      let left = row[j];
      for (let k = 0; k < j; k += 1) {
        left -= root[i][k] * root[j][k];
      }
      root[i][j] = i === j ? (left > DIGITS * row[i] ? Math.sqrt(left) : 0) : root[j][j] && left / root[j][j];
    }
    const errors = new Float64Array(DRAWS);
    for (let k = 0; k <= i; k += 1) {
      const [weight, normal] = [root[i][k], normalRow(k)];
      for (let m = 0; weight !== 0 && m < DRAWS; m += 1) {
        errors[m] += weight * normal[m];
      }
    }
    return errors;
  });
}

function quantileOf(values, level) {
  const sorted = values.sort();
  const place = level * (sorted.length - 1);
  const below = Math.floor(place);
  return sorted[below] + (place - below) * (sorted[Math.min(below + 1, sorted.length - 1)] - sorted[below]);
}

// The largest in each draw of several standardised errors, none of them below the start.
function largestOf(count, start, valueOf) {
  const largest = new Float64Array(DRAWS).fill(start);
  for (let k = 0; k < count; k += 1) {
    for (let m = 0; m < DRAWS; m += 1) {
      largest[m] = Math.max(largest[m], valueOf(k, m));
    }
  }
  return largest;
}

// How probable it is that an error lies further from zero than a critical value.
function tailOf(critical) {
  return erfc(critical / Math.SQRT2);
}

function reachOf(alpha, { error, room, degrees }) {
  const t = error === 0 ? 0 : bisected((x) => twoSided(x, degrees) > alpha, 1e4);
  return Math.hypot(t * error, room * Math.log(alpha));
}

// The decisions of finite cost: their costs, how sure each difference is, and draws of their errors.
class Field {
  constructor(rules, costs) {
    this.rules = rules;
    this.count = rules.length;
    this.costs = costs;
    this.means = rules.map((rule) => rule.integral);
    this.own = rules.map((rule, k) => this.varying(spread.error(rule.place, NOTHING.place), k));
    this.error = rules.map((rule, i) => rules.map((other, j) => this.pairError(rule, other, i, j)));
    this.known = this.own.every(Number.isFinite) && this.error.every((row) => row.every(Number.isFinite));
    const lowest = Math.min(...this.means);
    this.leader = this.means.indexOf(lowest);
    this.tied = rules.map((_, k) => k).filter((k) => this.means[k] - lowest <= 64 * Number.EPSILON * Math.abs(lowest));
    // a reference comes before the models that cost as much, for it needs none
    this.chosen = this.tied.find((k) => !rules[k].model) ?? this.tied[0];
    this.same = rules.map((_, i) => rules.findIndex((__, j) => this.error[i][j] === 0 && this.alike(i, j)));
    this.kept = rules.map((_, k) => k).filter((k) => this.same[k] === k);
    if (this.known) {
      this.draw();
    }
  }

  // Treating all has no error where the prevalence is known, only rounding.
  varying(error, k) {
    return error <= ROUNDING * this.means[k] ? 0 : error;
  }

  pairError(rule, other, i, j) {
    const error = i === j || (this.own[i] === 0 && this.own[j] === 0) ? 0 : spread.error(rule.place, other.place);
    return error * error <= ROUNDING * (this.own[i] ** 2 + this.own[j] ** 2) ? 0 : error;
  }

  alike(i, j) {
    const [first, second] = [this.means[i], this.means[j]];
    return Math.abs(first - second) <= ROUNDING * (Math.abs(first) + Math.abs(second));
  }

  // Errors less that of the chosen decision, so that differences keep their digits; deciding nothing costs zero without
  // an error, and is drawn as one more.
  draw() {
    const from = [...this.error[this.chosen], this.own[this.chosen]];
    const between = (i, j) => (i === j ? 0 : Math.max(i, j) === this.count ? this.own[Math.min(i, j)] : this.error[i][j]);
    this.errors = drawn(from.map((a, i) => from.map((b, j) => (a * a + b * b - between(i, j) ** 2) / 2)));
    this.nothing = this.errors[this.count];
  }

  sureness(i, j) {
    return surenessOf(this.means[i] - this.means[j], this.rules[i], this.rules[j], this.costs, 1);
  }

  // Probability of each of being the best, what choosing the leader costs more than the best, and how much of that is
  // the gain of choosing after the errors are seen.
  best(among) {
    const kept = this.kept.filter((k) => among.includes(k));
    const leader = kept.reduce((first, k) => (this.means[k] < this.means[first] ? k : first));
    const counts = new Float64Array(this.count);
    let excess = 0;
    for (let m = 0; m < DRAWS; m += 1) {
      let [first, least] = [leader, this.means[leader] + this.errors[leader][m]];
      const own = least;
      for (const k of kept) {
        const value = this.means[k] + this.errors[k][m];
        [first, least] = value < least ? [k, value] : [first, least];
      }
      counts[first] += 1 / DRAWS;
      excess += (own - least) / DRAWS;
    }
    const waiting = kept.reduce((sum, k) => sum + counts[k] * (this.means[k] - this.means[leader]), 0);
    return { chances: this.same.map((k) => counts[k]), excess, gain: Math.max(excess + waiting, 0) };
  }

  // Critical value of intervals that hold for all that might have been picked, at once.
  critical(among) {
    const moving = among.filter((k) => this.own[k] > 0);
    const size = (k, m) => Math.abs(this.errors[moving[k]][m] - this.nothing[m]) / this.own[moving[k]];
    return Math.max(quantileOf(largestOf(moving.length, 0, size), page.level), page.z);
  }

  leads(i) {
    return this.kept.filter((k) => this.error[i][k] > 0);
  }

  // Studentised errors of the leads of all others over one decision.
  studentised(i, start) {
    const rivals = this.leads(i);
    const lead = (k, m) => (this.errors[i][m] - this.errors[rivals[k]][m]) / this.error[i][rivals[k]];
    return largestOf(rivals.length, start, lead);
  }

  // Multiple comparisons with the best (Hsu 1981): whether a witness is further ahead than the largest of all leads would
  // be by chance. The witnesses are the rival with the largest studentised lead, and the leader.
  shutOut(i) {
    const rivals = this.rules.map((_, k) => k).filter((k) => this.same[k] !== this.same[i]);
    if (!rivals.length) {
      return false;
    }
    const ahead = (k) => (this.means[i] - this.means[k]) / this.error[i][k];
    const foremost = rivals.reduce((first, k) => (ahead(k) > ahead(first) ? k : first));
    const tails = [foremost, this.leader].map((k) => (this.means[k] < this.means[i] ? chanceOf(this.means[i] - this.means[k], this.sureness(i, k)) : 1));
    const [tail, alpha] = [Math.min(...tails), 2 * (1 - page.level)];
    if (!(tail < alpha) || tail < alpha / (this.count - 1)) {
      return tail < alpha; // no need of draws
    }
    return tail < Math.min(tailOf(Math.max(quantileOf(this.studentised(i, -Infinity), page.level), 0)), alpha);
  }

  // Upper limits of the difference to each reference and to the model named beforehand, for all of them at once and whichever decision is picked.
  against(factor) {
    const named = this.rules.map((_, k) => k).filter((k) => !this.rules[k].model || this.rules[k].model.given === page.incumbent);
    const largest = new Float64Array(DRAWS).fill(-Infinity);
    for (const k of named) {
      this.studentised(k, -Infinity).forEach((value, m) => (largest[m] = Math.max(largest[m], value)));
    }
    const alpha = tailOf(Math.max(quantileOf(largest, 0.5 + page.level / 2), page.z));
    const others = named.filter((k) => k !== this.chosen);
    return others.map((k) => {
      const gap = this.means[this.chosen] - this.means[k];
      const limit = this.same[k] === this.same[this.chosen] ? 0 : gap + reachOf(alpha, this.sureness(this.chosen, k));
      return { rule: this.rules[k], difference: factor * gap, limit: factor * limit };
    });
  }
}

// What may be said of the decision with the lowest cost, or why that cannot be said.
function selectionOf({ order, all, none, costs, factor }) {
  if (!spread || models.length > page.drawn) {
    return { why: page.unsure || said("unsure_unranked") };
  }
  const given = [...order].sort((x, y) => x.model.given - y.model.given);
  const rules = [...given, all, none].filter(({ integral }) => Number.isFinite(integral));
  const field = rules.length ? new Field(rules, costs) : { known: false };
  if (!field.known || !Number.isFinite(factor)) {
    return { why: said("unsure_far") };
  }
  const { chosen, tied, means } = field;
  const everyone = rules.map((_, k) => k);
  const family = rules[chosen].model ? everyone.filter((k) => rules[k].model) : everyone;
  const [optimism, whole] = [field.best(family).gain, field.best(everyone)];
  const sureness = surenessOf(means[chosen], rules[chosen], NOTHING, costs, 1);
  const critical = field.critical(family);
  const reach = reachOf(tailOf(critical), sureness);
  const harm = Math.max(...models.map((model) => model.harm)) * costs.positive(-Infinity);
  const most = Math.max(costs.negative(Infinity), costs.positive(-Infinity)) + (harm || 0);
  const out = new Map(field.kept.map((k) => [k, field.shutOut(k)]));
  return {
    chosen: rules[chosen],
    tied: tied.map((k) => rules[k]),
    best: order[0],
    count: given.length,
    cost: factor * means[chosen],
    corrected: factor * (means[chosen] + optimism),
    interval: [factor * Math.max(means[chosen] - reach, 0), factor * Math.min(means[chosen] + reach, most)],
    critical,
    scarce: sureness.room > 0,
    possible: rules.filter((_, k) => !out.get(field.same[k])),
    chances: rules.map((rule, k) => ({ rule, share: whole.chances[k] })),
    loss: factor * whole.excess,
    against: field.against(factor),
  };
}
