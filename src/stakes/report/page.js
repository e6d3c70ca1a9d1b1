// Draws the figures of the report from the data in the page, and redraws them when the reader or the screen asks.
(() => {
  "use strict";
  const specs = JSON.parse(document.getElementById("figures").textContent);
  const root = document.documentElement;
  const hidden = new Set();
  const figures = Object.keys(specs).map((key) => {
    const view = Object.keys(specs[key].views)[0];
    return { key, spec: specs[key], view, ranges: specs[key].views[view], plot: document.getElementById("plot-" + key) };
  });
  const touch = matchMedia("(pointer: coarse)").matches;
  const config = { displayModeBar: false, displaylogo: false, doubleClick: false, responsive: false };
  let paperWidth = 0;

  // Colours stand in the data by the names that style.css gives them for light and for dark pages.
  function painted(value, colour, key) {
    if (typeof value === "string") {
      return value.startsWith("--") && /color$/.test(key) ? colour(value) : value;
    }
    if (Array.isArray(value)) {
      return value.map((inner) => painted(inner, colour, ""));
    }
    if (value === null || typeof value !== "object" || "bdata" in value) {
      return value;
    }
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, painted(inner, colour, name)]));
  }

  function oddsOf(threshold) {
    const whole = (ratio) => Number(Math.round(ratio).toPrecision(3)).toLocaleString("en");
    const short = (ratio) => (ratio >= 10 ? whole(ratio) : String(Number(ratio.toPrecision(2))));
    if (threshold <= 0 || threshold >= 1) {
      return threshold <= 0 ? "0:1" : "1:0";
    }
    const ratio = (1 - threshold) / threshold;
    return ratio >= 1 ? "1:" + short(ratio) : short(1 / ratio) + ":1";
  }

  // Round thresholds, written as percentages and as odds.
  function ticks([low, high], width) {
    const raw = (high - low) / Math.max(2, Math.floor(width / 80));
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
    const values = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
      const value = Number((k * step).toPrecision(12));
      if (value >= 0 && value <= 1) {
        values.push(value);
      }
    }
    const percent = (value) => Number((100 * value).toPrecision(6)) + "%";
    return { tickmode: "array", tickvals: values, ticktext: values.map((x) => percent(x) + "<br>" + oddsOf(x)) };
  }

  function draw(figure) {
    const { spec, plot, ranges } = figure;
    const styles = getComputedStyle(root);
    const copy = painted({ data: spec.data, layout: spec.layout }, (name) => styles.getPropertyValue(name).trim(), "");
    copy.data.forEach((trace, index) => {
      trace.visible = !hidden.has(spec.owners[index]);
    });
    const layout = copy.layout;
    layout.width = paperWidth || plot.clientWidth;
    layout.height = Math.min(470, Math.max(340, 0.5 * layout.width)) * (layout.yaxis2 ? 1.25 : 1);
    for (const [path, range] of Object.entries(ranges)) {
      layout[path.split(".")[0]].range = [...range];
    }
    if (spec.odds) {
      Object.assign(layout.xaxis, ticks(ranges["xaxis.range"], layout.width));
    }
    if (touch) {
      layout.dragmode = false;
    }
    return Plotly.react(plot, copy.data, layout, config);
  }

  function drawAll() {
    return Promise.all(figures.map(draw));
  }

  function choose(figure, view) {
    figure.view = view;
    figure.ranges = figure.spec.views[view];
    draw(figure);
  }

  function listen(figure) {
    const block = figure.plot.closest("figure");
    const buttons = [...block.querySelectorAll("[data-view]")];
    for (const button of buttons) {
      button.addEventListener("click", () => {
        buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
        choose(figure, button.dataset.view);
      });
    }
    block.querySelector("[data-save]").addEventListener("click", () => {
      Plotly.downloadImage(figure.plot, { format: "png", scale: 2, filename: "stakes-" + figure.key });
    });
    figure.plot.on("plotly_doubleclick", () => choose(figure, figure.view));
    figure.plot.on("plotly_relayout", () => {
      const layout = figure.plot.layout;
      figure.ranges = Object.fromEntries(
        Object.keys(figure.ranges).map((path) => [path, [...layout[path.split(".")[0]].range]])
      );
      draw(figure);
    });
  }

  function toggle(event) {
    const model = Number(event.target.dataset.model);
    hidden[event.target.checked ? "delete" : "add"](model);
    for (const box of document.querySelectorAll('[data-model="' + model + '"]')) {
      box.checked = event.target.checked;
    }
    drawAll();
  }

  // On paper: light colours, the width of the sheet, and every table open.
  function forPaper(start) {
    root.classList.toggle("printing", start);
    paperWidth = start ? 660 : 0;
    for (const block of document.querySelectorAll("details")) {
      if (start) {
        block.dataset.open = String(block.open);
      }
      block.open = start || block.dataset.open === "true";
    }
    drawAll();
  }

  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 100);
  });
  window.addEventListener("beforeprint", () => forPaper(true));
  window.addEventListener("afterprint", () => forPaper(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  for (const box of document.querySelectorAll("[data-model]")) {
    box.addEventListener("change", toggle);
  }
  drawAll().then(() => {
    figures.forEach(listen);
    root.dataset.drawn = "true";
  });
})();
