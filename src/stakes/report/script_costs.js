// How much each cost ratio counts, by the formulas of the library: what acting on a negative, or not acting on a
// positive, with a given score costs over the range. Sums of non-negative terms, so that narrow ranges lose no digits.

function clip(value, low, high) {
  return value < low ? low : value > high ? high : value;
}

function uniformCosts(low, high) {
  return {
    mass: high - low,
    lossFactor: 2,
    negative: (s) => {
      const t = clip(s, low, high);
      return (t - low) * (t + low) * 0.5;
    },
    positive: (s) => {
      const t = clip(s, low, high);
      return (high - t) * (1 - high + (1 - t)) * 0.5;
    },
    between: (x, y) => Math.max(0, Math.min(y, high) - Math.max(x, low)),
    unevenness: 1,
  };
}

function logOddsCosts(low, high) {
  const rise = (x, y) => {
    const inner = (y - x) / x;
    const lower = inner < Infinity ? Math.log1p(inner) : Math.log(y) - Math.log(x);
    return lower + Math.log1p((y - x) / (1 - y));
  };
  const density = (c) => 1 / (c * (1 - c));
  const [start, end] = [density(low), density(high)];
  const turn = low < 0.5 && high > 0.5 ? Math.abs(start - 4) + Math.abs(end - 4) : Math.abs(start - end);
  return {
    mass: low === 0 || high === 1 ? Infinity : rise(low, high),
    lossFactor: 1,
    negative: (s) => {
      const t = clip(s, low, high);
      return Math.log1p((t - low) / (1 - t));
    },
    positive: (s) => {
      const t = clip(s, low, high) + 0;
      const loss = Math.log1p((high - t) / t);
      // the quotient overflows for the smallest scores; the difference of logarithms does not
      return loss === Infinity ? Math.log(high) - Math.log(t) : loss;
    },
    between: (x, y) => {
      const [from, to] = [Math.max(x, low), Math.min(y, high)];
      return to <= from ? 0 : from === 0 || to === 1 ? Infinity : rise(from, to);
    },
    unevenness: Math.min(start, end) + turn,
  };
}

// One threshold alone; a score equal to it is acted on.
function fixedCosts(at) {
  return {
    mass: 1,
    lossFactor: 2,
    negative: (s) => (s >= at ? at : 0),
    positive: (s) => (s < at ? 1 - at : 0),
    between: null,
    unevenness: NaN,
  };
}

// Logarithm of the gamma function by Stirling's series, from 15 on exact to rounding.
function logGamma(x) {
  let shift = 0;
  let y = x;
  while (y < 15) {
    shift += Math.log(y);
    y += 1;
  }
  const r = 1 / (y * y);
  const series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * (691 / 360360)))))) / y;
  return (y - 0.5) * Math.log(y) - y + 0.9189385332046728 + series - shift;
}

// The continued fraction of the incomplete beta function, which converges fast for x < (a + 1) / (a + b + 2).
function betaFraction(a, b, x) {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let value = d;
  for (let m = 1; m <= 5000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = Math.abs(c) < tiny ? tiny : c;
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = Math.abs(c) < tiny ? tiny : c;
    const step = d * c;
    value *= step;
    if (Math.abs(step - 1) < 3e-16) {
      break;
    }
  }
  return value;
}

// Both tails of the Beta distribution, each to its own relative precision.
function betaTails(a, b) {
  const scale = logGamma(a + b) - logGamma(a) - logGamma(b);
  const tails = (x) => {
    const front = Math.exp(scale + a * Math.log(x) + b * Math.log1p(-x));
    if (x < (a + 1) / (a + b + 2)) {
      const lower = (front * betaFraction(a, b, x)) / a;
      return [lower, 1 - lower];
    }
    const upper = (front * betaFraction(b, a, 1 - x)) / b;
    return [1 - upper, upper];
  };
  // the scores stay the same while the range moves
  const known = new Map([[0, [0, 1]], [1, [1, 0]]]);
  return (x) => {
    const at = clip(x, 0, 1);
    let found = known.get(at);
    if (!found) {
      found = tails(at);
      known.set(at, found);
    }
    return found;
  };
}

// The tails that the last Beta weighting needed, and needs again for another range.
let lastTails = { a: NaN, b: NaN, tails: [] };

function tailsOf(a, b) {
  if (lastTails.a !== a || lastTails.b !== b) {
    lastTails = { a, b, tails: [betaTails(a, b), betaTails(a + 1, b), betaTails(a, b + 1)] };
  }
  return lastTails.tails;
}

const GAUSS = (() => {
  // nodes and weights of the Gauss-Legendre rule with 30 points on (0, 1), by Newton's method
  const n = 30;
  const rule = [];
  for (let i = 1; i <= n; i += 1) {
    let x = Math.cos((Math.PI * (i - 0.25)) / (n + 0.5));
    let slope = 1;
    for (let step = 0; step < 100; step += 1) {
      let [before, now] = [1, x];
      for (let k = 2; k <= n; k += 1) {
        [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
      }
      slope = (n * (x * now - before)) / (x * x - 1);
      const move = now / slope;
      x -= move;
      if (Math.abs(move) < 1e-16) {
        break;
      }
    }
    rule.push([0.5 * (1 + x), 1 / ((1 - x * x) * slope * slope)]);
  }
  return rule;
})();

function gauss(density, low, high) {
  let total = 0;
  for (const [node, weight] of GAUSS) {
    total += weight * density(low + node * (high - low));
  }
  return high > low ? total * (high - low) : 0;
}

function betaDensity(a, b) {
  const scale = logGamma(a + b) - logGamma(a) - logGamma(b);
  const power = (exponent, log) => (exponent === 0 ? 0 : exponent * log);
  return (c) => Math.exp(scale + power(a - 1, Math.log(c)) + power(b - 1, Math.log1p(-c)));
}

function betaCosts(low, high, a, b) {
  const density = betaDensity(a, b);
  const [start, end] = [density(low), density(high)];
  const mode = (a - 1) / (a + b - 2);
  const top = mode > low && mode < high ? density(mode) : NaN;
  const variation = Number.isNaN(top) ? Math.abs(start - end) : Math.abs(top - start) + Math.abs(top - end);
  const common = { lossFactor: 2, unevenness: Math.min(start, end) + variation };
  // on a range that is narrow and away from 0 and 1, differences of the incomplete beta function cancel
  if (high - low < (0.2 * Math.min(low, 1 - high)) / Math.max(a, b, 1)) {
    return {
      ...common,
      mass: gauss(density, low, high),
      negative: (s) => gauss((c) => c * density(c), low, clip(s, low, high)),
      positive: (s) => gauss((c) => (1 - c) * density(c), clip(s, low, high), high),
      between: (x, y) => gauss(density, Math.max(x, low), Math.max(Math.min(y, high), Math.max(x, low))),
    };
  }
  const [plain, first, second] = tailsOf(a, b);
  const gap = (from, to) => Math.max(0, from[0] > 0.5 ? from[1] - to[1] : to[0] - from[0]);
  const [ends, firstLow, secondHigh] = [[plain(low), plain(high)], first(low), second(high)];
  return {
    ...common,
    mass: gap(...ends),
    negative: (s) => (a / (a + b)) * gap(firstLow, first(clip(s, low, high))),
    positive: (s) => (b / (a + b)) * gap(second(clip(s, low, high)), secondHigh),
    between: (x, y) => {
      const [from, to] = [Math.max(x, low), Math.min(y, high)];
      return to <= from ? 0 : gap(plain(from), plain(to));
    },
  };
}

// Complementary error function of x >= 0: a series of positive terms, and from 2 on a continued fraction.
function erfc(x) {
  const front = Math.exp(-x * x) / Math.sqrt(Math.PI);
  if (x < 2) {
    let [term, sum] = [2 * x, 2 * x];
    for (let n = 1; term > 1e-18 * sum; n += 1) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - front * sum;
  }
  let fraction = x;
  for (let k = 80; k >= 1; k -= 1) {
    fraction = x + k / 2 / fraction;
  }
  return front / fraction;
}

// Two-sided tail of the normal distribution, or of Student's with so many degrees of freedom.
function twoSided(t, degrees) {
  return degrees === null ? erfc(Math.abs(t) / Math.SQRT2) : betaTails(degrees / 2, 0.5)(degrees / (degrees + t * t))[0];
}

function costsOf({ low, high, weighting, a, b }) {
  const family =
    low === high
      ? fixedCosts(low)
      : weighting === "log-odds"
        ? logOddsCosts(low, high)
        : weighting === "beta"
          ? betaCosts(low, high, a, b)
          : uniformCosts(low, high);
  return { ...family, low, high };
}
