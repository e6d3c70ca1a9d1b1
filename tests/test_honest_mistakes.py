"""Honest mistakes of a first week: each is refused in words that hold the argument, the value and the remedy."""

import re
from pathlib import Path

import numpy as np
import pytest

from stakes import (
    PartlyVerified,
    RowCosts,
    TimeToEvent,
    actions,
    boundary,
    bounded_brier_loss,
    compare,
    correction,
    costs,
    curves,
    evaluate,
    evaluate_frame,
    inference,
    metric_interval,
    metrics,
    net_benefit_curve,
    outcomes,
    tables,
    training,
    utility,
    value_of_information,
)
from stakes.inference import metric_difference, select_best
from tests.cli.conftest import cli, folder, plain_terminal, write_csv  # noqa: F401  (fixtures)
from tests.mistakes import PACKAGE

ROWS = 80
Y = np.array([0, 1, 0, 1, 1, 0, 0, 1] * 10)
P = np.tile([0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9], 10)
Q = np.tile([0.2, 0.7, 0.4, 0.5, 0.3, 0.6, 0.1, 0.8], 10)
SPREAD = np.linspace(0.01, 0.2, ROWS)
AMOUNT = np.linspace(10.0, 400.0, ROWS)
MODELS = {"new": P, "old": Q}
PATIENTS = np.repeat(np.arange(40.0), 2)
GAPS = np.where(np.isin(np.arange(ROWS), [3, 50]), np.nan, PATIENTS)
COSTS = (0.1, 0.3)


def evaluation():
    return evaluate(Y, MODELS, costs=COSTS)


def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"ill": Y, "new": P, "old": Q})


def fitted():
    return boundary.fit_boundary(Y, P, SPREAD, min_precision=0.5)


def outcomes_of(**amounts):
    return RowCosts(Y, **{"false_positive": 15, **amounts})


def sklearn(name):
    module, _, what = name.rpartition(".")
    return getattr(pytest.importorskip(f"sklearn.{module}"), what)


def features():
    return np.column_stack([P, Q, SPREAD])


SILENT = {
    "clusters of which some are missing": (
        lambda: evaluate(Y, MODELS, costs=0.1, clusters=GAPS),
        r"clusters must name the cluster of every row, got a missing one in row 3 \(2 of 80\).*a cluster of its own",
    ),
    "clusters with None": (
        lambda: compare(Y, P, Q, costs=0.1, clusters=[None, *map(str, range(1, ROWS))]),
        r"clusters must .*got a missing one in row 0 \(1 of 80\)",
    ),
    "the label still among the models": (
        lambda: evaluate(frame()["ill"], frame(), costs=COSTS),
        r"y_prob must hold models only, got the labels .*in column 'ill': leave it out.*drop\(columns='ill'\)",
    ),
    "two models where one score is due": (
        lambda: fitted().predict(np.column_stack([P, Q]), SPREAD),
        r"two columns of score must sum to 1 in every row, got \[0\.1, 0\.2\] at index 0",
    ),
    "significance level for confidence level": (
        lambda: evaluate(Y, P, costs=0.1, confidence_level=0.05),
        r"confidence_level must be at least 0\.5, got 0\.05: .*95% is confidence_level=0\.95",
    ),
    "one name for two models": (
        lambda: compare(Y, P, Q, costs=0.1, names=("model", "model")),
        r"names must differ, got 'model' for both",
    ),
    "a report as PDF": (
        lambda: evaluation().to_html("report.pdf"),
        r"path must end in \.html or \.htm, got 'report\.pdf'.*print",
    ),
    "a metric's threshold in percent": (
        lambda: evaluate(Y, P, costs=COSTS, metrics={"net_benefit_score": {"threshold": 10}}),
        r"threshold must lie in \[0, 1\), got 10; 10% is 0\.1",
    ),
    "classifier without probabilities": (
        lambda: utility.ExpectedUtilityClassifier(sklearn("svm.LinearSVC")(), measure="f1").fit(features(), Y),
        r"estimator must .*predict_proba.*got LinearSVC\(\).*CalibratedClassifierCV",
    ),
    "regression where a classifier is due": (
        lambda: actions.DeferralClassifier(sklearn("linear_model.LinearRegression")()).fit(features(), Y),
        r"estimator must .*predict_proba.*got LinearRegression\(\)",
    ),
    "classifier without probabilities for a boundary": (
        lambda: boundary.UncertaintyBoundaryClassifier(
            sklearn("svm.LinearSVC")(), uncertainty=lambda _, X: X[:, 0], min_precision=0.5
        ).fit(features(), Y),
        r"estimator must .*predict_proba.*got LinearSVC\(\)",
    ),
}
COLUMNS = {
    "list of models where a mapping is due": (
        lambda: evaluate(Y, [P, Q], costs=COSTS),
        r"y_true and y_prob must have the same length, got 80 and 2: .*several models .*\{'name': probabilities",
    ),
    "frame of models for the value of information": (
        lambda: value_of_information(Y, frame()[["new", "old"]], costs=COSTS),
        r"two columns of y_prob.* must sum to 1.*; several models are passed as a mapping, \{'name': probabilities",
    ),
    "frame of models for the bootstrap": (
        lambda: inference.bootstrap(Y, frame().assign(ill=Q), "roc_auc_score"),
        r"got shape \(80, 3\); .*several models are passed as a mapping, \{'name': probabilities",
    ),
    "name of a column for labels": (
        lambda: evaluate("ill", frame(), costs=COSTS),
        r"y_true must be 1-D, got 'ill': .*evaluate_frame\(frame, label='ill'\)",
    ),
    "frame of one column for labels": (
        lambda: evaluate(frame()[["ill"]], P, costs=COSTS),
        r"y_true must be 1-D, got shape \(80, 1\): pass one column",
    ),
    "one-hot labels": (
        lambda: evaluate(np.column_stack([1 - Y, Y]), P, costs=COSTS),
        r"y_true must be 1-D, got shape \(80, 2\): pass one column",
    ),
    "estimator for probabilities": (
        lambda: evaluate(Y, sklearn("linear_model.LogisticRegression")(), costs=COSTS),
        r"y_prob must be 1-D.*got LogisticRegression.*predict_proba\(X\)\[:, 1\]",
    ),
    "estimators by name for probabilities": (
        lambda: evaluate(Y, {"lr": sklearn("linear_model.LogisticRegression")()}, costs=COSTS),
        r"y_prob\['lr'\] must be 1-D.*got LogisticRegression.*predict_proba\(X\)\[:, 1\]",
    ),
    "method that is not called": (
        lambda: evaluate(Y, sklearn("linear_model.LogisticRegression")().fit(features(), Y).predict_proba, costs=0.1),
        r"y_prob must be 1-D.*got method: .*call it",
    ),
    "models by name where one is due": (
        lambda: net_benefit_curve(Y, MODELS),
        r"y_prob must be 1-D.*got dict.*one model at a time, such as y_prob\['new'\]",
    ),
    "models by name for a calibration": (
        lambda: inference.calibration_summary(Y, {"new": P}),
        r"y_prob must be 1-D.*got dict.*such as y_prob\['new'\]",
    ),
    "models by name for deferral": (
        lambda: actions.evaluate_deferral(Y, MODELS, costs=0.2, deferral=0.02),
        r"y_prob must be 1-D.*got dict.*such as y_prob\['new'\]",
    ),
    "name of a column for groups": (
        lambda: evaluate(Y, MODELS, costs=0.1, groups="site"),
        r"groups must have one value for each of the 80 rows, got 'site': .*evaluate_frame",
    ),
    "name of a column for clusters": (
        lambda: compare(Y, P, Q, costs=0.1, clusters="patient"),
        r"clusters must have one value for each of the 80 rows, got 'patient': .*evaluate_frame",
    ),
    "scores as text": (
        lambda: evaluate(Y, P.astype(str), costs=COSTS),
        r"y_prob must be numeric, got '0\.1' at index 0: .*turn text into numbers.*astype\(float\)",
    ),
    "decimal commas": (
        lambda: bounded_brier_loss(Y, [str(value).replace(".", ",") for value in P], bounds=COSTS),
        r"y_prob must be numeric, got '0,1' at index 0: .*decimal comma.*0\.1",
    ),
    "percent signs": (
        lambda: evaluate(Y, [f"{100 * value:.0f}%" for value in P], costs=COSTS),
        r"y_prob must be numeric, got '10%' at index 0: .*10% is 0\.1",
    ),
    "amounts with thousands separated": (
        lambda: outcomes_of(false_negative=[f"{1000 + value:,.2f}" for value in AMOUNT]),
        r"false_negative must be numeric, got '1,010\.00' at index 0: .*turn text into numbers",
    ),
    "probabilities in percent": (
        lambda: evaluate(Y, 100 * P, costs=COSTS),
        r"y_prob must lie in \[0, 1\], got 10\.0 .*percentages, divide by 100",
    ),
    "dates for times": (
        lambda: TimeToEvent(event=Y, time=np.datetime64("2020-01-01") + np.arange(ROWS), horizon=365),
        r"time must be numeric, got .*2020.* at index 0: .*count .*days",
    ),
    "series where the name of a column is due": (
        lambda: evaluate_frame(frame(), label=frame()["ill"], models=["new"], costs=COSTS),
        r"label must be the name of a column, got Series",
    ),
    "array of weights where the name of a column is due": (
        lambda: evaluate_frame(frame(), label="ill", models=["new"], weight=np.ones(ROWS), costs=COSTS),
        r"weight must be the name of a column, got ndarray",
    ),
    "frame where a file is due": (
        lambda: tables.read_predictions(frame(), label="ill"),
        r"path must name a file, got DataFrame: .*frame_columns",
    ),
    "number for a column": (
        lambda: tables.sql_column(3),
        r"name must be that of a column, got int",
    ),
}
SETTINGS = {
    "costs as a mapping": (
        lambda: evaluate(Y, P, costs={"fp": 1, "fn": 9}),
        r"costs must .*got \{'fp': 1, 'fn': 9\}; .*from_cost_matrix",
    ),
    "costs as a matrix": (
        lambda: evaluate(Y, P, costs=[[0, 1], [9, 0]]),
        r"costs must .*got \[\[0, 1\], \[9, 0\]\]; .*from_cost_matrix",
    ),
    "costs as odds": (
        lambda: evaluate(Y, P, costs="1:9"),
        r"costs must .*got '1:9'; .*from_odds\('1:9'\)",
    ),
    "costs in money": (
        lambda: evaluate(Y, P, costs=(100, 900)),
        r"costs must .*got \(100, 900\); .*from_cost_matrix",
    ),
    "costs from high to low": (
        lambda: costs.Uniform(0.3, 0.05),
        r"bounds must satisfy .*got \(0\.3, 0\.05\); the smaller one comes first",
    ),
    "one cost ratio in percent": (lambda: costs.Fixed(9), r"c must lie in \[0, 1\], got 9; 9% is 0\.09"),
    "stated thresholds in percent": (
        lambda: costs.Empirical([5, 10, 20]),
        r"values must lie in \[0, 1\], got 5\.0 at index 0; 5% is 0\.05",
    ),
    "share of positives in percent": (
        lambda: evaluate(Y, P, costs=0.1, prevalence=2),
        r"prevalence must lie in \(0, 1\), got 2; 2% is 0\.02",
    ),
    "confidence in percent": (
        lambda: metric_interval(Y, P, "roc_auc_score", confidence_level=95),
        r"confidence_level must lie in \(0, 1\), got 95; 95% is 0\.95",
    ),
    "weight share in percent": (
        lambda: correction.undo_class_weight(P, positive_share=90),
        r"positive_share must lie in \(0, 1\), got 90; 90% is 0\.9",
    ),
    "precision in percent": (
        lambda: boundary.fit_boundary(Y, P, SPREAD, min_precision=90),
        r"min_precision must lie in \(0, 1\], got 90; 90% is 0\.9",
    ),
    "precision of a monitor in percent": (
        lambda: boundary.PrecisionMonitor(90),
        r"min_precision must lie in \(0, 1\), got 90.*90% is 0\.9",
    ),
    "share of mistakes in percent": (
        lambda: actions.certify_decided(Y, P, threshold=0.5, max_error=5),
        r"max_error must lie in \(0, 1\), got 5; 5% is 0\.05",
    ),
    "thresholds in percent": (
        lambda: curves.threshold_table(Y, P, thresholds=[5, 10]),
        r"thresholds must lie in \[0, 1\].*got 5\.0 at index 0; 5% is 0\.05",
    ),
    "threshold of a curve in percent": (
        lambda: net_benefit_curve(Y, P).at(10),
        r"threshold in \[0, 1\), got 10\.0; 10% is 0\.1",
    ),
    "fraction kept without its class": (
        lambda: correction.undo_sampling(P, keep=0.05),
        r"keep must .*got 0\.05; .*keep=\{0: 0\.05\}",
    ),
    "mistyped setting of a metric": (
        lambda: metrics.get_scorer("bounded_brier_loss", bound=COSTS),
        r"bounded_brier_loss takes no parameter 'bound'; did you mean 'bounds'\?",
    ),
    "setting of another metric": (
        lambda: metric_interval(Y, P, "roc_auc_score", bounds=COSTS),
        r"roc_auc_score takes no parameter 'bounds'",
    ),
    "setting of another library": (
        lambda: inference.bootstrap(Y, P, "roc_auc_score", n_boot=100),
        r"bootstrap and roc_auc_score take no parameter 'n_boot'; did you mean 'n_resamples'\?",
    ),
    "seed under another name": (
        lambda: inference.bootstrap(Y, P, "roc_auc_score", seed=1),
        r"bootstrap and roc_auc_score take no parameter 'seed'; did you mean 'random_state'\?",
    ),
    "metric before the labels": (
        lambda: metric_difference("roc_auc_score", Y, P, Q),
        r"metric must be the name of a metric, such as 'bounded_brier_loss', got ndarray",
    ),
    "measure in capitals": (
        lambda: utility.expected_utility(P, "F1"),
        r"measure must .*got 'F1'; did you mean 'f1'\?",
    ),
    "measure as scikit-learn calls it": (
        lambda: utility.ExpectedUtilityClassifier(measure="f1_score").fit(features(), Y),
        r"measure must .*got 'f1_score'; did you mean 'f1'\?",
    ),
    "labels before the probabilities": (
        lambda: utility.expected_utility(Y, P),
        r"measure must .*got ndarray",
    ),
    "mode that is nearly right": (
        lambda: utility.ExpectedUtilityClassifier(measure="f1", mode="freeze").fit(features(), Y),
        r"mode must be one of 'batch', 'frozen', got 'freeze'; did you mean 'frozen'\?",
    ),
    "incumbent by its scores": (
        lambda: select_best(Y, MODELS, costs=0.1, incumbent=Q),
        r"incumbent must be one of 'new', 'old', got ndarray",
    ),
    "incumbent in capitals": (
        lambda: evaluate(Y, MODELS, costs=0.1, incumbent="Old"),
        r"incumbent must be one of 'new', 'old', got 'Old'; did you mean 'old'\?",
    ),
    "two models as one text": (
        lambda: compare(Y, P, Q, costs=0.1, names="new,old"),
        r"names must .*such as \('new', 'old'\), got 'new,old'",
    ),
    "models of an evaluation by their scores": (
        lambda: evaluation().compare(P, Q),
        r"model must be one of 'new', 'old', 'treat all', 'treat none', got ndarray",
    ),
    "one number of further rows": (
        lambda: evaluation().with_information(more_rows=500),
        r"more_rows must be a list of numbers of rows, got 500: pass \[500\]",
    ),
    "amounts below zero": (
        lambda: outcomes_of(false_negative=-AMOUNT),
        r"index 0 \(false_positive 15, false_negative -10\).*on_dominated='set_aside'",
    ),
    "matrix of two rows": (
        lambda: RowCosts(Y, matrix=[[0, 10], [100, 0]]),
        r"matrix must hold four entries, \(tn, fp, fn, tp\).*got shape \(2, 2\): .*matrix=\(0, 10, 100, 0\)",
    ),
    "one imputation": (
        lambda: outcomes.Imputed([P]),
        r"scores must be a list of two or more columns, .*got 1",
    ),
    "imputations as an array": (
        lambda: outcomes.Imputed(np.column_stack([P, Q])),
        r"scores must be a list of two or more columns, .*got ndarray: .*list\(scores\.T\)",
    ),
    "labels that nobody looked up as -9": (
        lambda: PartlyVerified(np.where(np.arange(ROWS) < 9, -9, Y), groups=PATIENTS),
        r"y_true must hold two values, got 3 \(-9, 0, 1\).*not looked up.*nan",
    ),
    "file of a boundary for its text": (
        lambda: boundary.Boundary.from_json("boundary.json"),
        r"text must be a boundary in JSON.*Path\('boundary\.json'\)\.read_text\(\)",
    ),
    "metric of another library for training": (
        lambda: training.MetricMonitor("brier"),
        r"metric must .*got 'brier'; did you mean 'bounded_brier_loss'\?",
    ),
}
CALLS = {**SILENT, **COLUMNS, **SETTINGS}

FILES = {
    "p.csv": {"ill": Y, "new": P, "old": Q},
    "german.csv": "\n".join(["ill;new", *(f"{y};{p}".replace(".", ",") for y, p in zip(Y, P, strict=True))]).encode(),
    "signs.csv": {"ill": Y, "new": [f"{100 * value:.0f}%" for value in P]},
    "percent.csv": {"ill": Y, "new": 100 * P},
    "orders.csv": {"fraud": Y, "risk": P, "amount": AMOUNT},
    "loans.csv": {"bad": Y, "score": P, "spread": SPREAD},
    "book.xlsx": b"PK\x03\x04\x14\x00\x06\x00\x08\x00",
    "wide.csv": "ill,new\n0,0.1\n1,0.8\n".encode("utf-16"),
    "text.parquet": b"ill,new\n0,0.1\n1,0.8\n",
}
EVALUATE = ["evaluate", "p.csv", "--label", "ill"]
FIT = ["boundary", "fit", "loans.csv", "--label", "bad", "--score", "score", "--uncertainty", "spread"]
CORRECT = ["correct", "p.csv", "--models", "new", "-o", "out.csv"]
DECIDE = ["decide", "p.csv", "--models", "new", "-o", "out.csv"]
ORDERS = ["evaluate", "orders.csv", "--label", "fraud", "--models", "risk"]
AMOUNTS = ["--false-positive-cost", "-15", "--false-negative-cost", "amount"]
COMMANDS = {
    "a metric's threshold in percent": (
        [*EVALUATE, "--metric", "net_benefit_score:threshold=10"],
        2,
        r"--metric net_benefit_score: threshold must lie in \[0, 1\), got 10.*10% is 0\.1",
    ),
    "a metric without its threshold": (
        [*EVALUATE, "--metric", "net_benefit_score"],
        2,
        r"--metric net_benefit_score needs threshold=: write --metric net_benefit_score:threshold=NUMBER",
    ),
    "significance level for confidence level": (
        [*EVALUATE, "--costs", "0.1", "--confidence-level", "0.05"],
        2,
        r"--confidence-level must be at least 0\.5, got '0\.05': .*write 0\.95",
    ),
    "share of positives with a percent sign": (
        [*EVALUATE, "--prevalence", "5%"],
        2,
        r"--prevalence must be a number between 0 and 1, got '5%'; 5% is written 0\.05",
    ),
    "confidence in percent": (
        [*EVALUATE, "--confidence-level", "95"],
        2,
        r"--confidence-level must be .*got '95'; 95% is written 0\.95",
    ),
    "expected AUC in percent": (
        ["plan", "auc", "--auc", "80", "--prevalence", "0.1", "--width", "0.1"],
        2,
        r"--auc must be .*got '80'; 80% is written 0\.8",
    ),
    "odds among the thresholds": (
        [*EVALUATE, "--costs", "1/9"],
        2,
        r"--costs must be .*got '1/9': write --costs 0.1 for the odds 1/9",
    ),
    "percent among the odds": (
        [*EVALUATE, "--odds", "10%"],
        2,
        r"--odds must be .*got '10%': write --costs 10%",
    ),
    "odds among the false alarms": (
        [*EVALUATE, "--false-alarms-per-miss", "1/9"],
        2,
        r"--false-alarms-per-miss must be .*got '1/9': write --costs 0.1 for the odds 1/9",
    ),
    "fewer models tried than shown": (
        [*EVALUATE, "--costs", "0.1", "--n-tried", "1"],
        3,
        r"--n-tried must be a whole number from 2, the models shown, .*got 1",
    ),
    "incumbent that is not there": (
        [*EVALUATE, "--costs", "0.1", "--incumbent", "oldd"],
        3,
        r"--incumbent must be one of 'new', 'old', got 'oldd'; did you mean 'old'\?",
    ),
    "test harm of a model that is not there": (
        [*EVALUATE, "--costs", "0.1", "--harm", "nwe=0.02"],
        3,
        r"--harm must name models among 'new', 'old', got 'nwe'",
    ),
    "decimal commas": (
        ["evaluate", "german.csv", "--label", "ill", "--models", "new"],
        3,
        r"german\.csv: column 'new', row 1 \(line 2\): must be a number, got '0,1' .*decimal comma.* 0\.1",
    ),
    "percent signs": (
        ["evaluate", "signs.csv", "--label", "ill", "--models", "new"],
        3,
        r"column 'new', row 1 .*must be a number, got '10%' .*10% is 0\.1",
    ),
    "probabilities in percent": (
        ["evaluate", "percent.csv", "--label", "ill", "--models", "new"],
        3,
        r"column 'new', row 1 .*must lie in \[0, 1\], got 10\.0 .*percentages, divide by 100",
    ),
    "workbook": (
        ["evaluate", "book.xlsx", "--label", "ill"],
        3,
        r"book\.xlsx: .*workbook.*save the sheet as CSV",
    ),
    "text that is not UTF-8": (
        ["evaluate", "wide.csv", "--label", "ill"],
        3,
        r"wide\.csv: must be UTF-8 text, this looks like UTF-16.*iconv -f UTF-16 -t UTF-8",
    ),
    "text under the name of Parquet": (
        ["evaluate", "text.parquet", "--label", "ill"],
        3,
        r"text\.parquet: cannot be read as Parquet: .*--format csv",
    ),
    "amounts below zero": (
        [*ORDERS, *AMOUNTS],
        3,
        r"orders\.csv: .*false_positive -15, false_negative 10.*--on-dominated set_aside",
    ),
    "fractions kept without their class": (
        [*CORRECT, "--keep", "0.05"],
        2,
        r"--keep must be LABEL:NUMBER for each class once, such as 0:0\.05, got '0\.05'",
    ),
    "class weights without classes": (
        [*CORRECT, "--class-weights", "1,30"],
        2,
        r"--class-weights must be LABEL:NUMBER for each class once, such as 0:1,1:30, got '1,30'",
    ),
    "prior as decide takes it": (
        [*CORRECT, "--prior", "0.1:0.02"],
        2,
        r"--training-prior and --prior must be given together, got --prior '0\.1:0\.02' .*--training-prior",
    ),
    "threshold of a decision": (
        [*DECIDE, "--threshold", "0.1"],
        2,
        "No such option: --threshold; did you mean --costs",
    ),
    "costs without deferral": (
        [*DECIDE, "--costs", "0.1"],
        2,
        r"--costs needs --deferral: without it a row is acted on where its score reaches the threshold",
    ),
    "measure in capitals": (
        [*DECIDE, "--measure", "F1"],
        2,
        r"--measure: .*got 'F1'; did you mean 'f1'\?",
    ),
    "measure with an equals sign": (
        [*DECIDE, "--measure", "fbeta=2"],
        2,
        r"--measure: .*got 'fbeta=2'; did you mean 'fbeta:2'\?",
    ),
    "matrix of costs that is no file": (
        ["evaluate", "p.csv", "--label", "ill", "--classes", "0,1", "--cost-matrix", "0,1,9,0"],
        3,
        r"0,1,9,0: .*No such file.*--cost-matrix names a text file",
    ),
    "question of a plan in capitals": (
        ["plan", "AUC", "--auc", "0.8"],
        2,
        r"(?i)question.*'AUC' is not one of .*'auc'",
    ),
    "label in capitals": (
        ["evaluate", "p.csv", "--label", "Ill"],
        3,
        r"p\.csv: column 'Ill': there is no such column\. Did you mean 'ill'\?",
    ),
    "thresholds in percent": (
        [*EVALUATE, "--costs", "10"],
        2,
        r"--costs must lie in \[0, 1\], got 10; 10 percent is written 10%",
    ),
    "odds that might be a range": (
        [*EVALUATE, "--odds", "1:9"],
        2,
        r"--odds 1:9 could be one odds or a range: write 1/9",
    ),
    "precision in percent": (
        [*FIT, "--min-precision", "90"],
        2,
        r"--min-precision must lie in \(0, 1\], got 90.*90% is 0\.9",
    ),
    "one column for score and uncertainty": (
        [*FIT[:-1], "score", "--min-precision", "0.5"],
        2,
        r"--score and --uncertainty must name two columns, got 'score' twice",
    ),
    "boundary as CSV": (
        [*FIT, "--min-precision", "0.5", "-o", "b.csv"],
        2,
        r"--output must name a file that ends in \.json, got 'b\.csv'",
    ),
    "further rows as a range": (
        [*EVALUATE, "--more-rows", "500:5000"],
        2,
        r"--more-rows must be .*got '500:5000'.*500,5000",
    ),
}


@pytest.mark.usefixtures("folder")  # whatever a mistake writes where it is not refused
@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_mistake_is_refused_with_argument_value_and_remedy(call, message):
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    assert re.search(message, str(error.value), re.DOTALL), str(error.value)
    assert len(str(error.value)) < 800, str(error.value)
    assert Path(error.traceback[-1].path).is_relative_to(PACKAGE)


@pytest.fixture
def predictions(folder):  # noqa: F811
    """Write the files of the commands into an empty folder, and return their names."""
    for name, content in FILES.items():
        if isinstance(content, dict):
            write_csv(folder / name, {key: list(column) for key, column in content.items()})
        else:
            (folder / name).write_bytes(content)
    return sorted(FILES)


@pytest.mark.parametrize(("argv", "code", "message"), COMMANDS.values(), ids=COMMANDS)
def test_mistyped_command_is_refused_with_option_value_and_remedy(argv, code, message, cli, predictions):  # noqa: F811
    outcome = cli(*argv)
    errors = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert (outcome.code, outcome.out, len(errors)) == (code, "", 1), outcome.err
    assert re.search(message, errors[0]), errors[0]
    assert sorted(path.name for path in Path().iterdir()) == predictions
