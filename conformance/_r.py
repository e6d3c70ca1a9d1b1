"""Run a piece of R on inputs: it reads them by `input(NAME)` and answers by `put(KEY, numbers)`."""

import csv
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from conformance._inputs import load

PRELUDE = """
input <- function(name) read.csv(file.path(folder, paste0(name, ".csv")))
numbers <- function(x) paste(sprintf("%.17g", as.numeric(x)), collapse = " ")
put <- function(key, x) cat("value\\t", key, "\\t", numbers(x), "\\n", sep = "")
said <- function(version) cat("version\\t", as.character(version), "\\n", sep = "")
"""
# the folder that holds the sources of packages which no system package brings, each in a folder of its own name
SOURCES = "STAKES_R_SOURCES"


def _write(folder, name):
    data = {key: column for key, column in load(name).items() if key != "classes"}
    data |= {f"p{k}": column for k, column in enumerate(load(name).get("classes", np.empty((0, 0))).T)}
    with (Path(folder) / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(data)
        rows.writerows(zip(*(column.tolist() for column in data.values()), strict=True))


def run(package, code, inputs, *, files=(), uses=()):
    """Return the package's version and its answers by their keys.

    A package with ``files`` is not installed: those of its source are read, with the installed packages that it uses.
    """
    if files:
        folder = Path(os.environ[SOURCES]) / package
        start = [f"library({name})" for name in uses] + [f'source("{folder / "R" / name}.R")' for name in files]
        found = f'read.dcf("{folder / "DESCRIPTION"}", "Version")[1]'
    else:
        start, found = [f"library({package})"], f'packageVersion("{package}")'
    head = f"suppressMessages({{ {'; '.join(start)} }})\nsaid({found})\n"
    with tempfile.TemporaryDirectory() as folder:
        for name in inputs:
            _write(folder, name)
        names = ", ".join(f'"{name}"' for name in inputs)
        path = Path(folder) / "script.R"
        script = f'folder <- "{folder}"\ninputs <- c({names})\n{PRELUDE}\n{head}{code}'
        path.write_text(script, encoding="utf-8")
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
