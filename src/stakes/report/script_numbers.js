// Numbers, thresholds and names as the page writes them.

const MINUS = "\u2212";
// making a formatter costs more than many uses of it
const FORMATS = new Map();

function grouped(value, least, most) {
  const key = 100 * least + most;
  if (!FORMATS.has(key)) {
    FORMATS.set(key, new Intl.NumberFormat("en", { minimumFractionDigits: least, maximumFractionDigits: most }));
  }
  return FORMATS.get(key).format(value);
}

function fixed(value, decimals, sign = false) {
  if (Number.isNaN(value)) {
    return "undefined";
  }
  if (!Number.isFinite(value)) {
    return value > 0 ? "∞" : MINUS + "∞";
  }
  const text = grouped(Math.abs(value), decimals, decimals);
  if (!/[1-9]/.test(text)) {
    return text;
  }
  return (value < 0 ? MINUS : sign ? "+" : "") + text;
}

// Decimals that show so many digits of the smallest value.
function decimalsOf(values, digits) {
  const sizes = values.map(Math.abs).filter((size) => size > 0 && size < Infinity);
  return sizes.length ? Math.min(Math.max(digits - 1 - Math.floor(Math.log10(Math.min(...sizes))), 0), 12) : 0;
}

function plain(value, digits) {
  return grouped(Number(value.toPrecision(digits)), 0, 20);
}

function percent(share, digits = 3) {
  const text = Number.isFinite(share) ? plain(100 * share, digits).replace("-", MINUS) + "%" : fixed(share, 0);
  return text === "100%" && share < 1 - 1e-9 ? percent(share, digits + 1) : text;
}

function number(value) {
  const size = Math.abs(value);
  return !Number.isFinite(value) ? (Number.isNaN(value) ? "undefined" : "infinite") : size >= 1e-4 && size < 999.5
    ? value.toPrecision(3).replace("-", MINUS)
    : (size < 1 ? plain(value, 3) : grouped(value, 0, 0)).replace("-", MINUS);
}

function times(ratio) {
  return ratio >= 10 ? plain(Math.round(ratio), 3) : plain(ratio, 2);
}

function odds(threshold) {
  if (threshold <= 0 || threshold >= 1) {
    return threshold <= 0 ? "0:1" : "1:0";
  }
  const ratio = (1 - threshold) / threshold;
  return ratio >= 1 ? "1:" + times(ratio) : times(1 / ratio) + ":1";
}

// False alarms that are as bad as one miss.
function alarms(threshold) {
  return threshold <= 0 ? "∞" : plain((1 - threshold) / threshold, (1 - threshold) / threshold >= 100 ? 3 : 2);
}

const VIEWS = {
  probability: { write: (c) => percent(c), axis: "threshold" },
  odds: { write: odds, axis: "threshold, as odds" },
  alarms: { write: alarms, axis: "threshold: 1 miss = so many false alarms" },
};

// What a reader typed: 2%, 0.02, 1:49, 1/50, or a number of false alarms where the page speaks of them.
function parsedThreshold(text, view) {
  const share = /%\s*$/.test(text);
  // 1,250 false alarms are more than a thousand; the comma of 0,125 or of a percentage is one of decimals
  const thousands = (part) => !share && /^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(part);
  const typed = text.trim().replace(/[\d.,]+/g, (part) => (thousands(part) ? part.replaceAll(",", "") : part.replace(",", ".")));
  const pattern = "(\\d+\\.?\\d*(?:e[-+]?\\d+)?|\\.\\d+)";
  const pair = typed.match(new RegExp(`^${pattern}\\s*([:/])\\s*${pattern}$`, "i"));
  let value = NaN;
  if (pair) {
    const [first, second] = [Number(pair[1]), Number(pair[3])];
    value = pair[2] === ":" ? first / (first + second) : first / second;
  } else if (new RegExp(`^${pattern}\\s*%$`, "i").test(typed)) {
    value = parseFloat(typed) / 100;
  } else if (new RegExp(`^${pattern}$`, "i").test(typed)) {
    value = view === "alarms" ? 1 / (1 + Number(typed)) : Number(typed);
  } else if (view === "alarms" && /^(∞|infinity)$/i.test(typed)) {
    value = 0;
  }
  return value >= 0 && value <= 1 ? value : NaN;
}

function spanned([low, high], write) {
  return Number.isNaN(low) ? "no interval" : `${write(low)} to ${write(high)}`;
}

// An element with attributes and children; text is only ever text.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Hand a file to the reader of the page.
function saveFile(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function nameOf(rule) {
  return make("b", {}, make("bdi", {}, rule.model ? rule.model.name : rule.name));
}
