"""Honest mistakes of a first week: each is refused in words that hold the argument, the value and the remedy."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from stakes import (
    actions,
    boundary,
    compare,
    evaluate,
    utility,
)
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
CALLS = {**SILENT}

FILES = {
    "p.csv": {"ill": Y, "new": P, "old": Q},
}
EVALUATE = ["evaluate", "p.csv", "--label", "ill"]
COMMANDS = {
    "a metric's threshold in percent": (
        [*EVALUATE, "--metric", "net_benefit_score:threshold=10"],
        2,
        r"--metric net_benefit_score: threshold must lie in \[0, 1\), got 10.*10% is 0\.1",
    ),
    "significance level for confidence level": (
        [*EVALUATE, "--costs", "0.1", "--confidence-level", "0.05"],
        2,
        r"--confidence-level must be at least 0\.5, got '0\.05': .*write 0\.95",
    ),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_mistake_is_refused_with_argument_value_and_remedy(call, message):
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    assert re.search(message, str(error.value), re.DOTALL), str(error.value)
    assert len(str(error.value)) < 800, str(error.value)
    assert Path(inspect.getinnerframes(error.tb)[-1].filename).is_relative_to(PACKAGE)


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
