"""CSV files for the page on which one is dropped: shipped, weighted, with ties and strange cells, and hostile ones."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np

DATA = files("stakes") / "data"


def drawn(n, *, models=2, seed=0, digits=6, weight=None, prevalence=1.2):
    """Return the text of a file of simulated predictions."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(prevalence, 4.0, size=n)
    y = (rng.random(n) < risk).astype(int)
    columns = [y.astype(str)]
    for k in range(models):
        score = np.clip(risk + (0.05 + 0.04 * k) * rng.normal(size=n), 0.0, 1.0)
        columns.append([f"{value:.{digits}f}" for value in score])
    names = ["y", *(f"m{k}" for k in range(models))]
    if weight is not None:
        names.append("w")
        columns.append([repr(float(value)) for value in weight(rng, n)])
    rows = [",".join(names), *(",".join(row) for row in zip(*columns, strict=True))]
    return "\n".join(rows) + "\n"


def lines(text, change):
    """Change each line below the header by its place."""
    head, *rows = text.splitlines()
    return "\n".join([head, *(change(k, row) for k, row in enumerate(rows))]) + "\n"


SMALL = drawn(60, seed=5)
STATED = {
    "german credit": (DATA.joinpath("german_credit.csv").read_text(), {"label": "bad", "low": 0.1, "high": 0.25}),
    "german credit by group": (
        DATA.joinpath("german_credit.csv").read_text(),
        {"label": "bad", "low": 0.1, "high": 0.25, "group": "age_group"},
    ),
    "breast cancer": (DATA.joinpath("breast_cancer.csv").read_text(), {"label": "malignant", "low": 0.02, "high": 0.2}),
    "all thresholds": (DATA.joinpath("breast_cancer.csv").read_text(), {"label": "malignant", "low": 0.0, "high": 1.0}),
    "one threshold": (DATA.joinpath("german_credit.csv").read_text(), {"label": "bad", "low": 0.2, "high": 0.2}),
    "one model": (drawn(300, models=1, seed=1), {}),
    "ten models": (drawn(400, models=10, seed=2), {}),
    "few digits": (drawn(500, digits=1, seed=3), {}),
    "ties": (drawn(2000, digits=2, models=3, seed=4), {}),
    "weights": (drawn(400, seed=6, weight=lambda rng, n: rng.uniform(0.5, 3.0, n)), {"weight": "w"}),
    "whole weights": (drawn(400, seed=7, weight=lambda rng, n: rng.integers(1, 5, n)), {"weight": "w"}),
    "weights of zero": (drawn(400, seed=8, weight=lambda rng, n: rng.integers(0, 3, n) * 1.0), {"weight": "w"}),
    "weights of one": (drawn(200, seed=9, weight=lambda _, n: np.ones(n)), {"weight": "w"}),
    "few positives": (drawn(400, seed=10, prevalence=0.05), {"low": 0.05, "high": 0.2}),
    "nearly no positives": (drawn(300, seed=11, prevalence=0.02), {"low": 0.01, "high": 0.5}),
    "two rows": ("y,a\n0,0.2\n1,0.7\n", {}),
    "one row": ("y,a\n1,0.7\n", {}),
    "only negatives": ("y,a,b\n" + "0,0.2,0.3\n0,0.15,0.1\n" * 20, {}),
    "only positives": ("y,a,b\n" + "1,0.2,0.3\n1,0.15,0.1\n" * 20, {}),
    "one score": ("y,a\n" + "0,0.2\n1,0.2\n" * 30, {}),
    "copies": (
        lines(drawn(200, models=1, seed=12), lambda _, row: f"{row},{row.split(',')[1]}").replace("m0", "m0,b", 1),
        {},
    ),
    "scores of 0 and 1": ("y,a\n" + "0,0\n1,1\n0,1\n1,0\n" * 25, {}),
    "semicolons": (SMALL.replace(",", ";"), {}),
    "tabs": (SMALL.replace(",", "\t"), {}),
    "line ends of Windows": (SMALL.replace("\n", "\r\n"), {}),
    "line ends of old": (SMALL.replace("\n", "\r"), {}),
    "a byte order mark": ("\ufeff" + SMALL, {}),
    "quotation marks": (re.sub(r"(0\.\d+)", r'"\1"', SMALL), {}),
    "names with commas": (SMALL.replace("m0,m1", '"m, 0","m ""1"""'), {}),
    "cells of several lines": (lines(SMALL, lambda k, row: f'{row},"a\nb{k}"').replace("m1", "m1,note", 1), {}),
    "blank lines": (SMALL.replace("\n", "\n\n"), {}),
    "blank lines at the end": (SMALL + "\n\n \n", {}),
    "no last line end": (SMALL.rstrip("\n"), {}),
    "spaces": (SMALL.replace(",", " , ").replace("y , m0 , m1", "y,m0,m1"), {}),
    "exponents": ("y,a\n0,1e-3\n1,5E-1\n0,.25\n1,1.\n" * 1, {}),
    "text labels": (lines(SMALL, lambda _, row: ("yes" if row[0] == "1" else "no") + row[1:]), {"posLabel": "yes"}),
    "true and false": (lines(SMALL, lambda _, row: ("True" if row[0] == "1" else "FALSE") + row[1:]), {}),
    "labels of minus one": (lines(SMALL, lambda _, row: ("1" if row[0] == "1" else "-1") + row[1:]), {}),
    "labels of one and two": (
        lines(SMALL, lambda _, row: ("2" if row[0] == "1" else "1") + row[1:]),
        {"posLabel": "2"},
    ),
    "labels with decimals": (lines(SMALL, lambda _, row: row[0] + ".0" + row[1:]), {}),
    "row numbers": (lines(SMALL, lambda k, row: f"{k},{row}").replace("y,", ",y,", 1), {}),
    "missing, dropped": (
        lines(SMALL, lambda k, row: row if k % 7 else row[:2] + "NA," + row[-8:]),
        {"onMissing": "drop"},
    ),
    "chosen models": (drawn(100, models=4, seed=13), {"models": ["m2", "m0"]}),
    "long digits": (drawn(150, seed=14, digits=17), {}),
}
REFUSED = {
    "nothing": ("", {}),
    "a header alone": ("y,a\n", {}),
    "three labels": (SMALL.replace("\n0,", "\n2,", 1), {}),
    "no such label": (SMALL, {"label": "z"}),
    "labels of text without a positive": (
        lines(SMALL, lambda _, row: ("yes" if row[0] == "1" else "no") + row[1:]),
        {},
    ),
    "a decimal comma": (
        lines(SMALL.replace(",", ";"), lambda k, row: row.replace("0.", "0,", 1) if k == 11 else row),
        {},
    ),
    "a comma in a thousand": (lines(SMALL, lambda k, row: row[:2] + '"1,830"' + row[10:] if k == 9 else row), {}),
    "a line for Excel": ("sep=,\n" + SMALL, {}),
    "a percent sign": (lines(SMALL, lambda k, row: row + "%" if k == 3 else row), {}),
    "a word among numbers": (lines(SMALL, lambda k, row: row[:2] + "high" + row[10:] if k == 20 else row), {}),
    "a score of 30": (lines(SMALL, lambda k, row: row[:2] + "30" + row[10:] if k == 9 else row), {}),
    "a negative score": (lines(SMALL, lambda k, row: row[:2] + "-" + row[2:] if k == 0 else row), {}),
    "a missing score": (lines(SMALL, lambda k, row: row[:2] + row[10:] if k == 30 else row), {}),
    "a missing label": (lines(SMALL, lambda k, row: row[1:] if k == 2 else row), {}),
    "a field too many": (lines(SMALL, lambda k, row: row + ",1" if k == 5 else row), {}),
    "a field too few": (lines(SMALL, lambda k, row: row[:10] if k == 6 else row), {}),
    "an open quotation mark": (lines(SMALL, lambda k, row: '"' + row if k == 8 else row), {}),
    "letters after a quotation mark": (lines(SMALL, lambda k, row: '"0"x' + row[1:] if k == 8 else row), {}),
    "a name twice": (SMALL.replace("m0,m1", "m0,m0"), {}),
    "no numbers": ("y,a\n0,low\n1,high\n", {}),
    "another encoding": (SMALL.encode("utf-16"), {}),
    "a byte that is no text": (SMALL.encode().replace(b"0.1", b"0.\xff", 1), {}),
    "weights of zero alone": (drawn(40, weight=lambda _, n: np.zeros(n)), {"weight": "w"}),
    "a negative weight": (drawn(40, weight=lambda _, n: -np.ones(n)), {"weight": "w"}),
    "a workbook": (b"PK\x03\x04" + SMALL.encode(), {}),
}


def content(text):
    return text if isinstance(text, bytes) else text.encode()


def cases():
    """Return every file: its name, its bytes, and what is asked of it."""
    every = {**STATED, **REFUSED, "a hundred thousand rows": (drawn(100_000, models=3, seed=15), {})}
    return {
        name: (content(text), {"label": "y", "low": 0.1, "high": 0.4, **asked}) for name, (text, asked) in every.items()
    }


# Mutations of small files: cells, signs and lines put in, taken out, doubled and exchanged.

BASES = [
    "y,a,b\n0,0.1,0.2\n1,0.8,0.7\n0,0.3,0.45\n1,0.6,0.123456789012345678\n",
    "y;a;b\r\n0;0.1;0.2\r\n1;0.8;0.7\r\n0;0.3;0.45\r\n1;0.6;0.5\r\n",
    "y\ta\tgroup\n0\t0.1\tx\n1\t0.8\ty\n0\t0.3\tx\n",
    '\ufeffy,a,"b, c"\n0,"0.1",0.2\n1,0.8,"0.7"\n"0",0.3,0.45\n1,0.6,0.5\n',
    "id,y,a\n1,no,0.1\n2,yes,0.5\n3,no,0.25\n",
    "y,a\ntrue,0.1\nfalse,0.8\ntrue,NA\n",
    "y,a\n0,1e-3\n1,.5\n0,5.\n1,1\n",
    'y,a,note\n0,0.1,"two\nlines"\n1,0.8,"a ""quoted"" word"\n0,0.3,\n',
    "y,a,w\n0,0.1,1\n1,0.8,2.5\n0,0.3,0\n1,0.6,3\n",
]
PIECES = [",", ";", "\t", "\n", "\r\n", "\r", '"', '""', " ", "0", "1", "0.5", "2", "-1", "1e3", "1e-3", "nan", "NaN"]
PIECES += ["NA", "N/A", "null", "inf", "-inf", "0,5", "5%", "1_0", "\ufeff", "\u00a0", "é", "\x00", "x", "yes", "no"]
PIECES += ["True", "false", "y", "a", ".", "+", "e", "\n\n", " \n", "\x0b", "\x1f", "\uff11", "Infinity", "NAN", "0x1"]
PIECES += ["1.0", "01", " 1", "1 "]
BYTES = [0xFF, 0xC3, 0xE2, 0x80, 0x1F]


def mutated(rng):
    """Return the bytes of a mutated file, and what is asked of it."""
    base = rng.choice(BASES)
    text = base
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5])):
        text = _changed(text, rng)
    data = text.encode()
    if rng.random() < 0.03:
        place = rng.randrange(len(data) + 1)
        data = data[:place] + bytes([rng.choice(BYTES)]) + data[place:]
    asked = {"label": "y"}
    for word, more in (("yes", {"posLabel": "yes"}), (",w\n", {"weight": "w"}), ("group", {"group": "group"})):
        asked |= more if word in base and rng.random() < 0.7 else {}
    return data, asked | ({"onMissing": "drop"} if rng.random() < 0.3 else {})


def _changed(text, rng):
    kind, place = rng.randrange(7), rng.randrange(len(text) + 1)
    after = min(len(text), place + rng.choice([1, 1, 2, 3, 5]))
    cells, rows = list(re.finditer(r"[^,;\t\r\n]+", text)), text.splitlines(keepends=True)
    if kind <= 2:
        return text[:place] + rng.choice(PIECES) + text[place:]
    if kind <= 4:
        return text[:place] + (rng.choice(PIECES) if kind == 4 else "") + text[after:]
    if kind == 5 and cells:
        cell = rng.choice(cells)
        return text[: cell.start()] + rng.choice(PIECES) + text[cell.end() :]
    if rows:
        row = rows[rng.randrange(len(rows))]
        rows.insert(rng.randrange(len(rows) + 1), row)
    return "".join(rows)
