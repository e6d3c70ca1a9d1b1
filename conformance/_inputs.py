"""The inputs by name, for the environments of other packages too: numpy and the standard library are all they need."""

import csv
import gzip
import json
import os
from functools import cache
from pathlib import Path

import numpy as np

FOLDER = "STAKES_REFERENCE_DIR"

# rows, seed, mean of the true log-odds, what the first model makes of them (stretch, shift), digits of its scores,
# weights and the least of them, the only class
MADE = {
    "calibrated": {"rows": 400, "seed": 1},
    "overconfident": {"rows": 400, "seed": 2, "stretch": 2.0},
    "underconfident": {"rows": 300, "seed": 3, "stretch": 0.5, "shift": 0.4},
    "rare": {"rows": 1500, "seed": 4, "mean": -3.0},
    "tied": {"rows": 300, "seed": 5, "digits": 1},
    "weighted": {"rows": 250, "seed": 6, "weights": True},
    "tied-weighted": {"rows": 250, "seed": 7, "digits": 1, "weights": True},
    "small": {"rows": 24, "seed": 8},
    "weighted, some 0": {"rows": 200, "seed": 9, "digits": 2, "weights": True, "least": 0},
    "no positives": {"rows": 40, "seed": 10, "only": 0},
    "no negatives": {"rows": 40, "seed": 11, "only": 1},
}
SURVIVAL = {"survival": {"rows": 500, "seed": 11}, "competing": {"rows": 600, "seed": 12, "causes": 2}}
CLASSES = {
    "three-classes": {"rows": 300, "seed": 21, "classes": 3},
    "five-classes": {"rows": 250, "seed": 22, "classes": 5},
}
# a file of the folder's data, its label, the value that is positive, columns of scores (p, then q), column of weights
READ = {
    "df_binary": ("dcurves/df_binary", "cancer", "TRUE", ("cancerpredmarker", "famhistory"), None),
    "df_cancer_dx": ("dcurves/df_cancer_dx", "cancer", "1", ("cancerpredmarker", "famhistory"), None),
    "df_case_control": ("dcurves/df_case_control", "casecontrol", "1", ("cancerpredmarker", "famhistory"), None),
    "two_class_example": ("tidymodels_predictions/two_class_example", "truth", "Class1", ("Class1",), "weight"),
    "cells": (
        *("tidymodels_predictions/cell_segmentation_two_models", "class", "good"),
        *(("logistic_good", "naive_bayes_good"), None),
    ),
    "flares": ("solar_flares_c1/solar_flares_c1", "y", "1", ("NOAA", "SIDC"), None),
    "flares-MCSTAT-ASSA": ("solar_flares_c1/solar_flares_c1", "y", "1", ("MCSTAT", "ASSA"), None),
    "niamey": ("niamey_precip/niamey_precip_ens", "y", "1", ("ENS",), None),
    "bcsc": ("bcsc_predictions/bcsc_predictions", "cancer", "1", ("xgboost_2pct", "logistic_+_density"), None),
    "simulated": ("triptych_simulated/ex_binary", "y", "1", ("X03", "X08"), None),
}
READ_SURVIVAL = {"df_surv": "dcurves/df_surv"}
READ_CLASSES = {
    "hpc_cv": ("tidymodels_predictions/hpc_cv", "obs", ("VF", "F", "M", "L"), "weight"),
    "species": ("tidymodels_predictions/species_probs", "species", ("bobcat", "coyote", "gray_fox"), None),
}
# the inputs of other packages' own tests: rows as the tests have them
GIVEN = json.loads((Path(__file__).parent / "given.json").read_text(encoding="utf-8"))


def draw_anew(seed):
    """Draw every made input from its own seed plus this one; before any is loaded, since loaded ones stay."""
    for made in (MADE, SURVIVAL, CLASSES):
        for known in made.values():
            known["seed"] += seed


def needs_folder(name):
    """Say whether an input lies in the folder of published data."""
    return name in READ | READ_SURVIVAL | READ_CLASSES


@cache
def load(name):
    """Return the columns of an input by their names: y, p and, where there are, q, w, time, event, classes."""
    for known, make in (
        *((MADE, _binary), (SURVIVAL, _survival), (CLASSES, _classes)),
        *((READ, _read_binary), (READ_SURVIVAL, _read_survival), (READ_CLASSES, _read_classes)),
    ):
        if name in known:
            found = known[name]
            return make(**found) if isinstance(found, dict) else make(found)
    if name in GIVEN:
        return {key: np.array(column) for key, column in GIVEN[name].items()}
    if name == "none":
        return {}
    raise ValueError(f"There is no input {name!r}.")


def _expit(x):
    return 1 / (1 + np.exp(-x))


def _normal(rng, size):
    """Draw what is all but normal from uniform numbers alone, which every version of numpy draws alike."""
    return rng.random((12, size)).sum(axis=0) - 6


def _binary(rows, seed, *, mean=-0.5, stretch=1.0, shift=0.0, digits=6, weights=False, least=1, only=None):
    rng = np.random.default_rng(seed)
    truth = mean + 1.3 * _normal(rng, rows)
    found = {
        "y": (rng.random(rows) < _expit(truth)).astype(int),
        "p": np.clip(np.round(_expit(shift + stretch * truth), digits), 0.001, 0.999),
        "q": np.clip(np.round(_expit(truth + 0.8 * _normal(rng, rows)), digits), 0.001, 0.999),
    }
    if weights:
        found["w"] = np.floor(least + 4 * rng.random(rows))
    if only is not None:
        found["y"] = np.full(rows, only)
    return found | {"amount": np.floor(25 + 400 * rng.random(rows) ** 3)}


def _survival(rows, seed, causes=1):
    """Exponential times to an event, another cause and censoring, written with two digits: ties among them."""
    rng = np.random.default_rng(seed)
    truth = -1 + _normal(rng, rows)
    waits = [-np.log(rng.random(rows)) / rate for rate in (0.4 * np.exp(truth + 1), 0.15, 0.25)]
    times = np.array(waits if causes == 2 else [waits[0], waits[2]])
    first = times.argmin(axis=0)
    return {
        "time": np.round(times.min(axis=0) + 0.005, 2),
        "event": (first == 0).astype(int),
        "cause": np.where(first == causes, 0, first + 1),
        "p": np.round(_expit(truth), 6),
        "q": np.round(_expit(truth + _normal(rng, rows)), 6),
    }


def _classes(rows, seed, classes):
    rng = np.random.default_rng(seed)
    truth = np.exp(np.array([_normal(rng, rows) for _ in range(classes)]).T)
    truth /= truth.sum(axis=1, keepdims=True)
    given = np.round(truth**1.5 / (truth**1.5).sum(axis=1, keepdims=True), 6)
    given[:, -1] = 1 - given[:, :-1].sum(axis=1)
    y = (rng.random(rows)[:, np.newaxis] > truth.cumsum(axis=1)).sum(axis=1)
    return {"y": y, "classes": np.clip(given, 0, 1), "w": np.floor(1 + 4 * rng.random(rows))}


def columns(name):
    """Read a file of the folder: its columns as lists of strings."""
    path = Path(os.environ[FOLDER]) / "data" / f"{name}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def _read_binary(spec):
    file, label, positive, scores, weight = spec
    table = columns(file)
    found = {"y": np.array([int(value == positive) for value in table[label]])}
    found |= {key: np.array(table[column], dtype=float) for key, column in zip("pq", scores, strict=False)}
    return found | ({"w": np.array(table[weight], dtype=float)} if weight else {})


def _read_survival(file):
    table = columns(file)
    return {
        "time": np.array(table["ttcancer"], dtype=float),
        "event": np.array([int(value == "TRUE") for value in table["cancer"]]),
        "cause": np.array(
            [("censor", "diagnosed with cancer", "dead other causes").index(value) for value in table["cancer_cr"]]
        ),
        "p": np.array(table["cancerpredmarker"], dtype=float),
        "q": np.array(table["famhistory"], dtype=float),
    }


def _read_classes(spec):
    file, label, names, weight = spec
    table = columns(file)
    found = {
        "y": np.array([names.index(value) for value in table[label]]),
        "classes": np.array([table[name] for name in names], dtype=float).T,
    }
    return found | ({"w": np.array(table[weight], dtype=float)} if weight else {})
