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

// Two-sided tail of Student's distribution by Hill's approximation (1970), good to 5 digits from 5 degrees of freedom on.
function twoSided(t, degrees) {
  const [a, y] = [degrees - 0.5, (degrees - 0.5) * Math.log1p((t * t) / degrees)];
  const b = 48 * a * a;
  const correction = 1 + (y + 3 - (((0.4 * y + 3.3) * y + 24) * y + 85.5) / (0.8 * y * y + 100 + b)) / b;
  return erfc((Math.sqrt(y) * correction) / Math.SQRT2);
}

function costsOf({ low, high, weighting }) {
  const family = low === high ? fixedCosts(low) : weighting === "log-odds" ? logOddsCosts(low, high) : uniformCosts(low, high);
  return { ...family, low, high };
}
