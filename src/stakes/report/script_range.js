// The range of plausible thresholds: two handles on an axis, fields to type in, the weighting, the view, the address.

const controls = document.getElementById("controls");
const track = document.getElementById("track");
const handles = [...track.querySelectorAll("[role=slider]")];
const fields = ["low", "high", "at"].map((key) => document.getElementById(`field-${key}`));
const weightingBox = document.getElementById("weighting");
const viewBox = document.getElementById("view");
const own = page.own;

// The axis of the handles is even in log-odds, as thresholds are spoken of, and 0 and 1 stand at its ends.
const lowest = Math.min(0.001, ...[own.low, 1 - own.high, page.shares.positive / 10].filter((c) => c > 0).map((c) => c / 2));
const REACH = [logit(lowest), logit(1 - Math.min(lowest, 0.001))];
const ENDS = [0.03, 0.97];
const STEPS = 240;

function logit(c) {
  return Math.log(c) - Math.log1p(-c);
}

function trackPlace(c) {
  if (c <= 0 || c >= 1) {
    return c <= 0 ? 0 : 1;
  }
  const share = (logit(c) - REACH[0]) / (REACH[1] - REACH[0]);
  return Math.min(Math.max(ENDS[0] + share * (ENDS[1] - ENDS[0]), 0.01), 0.99);
}

function trackValue(place) {
  if (place <= ENDS[0] / 2 || place >= 1 - ENDS[0] / 2) {
    return place <= ENDS[0] / 2 ? 0 : 1;
  }
  const share = (Math.min(Math.max(place, ENDS[0]), ENDS[1]) - ENDS[0]) / (ENDS[1] - ENDS[0]);
  return rounded(1 / (1 + Math.exp(-(REACH[0] + share * (REACH[1] - REACH[0])))));
}

// Three digits, counted from the nearer end.
function rounded(c) {
  return c <= 0.5 ? Number(c.toPrecision(3)) : Number((1 - Number((1 - c).toPrecision(3))).toFixed(12));
}

function startState() {
  return { low: own.low, high: own.high, weighting: own.weighting, view: "probability", at: middleOf(own) };
}

function middleOf({ low, high }) {
  return low === high ? low : rounded(Math.min(0.5 * (low + high), 0.99));
}

function isOwn(state) {
  return state.low === own.low && state.high === own.high && (state.weighting === own.weighting || state.low === state.high && own.weighting === "uniform");
}

class Range {
  constructor(changed) {
    this.changed = changed;
    this.state = { ...startState(), ...this.fromAddress() };
    this.listen();
  }

  // What the address says after "#", if it makes sense.
  fromAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    const numbers = (text) => (text ?? "").split(":").map((part) => (/^[\d.eE+-]+$/.test(part) ? Number(part) : NaN));
    const found = {};
    const [low, high] = numbers(address.get("thresholds"));
    if (low >= 0 && low <= high && high <= 1) {
      Object.assign(found, { low, high, weighting: own.weighting === "given" && !(low === own.low && high === own.high) ? "uniform" : own.weighting, at: middleOf({ low, high }) });
    }
    if (["uniform", "log-odds"].includes(address.get("weighting"))) {
      found.weighting = address.get("weighting");
    }
    if (Object.hasOwn(VIEWS, address.get("costs") ?? "")) {
      found.view = address.get("costs");
    }
    const [at] = numbers(address.get("at"));
    if (at >= 0 && at <= 1) {
      found.at = at;
    }
    return found;
  }

  toAddress() {
    const { low, high, weighting, view, at } = this.state;
    const parts = [`thresholds=${low}:${high}`, `weighting=${weighting}`, `costs=${view}`, `at=${at}`];
    try {
      history.replaceState(null, "", `#${parts.join("&")}`);
    } catch {
      // a page in a frame without an address of its own keeps none
    }
  }

  set(change) {
    const moved = "low" in change || "high" in change;
    const next = { ...this.state, ...change };
    if (moved && this.state.weighting === "given" && !("weighting" in change)) {
      next.weighting = "uniform";
    }
    if (next.weighting === "given") {
      Object.assign(next, { low: own.low, high: own.high });
    }
    this.state = next;
    this.show();
    this.changed(next);
    this.keep();
  }

  // Browsers allow an address to change only so often.
  keep() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.toAddress(), 250);
  }

  move(index, value) {
    const { low, high } = this.state;
    this.set(index === 0 ? { low: Math.min(value, high) } : { high: Math.max(value, low) });
  }

  show() {
    const { low, high, weighting, view, at } = this.state;
    [low, high].forEach((value, k) => {
      handles[k].style.left = `${100 * trackPlace(value)}%`;
      handles[k].setAttribute("aria-valuenow", value);
      handles[k].setAttribute("aria-valuetext", `${percent(value)}, odds ${odds(value)}, one miss is ${alarms(value)} false alarms`);
    });
    const fill = track.querySelector(".fill");
    fill.style.left = `${100 * trackPlace(low)}%`;
    fill.style.width = `${100 * (trackPlace(high) - trackPlace(low))}%`;
    [low, high, at].forEach((value, k) => {
      if (document.activeElement !== fields[k] || fields[k].dataset.typing !== "true") {
        fields[k].value = VIEWS[view].write(value);
        fields[k].removeAttribute("aria-invalid");
      }
    });
    weightingBox.value = weighting;
    viewBox.value = view;
    document.getElementById("reset").disabled = isOwn(this.state);
  }

  ticks() {
    const width = track.clientWidth || 600;
    const candidates = [0, 1, 0.5, 0.1, 0.9, 0.01, 0.99, 0.2, 0.8, 0.05, 0.95, 0.02, 0.98, 0.001, 0.999, 0.005, 0.002, 0.0001];
    const round = this.state.view === "probability" ? candidates : candidates.map((c) => (c === 0 || c === 1 || c === 0.5 ? c : c < 0.5 ? 1 / (1 + 1 / c) : 1 - 1 / (1 + 1 / (1 - c))));
    const kept = [];
    for (const c of round) {
      const inside = c === 0 || c === 1 || (c >= lowest && c <= 1 - Math.min(lowest, 0.001) * 0.999);
      if (inside && kept.every((other) => Math.abs(trackPlace(other) - trackPlace(c)) * width >= 52)) {
        kept.push(c);
      }
    }
    const marks = kept.map((c) => {
      const mark = make("span", { class: "mark" }, VIEWS[this.state.view].write(c));
      mark.style.left = `${100 * trackPlace(c)}%`;
      return mark;
    });
    track.querySelector(".marks").replaceChildren(...marks);
  }

  listen() {
    handles.forEach((handle, index) => {
      handle.addEventListener("keydown", (event) => this.key(event, index));
      handle.addEventListener("pointerdown", (event) => this.drag(event, index));
    });
    track.addEventListener("pointerdown", (event) => {
      if (event.target.closest("[role=slider]")) {
        return;
      }
      const value = this.pointed(event);
      const { low, high } = this.state;
      const nearer = Math.abs(trackPlace(value) - trackPlace(low)) <= Math.abs(trackPlace(value) - trackPlace(high)) ? 0 : 1;
      this.drag(event, value < low ? 0 : value > high ? 1 : nearer);
    });
    fields.forEach((field, index) => {
      field.addEventListener("input", () => this.typed(field, index, false));
      field.addEventListener("change", () => this.typed(field, index, true));
      field.addEventListener("blur", () => {
        field.dataset.typing = "false";
        this.show();
      });
    });
    weightingBox.addEventListener("change", () => this.set({ weighting: weightingBox.value }));
    viewBox.addEventListener("change", () => {
      this.set({ view: viewBox.value });
      this.ticks();
    });
    document.getElementById("reset").addEventListener("click", () => {
      const { low, high, weighting } = startState();
      this.set({ low, high, weighting });
      handles[0].focus();
    });
    window.addEventListener("hashchange", () => {
      if (location.hash.includes("thresholds=")) {
        this.state = { ...startState(), ...this.fromAddress() };
        this.show();
        this.ticks();
        this.changed(this.state);
      }
    });
    // links within the page go to their section and leave the address, which holds the range, as it is
    for (const link of document.querySelectorAll('a[href^="#"]')) {
      link.addEventListener("click", (event) => {
        const goal = document.getElementById(link.hash.slice(1));
        event.preventDefault();
        goal.querySelectorAll(":scope > details").forEach((block) => { block.open = true; });
        goal.scrollIntoView();
        goal.setAttribute("tabindex", "-1");
        goal.focus({ preventScroll: true });
      });
    }
  }

  pointed(event) {
    const box = track.querySelector(".rail").getBoundingClientRect();
    return trackValue((event.clientX - box.left) / box.width);
  }

  drag(event, index) {
    if (event.button > 0) {
      return;
    }
    event.preventDefault();
    handles[index].focus({ preventScroll: true });
    this.follow(event, track, index, (moved) => this.pointed(moved));
  }

  // Follow the pointer until it is let go.
  follow(event, element, index, value) {
    element.setPointerCapture(event.pointerId);
    this.held = true;
    const moved = (next) => this.move(index, value(next));
    const ended = (last) => {
      element.removeEventListener("pointermove", moved);
      element.removeEventListener("pointerup", ended);
      element.removeEventListener("pointercancel", ended);
      this.held = false;
      this.move(index, last.type === "pointerup" ? value(last) : this.state[["low", "high"][index]]);
    };
    element.addEventListener("pointermove", moved);
    element.addEventListener("pointerup", ended);
    element.addEventListener("pointercancel", ended);
    moved(event);
  }

  // The two ends of the shading can be dragged in a figure too.
  dragIn(chart) {
    const near = (event) => {
      const box = chart.svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * chart.width;
      const gaps = ["low", "high"].map((key) => Math.abs(chart.x(this.state[key]) - at));
      const index = gaps[0] < gaps[1] ? 0 : gaps[0] > gaps[1] ? 1 : at < chart.x(this.state.low) ? 0 : 1;
      return gaps[index] <= 9 ? index : -1;
    };
    const value = (event) => rounded(clip(chart.valueAt(event), 0, 1));
    chart.host.addEventListener("pointermove", (event) => {
      chart.host.style.cursor = event.pointerType === "mouse" && near(event) >= 0 ? "ew-resize" : "";
    });
    chart.host.addEventListener("pointerdown", (event) => {
      const index = near(event);
      if (index >= 0 && event.button === 0) {
        event.preventDefault();
        this.follow(event, chart.host, index, value);
      }
    });
  }

  key(event, index) {
    const step = event.shiftKey ? 10 : 1;
    const moves = { ArrowRight: step, ArrowUp: step, ArrowLeft: -step, ArrowDown: -step, PageUp: 20, PageDown: -20 };
    const value = this.state[["low", "high"][index]];
    let next = null;
    if (event.key in moves) {
      next = this.stepped(value, moves[event.key]);
    } else if (event.key === "Home" || event.key === "End") {
      next = event.key === "Home" ? (index === 0 ? 0 : this.state.low) : index === 0 ? this.state.high : 1;
    }
    if (next !== null) {
      event.preventDefault();
      this.move(index, next);
    }
  }

  // The next value on the axis that differs as written.
  stepped(value, count) {
    let place = trackPlace(value);
    for (let tries = 0; tries < 20; tries += 1) {
      place = clip(place + count / STEPS, 0, 1);
      const next = trackValue(place);
      if (next !== value && next > value === count > 0) {
        return next;
      }
    }
    return value;
  }

  typed(field, index, done) {
    field.dataset.typing = String(!done);
    const value = parsedThreshold(field.value, this.state.view);
    const { low, high } = this.state;
    const good = !Number.isNaN(value) && !(index === 0 && value > high) && !(index === 1 && value < low);
    const problem = document.getElementById("problem");
    if (!good) {
      field.setAttribute("aria-invalid", "true");
      problem.textContent = done ? `“${field.value.slice(0, 20)}” is no threshold here: write 2%, 0.02, or 1:49, the lowest not above the highest.` : "";
      return;
    }
    field.removeAttribute("aria-invalid");
    problem.textContent = "";
    if (value !== this.state[["low", "high", "at"][index]] || done) {
      const unchanged = VIEWS[this.state.view].write(this.state[["low", "high", "at"][index]]) === field.value;
      this.set(unchanged ? {} : { [["low", "high", "at"][index]]: value });
    }
  }
}
