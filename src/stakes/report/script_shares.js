// Limits of shares of rows that count alike, and of sums of two such shares.

const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];

function logGamma(x) {
  if (x > 100) {
    const y = 1 / (x * x);
    return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x;
  }
  const sum = LANCZOS.reduce((found, term, k) => (k ? found + term / (x - 1 + k) : term), 0);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// The regularised incomplete beta function, by its continued fraction.
function incompleteBeta(x, a, b) {
  if (x <= 0 || x >= 1) {
    return x <= 0 ? 0 : 1;
  }
  if (x > (a + 1) / (a + b + 2)) {
    return 1 - incompleteBeta(1 - x, b, a);
  }
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1) || tiny)];
  let found = d;
  for (let m = 1; m < 10_000; m += 1) {
    for (const step of [(m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)), (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / (1 + step * d || tiny);
      c = 1 + step / c || tiny;
      found *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-16) {
      break;
    }
  }
  return front * found;
}

// Where a rising function between two places is nearest to zero: false position, halving the end that stays.
function risingRoot(value, low, high) {
  let [below, above, side] = [value(low), value(high), 0];
  for (let step = 0; step < 100 && high - low > 1e-12 * high; step += 1) {
    const middle = Math.min(Math.max((low * above - high * below) / (above - below), low), high);
    const found = value(middle);
    if (Math.abs(found) < 1e-13) {
      return middle;
    }
    if (found < 0) {
      [low, below] = [middle, found];
      above *= side === -1 ? 0.5 : 1;
      side = -1;
    } else {
      [high, above] = [middle, found];
      below *= side === 1 ? 0.5 : 1;
      side = 1;
    }
  }
  return (low + high) / 2;
}

// Mid-p limits of a binomial share (Lancaster 1961): as likely to lie beyond one as beyond the other.
function shareLimits(hits, size, level) {
  if (!(size > 0)) {
    return [NaN, NaN];
  }
  const alpha = (1 - level) / 2;
  const atLeast = (p, count) => (count <= 0 ? 1 : count > size ? 0 : incompleteBeta(p, count, size - count + 1));
  const beyond = (p) => (atLeast(p, hits) + atLeast(p, hits + 1)) / 2;
  const share = hits / size;
  return [
    hits > 0 ? risingRoot((p) => beyond(p) - alpha, 0, share) : 0,
    hits < size ? risingRoot((p) => beyond(p) - (1 - alpha), share, 1) : 1,
  ];
}

// Limits of a sum of shares of disjoint sets of the same rows: the distances to the limits of each share are combined
// as standard errors would be (Zou and Donner 2008).
function sumLimits(terms, size, level) {
  const estimate = terms.reduce((sum, { times, share }) => sum + times * share, 0);
  const [down, up] = [[], []];
  for (const { times, share, known } of terms) {
    const [low, high] = known ? [share, share] : shareLimits(share * size, size, level);
    const ends = [Math.abs(times) * (share - low), Math.abs(times) * (high - share)];
    down.push(times > 0 ? ends[0] : ends[1]);
    up.push(times > 0 ? ends[1] : ends[0]);
  }
  const [p, q] = terms.map(({ share }) => share);
  const spread = p * (1 - p) * q * (1 - q);
  const sign = Math.sign(terms[0].times * terms[1].times);
  const together = spread > 0 ? sign * Math.max((-p * q) / Math.sqrt(spread), -1) : 0;
  const reach = ([a, b]) => Math.sqrt(Math.max(a * a + b * b + 2 * together * a * b, 0));
  const worth = [0, ...terms.map(({ times }) => times)];
  return [
    Math.max(estimate - reach(down), Math.min(...worth, estimate)),
    Math.min(estimate + reach(up), Math.max(...worth, estimate)),
  ];
}
