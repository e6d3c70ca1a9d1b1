"""The page on which a file is dropped: it reads as the command does, and its numbers are the library's."""

from __future__ import annotations

import base64
import json
import math
import random

import numpy as np
import pytest

from stakes import ScoreTable, expected_regret
from stakes.cli import main
from stakes.core.options import Options
from stakes.costs import Fixed, Uniform
from stakes.evaluation import evaluate_predictions
from stakes.report import render_drop_page
from stakes.report._any_range import payload
from stakes.report._page import models_of
from stakes.tables import DataError, read_predictions
from tests.report.drop_files import REFUSED, STATED, cases, mutated
from tests.report.pages import numbers

pytest.importorskip("polars")

FILES = cases()
SOME = ["german credit by group", "weights", "ties", "copies", "cells of several lines", "few positives", *REFUSED]
POINTS = {
    "score": "score",
    "skill": "skill",
    "miscalibration": "miscalibration",
    "discrimination": "discrimination",
    "uncertainty": "uncertainty",
    "auc": "auc",
    "share_acted_on": "actedOn",
    "vs_best": "more",
}
INTERVALS = {"ci": "interval", "vs_best_ci": "moreInterval"}
ASKING = """window.asked = (() => {
    const { shared, worker } = JSON.parse(document.getElementById('parts').textContent);
    const thread = new Worker(URL.createObjectURL(new Blob([shared, worker])));
    const waiting = new Map();
    thread.onmessage = ({ data }) => data.progress || waiting.get(data.id)(data);
    let last = 0;
    return (text, more) => new Promise((resolve) => {
        const blob = new Blob([Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))]);
        waiting.set(last += 1, resolve);
        thread.postMessage({ ...more, blob, file: 'page.csv', id: last });
    });
})(); true"""


def test_figures_over_thresholds_show_the_plausible_range_or_all():
    assert render_drop_page().count(">Plausible range") == 3  # cost, net benefit, reliability


class Asked:
    """The page's worker, asked about files."""

    def __init__(self, chromium, folder):
        self.chromium = chromium
        path = folder / "drop.html"
        path.write_text(render_drop_page(), encoding="utf-8")
        chromium.open(path)
        chromium.run(ASKING)

    def __call__(self, questions):
        """Return an answer to each question: bytes, and what is asked of them."""
        given = [[base64.b64encode(data).decode(), more] for data, more in questions]
        script = f"Promise.all({json.dumps(given)}.map(([text, more]) => asked(text, more))).then(JSON.stringify)"
        return json.loads(self.chromium.run(script))


@pytest.fixture(scope="module")
def asked(chromium, folder):
    return Asked(chromium, folder)


def read(data, settings, path):
    """Return the rows that the library reads from a file, or its error."""
    path.write_bytes(data)
    group = settings.get("group")
    try:
        return read_predictions(
            path,
            label=settings["label"],
            models=settings.get("models"),
            weight=settings.get("weight"),
            groups=[group] if group else None,
            pos_label=settings.get("posLabel"),
            on_missing=settings.get("onMissing", "raise"),
        )
    except DataError as error:
        return error


def evaluated(rows, low, high):
    costs = Fixed(low) if low == high else Uniform(low, high)
    return evaluate_predictions(rows, Options(costs=costs, groups=list(rows.groups or {})).checked())


def close(found, wanted, tolerance):
    """Whether two numbers agree; those that are not finite come as null."""
    if wanted is None or not math.isfinite(wanted):
        return found is None
    return found is not None and abs(found - wanted) <= tolerance * max(1.0, abs(wanted))


def assert_same_answer(found, evaluation):
    rules = {model["given"]: rule for model, rule in zip(found["models"], found["result"]["rules"], strict=False)}
    references = found["result"]["rules"][-2:]
    names = list(evaluation.models)
    for record in evaluation._records():
        name = record["model"]
        rule = rules[names.index(name)] if name in names else references[name == "treat none"]
        for key, mine in POINTS.items():
            if key in {"score", "vs_best"} or name in names:
                assert close(rule[mine], record[key], 1e-9), (name, key, rule[mine], record[key])
        for key, mine in INTERVALS.items():
            for end, value in zip(("low", "high"), rule[mine], strict=True):
                assert close(value, record[f"{key}_{end}"], 1e-6), (name, key, rule[mine], record)
        for key, mine in (("simultaneous", "simultaneous"), ("vs_best_simultaneous", "moreSimultaneous")):
            reach = record[f"{key}_high"] - record[f"{key}_low"]
            for end, value in zip(("low", "high"), rule[mine], strict=True):
                assert not math.isfinite(reach) or abs(value - record[f"{key}_{end}"]) <= 0.02 * reach + 1e-12, name
        if evaluation.selection is not None:
            assert rule["possible"] == record["may_be_best"], name


def assert_same_groups(found, evaluation):
    assert bool(found["groups"]) == bool(evaluation.groups)
    names = {group["name"]: group for group in found["groups"]}
    order = [evaluation.models[model["given"]] for model in found["models"]]
    for record in evaluation.groups._records():
        group = names[str(record["group"])]
        mine = group["models"][order.index(record["model"])]
        assert group["rows"] == record["n_rows"]
        assert close(mine["score"], record["score"], 1e-9)
        assert close(mine["auc"], record["auc"], 1e-9)
        assert all(map(close, mine["interval"], (record["ci_low"], record["ci_high"]), (1e-6, 1e-6)))


def assert_same(name, answer, path):
    data, settings = FILES[name]
    wanted = read(data, settings, path)
    assert isinstance(wanted, DataError) == (name in REFUSED), (name, str(wanted))
    if isinstance(wanted, DataError):
        assert answer.get("known"), (name, str(wanted), answer)
        place = [answer["place"].get(key) for key in ("column", "row", "line")]
        assert place == [wanted.column, wanted.row, wanted.line], (name, str(wanted), answer["error"])
        return
    if wanted.y.all() or not wanted.y.any():
        with pytest.raises(ValueError, match="must hold both classes"):
            evaluated(wanted, settings["low"], settings["high"])
        assert "must hold both classes" in answer["error"]
        return
    assert "found" in answer, (name, answer)
    evaluation = evaluated(wanted, settings["low"], settings["high"])
    assert_same_answer(answer["found"], evaluation)
    assert_same_groups(answer["found"], evaluation)


def asking(name):
    data, settings = FILES[name]
    unasked = dict.fromkeys(("models", "weight", "group", "posLabel")) | {"onMissing": "raise"}
    return data, {"kind": "evaluate", "settings": unasked | settings, "words": {}}


def test_numbers_and_errors_are_those_of_the_library(asked, tmp_path):
    for name, answer in zip(SOME, asked(map(asking, SOME)), strict=True):
        assert_same(name, answer, tmp_path / "page.csv")


@pytest.mark.thorough
def test_numbers_and_errors_of_every_file_are_those_of_the_library(asked, tmp_path):
    assert len(FILES) >= 60
    assert len(STATED) + len(REFUSED) + 1 == len(FILES)
    for name in FILES:
        (answer,) = asked([asking(name)])
        assert_same(name, answer, tmp_path / "page.csv")


class Printed:
    """What the command prints as JSON, in the place of an evaluation; infinite and undefined numbers come as words."""

    def __init__(self, text, found):
        self.records = json.loads(text)["models"]
        self.models = [model["name"] for model in sorted(found["models"], key=lambda model: model["given"])]
        self.selection = self.records[0]["may_be_best"]

    def _records(self):
        number = {"inf": math.inf, "-inf": -math.inf, None: math.nan}
        texts = {"model", "kind", "acts_like", "rank", "may_be_best"}
        return [
            {key: value if key in texts else number.get(value, value) for key, value in record.items()}
            for record in self.records
        ]


def command_of(settings, path):
    """Arguments of `stakes evaluate` that ask what the page was asked."""
    low, high = settings["low"], settings["high"]
    argv = ["evaluate", path, "--label", settings["label"], "--costs", f"{low}:{high}" if low < high else f"{low}"]
    for key, name in (("weight", "--weight"), ("group", "--groups"), ("posLabel", "--pos-label")):
        argv += [name, settings[key]] if settings.get(key) is not None else []
    argv += ["--models", ",".join(settings["models"])] if settings.get("models") else []
    return [*argv, "--json"]


@pytest.mark.thorough
def test_the_command_prints_the_numbers_of_the_page(asked, tmp_path, capsys):
    pytest.importorskip("click")
    compared = refused = 0
    for name, (data, settings) in FILES.items():
        if settings.get("onMissing", "raise") != "raise" or any("," in model for model in settings.get("models") or ()):
            continue  # asked in other words on the command line
        (answer,) = asked([asking(name)])
        path = tmp_path / "page.csv"
        path.write_bytes(data)
        code, (out, err) = main([str(each) for each in command_of(settings, path)]), capsys.readouterr()
        if "found" not in answer:
            assert code in (2, 3), (name, out, err)  # how it was asked, or what the file holds
            where = answer.get("place", {}).get("row")
            assert where is None or str(where) in err, (name, err, answer)
            refused += 1
            continue
        assert code == 0, (name, err)
        assert_same_answer(answer["found"], Printed(out, answer["found"]))
        compared += 1
    assert compared >= 40
    assert compared + refused >= 60


def assert_like_the_report(found, evaluation):
    """What the scripts read for other ranges: tables, covariances over stretches, quantiles."""
    wanted = json.loads(json.dumps(payload(evaluation, models_of(evaluation))))
    for key in ("shares", "own", "rows", "level", "per", "unit", "scale", "drawn"):
        assert found[key] == (pytest.approx(wanted[key]) if key in {"shares", "rows"} else wanted[key]), key
    for key, tolerance in (("cuts", 1e-15), ("quantiles", 1e-9), ("covariances", 1e-5)):
        mine, its = numbers(found["spread"][key]), numbers(wanted["spread"][key])
        assert np.allclose(mine, its, rtol=tolerance, atol=tolerance * np.abs(its).max()), key
    for mine, its in zip(found["models"], wanted["models"], strict=True):
        for key in ("name", "given", "colour", "dash", "acted", "integralBound", "shareBound"):
            assert mine[key] == its[key], key
        for columns in ("scores", "blocks"):
            for key, values in its[columns].items():
                assert np.allclose(numbers(mine[columns][key]), numbers(values), rtol=1e-12, atol=1e-300), (
                    columns,
                    key,
                )


@pytest.mark.parametrize("name", ["german credit", "weights", "ties", "one threshold", "few positives"])
def test_tables_and_covariances_are_those_of_the_report(asked, tmp_path, name):
    data, settings = FILES[name]
    (answer,) = asked([asking(name)])
    evaluation = evaluated(read(data, settings, tmp_path / "page.csv"), settings["low"], settings["high"])
    assert_like_the_report(answer["found"], evaluation)


@pytest.mark.thorough
def test_thinned_tables_keep_their_bound(asked, tmp_path):
    data, settings = FILES["a hundred thousand rows"]
    (answer,) = asked([asking("a hundred thousand rows")])
    rows = read(data, settings, tmp_path / "page.csv")
    for model in answer["found"]["models"]:
        columns = [numbers(model["scores"][key]) for key in ("scores", "positives", "negatives")]
        assert len(columns[0]) <= 8000
        assert columns[1].sum() == rows.y.sum()
        assert 0.0 < model["integralBound"] < 1e-3
        thin = ScoreTable(*columns, *columns[1:], len(rows.y))
        full = ScoreTable.from_predictions(rows.y, rows.scores[model["given"]])
        for ends in ((0.1, 0.4), (0.0, 0.03), (0.33, 0.34), (0.0, 1.0)):
            one, other = (expected_regret(table, costs=ends, scale="integral") for table in (thin, full))
            assert abs(one - other) <= model["integralBound"]
            assert one != other


def assert_read_alike(asked, path, seed, count):
    rng = random.Random(seed)  # noqa: S311  (mutations, not secrets)
    files = [mutated(rng) for _ in range(count)]
    accepted = 0
    answers = asked([(data, {"kind": "read", "settings": settings}) for data, settings in files])
    for (data, settings), answer in zip(files, answers, strict=True):
        wanted = read(data, settings, path)
        if isinstance(wanted, DataError):
            assert answer.get("known"), (data, settings, str(wanted), answer)
            place = [answer["place"].get(key) for key in ("column", "row")]
            assert place == [wanted.column, wanted.row], (data, settings, str(wanted), answer["error"])
            continue
        accepted += 1
        assert "found" in answer, (data, settings, answer)
        found = answer["found"]
        kept = [found["rows"], found["positives"], found["dropped"]]
        assert kept == [wanted.n_rows, int(wanted.y.sum()), wanted.n_dropped], (data, settings)
        assert found["sums"] == pytest.approx([float(score.sum()) for score in wanted.scores], abs=1e-12)
    assert accepted > count / 20


def test_mutated_files_are_read_or_refused_as_by_the_command(asked, tmp_path):
    assert_read_alike(asked, tmp_path / "page.csv", seed=0, count=200)


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(1, 11))
def test_many_mutated_files_are_read_or_refused_as_by_the_command(asked, tmp_path, seed):
    assert_read_alike(asked, tmp_path / "page.csv", seed=seed, count=500)
