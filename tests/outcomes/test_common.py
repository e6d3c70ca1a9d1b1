"""Every binary metric takes an outcome as it takes the weighted rows that it stands for."""

import numpy as np
import pytest

from stakes import PartlyVerified, RowCosts, ScoreTable, TimeToEvent, bounded_brier_loss, expected_regret
from stakes.actions import fit_deferral
from stakes.boundary import fit_boundary
from stakes.correction import loss_calibration_test, update
from stakes.metrics import METRICS
from stakes.utility import population_threshold

RNG = np.random.default_rng(21)
N = 80
P = np.round(RNG.uniform(0.02, 0.98, N), 2)
TIME = np.round(RNG.exponential(2.0 * (1.2 - P)), 1)
LEFT = np.round(RNG.exponential(2.0, N), 1)
ROWS = {"event": np.where(TIME <= LEFT, 1 + (RNG.random(N) < 0.2), 0), "time": np.minimum(TIME, LEFT)}
ASKED = {"horizon": 1.5, "cause": 1}
ILL = TIME < 1.5
SEEN = np.where((P > 0.4) | (np.arange(N) % 3 == 0), ILL, np.nan)
BAND = (P > 0.4) + 0
AMOUNT = np.round(RNG.lognormal(3, 0.5, N), 1)
EVERY = np.arange(N)
BINARY = {name: entry for name, entry in METRICS.items() if entry.task == "binary"}
# what does not take scores for probabilities, nor ranks them
OF_AMOUNTS = {"expected_regret", "net_benefit_score", "average_net_benefit_score"}


def followed(rows, weight=None):
    return TimeToEvent(**{name: part[rows] for name, part in ROWS.items()}, **ASKED, sample_weight=weight)


def looked_up(rows, weight=None):
    return PartlyVerified(SEEN[rows], groups=BAND[rows], sample_weight=weight)


def priced(rows, weight=None):
    return RowCosts(ILL[rows], false_positive=5.0, false_negative=AMOUNT[rows], sample_weight=weight)


def priced_and_followed(rows, weight=None):
    return RowCosts(followed(rows, weight), false_positive=5.0, false_negative=AMOUNT[rows])


CASES = [
    pytest.param(make, entry, id=f"{make.__name__}-{name}")
    for make in (followed, looked_up, priced, priced_and_followed)
    for name, entry in BINARY.items()
    if make in (followed, looked_up) or name in OF_AMOUNTS
]
each = pytest.mark.parametrize(("make", "metric"), CASES)


def value(metric, *data, **options):
    return metric.function(*data, **metric.parameters, **options)


@each
def test_outcome_stands_for_its_weighted_rows(make, metric):
    outcome = make(EVERY)
    known = outcome.weight > 0
    rows = value(metric, outcome.y[known], outcome.scores(P)[known], sample_weight=outcome.weight[known])
    assert value(metric, outcome, P) == pytest.approx(rows, rel=1e-13)
    if make in (followed, looked_up):
        assert value(metric, ScoreTable.from_predictions(outcome, P)) == pytest.approx(rows, rel=1e-13)


@each
def test_order_of_rows_does_not_matter(make, metric):
    order = np.random.default_rng(3).permutation(N)
    assert value(metric, make(order), P[order]) == pytest.approx(value(metric, make(EVERY), P), rel=1e-12)


@each
def test_integer_weight_equals_repeated_rows(make, metric):
    count = np.random.default_rng(4).integers(0, 4, N)
    repeated = np.repeat(EVERY, count)
    expected = value(metric, make(repeated), P[repeated])
    assert value(metric, make(EVERY, count), P) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", BINARY.values(), ids=BINARY)
def test_outcome_that_knows_every_row_is_plain_labels(metric):
    y = P + np.random.default_rng(5).normal(0, 0.2, N) > 0.5
    seen = TimeToEvent(event=y, time=np.where(y, 1.0, 3.0), horizon=2)
    assert value(metric, seen, P) == value(metric, y, P)
    assert value(metric, PartlyVerified(y.astype(int), groups=EVERY % 3), P) == value(metric, y, P)
    if metric.name in OF_AMOUNTS:  # equal amounts of a false positive and a false negative
        priced_alike = RowCosts(y, false_positive=1, false_negative=1)
        assert value(metric, priced_alike, P) == pytest.approx(value(metric, y, P), rel=1e-13)
    else:
        with pytest.raises(ValueError, match="amounts, not probabilities, order these rows"):
            value(metric, RowCosts(y, false_positive=1, false_negative=1), P)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_data_frames_are_taken(library):
    module = pytest.importorskip(library)
    column = {"pandas": "Series", "polars": "Series", "pyarrow": "chunked_array"}[library]
    wrap = (lambda v: module.chunked_array([v])) if library == "pyarrow" else getattr(module, column)
    expected = followed(EVERY)
    found = TimeToEvent(**{name: wrap(part) for name, part in ROWS.items()}, **ASKED)
    assert np.array_equal(found.weight, expected.weight)
    labels = np.where(ROWS["event"] == 0, "censored", np.where(ROWS["event"] == 1, "relapse", "death"))
    named = TimeToEvent(event=wrap(labels), time=ROWS["time"], horizon=1.5, cause="relapse", censored="censored")
    assert np.array_equal(named.weight, expected.weight)
    verified = PartlyVerified(wrap(SEEN), groups=wrap(BAND))
    assert np.array_equal(verified.weight, looked_up(EVERY).weight)
    amounts = RowCosts(wrap(ILL + 0), false_positive=5.0, false_negative=wrap(AMOUNT))
    assert np.array_equal(amounts.weight, priced(EVERY).weight)
    assert np.array_equal(amounts.scores(wrap(P)), priced(EVERY).scores(P))


def test_shorter_types_of_numbers_are_taken():
    narrow = TimeToEvent(event=ROWS["event"].astype(np.int8), time=ROWS["time"].tolist(), **ASKED)
    assert np.array_equal(narrow.weight, followed(EVERY).weight)
    whole = AMOUNT.round().astype(np.int16)
    narrow = RowCosts(ILL.astype(np.uint8), false_positive=np.float32(5), false_negative=whole)
    wide = RowCosts(ILL.tolist(), false_positive=5.0, false_negative=whole.astype(float).tolist())
    assert np.array_equal(narrow.weight, wide.weight)
    narrow = PartlyVerified(SEEN.astype(np.float32), groups=BAND.astype(np.int8).tolist())
    assert np.array_equal(narrow.weight, looked_up(EVERY).weight)


@pytest.mark.parametrize(("labels", "pos_label"), [(["fraud", "ok"], "fraud"), ([0, 1], 0), ([False, True], False)])
def test_the_column_of_a_positive_label_that_sorts_first_is_the_first(labels, pos_label):
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = rng.random(400) < p
    named = np.array(labels)[np.where(y, 0, 1)]
    columns = np.column_stack([p, 1.0 - p])
    seen = np.where(rng.random(400) < 0.8, named.astype(object), None)
    for outcome in (
        RowCosts(named, false_positive=1.0, false_negative=5.0, pos_label=pos_label),
        PartlyVerified(seen, groups=[0] * 400, pos_label=pos_label),
        RowCosts(PartlyVerified(seen, groups=[0] * 400, pos_label=pos_label), false_positive=1.0, false_negative=5.0),
        named,
    ):
        label = {"pos_label": pos_label} if outcome is named else {}
        found = [expected_regret(outcome, scores, costs=(0.1, 0.6), **label) for scores in (columns, p)]
        assert found[0] == found[1]


@pytest.mark.parametrize(
    "fit",
    [
        lambda y, s: fit_boundary(y, s, 1.0 - s[..., 0], min_precision=0.6, pos_label="fraud"),
        lambda y, s: population_threshold(y, s, "f1", pos_label="fraud", n_resamples=0),
        lambda y, s: update(y, s, method="intercept", pos_label="fraud"),
        lambda y, s: fit_deferral(y, s, costs=0.4, deferral=0.05, pos_label="fraud"),
    ],
)
def test_rules_are_not_fitted_to_the_first_of_two_columns_since_they_decide_by_the_second(fit):
    rng = np.random.default_rng(0)
    p = rng.random(400)
    named = np.where(rng.random(400) < p, "fraud", "ok")
    with pytest.raises(ValueError, match=r"must be 1-D where the positive class is the first of two columns"):
        fit(named, np.column_stack([p, 1.0 - p]))
    last = np.where(named == "ok", "fair", "fraud")  # sorts before
    assert fit(last, np.column_stack([1.0 - p, p])) is not None


def test_two_columns_are_refused_where_every_known_label_is_the_positive_text():
    outcome = PartlyVerified(np.array(["fraud", None] * 20, dtype=object), pos_label="fraud", groups=[0] * 40)
    with pytest.raises(ValueError, match="two columns of y_prob cannot be distinguished where all labels are alike"):
        bounded_brier_loss(outcome, np.tile([0.7, 0.3], (40, 1)))
    assert np.isfinite(bounded_brier_loss(outcome, np.full(40, 0.7)))


def test_columns_are_named_by_the_positive_label_too_where_no_row_has_it():
    frame = pytest.importorskip("pandas").DataFrame({"yes": [0.9, 0.8], "no": [0.1, 0.2]})
    outcome = RowCosts(["no", "no"], false_positive=5, false_negative=5, pos_label="yes")
    assert expected_regret(outcome, frame) == expected_regret(outcome, [0.9, 0.8]) > 0.0


def test_weights_in_the_order_of_two_columns_are_those_of_labels_for_an_outcome_too():
    rng = np.random.default_rng(0)
    p = rng.random(600)
    named = np.where(rng.random(600) < p, "fraud", "ok")
    both = np.column_stack([p, 1.0 - p])
    outcome = PartlyVerified(named, pos_label="fraud", probability=np.ones(600))
    known = loss_calibration_test(named, both, class_weight={"fraud": 5, "ok": 1}, pos_label="fraud", n_resamples=0)
    found = loss_calibration_test(outcome, both, class_weight=[5, 1], n_resamples=0)
    assert found.positive_share == known.positive_share == pytest.approx(5 / 6)
    with pytest.raises(ValueError, match="class_weight must be a mapping of label to number beside one column"):
        loss_calibration_test(outcome, p, class_weight=[5, 1], n_resamples=0)


def test_missing_labels_of_rows_without_weight_do_not_stop_a_rule_fitted_to_two_columns():
    p = np.linspace(0.05, 0.95, 40)
    y, weight = (p > 0.5).astype(float), np.ones(40)
    y[3], weight[3] = np.nan, 0.0
    columns = np.column_stack([1.0 - p, p])
    found = [population_threshold(y, s, "f1", sample_weight=weight, n_resamples=0).threshold for s in (columns, p)]
    assert found[0] == found[1]
