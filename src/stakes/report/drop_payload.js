// What the report's scripts read, made from the rows as Python makes it: tables, covariances over stretches of the axis,
// and the numbers of the range that was asked for.

const MOST_SCORES = 8000;
const ALL_SCORES = 40_000;
const MOST_BLOCKS = 1500;
const MOST_DRAWN_MODELS = 20;
const NAME_LIMIT = 40;
const COLOURS = 10;
const DASHES = [[], [8, 3], [3, 2], [10, 3, 3, 3], [14, 4], [6, 2, 2, 2, 2, 2], [5, 5], [16, 3, 2, 3], [2, 4], [12, 2, 5, 2]];
const COARSE = [0, 0.001, 0.003, 0.007, 0.015, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1];
const FINE = 13;
const APART = 0.02;
const LEVEL = 0.95;

// Numbers for the page: little-endian, base64.
function encoded(values, kind = "f8") {
  const bytes = new Uint8Array((kind === "f4" ? Float32Array : Float64Array).from(values).buffer);
  const parts = [];
  for (let k = 0; k < bytes.length; k += 1 << 13) {
    parts.push(String.fromCharCode(...bytes.subarray(k, k + (1 << 13))));
  }
  return { [kind]: btoa(parts.join("")) };
}

function encodedTable({ scores, positives, negatives }) {
  return { scores: encoded(scores), positives: encoded(positives), negatives: encoded(negatives) };
}

// Ends of the stretches: fine within the range that was asked for, coarse outside.
function cutPoints({ low, high }) {
  const own = low < high ? Array.from({ length: FINE }, (_, k) => (k === FINE - 1 ? high : low + ((high - low) * k) / (FINE - 1))) : [low];
  const coarse = COARSE.filter((cut) => cut === 0 || cut === 1 || own.every((mine) => Math.abs(mine - cut) > APART * (high - low)));
  return Float64Array.from(new Set([...own, ...coarse])).sort();
}

// Sums over the rows of one class: losses in stretches of cost ratios, and products of losses in two stretches. A row
// loses all of each stretch before the one that its score lies in, and part of that.
class StretchSums {
  constructor(cuts, positive) {
    this.size = cuts.length - 1;
    this.positive = positive;
    this.cuts = positive ? cuts.map((_, k) => 1 - cuts[this.size - k]) : cuts;
    this.full = Float64Array.from({ length: this.size }, (_, k) => 0.5 * (this.cuts[k + 1] - this.cuts[k]) * (this.cuts[k + 1] + this.cuts[k]));
    [this.total, this.squares] = [0, 0];
    this.held = [0, 1, 2, 3, 4].map(() => new Float64Array(this.size));
  }

  add(score, weight, square) {
    const { cuts, size, held } = this;
    const seen = this.positive ? 1 - score : score;
    let place = placeOf(cuts, seen);
    place = clip(cuts[place] === seen ? place : place - 1, 0, size - 1);
    const part = 0.5 * (seen - cuts[place]) * (seen + cuts[place]);
    this.total += weight;
    this.squares += square;
    [weight, weight * part, square, square * part, square * part * part].forEach((term, k) => { held[k][place] += term; });
  }

  // The same of a decision that costs every row of the class all of every stretch, or none.
  always(costs) {
    const found = Object.assign(Object.create(StretchSums.prototype), this, { held: this.held.map(() => new Float64Array(this.size)), beyond: undefined });
    const last = this.size - 1;
    const part = costs ? this.full[last] : 0;
    const place = costs ? last : 0;
    [this.total, this.total * part, this.squares, this.squares * part, this.squares * part * part].forEach((term, k) => { found.held[k][place] = term; });
    return found;
  }

  // Losses by stretch in ascending order of cost ratios, by weights or by their squares.
  sums(weights, parts) {
    let beyond = 0;
    const found = new Float64Array(this.size);
    for (let k = this.size - 1; k >= 0; k -= 1) {
      found[k] = this.full[k] * beyond + parts[k];
      beyond += weights[k];
    }
    return this.positive ? found.reverse() : found;
  }

  get losses() {
    return [this.sums(this.held[0], this.held[1]), this.sums(this.held[2], this.held[3])];
  }

  // The sum over rows of the products of their losses in two stretches.
  product(j, k) {
    const [low, high] = this.ordered(j, k);
    const beyond = this.later[high];
    const { full, held } = this;
    const both = full[low] * full[high] * beyond;
    return low === high ? both + held[4][low] : both + full[low] * held[3][high];
  }

  ordered(j, k) {
    const turned = this.positive ? [this.size - 1 - j, this.size - 1 - k] : [j, k];
    return turned[0] < turned[1] ? turned : [turned[1], turned[0]];
  }

  get later() {
    this.beyond ??= this.held[2].map((_, place) => total(this.held[2].subarray(place + 1)));
    return this.beyond;
  }
}

// Upper triangle of the covariances of a rule's mean losses in stretches, row by row.
function stretchCovariances(classes, count) {
  const whole = classes[0].total + classes[1].total;
  const losses = classes.map((mine) => mine.losses);
  const mean = losses[0][0].map((sum, k) => (sum + losses[1][0][k]) / whole);
  const { size } = classes[0];
  const found = [];
  for (let j = 0; j < size; j += 1) {
    for (let k = j; k < size; k += 1) {
      let sum = 0;
      classes.forEach((mine, c) => {
        const [product, by] = [mine.product(j, k), losses[c][1]];
        const centred = product - mean[j] * by[k] - mean[k] * by[j] + mean[j] * mean[k] * mine.squares;
        sum += Math.abs(centred) <= ROUNDING * product ? 0 : centred;
      });
      found.push(((count / (count - 1)) * sum) / whole ** 2);
    }
  }
  return found;
}

function spreadOf(rows, tables, decisions, order, costs) {
  const cuts = cutPoints(costs);
  const values = [];
  let classes = null;
  for (const model of order.slice(0, MOST_DRAWN_MODELS)) {
    classes = [new StretchSums(cuts, false), new StretchSums(cuts, true)];
    const { scores, positives, negatives } = tables[model];
    if (rows.weight) {
      rows.y.forEach((positive, row) => classes[positive].add(rows.scores[model][row], rows.weight[row], rows.weight[row] ** 2));
    } else {
      for (let k = 0; k < scores.length; k += 1) {
        [negatives[k], positives[k]].forEach((count, c) => count && classes[c].add(scores[k], count, count));
      }
    }
    values.push(stretchCovariances(classes, rows.count));
  }
  for (const acts of [true, false]) {
    values.push(stretchCovariances([classes[0].always(acts), classes[1].always(!acts)], rows.count));
  }
  const rules = [...order.slice(0, MOST_DRAWN_MODELS), decisions.models, decisions.models + 1];
  const quantiles = rules.map((rule) => studentQuantile(1 - LEVEL, decisions.spread(rule, -1).degrees));
  return { cuts: encoded(cuts), quantiles: encoded(quantiles), covariances: encoded(values.flat(), "f4") };
}

// Names as they are shown: what is hidden made visible, shortened, and each one once.
function shownNames(names) {
  const seen = new Map();
  return names.map((name) => {
    const visible = name.trim() ? quoted(name).slice(1, -1).replace(/\\(['"\\])/g, "$1") : "(no name)";
    const signs = Array.from(visible);
    const short = signs.length > NAME_LIMIT ? `${signs.slice(0, NAME_LIMIT - 1).join("")}…` : visible;
    seen.set(short, (seen.get(short) ?? 0) + 1);
    return seen.get(short) === 1 ? short : `${short} (${seen.get(short)})`;
  });
}

// The numbers of the range that was asked for, of all rows: costs per decision.
function resultOf(rows, tables, blocks, decisions, order, costs) {
  const factor = 1 / costs.mass;
  const by = (values) => values.map((value) => factor * value);
  const shares = decisions.mass.map((mass) => mass / (decisions.mass[0] + decisions.mass[1]));
  const uncertainty = factor * (shares[0] * costs.negative(shares[1]) + shares[1] * costs.positive(shares[1]));
  const choice = selected(decisions, order, LEVEL);
  const rules = [...order, decisions.models, decisions.models + 1].map((rule) => {
    const score = factor * decisions.means[rule];
    return {
      score,
      interval: by(decisions.interval(rule, LEVEL)),
      simultaneous: choice ? by(choice.intervals[rule]) : [NaN, NaN],
      possible: choice ? choice.possible[rule] : null,
      more: factor * decisions.difference(rule, order[0]),
      moreInterval: by(decisions.differenceInterval(rule, order[0], LEVEL)),
      moreSimultaneous: choice?.more ? by(choice.more[rule].slice(1)) : [NaN, NaN],
      scarce: decisions.spread(rule, -1).scarce.some(Boolean),
      carried: carriedBy(decisions, rule),
      ...(rule < decisions.models ? termsOf(tables[rule], blocks[rule], score, uncertainty, factor, costs) : {}),
    };
  });
  const placed = (rule) => (rule < decisions.models ? order.indexOf(rule) : rule);
  return { rules, chosen: choice && placed(choice.chosen), fewest: fewestOf(decisions) };
}

// How many rows of a scarce class add to the cost of a decision, and how many equal ones are as uneven (Kish).
function carriedBy(decisions, rule) {
  const { scarce, equal } = decisions.spread(rule, -1);
  const k = [1, 0].find((at) => scarce[at]);
  return k === undefined || decisions.means[rule] === 0 ? null : { positive: k === 1, add: decisions.sums(rule, -1)[k].nonzero, alike: Math.round(equal[k]), rows: decisions.count[k] };
}

// The rarer class, and how many rows of equal weight would tell as much.
function fewestOf({ mass, powers }) {
  const [negatives, positives] = mass.map((sum, k) => (sum > 0 ? sum ** 2 / powers[0][k].second[0] : 0));
  return positives <= negatives ? { count: positives, name: "positives" } : { count: negatives, name: "negatives" };
}

function termsOf(table, block, score, uncertainty, factor, costs) {
  const full = new ScoreTable(table);
  const best = factor * new ScoreTable(block).sums(costs).integral;
  return {
    auc: areaOf(table),
    miscalibration: Math.max(score - best, 0),
    discrimination: Math.max(uncertainty - best, 0),
    uncertainty,
    skill: 1 - score / uncertainty,
    actedOn: full.sums(costs).actedOn,
    within: full.within(costs.low, costs.high),
  };
}

// The models within each group, over the range that was asked for.
function groupsOf(rows, order, costs) {
  if (!rows.groups) {
    return [];
  }
  const { values, codes, kind } = rows.groups;
  return values.flatMap((value, code) => {
    const places = Uint32Array.from(codes.keys()).filter((row) => codes[row] === code);
    if (!places.length) {
      return [];
    }
    const some = (column) => column.constructor.from(places, (row) => column[row]);
    const mine = { y: some(rows.y), weight: rows.weight && some(rows.weight), scores: order.map((model) => some(rows.scores[model])) };
    return [{ name: kind === "text" ? value : labelText(value, kind), rows: places.length, ...groupNumbers(mine, costs) }];
  });
}

function groupNumbers(mine, costs) {
  const decisions = new Decisions(mine, costs);
  const factor = 1 / costs.mass;
  const models = mine.scores.map((scores, k) => ({
    score: factor * decisions.means[k],
    interval: decisions.interval(k, LEVEL).map((end) => factor * end),
    auc: areaOf(scoreTable(mine, scores)),
  }));
  return { prevalence: decisions.mass[1] / (decisions.mass[0] + decisions.mass[1]), models };
}

function modelOf(rows, name, given, table, block, result, costs, count) {
  const limit = Math.min(Math.floor(ALL_SCORES / count), MOST_SCORES);
  const focus = [costs.low, costs.high];
  const [scores, blocks] = [thinned(table, limit, focus), thinned(block, Math.min(limit, MOST_BLOCKS), focus)];
  const points = ({ x, y }) => ({ x: encoded(x, "f4"), y: encoded(y, "f4") });
  const terms = ["score", "miscalibration", "discrimination", "uncertainty"].map((term) => [term, 1000 * result[term]]);
  return {
    name, harm: 0, given, auc: Number.isNaN(result.auc) ? null : result.auc, colour: (given % COLOURS) + 1,
    dash: DASHES[(given + Math.floor(given / COLOURS)) % DASHES.length], scores: encodedTable(scores), blocks: encodedTable(blocks),
    integralBound: scores.integralBound, shareBound: scores.shareBound, ownParts: Object.fromEntries(terms), acted: "scores",
    reliability: points(isotonicPoints(table, block)), binned: points(binnedPoints(table)), band: null,
  };
}

// Everything that the report reads, and what was read.
function payloadOf(rows, { low, high, file, words }, progress = () => {}) {
  const costs = costsOf({ low, high, weighting: "uniform" });
  const count = rows.scores.length;
  const [tables, blocks] = [[], []];
  rows.scores.forEach((scores, k) => {
    tables.push(scoreTable(rows, scores));
    blocks.push(recalibrated(tables[k]));
    progress((k + 1) / (count + 2));
  });
  const decisions = new Decisions(rows, costs);
  const cost = (model) => Number(decisions.means[model].toPrecision(12));
  const order = rows.scores.map((_, k) => k).sort((x, y) => cost(x) - cost(y) || x - y);
  progress((count + 1) / (count + 2));
  const result = resultOf(rows, tables, blocks, decisions, order, costs);
  const names = shownNames(order.map((model) => rows.roles.models[model]));
  const [negative, positive] = decisions.mass.map((mass) => mass / (decisions.mass[0] + decisions.mass[1]));
  return {
    models: order.map((model, k) => modelOf(rows, names[k], model, tables[model], blocks[model], result.rules[k], costs, count)),
    drawn: Math.min(count, MOST_DRAWN_MODELS),
    shares: { negative, positive },
    rule: "score", own: { low, high, weighting: "uniform" }, scale: "regret", unit: 1, per: 1000, level: LEVEL, fixed: false,
    unsure: "", rows: decisions.count, shapes: ["binned"], counted: rows.roles.weight === null ? rows.count : null, even: rows.roles.weight === null, spread: rows.count > 1 ? spreadOf(rows, tables, decisions, order, costs) : null, bands: null,
    crossing: [], result, groups: groupsOf(rows, order, costs), ...words,
    read: {
      file, rows: rows.count, dropped: rows.dropped, positives: decisions.count[1], label: rows.roles.label, positive: rows.positive,
      models: rows.roles.models, weight: rows.roles.weight, group: rows.roles.group, distinct: tables.map(({ scores }) => scores.length),
    },
  };
}
