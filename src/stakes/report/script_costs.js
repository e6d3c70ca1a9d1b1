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

function costsOf({ low, high, weighting }) {
  const family = low === high ? fixedCosts(low) : weighting === "log-odds" ? logOddsCosts(low, high) : uniformCosts(low, high);
  return { ...family, low, high };
}
