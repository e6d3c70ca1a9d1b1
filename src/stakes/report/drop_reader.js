// A CSV file, read as strictly as the command reads it: by RFC 4180 with the csv module's rules, every record with as
// many fields as the header, every number a number, and errors that name the column and the row.

const MISSING = new Set(["NA", "N/A", "NaN", "nan", "null", "NULL"]);
const [TAB, NEWLINE, RETURN, QUOTE, SPACE] = [9, 10, 13, 34, 32];
const PIECE = 1 << 21;
const SAMPLE = 1000;
const MOST_LABELS = 1000;
const MOST_VALUES = 8_000_000; // numbers in memory
const FEW = 10; // values that a page looks at to see which a label has
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
  [
    /^[+-]?[1-9]\d{0,2},\d{3}$/,
    (cell) => `With a comma it is text; as a number it is ${cell.replace(",", ".")}, or ${cell.replace(",", "")} where the comma separates thousands.`,
  ],
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

// The first few distinct values of a column.
class ValueColumn extends TextColumn {
  take(records, data, field) {
    const [start, end, mark] = [records.starts[field], records.ends[field], records.marks[field]];
    if (this.values.length < FEW && (mark === 2 || this.known(data, start, end) === -2)) {
      this.code(records.text(data, field), data, start, end, mark);
    }
  }
}

class CsvFile {
  constructor(blob, file, wanted) {
    Object.assign(this, { blob, file });
    const pieces = new Pieces(blob, 0);
    this.refuseOthers(pieces.read(0, 64));
    const mark = [0xef, 0xbb, 0xbf].every((byte, k) => pieces.read(0, 3)[k] === byte) ? 3 : 0;
    const first = this.firstLine(mark);
    if (/^sep=.?$/i.test(first.trim())) {
      throw new DataError(`begins with '${first.trim()}', a line for Excel alone: delete it`, { file });
    }
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
        this.sampleIsAll = whole && rows.length <= SAMPLE + 1;
        return rows.slice(1, SAMPLE + 1).filter((row) => row.length === this.names.length);
      }
    }
  }

  get numeric() {
    return this.names.filter((_, k) => looksNumeric(this.sample.map((row) => row[k])));
  }

  // Read every row of some columns: numbers, and texts.
  rows(numbers, texts, progress) {
    return this.filled([...numbers.map((name) => new NumberColumn(name)), ...texts.map((name) => new TextColumn(name))], numbers.length, progress);
  }

  // The first few values of some columns, of every row.
  values(names, progress) {
    return this.filled(names.map((name) => new ValueColumn(name)), 0, progress);
  }

  filled(columns, numbers, progress) {
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
      if (count * numbers > MOST_VALUES) {
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
