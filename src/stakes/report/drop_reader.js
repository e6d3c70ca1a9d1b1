// A CSV file, read as strictly as the command reads it: by RFC 4180 with the csv module's rules, every record with as
// many fields as the header, every number a number, and errors that name the column and the row.

const MISSING = new Set(["NA", "N/A", "NaN", "nan", "null", "NULL"]);
const [TAB, NEWLINE, RETURN, QUOTE, SPACE] = [9, 10, 13, 34, 32];
const PIECE = 1 << 21;
const SAMPLE = 1000;
const MOST_LABELS = 1000;
const MOST_VALUES = 8_000_000; // numbers in memory
const MOST_UNNAMED = 100;
const SHOWN = 10;
const NAME_MODELS = "Every other numeric column was taken as a model: name the model columns.";
const INCOMPLETE = "Leave incomplete rows out (command line: --on-missing drop), or mend them.";

// A text in quotation marks, with what cannot be seen written as an escape.
function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escapes = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", [mark]: `\\${mark}` };
  const written = Array.from(text, (sign) => {
    const code = sign.codePointAt(0);
    if (sign in escapes) {
      return escapes[sign];
    }
    if (code < 32 || (code >= 127 && code < 161) || code === 0xad) {
      return `\\x${code.toString(16).padStart(2, "0")}`;
    }
    return /[\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Cs}]/u.test(sign) && sign !== " " ? `\\u${code.toString(16).padStart(4, "0")}` : sign;
  });
  return mark + written.join("") + mark;
}

// Something in the file that cannot be evaluated, with its place.
class DataError extends Error {
  constructor(rule, place = {}) {
    const { file, column, row, line, value, count, total, hint } = place;
    const number = row === undefined ? "" : `row ${row}`;
    const where = line === undefined ? number : number ? `${number} (line ${line})` : `line ${line}`;
    const parts = [file, [column === undefined ? "" : `column ${quoted(column)}`, where].filter(Boolean).join(", "), rule];
    const got = value === undefined ? "" : `, got ${typeof value === "string" ? quoted(value) : written(value)}`;
    const many = count === undefined ? "" : ` (${count} of ${total} rows)`;
    super(parts.filter(Boolean).join(": ") + got + many + (hint ? `. ${hint}` : ""));
    Object.assign(this, { rule, place: { column, row, line } });
  }
}

// A number as Python writes it, where the two differ in what readers see.
function written(value) {
  return Number.isNaN(value) ? "nan" : Number.isFinite(value) ? (Number.isInteger(value) ? `${value}.0` : String(value)) : value > 0 ? "inf" : "-inf";
}

// Bytes of a file, piece by piece; a piece ends at the end of a line.
class Pieces {
  constructor(blob, at) {
    Object.assign(this, { blob, at, size: PIECE, reader: new FileReaderSync() });
  }

  read(start, end) {
    return new Uint8Array(this.reader.readAsArrayBuffer(this.blob.slice(start, end)));
  }

  next() {
    let data = this.read(this.at, this.at + this.size);
    for (let more = 1 << 16; this.at + data.length < this.blob.size && data[data.length - 1] !== NEWLINE; more *= 2) {
      const after = this.read(this.at + data.length, this.at + data.length + more);
      const end = after.indexOf(NEWLINE);
      data = joinedBytes(data, end < 0 ? after : after.subarray(0, end + 1));
    }
    this.at += data.length;
    return data;
  }
}

function joinedBytes(first, second) {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function checkUtf8(data, line, file) {
  try {
    decoder.decode(data);
  } catch {
    const bad = firstBadByte(data);
    const before = data.subarray(0, bad).reduce((count, byte) => count + (byte === NEWLINE), 0);
    const rule = `must be UTF-8 text, this line holds the byte 0x${data[bad].toString(16).padStart(2, "0")}`;
    throw new DataError(rule, { file, line: line + before });
  }
}

// Where the first sequence of bytes starts that is no character.
function firstBadByte(data) {
  let [good, end] = [0, data.length];
  const fits = (length) => {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(data.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  while (good < end) {
    const middle = (good + end + 1) >> 1;
    [good, end] = fits(middle) ? [middle, end] : [good, middle - 1];
  }
  // the sequence that is cut short there starts up to three bytes before
  for (let start = good - 1; start >= Math.max(good - 3, 0); start -= 1) {
    if (data[start] >= 0xc0) {
      return start + (data[start] >= 0xf0 ? 4 : data[start] >= 0xe0 ? 3 : 2) > good ? start : good;
    }
    if (data[start] < 0x80) {
      break;
    }
  }
  return Math.min(good, data.length - 1);
}

// The fields of records of a text, as the csv module reads them where it is not strict.
function looseRecords(text, separator, most) {
  const records = [];
  let [record, field, state, i] = [[], "", "start", 0];
  const save = () => {
    record.push(field);
    field = "";
  };
  const close = () => {
    records.push(record);
    [record, state] = [[], "start"];
  };
  for (; i < text.length && records.length < most; i += 1) {
    const sign = text[i];
    const ends = sign === "\n" || sign === "\r";
    if (ends && state !== "quoted") {
      if (state !== "start" || record.length) {
        save();
      }
      close();
      i += Number(sign === "\r" && text[i + 1] === "\n");
    } else if (state === "quoted") {
      state = sign === '"' ? "after" : state;
      field += sign === '"' ? "" : sign;
    } else if (sign === separator) {
      save();
      state = "field start";
    } else if (sign === '"' && state !== "inside") {
      field += state === "after" ? '"' : "";
      state = "quoted";
    } else {
      field += sign;
      state = "inside";
    }
  }
  if (i >= text.length && records.length < most && (state !== "start" || record.length)) {
    save();
    close();
  }
  return records;
}

// Blank by the spaces of ASCII alone.
function isBlankText(text) {
  return /^[ \t\n\r\v\f]*$/.test(text);
}

// Where the fields of strict records lie in the bytes of a piece.
class Records {
  constructor(separator, file) {
    Object.assign(this, { separator, file });
    this.starts = new Int32Array(64);
    this.ends = new Int32Array(64);
    this.marks = new Uint8Array(64); // 1: in quotation marks, 2: with doubled ones inside
  }

  // Read one record; return where the next starts, or -1 where the bytes end within quotation marks.
  read(data, from, line) {
    const { separator } = this;
    const length = data.length;
    let [i, count] = [from, 0];
    for (;;) {
      if (count === this.starts.length) {
        this.grow();
      }
      let mark = 0;
      let start = i;
      let end = i;
      if (data[i] === QUOTE) {
        mark = 1;
        start = i + 1;
        for (i += 1; ; i += 1) {
          while (i < length && data[i] !== QUOTE) {
            i += 1;
          }
          if (i >= length) {
            return -1;
          }
          if (data[i + 1] !== QUOTE) {
            break;
          }
          mark = 2;
          i += 1;
        }
        end = i;
        i += 1;
        if (i < length && data[i] !== separator && data[i] !== NEWLINE && data[i] !== RETURN) {
          throw new DataError(`is no CSV: '${String.fromCharCode(separator)}' expected after '"'`, { file: this.file, line });
        }
      } else {
        for (let byte = data[i]; i < length && byte !== separator && byte !== NEWLINE && byte !== RETURN; byte = data[i]) {
          i += 1;
        }
        end = i;
      }
      this.starts[count] = start;
      this.ends[count] = end;
      this.marks[count] = mark;
      count += 1;
      if (i >= length || data[i] !== separator) {
        break;
      }
      i += 1;
    }
    this.count = count;
    return i < length && data[i] === RETURN && data[i + 1] === NEWLINE ? i + 2 : Math.min(i + 1, length);
  }

  grow() {
    for (const name of ["starts", "ends", "marks"]) {
      const wider = new this[name].constructor(2 * this[name].length);
      wider.set(this[name]);
      this[name] = wider;
    }
  }

  text(data, field) {
    const found = lenient.decode(data.subarray(this.starts[field], this.ends[field]));
    return this.marks[field] === 2 ? found.replaceAll('""', '"') : found;
  }
}

// Lines of some bytes, with any line ends.
function countLines(data, from, to) {
  let lines = 0;
  for (let i = from; i < to; i += 1) {
    lines += Number(data[i] === NEWLINE || (data[i] === RETURN && data[i + 1] !== NEWLINE));
  }
  const last = data[to - 1];
  return lines + Number(to > from && last !== NEWLINE && last !== RETURN);
}

// What Python reads as a number: its grammar, not that of this language.
function pythonNumber(text) {
  const trimmed = pythonStrip(text);
  const digits = "\\p{Nd}(?:_?\\p{Nd})*";
  const pattern = new RegExp(`^[+-]?(?:(?:${digits}\\.?(?:${digits})?|\\.${digits})(?:e[+-]?${digits})?|inf|infinity|nan)$`, "iu");
  return !trimmed.includes("\ufeff") && pattern.test(trimmed);
}

function meantAsNumber(text) {
  const bare = text.endsWith("%") ? pythonStrip(text.slice(0, -1)) : text;
  return pythonNumber(text) || /^[+-]?(\p{Nd}+([.,]\p{Nd}+)?|[.,]\p{Nd}+)$/u.test(bare);
}

// Without spaces at its ends, of Python's kinds, and of the kinds that the command's reader of numbers knows.
function pythonStrip(text) {
  return text.replace(/^(?:[\x1c-\x1f\x85]|[^\S\ufeff])+|(?:[\x1c-\x1f\x85]|[^\S\ufeff])+$/g, "");
}

function stripped(text) {
  return text.replace(/^(?:\x85|[^\S\ufeff])+|(?:\x85|[^\S\ufeff])+$/g, "");
}

// Whether at least half of the cells that are there are meant as numbers.
function looksNumeric(cells) {
  if (cells.every(pythonNumber)) {
    return true;
  }
  const present = cells.map(pythonStrip).filter((cell) => cell && !MISSING.has(cell));
  return 2 * present.filter(meantAsNumber).length >= present.length;
}

// A cell as a number: NaN where it is missing, undefined where it is none.
function numberOf(text) {
  const cell = stripped(text);
  if (cell === "" || MISSING.has(cell) || /^[+-]?nan$/i.test(cell)) {
    return NaN;
  }
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell)) {
    return Number(cell);
  }
  return /^[+-]?inf(inity)?$/i.test(cell) ? (cell[0] === "-" ? -Infinity : Infinity) : undefined;
}

const TENS = Float64Array.from({ length: 23 }, (_, k) => Number(`1e${k}`));

// The number in some bytes; digits that fit a float exactly are read without making a text of them.
function numberIn(data, start, end) {
  let i = start;
  let mantissa = 0;
  let digits = 0;
  let decimals = -1;
  for (; i < end; i += 1) {
    const byte = data[i];
    if (byte >= 48 && byte <= 57) {
      mantissa = 10 * mantissa + (byte - 48);
      digits += mantissa > 0 ? 1 : 0;
      decimals += decimals >= 0 ? 1 : 0;
    } else if (byte === 46 && decimals < 0) {
      decimals = 0;
    } else {
      break;
    }
  }
  if (i === end && i - start > (decimals >= 0 ? 1 : 0)) {
    return digits > 15 || decimals > 22 ? Number(String.fromCharCode.apply(null, data.subarray(start, end))) : decimals > 0 ? mantissa / TENS[decimals] : mantissa;
  }
  return numberOf(lenient.decode(data.subarray(start, end)));
}

const HINTS = [
  [/^[+-]?\d+,\d+$/, (cell) => `With a decimal comma it is text; as a number it is ${cell.replace(",", ".")}.`],
  [/^[+-]?(\d+\.?\d*|\.\d+)\s*%$/, (cell) => `With its sign it is text; as a number ${cell} is ${parseFloat(cell) / 100}.`],
];

function asWritten(cell) {
  const found = HINTS.find(([pattern]) => pattern.test(cell.trim()));
  return found ? found[1](cell.trim()) : "";
}

// Values that arrive one by one.
class Growing {
  constructor(kind, room = 1 << 12) {
    Object.assign(this, { values: new kind(room), size: 0 });
  }

  push(value) {
    if (this.size === this.values.length) {
      const wider = new this.values.constructor(2 * this.size);
      wider.set(this.values);
      this.values = wider;
    }
    this.values[this.size] = value;
    this.size += 1;
  }

  get all() {
    return this.values.subarray(0, this.size);
  }
}

// A column of numbers; the first cell that is none is kept until all are counted.
class NumberColumn {
  constructor(name) {
    Object.assign(this, { name, cells: new Growing(Float64Array), broken: 0 });
  }

  take(records, data, field) {
    const value = records.marks[field] === 2 ? numberOf(records.text(data, field)) : numberIn(data, records.starts[field], records.ends[field]);
    if (value === undefined) {
      this.first ??= { row: this.cells.size, value: records.text(data, field) };
      this.broken += 1;
    }
    this.cells.push(value ?? NaN);
  }

  refuse(table, hint) {
    if (this.broken) {
      const more = [hint, asWritten(this.first.value)].filter(Boolean).join(" ");
      throw table.error("must be a number", { ...this.first, column: this.name, count: this.broken, total: this.cells.size, hint: more });
    }
  }
}

// A column of texts as codes of its distinct values; -1 where the cell is missing.
class TextColumn {
  constructor(name) {
    Object.assign(this, { name, cells: new Growing(Int32Array), values: [], places: new Map(), recent: [] });
  }

  take(records, data, field) {
    const [start, end] = [records.starts[field], records.ends[field]];
    const known = records.marks[field] === 2 ? -2 : this.known(data, start, end);
    this.cells.push(known === -2 ? this.code(records.text(data, field), data, start, end, records.marks[field]) : known);
  }

  // The code of a cell like one of the first few, found by its bytes.
  known(data, start, end) {
    for (const { bytes, code } of this.recent) {
      let k = bytes.length === end - start ? 0 : Infinity;
      while (k < bytes.length && bytes[k] === data[start + k]) {
        k += 1;
      }
      if (k === bytes.length) {
        return code;
      }
    }
    return -2;
  }

  code(text, data, start, end, mark) {
    let code = text === "" || MISSING.has(text) ? -1 : this.places.get(text);
    if (code === undefined) {
      code = this.values.push(text) - 1;
      this.places.set(text, code);
    }
    if (mark !== 2 && this.recent.length < 4) {
      this.recent.push({ bytes: data.slice(start, end), code });
    }
    return code;
  }
}

class CsvFile {
  constructor(blob, file, wanted) {
    Object.assign(this, { blob, file });
    const pieces = new Pieces(blob, 0);
    this.refuseOthers(pieces.read(0, 64));
    const mark = [0xef, 0xbb, 0xbf].every((byte, k) => pieces.read(0, 3)[k] === byte) ? 3 : 0;
    const first = this.firstLine(mark);
    const promise = (sign) => {
      const [fields = []] = looseRecords(first, sign, 1);
      return [Number(fields.includes(wanted)), fields.length];
    };
    const better = (x, y) => x[0] > y[0] || (x[0] === y[0] && x[1] > y[1]);
    this.separator = [",", ";", "\t"].reduce((best, sign) => (better(promise(sign), promise(best)) ? sign : best));
    this.records = new Records(this.separator.charCodeAt(0), file);
    this.readHeader(mark);
    this.sample = this.sampled(mark);
    refuseRepeated(this.names, file);
  }

  refuseOthers(head) {
    const { file } = this;
    const starts = (...bytes) => bytes.every((byte, k) => head[k] === byte);
    if (!head.length) {
      throw new DataError("the file is empty", { file });
    }
    if (starts(0x1f, 0x8b) || starts(...new TextEncoder().encode("PAR1")) || starts(...new TextEncoder().encode("ARROW1")) || starts(255, 255, 255, 255)) {
      throw new DataError("is no text: this page reads CSV and TSV; stakes evaluate reads gzip, Parquet and Arrow", { file });
    }
    if (starts(0x50, 0x4b, 3, 4)) {
      throw new DataError("is a workbook of a spreadsheet or another zip archive, not text: save the sheet as CSV", { file });
    }
    if (starts(0xff, 0xfe) || starts(0xfe, 0xff) || head.includes(0)) {
      throw new DataError("must be UTF-8 text, this looks like UTF-16 or a binary format", { file });
    }
  }

  // The first line that is not blank, to guess the separator by.
  firstLine(mark) {
    const pieces = new Pieces(this.blob, mark);
    while (pieces.at < this.blob.size) {
      const found = lenient.decode(pieces.next()).split("\n").find((line) => !isBlankText(line));
      if (found !== undefined) {
        return `${found}\n`;
      }
    }
    return "";
  }

  readHeader(mark) {
    const pieces = new Pieces(this.blob, mark);
    let [data, at, line] = [pieces.next(), 0, 1];
    while (at < data.length) {
      const next = this.records.read(data, at, line);
      if (next < 0 && pieces.at < this.blob.size) {
        data = joinedBytes(data, pieces.next());
        continue;
      }
      const end = data.indexOf(NEWLINE, next < 0 ? data.length : Math.max(next - 1, at));
      checkUtf8(data.subarray(at, end < 0 ? data.length : end + 1), line, this.file);
      if (next < 0) {
        throw new DataError("has a quotation mark that is never closed", { file: this.file, line });
      }
      line += countLines(data, at, next);
      if (!this.isBlank(data, at, next)) {
        this.names = Array.from({ length: this.records.count }, (_, k) => this.records.text(data, k));
        this.start = mark + next;
        this.firstBodyLine = line;
        return;
      }
      at = next;
    }
    throw new DataError("the file is empty", { file: this.file });
  }

  isBlank(data, from, to) {
    if (this.records.count > 1) {
      return false;
    }
    for (let i = from; i < to; i += 1) {
      if (data[i] !== SPACE && !(data[i] >= TAB && data[i] <= RETURN)) {
        return false;
      }
    }
    return true;
  }

  // The first rows as texts, of those that have as many fields as the header.
  sampled(mark) {
    for (let size = 1 << 18; ; size *= 4) {
      const whole = mark + size >= this.blob.size;
      const text = lenient.decode(new Pieces(this.blob, 0).read(mark, mark + size));
      const isBlank = (record) => !record.length || (record.length === 1 && isBlankText(record[0]));
      const found = looseRecords(text, this.separator, Infinity).filter((record) => !isBlank(record));
      const rows = whole ? found : found.slice(0, -1);
      if (whole || rows.length > SAMPLE) {
        return rows.slice(1, SAMPLE + 1).filter((row) => row.length === this.names.length);
      }
    }
  }

  get numeric() {
    return this.names.filter((_, k) => looksNumeric(this.sample.map((row) => row[k])));
  }

  // Read every row of some columns: numbers, and texts.
  rows(numbers, texts, progress) {
    const columns = [...numbers.map((name) => new NumberColumn(name)), ...texts.map((name) => new TextColumn(name))];
    const places = columns.map(({ name }) => this.names.indexOf(name));
    const pieces = new Pieces(this.blob, this.start);
    let [line, count, blank, linePerRow, rest] = [this.firstBodyLine, 0, false, true, new Uint8Array(0)];
    while (pieces.at < this.blob.size) {
      const fresh = pieces.next();
      checkUtf8(fresh, line + countLines(rest, 0, rest.length), this.file);
      const data = rest.length ? joinedBytes(rest, fresh) : fresh;
      let at = 0;
      while (at < data.length) {
        const next = this.records.read(data, at, line);
        if (next < 0) {
          break;
        }
        const wide = this.widthOf(data, at, next);
        if (this.isBlank(data, at, next)) {
          blank = true;
        } else if (this.records.count !== this.names.length) {
          const found = this.records.count === 1 ? "1 field" : `${this.records.count} fields`;
          throw new DataError(`has ${found} where the header has ${this.names.length}`, { file: this.file, row: count + 1, line });
        } else {
          count += 1;
          linePerRow &&= wide === 1 && !blank;
          for (let k = 0; k < columns.length; k += 1) {
            columns[k].take(this.records, data, places[k]);
          }
        }
        line += wide;
        at = next;
      }
      if (count * numbers.length > MOST_VALUES) {
        const rule = `holds more than ${MOST_VALUES.toLocaleString("en")} numbers of models: stakes evaluate takes such files`;
        throw new DataError(rule, { file: this.file });
      }
      rest = data.slice(at);
      pieces.size = rest.length ? 2 * pieces.size : PIECE;
      progress(pieces.at / this.blob.size);
    }
    if (rest.length) {
      throw new DataError("has a quotation mark that is never closed", { file: this.file, line });
    }
    if (!count) {
      throw new DataError("there is a header and no rows", { file: this.file });
    }
    Object.assign(this, { count, firstLineOfRows: linePerRow ? this.firstBodyLine : undefined });
    return new Map(columns.map((column) => [column.name, column]));
  }

  // Lines of a record: one, but where a cell holds a line end.
  widthOf(data, from, to) {
    for (let k = 0; k < this.records.count; k += 1) {
      if (this.records.marks[k]) {
        return countLines(data, from, to);
      }
    }
    return 1;
  }

  // The error at a row counted from 0.
  error(rule, place) {
    const { row } = place;
    const line = row === undefined || this.firstLineOfRows === undefined ? undefined : this.firstLineOfRows + row;
    return new DataError(rule, { ...place, file: this.file, row: row === undefined ? undefined : row + 1, line });
  }
}

function refuseRepeated(names, file) {
  const again = names.find((name, k) => names.indexOf(name) < k);
  if (again !== undefined) {
    const first = names.find((name) => names.filter((other) => other === name).length > 1);
    throw new DataError("column names must be distinct, this one occurs more than once", { file, column: first });
  }
}

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
