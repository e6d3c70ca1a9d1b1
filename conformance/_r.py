"""Run a piece of R on inputs: it reads them by `input(NAME)` and answers by `put(KEY, numbers)`."""

import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from conformance._inputs import load

PRELUDE = """
input <- function(name) read.csv(file.path(folder, paste0(name, ".csv")))
numbers <- function(x) paste(sprintf("%.17g", as.numeric(x)), collapse = " ")
put <- function(key, x) cat("value\\t", key, "\\t", numbers(x), "\\n", sep = "")
version <- function(package) cat("version\\t", as.character(packageVersion(package)), "\\n", sep = "")
"""


def _write(folder, name):
    data = {key: column for key, column in load(name).items() if key != "classes"}
    data |= {f"p{k}": column for k, column in enumerate(load(name).get("classes", np.empty((0, 0))).T)}
    with (Path(folder) / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(data)
        rows.writerows(zip(*(column.tolist() for column in data.values()), strict=True))


def run(package, code, inputs):
    """Return the package's version and its answers by their keys."""
    with tempfile.TemporaryDirectory() as folder:
        for name in inputs:
            _write(folder, name)
        names = ", ".join(f'"{name}"' for name in inputs)
        script = f'folder <- "{folder}"\ninputs <- c({names})\n{PRELUDE}\nsuppressMessages(library({package}))\n'
        path = Path(folder) / "script.R"
        path.write_text(f'{script}version("{package}")\n{code}', encoding="utf-8")
        command = ["Rscript", "--vanilla", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    lines = [line.split("\t") for line in done.stdout.splitlines() if line.startswith(("value\t", "version\t"))]
    answers = {
        line[1]: [float(text.replace("NA", "nan", 1)) for text in line[2].split()]
        for line in lines
        if line[0] == "value"
    }
    return next(line[1] for line in lines if line[0] == "version"), answers
