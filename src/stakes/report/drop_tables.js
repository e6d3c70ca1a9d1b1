// Score tables of rows: ties pooled, isotonic recalibration, and neighbouring scores pooled where there are too many,
// with a bound on what that changes.

const LOGITS = 14;
const BINS = 10;

// Distinct scores in ascending order, with the weight of negatives and positives at each.
function scoreTable({ y, weight }, scores) {
  return weight ? weightedTable(y, weight, scores) : countedTable(y, scores);
}

function countedTable(y, scores) {
  const positives = y.reduce((sum, one) => sum + one, 0);
  const [downs, ups] = [new Float64Array(y.length - positives), new Float64Array(positives)];
  let [down, up] = [0, 0];
  for (let k = 0; k < y.length; k += 1) {
    if (y[k]) {
      ups[up++] = scores[k];
    } else {
      downs[down++] = scores[k];
    }
  }
  downs.sort();
  ups.sort();
  const found = emptyTable(y.length);
  [down, up] = [0, 0];
  let size = 0;
  while (down < downs.length || up < ups.length) {
    const score = down < downs.length && !(ups[up] < downs[down]) ? downs[down] : ups[up];
    const [from, start] = [down, up];
    while (downs[down] === score) {
      down += 1;
    }
    while (ups[up] === score) {
      up += 1;
    }
    found.scores[size] = score;
    found.negatives[size] = down - from;
    found.positives[size] = up - start;
    size += 1;
  }
  return cutTable(found, size);
}

function weightedTable(y, weight, scores) {
  const order = Uint32Array.from(y, (_, k) => k).sort((a, b) => scores[a] - scores[b]);
  const found = { ...emptyTable(y.length), squares: new Float64Array(y.length) };
  let size = 0;
  for (const row of order) {
    if (!size || found.scores[size - 1] !== scores[row]) {
      found.scores[size] = scores[row];
      size += 1;
    }
    found[y[row] ? "positives" : "negatives"][size - 1] += weight[row];
    found.squares[size - 1] += weight[row] * weight[row];
  }
  return cutTable(found, size);
}

function emptyTable(room) {
  return { scores: new Float64Array(room), positives: new Float64Array(room), negatives: new Float64Array(room) };
}

function cutTable(columns, size) {
  return Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.slice(0, size)]));
}

function total(values) {
  let sum = 0;
  for (let k = 0; k < values.length; k += 1) {
    sum += values[k];
  }
  return sum;
}

// First score of each block of the pool-adjacent-violators fit; rates are compared by products.
function pavStarts({ positives, negatives }) {
  const [ups, downs, starts] = [new Float64Array(positives.length), new Float64Array(positives.length), new Uint32Array(positives.length)];
  let size = 0;
  for (let k = 0; k < positives.length; k += 1) {
    [ups[size], downs[size], starts[size]] = [positives[k], negatives[k], k];
    size += 1;
    while (size > 1 && (ups[size - 1] * downs[size - 2] <= ups[size - 2] * downs[size - 1] || rate(ups, downs, size - 1) <= rate(ups, downs, size - 2))) {
      size -= 1;
      ups[size - 1] += ups[size];
      downs[size - 1] += downs[size];
    }
  }
  return starts.slice(0, size);
}

function rate(ups, downs, k) {
  return ups[k] / (ups[k] + downs[k]);
}

// Sums of a column over cells that start at some places.
function summedBy(values, starts) {
  const sums = new Float64Array(starts.length);
  for (let cell = 0; cell < starts.length; cell += 1) {
    const end = cell + 1 < starts.length ? starts[cell + 1] : values.length;
    for (let k = starts[cell]; k < end; k += 1) {
      sums[cell] += values[k];
    }
  }
  return sums;
}

// The scores replaced by isotonic event rates.
function recalibrated(table) {
  const starts = pavStarts(table);
  const [positives, negatives] = [summedBy(table.positives, starts), summedBy(table.negatives, starts)];
  return { starts, scores: positives.map((_, k) => rate(positives, negatives, k)), positives, negatives };
}

// The reliability curve of the isotonic fit: the ends of each block at its rate.
function isotonicPoints(table, blocks) {
  const [x, y] = [[], []];
  blocks.scores.forEach((value, k) => {
    const last = k + 1 < blocks.starts.length ? blocks.starts[k + 1] - 1 : table.scores.length - 1;
    const [low, high] = [table.scores[blocks.starts[k]], table.scores[last]];
    x.push(low, ...(high > low ? [high] : []));
    y.push(value, ...(high > low ? [value] : []));
  });
  return { x: Float64Array.from(x), y: Float64Array.from(y) };
}

// Mean score and event rate in bins of neighbouring scores and equal weight.
function binnedPoints(table) {
  const weights = table.positives.map((up, k) => up + table.negatives[k]);
  const whole = total(weights);
  const middle = sumsOf(weights).slice(1).map((sum, k) => sum - 0.5 * weights[k]);
  const cuts = Array.from({ length: BINS - 1 }, (_, k) => placeOf(middle, ((k + 1) / BINS) * whole));
  const starts = [...new Set([0, ...cuts])].filter((cut) => cut < weights.length).sort((x, y) => x - y);
  const sums = summedBy(weights, starts);
  const scored = summedBy(table.scores.map((score, k) => score * weights[k]), starts);
  return { x: scored.map((sum, k) => sum / sums[k]), y: summedBy(table.positives, starts).map((sum, k) => sum / sums[k]) };
}

// The probability that a positive scores higher than a negative, ties counting half.
function areaOf({ positives, negatives }) {
  let [below, sum] = [0, 0];
  for (let k = 0; k < positives.length; k += 1) {
    sum += positives[k] * (below + 0.5 * negatives[k]);
    below += negatives[k];
  }
  const pairs = total(positives) * below;
  return pairs > 0 ? sum / pairs : NaN;
}

// Pool neighbouring scores until about so many are left, more finely within the focus: the positives of a cell stand at
// their own mean score and the negatives at theirs.
function thinned(table, limit, focus) {
  if (table.scores.length <= limit) {
    const { scores, positives, negatives } = table;
    return { scores, positives, negatives, integralBound: 0, shareBound: 0 };
  }
  const starts = cellStarts(table, limit >> 1, focus);
  const ends = starts.map((_, k) => (k + 1 < starts.length ? starts[k + 1] : table.scores.length) - 1);
  const [lower, upper] = [starts, ends].map((places) => Float64Array.from(places, (k) => table.scores[k]));
  const classes = ["negatives", "positives"].map((name, k) => cellMeans(table.scores, table[name], starts, [lower, upper], k));
  return { ...pooledEntries(classes), ...boundsOf(classes, lower, upper) };
}

// First score of each cell: steps of score, of log-odds, of score within the focus, and of the weight of each class.
function cellStarts(table, cells, focus) {
  const part = Math.max(Math.floor(cells / 5), 1);
  const even = Array.from({ length: part - 1 }, (_, k) => (k + 1) / part);
  const near = Array.from({ length: part }, (_, k) => focus[0] + ((focus[1] - focus[0]) * k) / Math.max(part - 1, 1));
  const edges = [...even, ...even.map((share) => 1 / (1 + Math.exp(-LOGITS * (2 * share - 1)))), ...near, Number.MIN_VALUE, 1];
  const found = new Set([0, ...edges.map((edge) => placeOf(table.scores, edge))]);
  for (const weight of [table.positives, table.negatives]) {
    const sums = sumsOf(weight).subarray(1);
    even.forEach((share) => found.add(placeOf(sums, share * sums[sums.length - 1])));
  }
  return Uint32Array.from([...found].filter((k) => k < table.scores.length).sort((x, y) => x - y));
}

// Weight, mean score and loss of the rows of a class in each cell.
function cellMeans(scores, weight, starts, [lower, upper], positive) {
  const totals = summedBy(weight, starts);
  const sums = summedBy(weight.map((w, k) => w * scores[k]), starts);
  const losses = summedBy(weight.map((w, k) => 0.5 * w * (positive ? 1 - scores[k] : scores[k]) ** 2), starts);
  const means = sums.map((sum, k) => clip(totals[k] > 0 ? sum / totals[k] : 0, lower[k], upper[k]));
  return { totals, means, losses };
}

// The two classes of every cell as scores of their own, equal ones pooled.
function pooledEntries(classes) {
  const scores = Float64Array.from(new Set(classes.flatMap(({ totals, means }) => [...means].filter((_, k) => totals[k] > 0)))).sort();
  const [negatives, positives] = classes.map(({ totals, means }) => {
    const sums = new Float64Array(scores.length);
    totals.forEach((weight, k) => {
      if (weight > 0) {
        sums[placeOf(scores, means[k])] += weight;
      }
    });
    return sums;
  });
  return { scores, positives, negatives };
}

// How far the integral of regret from 0 can be apart at two places, and the regret at one.
function boundsOf([downs, ups], lower, upper) {
  const whole = total(downs.totals) + total(ups.totals);
  let [edge, least, most, inside, high] = [0, 0, 0, 0, 0];
  lower.forEach((low, k) => {
    const at = 0.5 * downs.totals[k] * downs.means[k] ** 2 + 0.5 * ups.totals[k] * (1 - ups.means[k]) ** 2;
    edge += (downs.losses[k] + ups.losses[k] - at) / whole;
    [least, most] = [Math.min(least, edge), Math.max(most, edge)];
    if (upper[k] > low) {
      const height = (upper[k] * downs.totals[k] + (1 - low) * ups.totals[k]) / whole;
      [inside, high] = [Math.max(inside, height * (upper[k] - low)), Math.max(high, height)];
    }
  });
  return { integralBound: most - least + 2 * inside + 1e-13, shareBound: high + 1e-13 };
}
