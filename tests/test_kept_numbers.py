"""Every number of whatever is kept, changed in seven ways: refused by its name, or listed here with the reason why not.

Changes are those of a damaged or edited file. A number that could be another one in a file of other rows cannot be
known to be wrong; each such number is listed in ``ALLOWED``.
"""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest

from stakes import ScoreTable, costs, evaluate
from stakes.boundary import Boundary, PrecisionMonitor, fit_boundary
from stakes.evaluation import KeptEvaluation
from stakes.inference import PairSums
from stakes.training import Checkpoint

pl = pytest.importorskip("polars")
pytest.importorskip("click")

from stakes.cli.boundary_monitor import SelectedBy, Watched, read_state  # noqa: E402  (needs click)

CHANGES = {
    "zero": lambda _: 0,
    "negative": lambda value: -value,
    "infinite": lambda _: "inf",
    "true": lambda _: True,
    "huge": lambda _: 1e30,
    "double": lambda value: 2 * value,
    "removed": None,
}


def leaves(content, path=()):
    """Every number of nested JSON with the way to it."""
    if isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from leaves(value, (*path, key))
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield path, content


def keys(content):
    """The names of all entries."""
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield from [key] if isinstance(key, str) else []
        yield from keys(value) if isinstance(value, dict | list) else []


def changed(content, path, change):
    """The text of the content with one number changed; the content itself is left as it was."""
    inside = content
    for key in path[:-1]:
        inside = inside[key]
    before = inside.copy()
    if change is None:
        del inside[path[-1]]
    else:
        inside[path[-1]] = change(before[path[-1]])
    text = json.dumps(content)
    inside.clear()
    inside.update(before) if isinstance(inside, dict) else inside.extend(before)
    return text


def changes_of(content):
    """Every change of every number that makes it another one: what is changed, how, and the changed text."""
    for path, value in list(leaves(content)):
        for kind, change in CHANGES.items():
            if change is None or type(change(value)) is bool or change(value) != value:
                yield path, kind, changed(content, path, change)


def name_of(path):
    """The way to an entry, with # for the place in a list."""
    return ".".join("#" if isinstance(key, int) else key for key in path)


def believed(read, content):
    """Changes that are read without an error; every error must be a ValueError that names an entry."""
    names = set(keys(content))
    found = set()
    for path, kind, text in changes_of(content):
        try:
            read(text)
        except ValueError as error:
            said, own = str(error), next(key for key in reversed(path) if isinstance(key, str))
        else:
            found.add((name_of(path), kind))
            continue
        wanted = {own} if kind == "true" else names
        if not any(name in said for name in wanted):
            pytest.fail(f"{name_of(path)} made {kind} is refused without its name: {said}")
    return found


def check(read, text, allowed):
    """Hold what is believed against a list of patterns, each with its kinds and the reason; none may be idle."""
    content = json.loads(text)
    read(text)
    expected = {(pattern, kind) for pattern, (kinds, _) in allowed.items() for kind in kinds.split()}
    found = set()
    for name, kind in believed(read, content):
        pattern = next((pattern for pattern in allowed if fnmatch(name, pattern)), name)
        found.add((pattern, kind))
    assert found == expected


OTHER_ROWS = "other rows, or rows of other weights, have it"
NOT_COUNTED = "a setting of the question, which nothing in the answer repeats"
COST_ALIKE = "between two scores, and outside the costs, a score costs the same"
PAIR_ONLY = "a sum over the two models together, of which tables and other sums only say how large it can be"
ONE_CLASS = "any label may be the positive one: it is there to be compared"
PICTURE = "for the picture and for comparison: nothing is decided by it, and only its limits are known"
LEARNED = "learned from rows that are not kept: counts by level and score do not repeat it"
DEFAULT = "where it is left out the distribution has its default"

LABEL = {"pos_label": ("zero negative infinite huge double", ONE_CLASS)}
OTHER = {"neg_label": ("infinite huge removed", ONE_CLASS + "; a file kept before lacks it")}
BOTH = {"pos_label": ("negative infinite huge double", ONE_CLASS), **OTHER}
HELD = {"*neg_label": ("removed", "a file kept before lacks it, of the evaluation or of its tables")}
SETTINGS = {
    **HELD,
    "unit_cost": ("huge double", NOT_COUNTED),
    "per": ("huge double", NOT_COUNTED),
}


def drawn(weights=None):
    rng = np.random.default_rng(0)
    risk = rng.choice([0.1, 0.25, 0.3, 0.6], 40)
    y = rng.random(40) < risk
    models = {"a": risk, "b": rng.choice([0.05, 0.2, 0.35], 40)}
    return y, models, None if weights is None else rng.choice(weights, 40)


@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 2.0]], ids=["rows", "weights"])
def test_numbers_of_a_table(weights):
    y, models, weight = drawn(weights)
    table = ScoreTable.from_predictions(y, models["a"], sample_weight=weight)
    allowed = {
        **BOTH,
        "n_rows": ("double", "rows may weigh little"),
        "scores.#": ("zero negative huge double", OTHER_ROWS),
        "*tives_squared.#": ("double", OTHER_ROWS),
    }
    if weights is not None:
        allowed |= {"positives.#": ("double", OTHER_ROWS), "negatives.#": ("double", OTHER_ROWS)}
    check(ScoreTable.from_json, table.to_json(), allowed)


def test_numbers_of_a_binned_table():
    y, _, _ = drawn()
    frame = pl.LazyFrame({"y": y, "p": np.random.default_rng(1).random(40)})
    table = ScoreTable.from_frame(frame, label="y", score="p", resolution=4)
    allowed = {
        **BOTH,
        "n_rows": ("double", "rows may weigh little"),
        "lower.#": ("zero double", OTHER_ROWS),
        "upper.#": ("huge double", OTHER_ROWS),
        "*tives_squared.#": ("double", OTHER_ROWS),
    }
    check(ScoreTable.from_json, table.to_json(), allowed)


def test_numbers_of_pair_sums():
    y, models, weight = drawn([0.5, 1.0, 2.0])
    sums = PairSums.from_predictions(y, models, costs=(0.1, 0.4), sample_weight=weight)
    allowed = {**LABEL, "w4_d3.#": ("zero negative double", PAIR_ONLY)}
    check(PairSums.from_json, sums.to_json(), allowed)


SCORES = {"tables.?.scores.#": ("zero double", COST_ALIKE)}
THIRD = {"pairs.w4_d3.#": ("zero negative double", PAIR_ONLY)}


def test_numbers_of_an_evaluation_are_held_against_its_tables():
    y, models, _ = drawn()
    kept = KeptEvaluation.of(evaluate(y, models, costs=(0.1, 0.4)))
    check(KeptEvaluation.from_json, kept.to_json(), {**SETTINGS, **SCORES, **THIRD})


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        (
            {"costs": costs.LogOddsUniform(0.05, 0.6), "weights": [0.5, 1.0, 2.0]},
            {**SETTINGS, "tables.b.scores.#": ("zero", COST_ALIKE), "pairs.w4_d2.#": ("double", PAIR_ONLY),
             "pairs.w4_d3.#": ("zero negative", PAIR_ONLY)},
        ),
        (
            {"costs": costs.Fixed(0.2), "rule": 0.2},
            {**SETTINGS, **SCORES, **THIRD,
             "*costs.tie": ("removed", DEFAULT)},
        ),
        (
            {"costs": costs.LogOddsUniform(0, 1)},
            {**HELD, "pairs.w4_d3.#": ("zero negative", PAIR_ONLY), "pairs.w4_d4.#": ("double", PAIR_ONLY),
             "*costs.*": ("removed", DEFAULT)},
        ),
        ({"costs": (0.1, 0.4), "prevalence": 0.1}, {**SETTINGS, **SCORES, **THIRD}),
        (
            {"costs": (0.1, 0.4), "rule": "optimal"},
            {**SETTINGS, **SCORES, "costs.*": ("zero double removed", "without sums of pairs nothing repeats it")},
        ),
    ],
    ids=["weights", "rule", "log loss", "prevalence", "optimal"],
)  # fmt: skip
def test_numbers_of_evaluations_of_every_kind(asked, allowed):
    y, models, weight = drawn(asked.pop("weights", None))
    kept = KeptEvaluation.of(evaluate(y, models, sample_weight=weight, **asked))
    check(KeptEvaluation.from_json, kept.to_json(), allowed)


def test_numbers_of_groups_are_held_against_the_tables_of_all_rows():
    y, models, _ = drawn()
    kept = KeptEvaluation.of(evaluate(y, models, costs=(0.1, 0.4), groups={"site": np.arange(40) % 3}))
    content = json.loads(kept.to_json())
    part = {"groups": content["groups"]}
    assert believed(lambda text: KeptEvaluation.from_json(json.dumps({**content, **json.loads(text)})), part) == set()


def region(rows=120):
    rng = np.random.default_rng(0)
    uncertainty = rng.choice([1.0, 2.0, 3.0], rows)
    score = rng.random(rows).round(2)
    return rng.random(rows) < np.clip(score + (uncertainty - 2.0) * 0.1, 0.0, 1.0), score, uncertainty


SPAN = {"cells.span.#": ("zero negative huge double", PICTURE)}
CAP = {
    "threshold": ("zero infinite", PICTURE),
    "upper_bound": ("double", PICTURE),
    "problem.capacity": ("double", "fewer rows than may be selected can be the best choice"),
}
SINGLE = {"threshold": ("zero infinite double", PICTURE)}


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        ({"min_precision": 0.7}, {**SPAN, **SINGLE}),
        ({"min_precision": 0.7, "solver": "single_threshold"}, {**SPAN, **SINGLE}),
        (
            {"min_precision": 0.7, "solver": "heuristic_recalibration"},
            {**SINGLE, "rule.weight": ("huge double", LEARNED)},
        ),
        ({"min_precision": 0.7, "solver": "ranker"}, SINGLE),
        ({"goal": "cost", "costs": 0.3}, {**SPAN, **SINGLE, "upper_bound": ("zero", PICTURE)}),
        ({"goal": "f_beta", "f_beta": 2}, {**SPAN, **SINGLE}),
        (
            {"capacity": 20},
            {**SPAN, "threshold": ("zero infinite", PICTURE), "upper_bound": ("double", PICTURE), **CAP},
        ),
    ],
    ids=["levels", "one", "shifted", "ranker", "cost", "f_beta", "capacity"],
)
def test_numbers_of_a_boundary(asked, allowed):
    check(Boundary.from_json, fit_boundary(*region(), **asked).to_json(), allowed)


KNOTS = {"rule.ranker.knots.#": ("zero negative huge double", LEARNED)}
COUNTED = {"certificate.regions_tested": ("double", "counts those that passed before, of which nothing is kept")}
FORECAST = {"certificate.rows_needed": ("zero double", "a forecast by the learned model")}


@pytest.mark.parametrize(
    ("rows", "promise", "further"),
    [
        (2000, 0.6, {**KNOTS, **COUNTED}),
        (200, 0.95, {**COUNTED, **FORECAST}),
    ],
    ids=["certified", "abstained"],
)
def test_numbers_of_a_certificate(rows, promise, further):
    boundary = fit_boundary(*region(rows), min_precision=promise, confidence_level=0.9)
    aside = {"threshold": ("zero negative infinite huge double", PICTURE)}
    check(Boundary.from_json, boundary.to_json(), {**SPAN, **aside, **further})


BETWEEN = "evidence between the updates, of which only the last is repeated"


@pytest.mark.parametrize(
    ("labels", "allowed"),
    [
        ([1] * 3, {"history.#.e_value": ("zero", BETWEEN)}),
        (
            [0] * 20,
            {
                "history.#.e_value": ("zero double", BETWEEN),
                "max_e_value": ("double", BETWEEN),
                "alarm_row": ("double", "a row of the update that raised it"),
                "log_capital.#": ("zero negative", "too small beside the capital of another bet to be seen in e_value"),
            },
        ),
    ],
    ids=["quiet", "alarm"],
)  # fmt: skip
def test_numbers_of_a_monitor(labels, allowed):
    state = PrecisionMonitor(0.8).update([1, 0, 1, 1]).update(labels).to_dict()
    check(lambda text: PrecisionMonitor.from_dict(json.loads(text)), json.dumps(state), allowed)


def test_numbers_of_the_state_of_the_command(tmp_path):
    first = PrecisionMonitor(0.8).update([1, 0, 1, 1])
    watch = PrecisionMonitor.from_dict(first.to_dict()).update([1] * 3)
    about = {"precision": 0.75, "e_value": first.e_value, "alarm": False, "sha256": "a1"}
    files = [{"file": "a.csv", "rows": 9, "selected": 4, "true_positives": 3, **about}]
    about |= {"precision": 1.0, "e_value": watch.e_value}
    files.append({"file": "b.csv", "rows": 3, "selected": 3, "true_positives": 3, **about, "sha256": "b2"})
    state = {"format": "stakes-monitor-1", "monitor": watch.to_dict(), "alarm": None, "files": files}
    path = tmp_path / "state.json"

    def read(text):
        path.write_text(text, encoding="utf-8")
        assert isinstance(
            read_state(path, Watched(PrecisionMonitor(0.8)), SelectedBy("", decision=False, file="")), Watched
        )

    allowed = {
        "files.#.rows": ("double", "rows that are not selected are not watched"),
    }
    check(read, json.dumps(state), allowed)


def test_numbers_of_the_record_of_a_checkpoint(tmp_path):
    checkpoint = Checkpoint(tmp_path)
    for value in (0.5, 0.3, 0.4):
        checkpoint.step(value, lambda path: path.write_text("a model", encoding="utf-8"), suffix=".txt")
    path = tmp_path / "checkpoint.json"

    def read(text):
        path.write_text(text, encoding="utf-8")
        Checkpoint(tmp_path)

    allowed = {"history.#": ("zero negative infinite huge double", "a value that training gave, which no file repeats")}
    check(read, Path(path).read_text(encoding="utf-8"), allowed)


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_a_group_whose_share_of_positives_is_said_to_be_stated_is_refused(prevalence):
    rows = {"groups": {"g": [0, 1, 1] * 20}, "prevalence": prevalence, "costs": (0.1, 0.4)}
    state = json.loads(
        KeptEvaluation.of(evaluate([0, 1, 0, 1] * 15, {"a": [0.1, 0.6, 0.3, 0.2, 0.7] * 12}, **rows)).to_json()
    )
    assert [group["table"]["fixed_prevalence"] for group in state["groups"]] == [False, False]
    state["groups"][0]["table"]["fixed_prevalence"] = True
    with pytest.raises(ValueError, match=r"groups of 'g' must be without fixed_prevalence\.$"):
        KeptEvaluation.from_json(json.dumps(state))
