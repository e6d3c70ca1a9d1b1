"""Recorded histories: the epochs that criteria choose, their correlation with F1, and paired differences."""

import math

import numpy as np
import pytest
from scipy import stats

from stakes.training import compare_monitors

HISTORY = {
    "f1": [0.2, 0.5, 0.4, 0.3, 0.6, 0.7],
    "brier": [0.9, 0.4, 0.5, 0.6, 0.45, 0.3],
    "accuracy": [0.1, 0.5, 0.5, 0.6, 0.6, 0.55],
    "test_f1": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
}
CRITERIA = {"brier": "lower", "accuracy": "higher"}


def chosen(comparison, criterion, rule):
    (found,) = [c for c in comparison.choices if (c.criterion, c.rule) == (criterion, rule)]
    return found


def test_early_stopping_and_checkpoint_are_told_apart():
    result = compare_monitors(HISTORY, criteria=CRITERIA, report=["test_f1", "f1"], patience=2)
    early, late = chosen(result, "brier", "early stopping"), chosen(result, "brier", "checkpoint")
    assert (early.epoch, early.epochs_trained, early.report) == (1, 4, {"test_f1": 0.2, "f1": 0.5})
    assert (late.epoch, late.epochs_trained, late.report) == (5, 6, {"test_f1": 0.6, "f1": 0.7})
    # the first of two equally good epochs
    assert chosen(result, "accuracy", "checkpoint").epoch == 3
    least = compare_monitors(HISTORY, criteria=CRITERIA, patience=2, min_delta=0.2)
    assert chosen(least, "brier", "checkpoint").epoch == 1


def test_correlation_is_with_the_loss_negated():
    result = compare_monitors(HISTORY, criteria=CRITERIA)
    for name, sign in (("brier", -1), ("accuracy", 1)):
        r = stats.pearsonr(sign * np.array(HISTORY[name]), HISTORY["f1"]).statistic
        assert chosen(result, name, "checkpoint").correlation == pytest.approx(r, rel=1e-12)


def test_two_epochs_are_wholly_correlated_and_one_is_not():
    short = {name: HISTORY[name][:2] for name in ("f1", "brier")}
    found = compare_monitors(short, criteria={"brier": "lower"}).choices
    assert [each.correlation for each in found] == pytest.approx([1.0, 1.0])
    one = {name: HISTORY[name][:1] for name in ("f1", "brier")}
    assert all(math.isnan(c.correlation) for c in compare_monitors(one, criteria={"brier": "lower"}).choices)


def test_published_table_of_correlations(load_data):
    histories = load_data("penalized_brier_histories/penalized_brier_histories")
    published = load_data("penalized_brier_histories/expected/published_correlations").set_index("dataset")
    result = compare_monitors(histories, criteria={"brier": "lower", "pbs": "lower"}, run="dataset")
    assert len(result.choices) == 9 * 2 * 2
    for choice in result.choices:
        if choice.run == "User_Identification_From_Walking":  # the file gives other values than the paper prints
            continue
        stated = published.loc[choice.run, f"cor_f1_neg_{choice.criterion}"]
        assert choice.correlation == pytest.approx(stated, abs=5e-5)


def test_undefined_correlations_and_infinite_losses():
    result = compare_monitors(
        {"f1": [0.1, 0.2, 0.3], "log": [math.inf, 0.5, 0.4], "flat": [1.0, 1.0, 1.0]},
        criteria={"log": "lower", "flat": "lower"},
    )
    assert [math.isnan(c.correlation) for c in result.choices] == [True] * 4
    assert [c.epoch for c in result.choices] == [2, 2, 0, 0]


def test_paired_differences_have_the_t_interval_of_scipy():
    rng = np.random.default_rng(1)
    columns = {name: rng.random(30) for name in ("f1", "brier", "accuracy")}
    columns["seed"] = np.repeat(np.arange(6), 5)
    result = compare_monitors(columns, criteria=CRITERIA, run="seed", patience=1)
    rows = result.differences("brier", confidence_level=0.9)._records()
    assert [(row["rule"], row["of"]) for row in rows] == [
        ("early stopping", "f1"),
        ("checkpoint", "f1"),
        ("", "correlation with f1"),
    ]
    best = {}
    for name, pick in (("brier", np.argmin), ("accuracy", np.argmax)):
        runs = [columns[name][columns["seed"] == seed] for seed in range(6)]
        best[name] = [columns["f1"][columns["seed"] == s][pick(run)] for s, run in enumerate(runs)]
    interval = stats.ttest_rel(best["accuracy"], best["brier"]).confidence_interval(0.9)
    assert (rows[1]["ci_low"], rows[1]["ci_high"]) == pytest.approx((interval.low, interval.high), rel=1e-10)
    assert rows[1]["difference"] == pytest.approx(np.mean(best["accuracy"]) - np.mean(best["brier"]))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library(library):
    module = pytest.importorskip(library)
    frame = module.table(HISTORY) if library == "pyarrow" else module.DataFrame(HISTORY)
    ours = compare_monitors(frame, criteria=CRITERIA, patience=2)
    assert ours.choices == compare_monitors(HISTORY, criteria=CRITERIA, patience=2).choices
    assert type(ours.frame()).__module__.split(".")[0] == library


def test_metrics_of_the_library_know_their_direction():
    history = {"f1": [0.1, 0.2], "penalized_brier_loss": [0.5, 0.4], "roc_auc_score": [0.6, 0.7]}
    result = compare_monitors(history, criteria=["penalized_brier_loss", "roc_auc_score"])
    assert dict(result.criteria) == {"penalized_brier_loss": False, "roc_auc_score": True}


@pytest.mark.parametrize(
    ("history", "options", "message"),
    [
        ({"f1": [0.1]}, {"criteria": {"brier": "lower"}}, "column 'brier', got f1"),
        ({"f1": [0.1], "brier": [0.1, 0.2]}, {"criteria": {"brier": "lower"}}, "equally long"),
        ({"f1": [0.1], "brier": [math.nan]}, {"criteria": {"brier": "lower"}}, "nan in row 0"),
        ({"f1": [], "brier": []}, {"criteria": {"brier": "lower"}}, "one value for each epoch"),
        (HISTORY, {"criteria": {"brier": "less"}}, r"criteria\['brier'\] must be \"lower\" or \"higher\""),
        (HISTORY, {"criteria": ["brier"]}, "must say what is better"),
        (HISTORY, {"criteria": "brier"}, "list or mapping"),
        (HISTORY, {"criteria": CRITERIA, "patience": 0}, "patience"),
        (HISTORY, {"criteria": CRITERIA, "run": "seed"}, "column 'seed' that run= names"),
    ],
)
def test_invalid_histories_are_refused(history, options, message):
    with pytest.raises(ValueError, match=message):
        compare_monitors(history, **options)


def test_differences_need_runs_and_a_known_baseline():
    result = compare_monitors(HISTORY, criteria=CRITERIA)
    with pytest.raises(ValueError, match="at least 2 runs"):
        result.differences("brier")
    with pytest.raises(ValueError, match="baseline must be one of 'brier', 'accuracy'"):
        result.differences("log")


@pytest.mark.parametrize("name", ["criterion", "rule", "epoch", "epochs_trained", "correlation", "run"])
def test_a_reported_column_takes_the_place_of_no_other(name):
    history = HISTORY | {name: [7.0] * 6, "seed": [1, 1, 1, 2, 2, 2]}
    with pytest.raises(ValueError, match=f"^report must not name a column '{name}', which the table of choices"):
        compare_monitors(history, criteria=CRITERIA, report=["f1", name], run="seed")
    with pytest.raises(ValueError, match=r"^target must not name"):
        compare_monitors(history, criteria=CRITERIA, target=name, run="seed")


def test_a_column_that_is_called_run_is_reported_where_there_is_one_run():
    found = compare_monitors(HISTORY | {"run": [7.0] * 6}, criteria={"brier": "lower"}, report=["run"])
    assert found.choices[0].report == {"run": 7.0}
