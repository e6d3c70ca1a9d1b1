"""Results pooled over completed data sets, and weights that count rows."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from stakes import ScoreTable, TimeToEvent, compare, curves, inference, metric_interval, net_benefit_score
from stakes.evaluation import evaluate_centres
from stakes.inference import metric_difference, pool
from stakes.outcomes import Imputed

VALUES, ERRORS = [0.1012, 0.0987, 0.1105, 0.1043, 0.0961], [0.0102, 0.0099, 0.0110, 0.0104, 0.0101]
# mice 3.15.0, pool.scalar with k = 1
MICE = {750: (54.12613420642976, 0.2841993902241933), 60: (24.82503530872602, 0.3115465800854548)}
MICE[math.inf] = (59.98562080922401, 0.2817834695351956)


@pytest.mark.parametrize("n_rows", MICE)
def test_rubins_rules_are_those_of_mice(n_rows):
    found = pool(VALUES, ERRORS, n_rows=n_rows)
    assert (found.degrees, found.missing_information) == pytest.approx(MICE[n_rows], rel=1e-12)
    assert (found.value, found.standard_error**2) == pytest.approx((0.10216, 0.0001437696), rel=1e-12)


def test_rubins_rules_at_the_ends_of_the_missing_information():
    """All of it where the estimates differ and have no error of their own, none where they are equal."""
    assert pool([1.0, 2.0], [0.0, 0.0], n_rows=50)[1:] == pytest.approx((math.sqrt(0.75), 0.0, 1.0))
    assert pool([1.0, 2.0], [0.0, 0.0])[1:] == pytest.approx((math.sqrt(0.75), 1.0, 1.0))
    assert pool([1.0, 1.0], [0.0, 0.0]) == (1.0, 0.0, math.inf, 0.0)
    assert pool([1.0, 1.0], [0.1, 0.1]) == (1.0, pytest.approx(0.1), math.inf, 0.0)
    degrees = 50 / 52 * 49
    want = (1.0, 0.1, degrees, 2 / (degrees + 3))  # what is left is the estimate of a small sample
    assert pool([1.0, 1.0], [0.1, 0.1], n_rows=50) == pytest.approx(want)
    assert pool([1.0, 1.0], [0.1, 0.1], n_rows=1.5).degrees == pytest.approx(1.5 / 3.5 * 0.5)
    for rows in (1.0, 0.5):
        with pytest.raises(ValueError, match=r"n_rows must be above 1"):
            pool([1.0, 1.0], [0.1, 0.1], n_rows=rows)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(8)
    p = rng.random(200)
    columns = [np.clip(p + rng.normal(0, 0.1, 200), 0, 1) for _ in range(3)]
    return rng.random(200) < p, columns, np.clip(p + rng.normal(0, 0.3, 200), 0, 1)


def test_a_metric_is_pooled_over_its_columns(rows):
    y, columns, _ = rows
    each = [metric_interval(y, column, "bounded_brier_loss") for column in columns]
    expected = pool([e.value for e in each], [e.standard_error for e in each], n_rows=200)
    found = metric_interval(y, Imputed(columns), "bounded_brier_loss")
    assert (found.value, found.standard_error) == (expected.value, expected.standard_error)
    # Student's t, with Barnard and Rubin's degrees of freedom or those of the fourth moments, whichever are fewer
    squares = [np.square(y - column) for column in columns]
    errors = [each - each.mean() for each in squares]
    own = [2 / (np.sum(e**4) / np.sum(e**2) ** 2 - 1 / 200) for e in errors]
    half = stats.t.isf(0.025, min(expected.degrees, *own)) * expected.standard_error
    assert found.interval == pytest.approx((found.value - half, found.value + half), rel=1e-12)
    assert half > stats.t.isf(0.025, expected.degrees) * expected.standard_error


def test_an_area_is_pooled_in_log_odds(rows):
    y, columns, _ = rows
    each = [metric_interval(y, column, "roc_auc_score") for column in columns]
    odds = [math.log(e.value / (1 - e.value)) for e in each]
    found = metric_interval(y, Imputed(columns), "roc_auc_score")
    assert math.log(found.value / (1 - found.value)) == pytest.approx(np.mean(odds), rel=1e-12)


def test_a_difference_pairs_the_data_sets(rows):
    y, columns, other = rows
    each = [metric_difference(y, column, other, "bounded_brier_loss") for column in columns]
    expected = pool([e.difference for e in each], [e.standard_error for e in each], n_rows=200)
    found = metric_difference(y, Imputed(columns), other, "bounded_brier_loss")
    assert (found.difference, found.standard_error) == (expected.value, expected.standard_error)
    with pytest.raises(ValueError, match="same completed data sets"):
        metric_difference(y, Imputed(columns), Imputed(columns[:2]), "bounded_brier_loss")


def test_equal_columns_have_the_error_of_one(rows):
    y, columns, _ = rows
    one = metric_interval(y, columns[0], "bounded_brier_loss")
    found = metric_interval(y, Imputed([columns[0]] * 2), "bounded_brier_loss")
    assert found.standard_error == pytest.approx(one.standard_error, rel=1e-12)


def test_an_outcome_goes_with_imputed_scores():
    outcome = TimeToEvent(event=[1, 0, 1, 0, 0] * 20, time=np.arange(100) % 13 + 1.0, horizon=8)
    columns = [np.tile([0.2, 0.4], 50), np.tile([0.3, 0.4], 50)]
    found = metric_interval(outcome, Imputed(columns), "net_benefit_score", threshold=0.25)
    each = [net_benefit_score(outcome, column, threshold=0.25) for column in columns]
    assert found.value == pytest.approx(np.mean(each))


ELSEWHERE = {
    "net_benefit_score": lambda y, p: net_benefit_score(y, p, threshold=0.2),
    "evaluate_centres": lambda y, p: evaluate_centres(y, {"a": p}, centres=["a", "b"] * 100, costs=0.2),
    "ScoreTable": ScoreTable.from_predictions,
    "difference_band": lambda y, p: inference.difference_band(y, p, p, "net_benefit", thresholds=[0.2]),
    "consistency_band": inference.consistency_band,
    "bootstrap": lambda y, p: inference.bootstrap(y, p, "roc_auc_score"),
    "decomposition_interval": lambda y, p: inference.decomposition_interval(y, p, costs=(0.1, 0.3)),
    "threshold_intervals": lambda y, p: inference.threshold_intervals(y, p, thresholds=[0.2]),
    "compare": lambda y, p: compare(y, p, p, costs=0.2),
    **{name: getattr(curves, name) for name in ("roc_curve", "reliability_curve", "cost_curve")},
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_functions_say_which_pool_imputed_scores(rows, name):
    y, columns, _ = rows
    sentence = (
        "Imputed scores are pooled by evaluate, metric_interval, metric_difference, confidence_band, "
        "calibration_summary and the curves of regret, net benefit and interventions avoided: elsewhere pass one "
        "column, or pool the values and standard errors of all columns by stakes.inference.pool."
    )
    with pytest.raises(ValueError, match=re.escape(sentence)):
        ELSEWHERE[name](y, Imputed(columns))


def test_one_column_is_not_imputed(rows):
    columns = rows[1]
    with pytest.raises(ValueError, match="two or more columns"):
        Imputed([columns[0]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_a_table_of_columns_is_refused_with_a_list_that_works(rows, library):
    """What the message says is evaluated, and pools the same columns."""
    y, columns = rows[:2]
    scores = np.column_stack(columns)
    if library != "numpy":
        make = pytest.importorskip(library)
        make = make.table if library == "pyarrow" else make.DataFrame
        scores = make({f"m{k}": column for k, column in enumerate(columns)})
    with pytest.raises(ValueError, match="scores must be a list of two or more columns") as refused:
        Imputed(scores)
    advised = str(refused.value).split("make a list by ")[1].removesuffix(".")
    found, expected = (
        metric_interval(y, Imputed(given), "bounded_brier_loss")
        for given in (eval(advised, {"scores": scores}), columns)  # noqa: S307  (the advice of the message)
    )
    assert found.interval == expected.interval


# figures of the reference: losses (.2, 0, 1, .5, .1), weights (3, 1, 2, 4, 5)
SQUARES, WEIGHTS = np.array([0.2, 0.0, 1.0, 0.5, 0.1]), [3, 1, 2, 4, 5]


@pytest.mark.parametrize(
    ("kind", "error"), [("sampling", 0.1313857763314668 * math.sqrt(5 / 4)), ("frequency", 0.0798888116210413)]
)
def test_kinds_of_weight_have_their_own_errors(outcomes_reference, kind, error):
    table = ScoreTable.from_predictions([0] * 5, np.sqrt(SQUARES), sample_weight=WEIGHTS, weight_kind=kind)
    found = metric_interval(table, metric="bounded_brier_loss")
    expected = outcomes_reference["expected"]["weight_kinds"]
    assert found.value == pytest.approx(0.34)
    unscaled = found.standard_error * (math.sqrt(14 / 15) if kind == "frequency" else 1.0)
    assert unscaled == pytest.approx(error, rel=1e-12)
    assert found.standard_error == pytest.approx(expected[f"{kind}_n-1"], rel=1e-12)


def test_weight_k_of_the_kind_frequency_is_k_rows_in_errors_too(rows):
    y, columns, _ = rows
    count = np.arange(200) % 4
    weighted = ScoreTable.from_predictions(y, columns[0], sample_weight=count, weight_kind="frequency")
    repeated = ScoreTable.from_predictions(np.repeat(y, count), np.repeat(columns[0], count))
    for name in ("bounded_brier_loss", "roc_auc_score"):
        assert metric_interval(weighted, metric=name) == metric_interval(repeated, metric=name)
    with pytest.raises(ValueError, match="needs whole weights"):
        ScoreTable.from_predictions(y, columns[0], sample_weight=count + 0.5, weight_kind="frequency")
