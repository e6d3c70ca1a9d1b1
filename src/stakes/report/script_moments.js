// The variance of a mean from sums of powers over the rows of each class: Student's t with degrees of freedom from the
// fourth moment, widened for classes of which too few rows carry the estimate (rule of three).

const ENOUGH = 5; // effective rows of a class that carry the value
const SEEN = 0.1; // what one more row may bring matters from this share of the standard error on
const LARGER = 3;
const ROUNDING = 1e-12;
const ROWS = { together: 1, effective: 1, number: 1, dominant: 1 };

// Sums over the rows of each class, so many of equal weight, of what the decisions of a table cost them.
function tableSums(table, costs, rows) {
  const [first, last] = [placeOf(table.scores, costs.low), placeOf(table.scores, costs.high)];
  // below the range every positive costs the same and every negative nothing; above it the other way round
  const negatives = [table.negatives, costs.negative, table.totalNegatives - table.spared[last], costs.negative(Infinity), table.totalNegatives];
  const positives = [table.positives, costs.positive, table.missed[first], costs.positive(-Infinity), table.totalPositives];
  return [negatives, positives].map(([weights, loss, always, most, whole], k) => {
    const [losses, held] = [new Float64Array(last - first + 2), new Float64Array(last - first + 2)];
    let [cells, rest] = [0, whole - always];
    const put = (cost, weight) => {
      losses[cells] = cost;
      held[cells] = weight;
      cells += 1;
    };
    for (let at = first; at < last; at += 1) {
      if (weights[at] > 0) {
        put(loss(table.scores[at]), weights[at]);
        rest -= weights[at];
      }
    }
    put(always > 0 ? most : 0, always);
    put(0, rest);
    return cellSums(losses.subarray(0, cells), held, whole, rows[k]);
  });
}

// The same of a decision that is the same for all rows.
function constantSums(most, shares, rows) {
  return most.map((loss, k) => cellSums([shares[k] > 0 ? loss : 0], [shares[k]], shares[k], rows[k]));
}

// Sums of powers over cells of rows that cost the same; they are of squared and fourth powers of the weight of a row.
function cellSums(losses, weights, whole, count) {
  const unit = count > 0 ? whole / count : 0;
  let [sum, nonzero] = [0, 0];
  for (let at = 0; at < losses.length; at += 1) {
    sum += weights[at] * losses[at];
    nonzero += losses[at] === 0 ? 0 : weights[at];
  }
  const mean = whole > 0 ? sum / whole : 0;
  let [one, two, three, four] = [0, 0, 0, 0];
  for (let at = 0; at < losses.length; at += 1) {
    const away = losses[at] - mean;
    const square = away * away * weights[at];
    one += away * weights[at];
    two += square;
    three += square * away;
    four += square * away * away;
  }
  const powers = [whole, one, two, three, four];
  const times = (power) => (value) => value * unit ** power;
  return { count, weight: whole, mean, nonzero: unit > 0 ? Math.round(nonzero / unit) : 0, second: powers.slice(0, 3).map(times(1)), fourth: powers.map(times(3)) };
}

// The highest power about a centre that lies below the mean by a gap.
function recentred(sums, gap) {
  const choose = { 2: [1, 2, 1], 4: [1, 4, 6, 4, 1] }[sums.length - 1];
  return sums.reduce((found, sum, j) => (j ? found * gap + choose[j] * sum : sum), 0);
}

// Sums of second and fourth powers about zero.
function rawOf(sums) {
  return sums.map(({ second, fourth, mean }) => [recentred(second, mean), recentred(fourth, mean)]);
}

// Where the shares of the classes are stated (fixed), each class is centred on its own mean.
function varianceOf(sums, gaps, fixed = false) {
  const whole = sums[0].weight + sums[1].weight;
  const value = (sums[0].weight * sums[0].mean + sums[1].weight * sums[1].mean) / whole;
  const raw = rawOf(sums);
  const parts = sums.map(({ count, mean, second, fourth }, k) => {
    const gap = fixed ? 0 : mean - value;
    const about = recentred(second, gap);
    // what is left of a constant is rounding
    return about <= 1e-24 * raw[k][0] ? { count, square: 0, fourth: 0 } : { count, square: about, fourth: recentred(fourth, gap) };
  });
  const { squares, degrees } = fixed ? classDegrees(parts) : pooledDegrees(parts);
  const variance = squares / whole ** 2;
  return { variance, degrees, ...unseenOf(sums, gaps, variance, fixed) };
}

function pooledDegrees(parts) {
  const [n, square, fourth] = ["count", "square", "fourth"].map((name) => parts[0][name] + parts[1][name]);
  const degrees = Math.min(n - 1, kurtosisDegrees(square, fourth - square ** 2 / Math.max(n, 1)));
  return { squares: (n > 1 ? n / (n - 1) : NaN) * square, degrees };
}

// A single row shows no spread: the allowance for unseen rows replaces it.
function classDegrees(parts) {
  const some = parts.filter(({ count }) => count > 1);
  const terms = some.map(({ count, square }) => (count / (count - 1)) * square);
  const squares = some.length ? terms.reduce((sum, term) => sum + term, 0) : NaN;
  const shares = terms.reduce((sum, term, k) => sum + term ** 2 / (some[k].count - 1), 0);
  const cap = shares > 0 ? squares ** 2 / shares : Math.min(...some.map(({ count }) => count - 1));
  const uneven = parts.reduce((sum, { count, square, fourth }) => sum + fourth - square ** 2 / Math.max(count, 1), 0);
  return { squares, degrees: Math.min(cap, kurtosisDegrees(parts[0].square + parts[1].square, uneven)) };
}

function kurtosisDegrees(square, uneven) {
  return uneven > ROUNDING * square ** 2 ? (2 * square ** 2) / uneven : Infinity;
}

// How many effective rows of a class fall short of the largest value, where the shares of the classes are stated: where
// nearly all cost the most, they show no spread either.
function sparing(sums, most) {
  const [first, second] = [(most - sums.mean) * sums.weight, recentred(sums.second, sums.mean - most)];
  const largest = most ** 2 * sums.second[0];
  return largest === Infinity ? Infinity : second > 1e-24 * largest ? first ** 2 / second : 0;
}

// What one more row of each class too few rows of which carry the value, or fall short of the most, might bring.
function unseenOf(sums, gaps, variance, fixed, units = [ROWS, ROWS]) {
  const [raw, whole] = [rawOf(sums), sums[0].weight + sums[1].weight];
  const overall = whole / Math.max(sums[0].count + sums[1].count, 1);
  let unseen = 0;
  const carrying = raw.map(([second, fourth], k) => (fourth > 0 ? (units[k].effective * second ** 2) / fourth : 0));
  const scarce = sums.map(({ count, weight, nonzero }, k) => {
    const shift = (units[k].together * gaps[k] * (count > 0 ? weight / count : overall)) / whole;
    const [second, fourth] = raw[k];
    const dominant = second > 0 ? units[k].dominant * Math.sqrt(fourth / second) : 0;
    const spared = fixed ? sparing(sums[k], gaps[k]) / units[k].together : Infinity;
    const short = spared < Math.min(carrying[k], ENOUGH) * (1 - ROUNDING);
    const jump = short || units[k].number * nonzero < ENOUGH ? shift : Math.min(shift, (LARGER * dominant) / whole);
    const few = Math.min(carrying[k], spared) < ENOUGH * (1 - ROUNDING) && jump > SEEN * Math.sqrt(variance);
    unseen += few ? (shift === Infinity ? Infinity : jump) ** 2 : 0;
    return few;
  });
  return { unseen, scarce, equal: sums.map(({ weight, mean }, k) => (weight * mean) ** 2 / raw[k][0]) };
}

// Half of the width of an interval; NaN where the variance is unknown or what unseen rows may bring has no bound.
function halfWidth({ variance, degrees, unseen, quantile }, alpha) {
  const t = quantile ?? studentQuantile(alpha, variance > 0 ? degrees : Infinity);
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
  if (degrees > 1000) {
    const terms = [(z ** 3 + z) / 4, (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96, (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384];
    return terms.reduce((sum, term, k) => sum + term / degrees ** (k + 1), z);
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
