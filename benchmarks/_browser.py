"""Time and memory of the page on which a file is dropped: `python -m benchmarks._browser`, with Chromium installed.

From the choice of a file to the page's first word about it, from the request to the drawn answer, and the CPU seconds
and the largest resident size of the browser's process that holds the page and its worker.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks._data import SEED, make_columns
from stakes.report import render_drop_page
from tests.report.chromium import Chromium

SIZES = (10**3, 10**5, 10**6)
MODELS = 4
ASK = """for (const [id, value] of [['fewest', '3'], ['most', '9']]) { document.getElementById(id).value = value; }
document.getElementById('evaluate').click()"""
DONE = "document.documentElement.dataset.drawn === 'true'"


def write_csv(path, rows):
    """Write a label and the scores of four models, with as many digits as a float has."""
    columns, rng = make_columns(rows), np.random.default_rng(SEED)
    noise = [0.01 * (k + 1) * rng.normal(size=rows) for k in range(MODELS)]
    scores = {f"model {k}": np.clip(columns["score"] + each, 0.0, 1.0) for k, each in enumerate(noise)}
    pl.DataFrame({"y": columns["y"].astype(np.int8), **scores}).write_csv(path)


def largest(folder):
    """Return the resident MB and the CPU seconds of the largest process that a browser with this profile started."""
    found = (0.0, 0.0)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in process.joinpath("cmdline").read_text() or _parent_of(process, folder):
                lines = process.joinpath("status").read_text().splitlines()
                size = [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")]
                ticks = process.joinpath("stat").read_text().rpartition(")")[2].split()[11:13]
                found = max([found, *((each, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")) for each in size)])
        except OSError:  # it has ended
            continue
    return found


def _parent_of(process, folder):
    """Whether the process was started by a helper of that browser."""
    while process.name not in {"0", "1"}:
        parent = process.joinpath("stat").read_text().rpartition(")")[2].split()[1]
        process = Path("/proc") / parent
        if parent != "0" and str(folder) in process.joinpath("cmdline").read_text():
            return True
    return False


def measure(browser, page, file):
    """Return seconds to the first word and to the answer, CPU seconds of the largest process, and its size in MB."""
    browser.open(page)
    root = browser.call("DOM.getDocument")["root"]["nodeId"]
    field = browser.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
    began = time.perf_counter()
    browser.call("DOM.setFileInputFiles", files=[str(file)], nodeId=field)
    browser.wait_for("!document.getElementById('asked').hidden")
    first, peak, spent = time.perf_counter() - began, 0.0, 0.0
    began = time.perf_counter()
    browser.run(ASK)
    while not browser.run(DONE):
        size, spent = largest(browser.profile)
        peak = max(peak, size)
        time.sleep(0.25)
    return first, time.perf_counter() - began, spent, peak


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks._browser", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=lambda text: int(float(text)), default=SIZES, metavar="ROWS")
    sizes = parser.parse_args().sizes
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        parser.error("no Chromium was found.")
    heads = ("rows", "models", "first word s", "answer s", "CPU s", "largest process MB")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "drop.html")
        page.write_text(render_drop_page(), encoding="utf-8")
        for rows in sizes:
            file = Path(folder, f"{rows}.csv")
            write_csv(file, rows)
            browser = Chromium(program)
            try:
                first, answer, spent, peak = measure(browser, page, file)
            finally:
                browser.close()
            print(f"| {rows:,} | {MODELS} | {first:.2f} | {answer:.2f} | {spent:.2f} | {peak:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
