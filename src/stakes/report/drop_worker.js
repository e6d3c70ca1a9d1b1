// The thread that reads and evaluates: it takes a file and settings, and answers with columns, a report or an error.

const MOST_BYTES = 1 << 30;

function opened({ blob, file, label = "" }) {
  if (blob.size > MOST_BYTES) {
    throw new DataError("is larger than this page takes: stakes evaluate reads files of any size", { file });
  }
  const table = new CsvFile(blob, file, label);
  const { names, numeric, sample } = table;
  const columns = names.map((name, k) => ({ name, numeric: numeric.includes(name), ...valuesOf(sample.map((row) => row[k])) }));
  // columns of one value in the first rows may have another in later ones, as where rows are sorted by their outcome
  const alike = table.sampleIsAll ? [] : columns.filter(({ alone }) => alone);
  if (alike.length) {
    const found = table.values(alike.map(({ name }) => name), (share) => self.postMessage({ progress: ["Looking at the columns", share] }));
    alike.forEach((column) => Object.assign(column, valuesOf(found.get(column.name).values)));
  }
  return { names, separator: table.separator, columns, first: sample.slice(0, 3) };
}

// Whether cells may be labels: they have two values, not both of them probabilities.
function valuesOf(cells) {
  const distinct = [...new Set(cells.filter((cell) => cell.trim() && !MISSING.has(cell)))];
  const numbers = distinct.map(numberOf);
  const kinds = new Set(numbers.map((value, at) => value ?? distinct[at])).size;
  const whole = numbers.every((value) => value === undefined || Number.isInteger(value));
  return { values: distinct.slice(0, 3), distinct: distinct.length, alone: kinds < 2, binary: kinds === 2 && whole };
}

let kept = null;

function evaluatedFile({ blob, file, settings, words }) {
  const key = JSON.stringify([settings.label, settings.models, settings.weight, settings.group, settings.posLabel, settings.onMissing]);
  if (kept?.blob !== blob || kept.key !== key) {
    kept = null;
    const table = new CsvFile(blob, file, settings.label);
    const rows = readRows(table, settings, (share) => self.postMessage({ progress: ["Reading", share] }));
    kept = { blob, key, rows };
  }
  const { rows } = kept;
  const positive = total(rows.y);
  if (positive === 0 || positive === rows.count) {
    const rule = `must hold both classes, got ${rows.count} rows that are all ${positive ? "positive" : "negative"}: what mistakes cost cannot be judged from one class`;
    throw new DataError(rule, { file, column: rows.roles.label });
  }
  return payloadOf(rows, { ...settings, file, words }, (share) => self.postMessage({ progress: ["Evaluating", share] }));
}

// Whether a file is read or refused, and where: for tests that compare many files with the command.
function readOnly({ blob, file, settings }) {
  const { y, scores, dropped } = readRows(new CsvFile(blob, file, settings.label), settings);
  return { rows: y.length, positives: total(y), sums: scores.map(total), dropped };
}

const WORK = { open: opened, evaluate: evaluatedFile, read: readOnly };

self.onmessage = ({ data }) => {
  try {
    self.postMessage({ id: data.id, kind: data.kind, found: WORK[data.kind](data) });
  } catch (error) {
    const known = error instanceof DataError;
    self.postMessage({ id: data.id, kind: data.kind, error: known ? error.message : `This page cannot work on the file: ${error.message}. stakes evaluate may.`, place: error.place ?? null, known });
  }
};
