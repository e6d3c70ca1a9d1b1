// The rows of a file for an evaluation, from what its columns are to checked labels, scores and weights; the errors are
// those of the command, in its order.

// Which columns are what; without named models every other numeric column that has a name is one.
function chooseRoles(table, { label, models = null, weight = null, group = null }) {
  const { file, names } = table;
  const wanted = [label, ...(models ?? []), ...(weight === null ? [] : [weight]), ...(group === null ? [] : [group])];
  const absent = wanted.find((name) => !names.includes(name));
  if (absent !== undefined) {
    const rest = names.length > SHOWN ? `, ... (${names.length} in all)` : "";
    const hint = `The columns are ${names.slice(0, SHOWN).map(quoted).join(", ")}${rest}.`;
    throw new DataError("there is no such column", { file, column: absent, hint });
  }
  const taken = [label, weight, group];
  const numeric = models ? [] : table.numeric;
  const chosen = models ?? names.filter((name) => numeric.includes(name) && !taken.includes(name) && name !== "");
  if (!chosen.length) {
    throw new DataError("no numeric column is left to be a model", { file });
  }
  if (!models && chosen.length > MOST_UNNAMED) {
    const rule = `${chosen.length} numeric columns would be models, from ${quoted(chosen[0])} to ${quoted(chosen[chosen.length - 1])}`;
    throw new DataError(rule, { file, hint: `More than ${MOST_UNNAMED} must be named. ${NAME_MODELS}` });
  }
  for (const [name, role] of [[label, "the label"], [weight, "the weight"]]) {
    if (name !== null && (chosen.includes(name) || (name === weight && name === label))) {
      throw new DataError(`is ${role} and can be nothing else`, { file, column: name });
    }
  }
  return { label, weight, group, models: chosen, hint: models ? "" : NAME_MODELS };
}

// Labels that are all numbers, or all true and false, become such; codes of equal ones become one.
function tidied({ values, cells }) {
  const blank = values.map((value) => stripped(value) === "");
  const numbers = values.map((value, k) => (blank[k] ? NaN : MISSING.has(stripped(value)) ? undefined : numberOf(value)));
  let kind = "text";
  let found = values.map((value, k) => (blank[k] ? NaN : value));
  const said = values.filter((_, k) => !blank[k]);
  if (said.length && numbers.every((value) => value !== undefined)) {
    [kind, found] = ["number", numbers];
  } else if (said.length && said.every((value) => /^(true|false)$/i.test(value))) {
    [kind, found] = ["truth", values.map((value, k) => (blank[k] ? NaN : Number(value.toLowerCase() === "true")))];
  }
  const order = (x, y) => (kind === "text" ? compareText(x, y) : x - y);
  const distinct = [...new Set(found.filter((value) => !Number.isNaN(value)))].sort(order);
  const places = new Map(distinct.map((value, k) => [value, k]));
  const renamed = Int32Array.from(found, (value) => places.get(value) ?? -1);
  return { kind, values: distinct, codes: Int32Array.from(cells.all, (code) => (code < 0 ? -1 : renamed[code])) };
}

// Groups that are all plain whole numbers become such, so that they sort; 007 stays a text.
function tidiedGroups({ values, cells }) {
  const whole = values.length > 0 && values.every((value) => /^(0|-?[1-9]\d{0,14})$/.test(value));
  const found = whole ? values.map(Number) : values;
  const distinct = [...found].sort(whole ? (x, y) => x - y : compareText);
  const places = new Map(distinct.map((value, k) => [value, k]));
  return { kind: whole ? "number" : "text", values: distinct, codes: cells.all.map((code) => (code < 0 ? -1 : places.get(found[code]))) };
}

// By code points, as Python sorts.
function compareText(x, y) {
  const [a, b] = [Array.from(x), Array.from(y)];
  for (let k = 0; k < Math.min(a.length, b.length); k += 1) {
    if (a[k] !== b[k]) {
      return a[k].codePointAt(0) - b[k].codePointAt(0);
    }
  }
  return a.length - b.length;
}

function labelText(value, kind) {
  return kind === "text" ? quoted(value) : kind === "truth" ? (value ? "True" : "False") : String(value);
}

// Which of the labels that occur is the positive one.
function positiveLabel({ values, kind }, present, stated, table, column) {
  const labels = present.map((code) => values[code]);
  const shown = labels.map((value) => labelText(value, kind)).join(", ");
  if (stated !== null) {
    const numbers = { number: numberOf(stated), truth: { true: 1, 1: 1, false: 0, 0: 0 }[stated.trim().toLowerCase()], text: stated };
    const wanted = numbers[kind];
    if (labels.length === 2 && !labels.includes(wanted)) {
      throw table.error(`pos_label must be one of the labels (${shown}), got ${quoted(stated)}`, { column });
    }
    return wanted;
  }
  const only = (...allowed) => kind !== "text" && labels.every((value) => allowed.includes(value));
  if (!only(0, 1) && !only(-1, 1)) {
    throw table.error(`holds ${shown}: say which label is positive`, { column, hint: "The command line's option is --pos-label." });
  }
  return 1;
}

// Which rows are complete and have a weight; the first incomplete one is an error, unless such rows are to be dropped.
function completeRows(table, roles, columns, onMissing) {
  const { count } = table;
  const weight = roles.weight === null ? null : columns.numbers.get(roles.weight);
  const used = [...new Set([roles.label, ...roles.models, ...(weight ? [roles.weight] : []), ...(roles.group === null ? [] : [roles.group])])];
  const lacks = used.map((name) => {
    const [values, codes] = [columns.numbers.get(name), columns.codes.get(name)?.codes];
    return values ? (row) => Number.isNaN(values[row]) : (row) => codes[row] < 0;
  });
  const keep = new Uint8Array(count);
  let [kept, incomplete, first, weighted] = [0, 0, null, 0];
  for (let row = 0; row < count; row += 1) {
    const counts = !weight || weight[row] !== 0;
    const missing = lacks.findIndex((lack) => lack(row));
    weighted += Number(counts);
    if (counts && missing >= 0) {
      incomplete += 1;
      first ??= { row, column: used[missing] };
    } else if (counts) {
      keep[row] = 1;
      kept += 1;
    }
  }
  if (!weighted) {
    throw table.error(`must not be all zero, got ${count} zeros`, { column: roles.weight });
  }
  if (incomplete && (onMissing === "raise" || incomplete === weighted)) {
    const hint = [onMissing === "drop" ? "No complete row is left." : INCOMPLETE, roles.models.includes(first.column) ? roles.hint : ""];
    throw table.error("must not be missing", { ...first, count: incomplete, total: count, hint: hint.filter(Boolean).join(" ") });
  }
  return { keep, kept, incomplete };
}

// Refuse weights and scores outside their range; rows are counted as in the file.
function checkRanges(roles, numbers, places, table) {
  const refuse = (name, bad, rule, hint) => {
    const values = numbers.get(name);
    let [count, first] = [0, -1];
    for (let k = 0; k < values.length; k += 1) {
      if (bad(values[k])) {
        count += 1;
        first = first < 0 ? k : first;
      }
    }
    if (count) {
      throw table.error(rule, { column: name, row: places[first], value: values[first], count, total: values.length, hint: hint(values) });
    }
  };
  if (roles.weight !== null) {
    refuse(roles.weight, (value) => !(value > 0 && value < Infinity), "must be finite and >= 0", () => "");
  }
  const percent = (values) => {
    const [low, high] = [values.reduce((x, y) => Math.min(x, y)), values.reduce((x, y) => Math.max(x, y))];
    const words = roles.hint || "Name columns of probabilities of the positive class.";
    return low >= 0 && high >= 2 && high <= 100 ? `${words} If they are percentages, divide by 100.` : words;
  };
  for (const name of roles.models) {
    refuse(name, (value) => value < 0 || value > 1, "must lie in [0, 1]", percent);
  }
}

// Rows of a file for an evaluation: whether each is positive, its scores, its weight and its group.
function readRows(table, settings, progress = () => {}) {
  const { posLabel = null, onMissing = "raise" } = settings;
  const roles = chooseRoles(table, settings);
  const numeric = [...roles.models, ...(roles.weight === null ? [] : [roles.weight])];
  const read = table.rows(numeric, [...new Set([...(roles.group === null ? [] : [roles.group]), roles.label])], progress);
  numeric.forEach((name) => read.get(name).refuse(table, roles.models.includes(name) ? roles.hint : ""));
  if (read.get(roles.label).values.length > MOST_LABELS && tidied(read.get(roles.label)).values.length > MOST_LABELS) {
    throw tooMany(tidied(read.get(roles.label)), table, roles.label);
  }
  const codes = new Map([[roles.label, tidied(read.get(roles.label))]]);
  if (roles.group !== null && roles.group !== roles.label) {
    codes.set(roles.group, tidiedGroups(read.get(roles.group)));
  }
  const numbers = new Map(numeric.map((name) => [name, read.get(name).cells.all]));
  const { keep, kept, incomplete } = completeRows(table, roles, { numbers, codes }, onMissing);
  const places = new Uint32Array(kept);
  for (let [row, k] = [0, 0]; row < keep.length; row += 1) {
    if (keep[row]) {
      places[k] = row;
      k += 1;
    }
  }
  const whole = kept === table.count;
  const some = (values) => (whole ? values : values.constructor.from(places, (row) => values[row]));
  for (const [name, values] of numbers) {
    numbers.set(name, some(values).map((value) => value + 0));
  }
  for (const [name, found] of codes) {
    codes.set(name, { ...found, codes: some(found.codes) });
  }
  checkRanges(roles, numbers, places, table);
  const labels = codes.get(roles.label);
  const y = positives(labels, posLabel, places, table, roles.label);
  const weight = roles.weight === null ? null : numbers.get(roles.weight);
  return {
    roles, y: y.y, positive: y.positive, dropped: incomplete, count: kept, scores: roles.models.map((name) => numbers.get(name)),
    weight: weight?.every((value) => value === 1) ? null : weight, weighted: roles.weight !== null,
    groups: roles.group === null ? null : codes.get(roles.group),
  };
}

function tooMany({ values, kind }, table, column, place = {}) {
  const shown = values.slice(0, 5).map((value) => labelText(value, kind)).join(", ") + (values.length > 5 ? ", ..." : "");
  return table.error(`labels must take two values, not ${values.length} (${shown})`, { column, ...place });
}

function positives(labels, posLabel, places, table, column) {
  const { values, kind, codes } = labels;
  const seen = new Set(codes);
  const present = [...seen].sort((x, y) => x - y);
  if (present.length > 2) {
    const third = [...seen][2];
    const at = codes.indexOf(third);
    const value = kind === "text" ? values[third] : undefined;
    throw tooMany({ values: present.map((code) => values[code]), kind }, table, column, { row: places[at], value });
  }
  const positive = positiveLabel(labels, present, posLabel, table, column);
  return { y: Uint8Array.from(codes, (code) => Number(values[code] === positive)), positive: labelText(positive, kind) };
}
