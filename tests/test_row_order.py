"""Rows are paired by position: two arguments that carry an index must carry the same, in every public function."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import narwhals as nw
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import stakes
from stakes import PartlyVerified, RowCosts, TimeToEvent, boundary, metrics, outcomes
from stakes.base.validation import check_same_order, row_labels
from stakes.evaluation import KeptEvaluation
from stakes.outcomes import decide_rows
from stakes.training._metric_monitor import _predicted

pd = pytest.importorskip("pandas")

N = 80
Y = np.tile([0, 1, 0, 1, 1, 0, 0, 1], N // 8)
P = np.tile([0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9], N // 8)
SIX = np.tile([0.2, 0.4, 0.6, 0.1, 0.3], N // 5)
X = np.column_stack([P, SIX])
INDEX = np.arange(N)
LINE = re.compile(r"^(\w[\w, ]*) : (.*)$", re.MULTILINE)


def documented(callable_):
    """Names of the parameters, and what the docstring says that each is."""
    text = (inspect.getdoc(callable_) or "").partition("Parameters\n")[2]
    for heading in ("Returns", "Yields", "Attributes", "Raises"):
        text = text.partition(f"\n{heading}\n")[0]
    return {name.strip(): kind for names, kind in LINE.findall(text) for name in names.split(",")}


def public():
    """Yield every public function, class and method that belongs to a room."""
    for room in ["", *(f".{room.name}" for room in pkgutil.iter_modules(stakes.__path__) if room.name[0] != "_")]:
        module = importlib.import_module(f"stakes{room}")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if callable(value):
                yield name, value
            if inspect.isclass(value):
                for method in (each for each in dir(value) if each[0] != "_" and callable(getattr(value, each))):
                    yield f"{name}.{method}", getattr(value, method)


PUBLIC = dict(public())
ONE_PER_ROW = re.compile(r"shape \(n[,)]|^array_like, mapping of str to array_like|of n rows")
ROW_NAMES = {name for each in PUBLIC.values() for name, kind in documented(each).items() if ONE_PER_ROW.search(kind)}
ROW_NAMES -= {"costs"}  # of rows in one method, which takes nothing else of them; else a distribution
ROW_NAMES |= {"outcome", "matrix", "y_pred"}  # several columns, and what is made of columns
OTHER_KIND = re.compile(
    r"str|bool|float|None|sequence of str|OutcomeColumns|object|not used"
)  # by the function's own docstring
ELSEWHERE = {  # not one value per row, though the docstring does not say so
    "HBlockSplit.blocks": {"y"},
    "HBlockSplit.split_with_validation": {"y"},
    "HBlockSplit.get_n_splits": {"X", "y", "groups"},
    "net_benefit_curve": {"censoring"},
    **{name: {"a", "b"} for name in ("dominance", "lc_index", "Contest.spread_of")},  # tables, places
}
TWO = np.column_stack([1 - P, P])
VALID = {
    "y_true": Y,
    "y_prob": P,
    "y_score": P,
    "a": P,
    "b": SIX,
    "y": Y,
    "X": X,
    "sample_weight": np.ones(N),
    "groups": INDEX % 4,
    "clusters": INDEX % 40,
    "uncertainty": SIX,
    "score": P,
    "reference": SIX,
    "event": Y,
    "time": INDEX % 7 + 1.0,
    "censoring": np.full(N, 0.9),
    "probability": np.full(N, 0.9),
    "false_positive": np.ones(N),
    "false_negative": 9 * np.ones(N),
    "matrix": (0, np.ones(N), 9 * np.ones(N), 0),
    "positives": INDEX % 3 + 0.0,
    "n_examples": np.full(N, 5.0),
    "centres": INDEX % 3,
    "outcome": Y,  # RowCosts of them, or TimeToEvent
}
SETTINGS = {  # where a function requires them
    "costs": 0.2,
    "day": 1,
    "deferral": 0.05,
    "bounds": (0.1, 0.3),
    "fpr_bounds": (0.0, 0.2),
    "threshold": 0.2,
    "thresholds": [0.2, 0.5],
    "median": 0.2,
    "capacity": 10,
    "matrices": [[0, 1], [4, 0]],
    "metric": "bounded_brier_loss",
    "kind": "regret",
    "horizon": 4.0,
    "horizons": [2.0, 4.0],
    "training_prior": 0.3,
    "measure": "f1",
    "prior": (1.0, 2.0),
    "true_prior": (2.0, 3.0),
    "model_prior": (1.0, 1.0),
    "max_error": 0.5,
    "estimator": LogisticRegression().fit(X, Y),
}
FEW = {"n_resamples": 1000, "repeats": 1}
FOREST = RandomForestClassifier(10, random_state=0).fit(X, Y)
BOUNDARY = boundary.fit_boundary(Y, P, SIX, goal="recall", min_precision=0.5)
KEPT = KeptEvaluation.of(stakes.evaluate(Y, {"new": P, "old": SIX}, costs=0.2))
OF_OBJECT = {
    "CostMonitor": lambda kind: kind(0.2, budget=0.1),
    "CostMonitors": lambda kind: kind(0.2, reference=KEPT),
    "ChallengerMonitor": lambda kind: kind(0.2),
    "DeferralClassifier": lambda kind: kind(LogisticRegression(), costs=0.3, deferral=0.05).fit(X, Y),
    "Boundary": lambda _: BOUNDARY,
    "RowDecisions": lambda _: decide_rows(P, false_positive=1, false_negative=9),
    "PrecisionRecallFrontier": lambda _: boundary.precision_recall_frontier(Y, P, SIX),
    "UncertaintyCalibration": lambda _: boundary.uncertainty_calibrate(Y, P, SIX),
    "UncertaintyBoundaryClassifier": lambda kind: kind(FOREST, "members", min_precision=0.5),
    "LossCorrectedClassifier": lambda kind: kind(LogisticRegression()).fit(X, Y),
    "HBlockSplit": lambda kind: kind(3),
    "MetricMonitor": lambda kind: kind("roc_auc_score"),
    "PosteriorNetwork": lambda kind: kind(epochs=1),
    "ExpectedUtilityClassifier": lambda kind: kind(LogisticRegression()),
    "PlugInThresholdClassifier": lambda kind: kind(LogisticRegression(), "money"),
}
GOAL = {"goal": "recall", "min_precision": 0.5}
OWN = {
    "expected_regret": {"costs": 0.2},
    "integrated_metric": {"metric": "bounded_brier_loss"},
    "multilabel_loss": {"y_true": np.column_stack([1 - Y, Y]), "y_prob": TWO},
    "decision_calibration_test": {"y_prob": TWO},
    "penalized_brier_loss": {"y_prob": TWO},
    "penalized_log_loss": {"y_prob": TWO},
    "evaluate_actions": {"y_prob": {"new": TWO, "old": TWO}},
    **{key: {"y_prob": {"new": P, "old": SIX}} for key in ("best_models", "select_best", "PairSums.from_predictions")},
    "evaluate_centres": {"y_prob": {"new": P, "old": SIX}},
    "evaluate_horizons": {"y_prob": {"new": np.column_stack([0.5 * P, P])}},
    "CostMonitors.update": {"y_prob": {"new": P, "old": SIX}, "groups": {"site": INDEX % 4}},
    "ordinal_loss": {"y_prob": TWO},
    "cost_matrix_loss": {"y_prob": TWO},
    "fit_boundary": GOAL,
    "PrecisionRecallFrontier.predict": {"min_precision": 0.5},
    **{key: {"metric": "bounded_brier_loss"} for key in ("metric_interval", "metric_difference", "bootstrap")},
    "confidence_band": {"kind": "regret"},
    "BoundaryDisplay.from_predictions": GOAL,
    "DeferralDisplay.from_estimator": {"costs": 0.2, "deferral": 0.05},
    "UtilityCurveDisplay.from_estimator": {"measure": "f1"},
    "LossCalibrationDisplay.from_estimator": {"scale_pos_weight": 2},
    "value_of_information": {"costs": 0.2},
    "decomposition_interval": {"costs": (0.1, 0.5)},
    "beta_loss": {"a": 2, "b": 8},
    "estimation_bias": {"score": np.tile([0.2, 0.8, 0.3, 0.6], N // 4)},
    "loss_calibration_curve": {"scale_pos_weight": 2},
    "loss_calibration_test": {"scale_pos_weight": 2},
}


def documented_rows(name, function):
    known, said = inspect.signature(function).parameters, documented(function)
    wanted = ROW_NAMES - ELSEWHERE.get(name, set())
    other = {each for each, kind in said.items() if OTHER_KIND.match(kind) and not ONE_PER_ROW.search(kind)}
    return [each for each in known if each in wanted - other]


def is_answer(value):
    """Whether it is a class whose objects the library makes."""
    return inspect.isclass(value) and value not in {PartlyVerified, RowCosts, TimeToEvent, outcomes.Imputed}


def paired():
    """Yield every public callable of ours that takes two things with one value per row, and their names."""
    for name, function in PUBLIC.items():
        if (
            is_answer(function)
            or not (inspect.getmodule(function) or stakes).__name__.startswith("stakes.")
            or name.startswith("ScoreTable.from_f")
        ):
            continue
        names = documented_rows(name, function)
        if len(names) > 1 and "frame" not in inspect.signature(function).parameters:
            yield name, names


PAIRED = dict(paired())


def indexed(value, index):
    """The same values under an index."""
    if isinstance(value, dict):
        return {key: indexed(each, index) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(pd.Series(each, index=index) if np.ndim(each) else each for each in value)
    return (pd.Series if value.ndim == 1 else pd.DataFrame)(value, index=index)


def called(name, rows):
    """Call a function with rows, and with settings that are right."""
    function, owner = PUBLIC[name], name.partition(".")[0]
    if owner in OF_OBJECT and inspect.isfunction(function):
        function = getattr(OF_OBJECT[owner](PUBLIC[owner]), name.partition(".")[2])
    parameters = inspect.signature(function).parameters
    given = {}
    for key, each in parameters.items():
        if key in PAIRED[name] and (each.default is each.empty or key in {"y_prob", "y_score"}):
            given[key] = VALID[key]
        elif each.default is each.empty and key in SETTINGS:
            given[key] = SETTINGS[key]
        elif key in FEW:
            given[key] = FEW[key]
    given |= OWN.get(name, {}) | rows
    if "outcome" in given and name == "money":
        given["outcome"] = RowCosts(given["outcome"], false_positive=1, false_negative=9)
    elif "outcome" in given:
        given["outcome"] = TimeToEvent(event=given["outcome"], time=VALID["time"], horizon=4.0)
    alone = [key for key, each in parameters.items() if each.kind is inspect.Parameter.POSITIONAL_ONLY]
    by_position = [given.pop(key) for key in alone]
    found = function(*by_position, **given)
    return list(found) if inspect.isgenerator(found) else found


def pairs():
    for name, names in PAIRED.items():
        for place, first in enumerate(names):
            for second in names[place + 1 :]:
                yield pytest.param(name, first, second, id=f"{name}-{first}-{second}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "first", "second"), list(pairs()))
def test_two_arguments_whose_indexes_differ_are_refused_by_name(name, first, second):
    own = {**VALID, **OWN.get(name, {})}
    rows = {first: indexed(own[first], INDEX), second: indexed(own[second], INDEX[::-1])}
    with pytest.raises(
        ValueError, match=r"hold the same index labels in another order, first at row 0 \((0|79) and"
    ) as error:
        called(name, rows)
    for argument in (first, second):
        shown = {"outcome": "y_true|event", "y_score": "y_score|y_prob"}.get(argument, argument)
        assert re.search(rf"\b({shown})\b", str(error.value)), str(error.value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PAIRED)
def test_arguments_of_one_index_are_paired_even_where_its_labels_repeat(name):
    own, index = {**VALID, **OWN.get(name, {})}, INDEX // 2
    alone = {"matrix", "censoring", "probability"}  # stands in the place of others
    names = [each for each in PAIRED[name] if each not in alone]
    if name == "PosteriorNetwork.fit":
        pytest.importorskip("torch")
    called(name, {each: indexed(own[each], index) for each in names})


def test_what_is_combined_later_remembers_the_index_it_was_made_from():
    y, p = pd.Series(Y, INDEX), pd.Series(P, INDEX[::-1])
    event = TimeToEvent(event=y, time=VALID["time"], horizon=4.0)
    both = RowCosts(event, false_positive=1, false_negative=9)
    for outcome, name in (
        (event, "event"),
        (event.at(3.0), "event"),
        (event.within(INDEX % 2), "event"),
        (both, "event"),
    ):
        with pytest.raises(ValueError, match=rf"^{name} and y_prob hold .* p?y_prob\.loc\[{name}\.index\]"):
            stakes.expected_regret(outcome, p, costs=0.2)
        stakes.expected_regret(outcome, p.loc[y.index], costs=0.2)
    with pytest.raises(ValueError, match="event and y_prob"):
        stakes.expected_regret(event.take(INDEX[10:]), p[:70], costs=0.2)
    stakes.expected_regret(event.take(INDEX[10:]), p.loc[INDEX[10:]], costs=0.2)
    for call in (event.censoring_test, event.influence, event.repeated, event.within):
        with pytest.raises(ValueError, match=r"event and .* hold the same index labels in another order"):
            call(p)
    for call in (both.scores, RowCosts(y, false_positive=1, false_negative=9).money):
        with pytest.raises(ValueError, match=r"(event|y_true) and .* hold the same index labels in another order"):
            call(p)
    scores = outcomes.Imputed([P, p])
    with pytest.raises(ValueError, match=r"y_true and scores\[1\] hold"):
        stakes.metric_interval(y, scores, "bounded_brier_loss")
    with pytest.raises(ValueError, match=r"scores\[0\] and scores\[1\] hold"):
        outcomes.Imputed([pd.Series(P), p])


def test_columns_of_frames_and_mappings_are_compared_with_each_other():
    y, p = pd.Series(Y), pd.Series(P)
    frame = pd.DataFrame({"new": P, "old": SIX})
    with pytest.raises(ValueError, match=r"align them with y_prob\.loc\[y_true\.index\], or pass y_prob\.to_numpy\(\)"):
        stakes.evaluate(y, frame.sample(frac=1.0, random_state=0), costs=0.2)
    with pytest.raises(ValueError, match=r"y_prob\['new'\] and y_prob\['old'\] hold"):
        stakes.evaluate(Y, {"new": frame["new"], "old": frame["old"][::-1]}, costs=0.2)
    with pytest.raises(ValueError, match=r"y_true and groups\['b'\] hold"):
        stakes.evaluate(y, P, groups={"a": INDEX % 2, "b": p[::-1]}, costs=0.2)
    with pytest.raises(ValueError, match=r"member_probs\[0\] and member_probs\[2\] hold"):
        stakes.uncertainty.from_ensemble([p, SIX, p[::-1]])
    with pytest.raises(ValueError, match=r"y_true and matrix\[2\] hold"):
        RowCosts(y, matrix=(0, 1, p[::-1], 0))
    with pytest.raises(ValueError, match="y_prob and sample_weight hold"):
        stakes.display.RocCurveDisplay.from_predictions(Y, frame, sample_weight=p[::-1])
    with pytest.raises(ValueError, match="y_true and sample_weight hold"):
        metrics.get_scorer("roc_auc_score")(LogisticRegression().fit(X, Y), X, y, sample_weight=p[::-1])


def test_validation_data_of_keras_in_another_order_is_refused():
    data = (pd.DataFrame(X), pd.Series(Y, INDEX[::-1]))
    with pytest.raises(ValueError, match=r"validation_data\[0\] and validation_data\[1\] hold"):
        next(_predicted(None, data, 10))


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (
            INDEX[::-1],
            "the same index labels in another order, first at row 0 (0 and 79): align them with b.loc[a.index]",
        ),
        (np.roll(INDEX, 1) // 2, "different index labels, first at row 0 (0 and 39): pass b.to_numpy() if the rows"),
        (np.where(INDEX < 70, INDEX, INDEX + 5), "different index labels, first at row 70 (70 and 75)"),
        (INDEX.astype(str), "different index labels, first at row 0 (0 and '0')"),
        (np.where(INDEX == 40, np.nan, INDEX), "different index labels, first at row 40 (40 and nan)"),
        (pd.MultiIndex.from_arrays([INDEX, INDEX]), "different index labels, first at row 0 (0 and (0, 0))"),
    ],
    ids=["order", "repeated", "shifted", "text", "missing", "levels"],
)
def test_message_says_where_indexes_differ_and_what_to_do(index, said):
    with pytest.raises(ValueError, match="^a and b hold " + re.escape(said)):
        check_same_order(a=pd.Series(P), b=pd.Series(P, index))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7])
def test_first_row_that_differs_is_named_wherever_it_is(rows):
    for place in range(rows):
        labels = [*range(place), *range(100, 100 + rows - place)]
        with pytest.raises(ValueError, match=rf"different index labels, first at row {place} \({place} and 100\)"):
            check_same_order(a=pd.Series(0, range(rows)), b=pd.Series(0, labels))


def test_lists_of_no_column_and_of_one_are_looked_into():
    assert row_labels(a=[], b=()) is None
    assert row_labels(a=[], b=[pd.Series(P)], c=[0.5])[0] == "b[0]"


def test_labels_that_were_drawn_and_an_array_made_a_series_anew_ask_for_the_array():
    drawn, p = pd.Series(Y).sample(frac=1.0, random_state=0), pd.Series(P)
    with pytest.raises(ValueError, match=r"or pass y_score\.to_numpy\(\) if the rows already correspond"):
        metrics.roc_auc_score(drawn, p)
    part = drawn.iloc[:60]  # as of a test set
    with pytest.raises(
        ValueError, match=r"different index labels.* pass y_score\.to_numpy\(\) if the rows already correspond"
    ):
        metrics.roc_auc_score(part, pd.Series(P[:60]))
    assert metrics.roc_auc_score(part, P[:60]) == metrics.roc_auc_score(part.to_numpy(), P[:60])
    assert metrics.roc_auc_score(part, pd.Series(P[:60], part.index)) == metrics.roc_auc_score(part, P[:60])


def test_equal_indexes_of_other_kinds_and_columns_without_any_are_paired():
    missing = pd.Index([0.0, np.nan, 2.0])
    for one, other in ((pd.RangeIndex(3), pd.Index([0, 1, 2])), (missing, missing.copy()), (list("aab"), list("aab"))):
        check_same_order(a=pd.Series(P[:3], one), b=pd.Series(P[:3], other, name="b"), c=P[:3], d=[1, 2, 3], e=None)
    polars = pytest.importorskip("polars")
    assert row_labels(a=polars.Series(P), b={"c": P}, d=[P, P]) is None
    assert row_labels(a=P, b=nw.from_native(pd.Series(P), series_only=True))[0] == "b"


def test_pandas_is_not_imported_to_look_for_an_index():
    call = "y = np.array([0, 1] * 5); metrics.roc_auc_score(y, y)"
    code = f"import sys, numpy as np; from stakes import metrics; {call}; print('pandas' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
