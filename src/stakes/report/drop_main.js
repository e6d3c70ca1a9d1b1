// The page on which a file is dropped: it asks for what is unclear, lets a worker evaluate, and shows the report.

const parts = JSON.parse(document.getElementById("parts").textContent);
for (const name of ["script", "worker"]) {
  parts[name] = parts.shared + parts[name];
}
const byId = (id) => document.getElementById(id);
const LABELS = /^(y|y_true|label|labels|target|truth|outcome|event|class)$/i;
let worker = null;
let source = null; // what was dropped: a blob and its name
let columns = [];
let waiting = null;
const unticked = new Set(); // columns of this file that are not to be models
let heard = []; // what the last report listens to in the window

// A worker from this page's own text; it is ended where it is no longer wanted.
function freshWorker() {
  worker?.terminate();
  const address = URL.createObjectURL(new Blob([parts.worker], { type: "text/javascript" }));
  worker = new Worker(address);
  URL.revokeObjectURL(address);
  worker.onmessage = ({ data }) => (data.progress ? showProgress(...data.progress) : waiting?.(data));
  worker.onerror = ({ message }) => waiting?.({ error: `This page cannot work on the file: ${message}. stakes evaluate may.` });
}

function ask(kind, more = {}) {
  return new Promise((resolve) => {
    waiting = resolve;
    worker.postMessage({ kind, ...source, ...more });
  });
}

function showProgress(doing, share) {
  byId("progress").value = share;
  byId("doing").textContent = doing;
}

function busy(doing) {
  byId("work").hidden = !doing;
  byId("evaluate").disabled = Boolean(doing);
  if (doing) {
    showProgress(doing, 0);
  }
}

function fail(message) {
  byId("error").textContent = message;
  busy("");
}

// Take a file: see its columns, and ask for what they do not say.
async function take(blob, file, known = {}) {
  source = { blob, file };
  byId("error").textContent = "";
  byId("took").textContent = "";
  byId("asked").hidden = true;
  clearReport();
  busy("Looking at the columns");
  freshWorker();
  const { found, error } = await ask("open");
  busy("");
  if (error) {
    fail(error);
    return;
  }
  columns = found.columns;
  source.separator = found.separator;
  fillSettings(found, known);
  byId("asked").hidden = false;
  byId("asked").open = true;
  if (known.range) {
    await evaluate({ scroll: false });
  } else {
    byId(byId("label").value === "" ? "label" : positiveUnclear() ? "positive" : "fewest").focus();
  }
}

function option(value, text = value) {
  return make("option", { value }, text === "" ? "(no name)" : text);
}

function fillSettings({ names }, known) {
  const likely = columns.filter(({ binary }) => binary);
  // one column that may be the outcome, or one by its name, or the first where no other says which value is positive
  const clear = likely.filter(({ values }) => isClear(values));
  const choices = [likely, likely.filter(({ name }) => LABELS.test(name)), clear[0] === likely[0] ? clear : []];
  const label = known.label ?? choices.find((found) => found.length === 1)?.[0].name ?? "";
  const ordered = [...likely, ...columns.filter(({ binary }) => !binary)];
  byId("label").replaceChildren(...(label === "" ? [option("", "choose its column")] : []), ...ordered.map(({ name }) => option(name)));
  byId("label").value = label;
  for (const [id, words] of [["weight", "none: every row counts once"], ["group", "no column"]]) {
    byId(id).replaceChildren(option("", words), ...names.filter((name) => name !== "").map((name) => option(name)));
  }
  byId("missing").value = "raise";
  unticked.clear();
  const [low, high] = known.range ?? [];
  byId("fewest").value = known.range ? alarms(high) : "";
  byId("most").value = known.range ? alarms(low) : "";
  byId("event").textContent = source.words?.words.event ?? "positive";
  source.range = known.range;
  labelChosen();
}

// Whether the values say themselves which of them is positive.
function isClear(values) {
  const pairs = [["0", "1"], ["-1", "1"], ["0.0", "1.0"], ["false", "true"]];
  return pairs.some((pair) => values.every((value) => pair.includes(value.trim().toLowerCase())));
}

// Which values the outcome has, and which columns are left to be models.
function labelChosen() {
  const label = byId("label").value;
  const { values = [], distinct = 0 } = columns.find(({ name }) => name === label) ?? {};
  const clear = isClear(values);
  const pairs = distinct <= 3 ? values : [];
  byId("positive").replaceChildren(...(clear ? [option("", values.find((value) => /^(1|1\.0|true)$/i.test(value.trim())) ?? "1")] : [option("", "choose its value")]), ...(clear ? pairs.filter((value) => /^(0|0\.0|-1|false)$/i.test(value.trim())) : pairs).map((value) => option(value)));
  byId("positive").dataset.clear = String(clear);
  modelsLeft();
}

function positiveUnclear() {
  return byId("positive").value === "" && byId("positive").dataset.clear === "false";
}

function modelsLeft() {
  const taken = [byId("label").value, byId("weight").value, byId("group").value];
  const boxes = columns.filter(({ name, numeric }) => numeric && name !== "" && !taken.includes(name)).map(({ name }) => {
    const box = make("input", { type: "checkbox", value: name, ...(unticked.has(name) ? {} : { checked: "" }) });
    return make("label", {}, box, make("bdi", {}, name));
  });
  byId("models").replaceChildren(make("legend", {}, "Models"), ...boxes);
  sayTook();
}

function chosenModels() {
  const boxes = [...byId("models").querySelectorAll("input")];
  const chosen = boxes.filter(({ checked }) => checked).map(({ value }) => value);
  return chosen.length === boxes.length ? null : chosen;
}

// What was taken for what, in a sentence.
function sayTook() {
  const [label, models] = [byId("label").value, [...byId("models").querySelectorAll("input:checked")].map(({ value }) => value)];
  const separator = { ",": "commas", ";": "semicolons", "\t": "tabs" }[source.separator];
  const models_ = models.length === 1 ? "1 model" : `${models.length} models`;
  const outcome = label === "" ? "Say which column is the outcome." : `The outcome is ${label}; ${models_}: ${models.slice(0, 8).join(", ")}${models.length > 8 ? ", …" : ""}.`;
  byId("took").textContent = `${source.file}: ${columns.length} columns, separated by ${separator}. ${outcome}`;
}

// The range of thresholds from two fields that speak of false alarms; null where one of them cannot be read.
function rangeAsked() {
  const fields = ["fewest", "most"].map(byId);
  const typed = fields.map(({ value }) => value.trim());
  const read = typed.map((text, k) => (text === "" ? (k === 0 ? 1 : 0) : parsedThreshold(text, "alarms")));
  fields.forEach((field, k) => (Number.isNaN(read[k]) ? field.setAttribute("aria-invalid", "true") : field.removeAttribute("aria-invalid")));
  if (read.some(Number.isNaN)) {
    return null;
  }
  const same = source.range && alarms(source.range[1]) === typed[0] && alarms(source.range[0]) === typed[1];
  const [low, high] = same ? source.range : [Math.min(...read), Math.max(...read)];
  return { low, high };
}

async function evaluate({ scroll = true } = {}) {
  byId("error").textContent = "";
  const [range, label, positive] = [rangeAsked(), byId("label").value, byId("positive").value];
  if (label === "" || positiveUnclear()) {
    fail(label === "" ? "Say which column is the outcome." : `Say which value of ${label} is positive.`);
    byId(label === "" ? "label" : "positive").focus();
    return;
  }
  if (!range) {
    fail("A range of false alarms is two numbers, such as 3 to 9, or two risks, such as 10% and 25%.");
    return;
  }
  const or = (id) => byId(id).value || null;
  const settings = { ...range, label, posLabel: positive || null, models: chosenModels(), weight: or("weight"), group: or("group"), onMissing: byId("missing").value };
  busy("Reading");
  const { found, error } = await ask("evaluate", { settings, words: { ...parts.words, ...source.words } });
  busy("");
  if (error) {
    fail(error);
    return;
  }
  Object.assign(found.read, { asked: settings, separator: source.separator });
  showReport(found);
  if (scroll) {
    byId("report").scrollIntoView({ block: "start" });
  }
}

function clearReport() {
  heard.forEach(([type, listener]) => window.removeEventListener(type, listener));
  heard = [];
  byId("report").replaceChildren();
  byId("source").classList.remove("answered");
}

function factsOf({ read, shares, words, sentences }) {
  const { file, rows, positives, label, models } = read;
  const filled = { file, rows: grouped(rows, 0, 0), positives: grouped(positives, 0, 0), events: positives === 1 ? words.event : words.events, share: percent(shares.positive), label: `'${label}'`, models: models.length === 1 ? "1 model" : `${models.length} models` };
  return sentences.read.replace(/\{(\w+)\}/g, (_, key) => filled[key]);
}

// The report's own body in this page, and its scripts, which are run anew for each answer.
function showReport(found) {
  clearReport();
  history.replaceState(null, "", location.pathname + location.search);
  const body = parts.report.slice(parts.report.indexOf("<main>") + 6, parts.report.indexOf("</main>"));
  const payload = make("script", { type: "application/json", id: "payload" }, JSON.stringify(found));
  const script = make("script", {}, parts.script);
  byId("report").innerHTML = body;
  byId("report").prepend(make("p", { class: "facts" }, factsOf(found)));
  const listen = window.addEventListener;
  window.addEventListener = (type, listener, more) => {
    heard.push([type, listener]);
    listen.call(window, type, listener, more);
  };
  byId("report").append(payload, script);
  delete window.addEventListener;
  const save = make("button", { type: "button", id: "save-report" }, "Save report as HTML");
  save.addEventListener("click", () => saveReport(found));
  byId("report").querySelector('[data-part="saves"]').prepend(save);
  byId("asked").open = false;
  byId("source").classList.add("answered");
}

function escaped(text) {
  return make("p", {}, text).innerHTML;
}

// The report as a page of its own.
function saveReport(found) {
  const payload = JSON.stringify(found).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const filled = {
    [parts.slots.facts]: escaped(factsOf(found)), [parts.slots.made]: `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`, [parts.slots.payload]: payload,
    "\ue000style\ue000": byId("style").textContent, "\ue000script\ue000": parts.script,
  };
  const text = parts.report.replace(/\ue000\w+\ue000/g, (slot) => filled[slot]);
  saveFile(new Blob([text], { type: "text/html" }), "stakes-report.html");
}

function takePasted(text) {
  if (text.trim()) {
    take(new Blob([text], { type: "text/plain" }), "pasted cells");
  }
}

function takeExample() {
  const { file, text, label, range, words } = parts.example;
  const taken = take(new Blob([text]), file, { label, range });
  source.words = words;
  return taken;
}

const zone = byId("drop");
for (const type of ["dragover", "dragenter"]) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => event.relatedTarget ?? zone.classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  zone.classList.remove("over");
  const [file] = event.dataTransfer.files;
  if (file) {
    take(file, file.name);
  } else {
    takePasted(event.dataTransfer.getData("text/plain"));
  }
});
document.addEventListener("paste", (event) => {
  if (!event.target.closest?.("input, textarea")) {
    takePasted(event.clipboardData.getData("text/plain"));
  }
});
byId("file").addEventListener("change", ({ target }) => {
  const [file] = target.files;
  target.value = "";
  if (file) {
    take(file, file.name);
  }
});
byId("paste").addEventListener("click", ({ target }) => {
  const open = byId("cells-part").hidden;
  byId("cells-part").hidden = !open;
  target.setAttribute("aria-expanded", String(open));
  if (open) {
    byId("cells").focus();
  }
});
byId("take").addEventListener("click", () => takePasted(byId("cells").value));
byId("stop").addEventListener("click", () => {
  freshWorker();
  busy("");
});
byId("label").addEventListener("change", labelChosen);
byId("weight").addEventListener("change", modelsLeft);
byId("group").addEventListener("change", modelsLeft);
byId("models").addEventListener("change", ({ target }) => {
  unticked[target.checked ? "delete" : "add"](target.value);
  sayTook();
});
byId("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  evaluate();
});
if (parts.example) {
  byId("example").hidden = false;
  byId("example").addEventListener("click", takeExample);
  takeExample();
}
document.documentElement.dataset.ready = "true";
