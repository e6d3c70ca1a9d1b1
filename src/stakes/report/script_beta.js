// The incomplete beta function, of which Student's and binomial probabilities are made.

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
