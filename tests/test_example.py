"""The shipped predictions files are what their scripts make, and small and clean enough to ship."""

import csv
import importlib.util
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Example:
    """A shipped file, and what its data set's own description says of it."""

    name: str
    label: str
    models: list[str]
    negatives_and_positives: list[int]
    groups: dict[str, dict[str, int]] = field(default_factory=dict)

    def path(self):
        return resources.files("stakes") / "data" / f"{self.name}.csv"

    def script(self):
        path = ROOT / "examples" / f"make_{self.name}_example.py"
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def read(self, path=None):
        """Return the columns: numbers, but for the groups."""
        with (path or self.path()).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        columns = dict(zip(header, np.array(rows).T, strict=True))
        return {name: column if name in self.groups else column.astype(float) for name, column in columns.items()}


MASSES = Example("breast_cancer", "malignant", ["logistic_regression", "random_forest", "naive_bayes"], [357, 212])
LOANS = Example(
    "german_credit",
    "bad",
    ["logistic", "forest", "boosting"],
    [700, 300],
    {"age_group": {"up to 25": 190, "over 25": 810}},
)
BOTH = pytest.mark.parametrize("example", [MASSES, LOANS], ids=lambda example: example.name)


@pytest.mark.thorough
@BOTH
def test_script_makes_the_shipped_file_again(example, request, tmp_path):
    given = []
    if example is LOANS:
        pytest.importorskip("pandas")
        # Its forest and boosting are others under older versions; CI makes the masses under the oldest.
        pytest.importorskip("sklearn", minversion="1.9", reason="made with scikit-learn 1.9")
        given = [request.getfixturevalue("reference_dir") / "data" / "german_credit" / "german_credit.csv.gz"]
    script, path = example.script(), tmp_path / "again.csv"
    script.write(script.cross_validated_columns(*given), path)
    again, shipped = example.read(path), example.read()
    assert list(again) == list(shipped)
    for name, column in shipped.items():
        if name in example.groups:
            assert again[name].tolist() == column.tolist()
            continue
        # scikit-learn 1.4 and 1.9 agree within 2e-11 on the masses, two kernels of OpenBLAS within 1e-13 on the loans;
        # the rest allows for other linear algebra libraries.
        np.testing.assert_allclose(again[name], column, rtol=0, atol=1e-6, err_msg=name)


@BOTH
def test_shipped_file_is_small_and_clean(example):
    shipped = example.read()
    assert example.path().stat().st_size <= 200_000
    assert list(shipped) == [example.label, *example.models, *example.groups]
    assert np.bincount(shipped[example.label].astype(int)).tolist() == example.negatives_and_positives
    for name in example.models:
        assert np.all((shipped[name] >= 0) & (shipped[name] <= 1)), name
    for name, sizes in example.groups.items():
        assert dict(zip(*np.unique(shipped[name], return_counts=True), strict=True)) == sizes


def test_positive_label_is_malignant_for_every_model():
    shipped = MASSES.read()
    positive = shipped["malignant"] == 1
    for name in MASSES.models:
        assert shipped[name][positive].mean() > 0.8, name
        assert shipped[name][~positive].mean() < 0.2, name


def test_tiny_probabilities_are_not_rounded_to_zero():
    shipped = MASSES.read()
    # Naive Bayes gives a malignant mass the probability 6.4e-12: a bad forecast, but a finite log loss.
    worst = shipped["naive_bayes"][shipped["malignant"] == 1].min()
    assert worst == pytest.approx(6.38525518e-12, rel=1e-6)


def cost_per_1000(bad, refused, bad_loan):
    """Cost of decisions where a bad loan costs `bad_loan` times what a lost good one does, both 1 together."""
    good_loan = 1.0 / (1.0 + bad_loan)
    return 1000.0 * np.mean(np.where(bad == 1, ~refused * (1.0 - good_loan), refused * good_loan))


def cost_over_the_range(bad, score):
    """The cost that the example speaks of: the average over 10,000 thresholds from 10% to 25%."""
    middles = 0.10 + 0.15 * (np.arange(10_000) + 0.5) / 10_000
    return np.mean([cost_per_1000(bad, score >= c, 1.0 / c - 1.0) for c in middles])


def test_loans_are_dearer_with_the_forest_of_the_highest_auc_and_f1_until_it_is_corrected():
    from sklearn.metrics import f1_score, roc_auc_score

    shipped = LOANS.read()
    bad = shipped["bad"]
    scores = {name: shipped[name] for name in LOANS.models}
    assert max(scores, key=lambda name: roc_auc_score(bad, scores[name])) == "forest"
    assert max(scores, key=lambda name: f1_score(bad, scores[name] >= 0.5)) == "forest"
    odds = scores["forest"] / (1.0 - scores["forest"]) * 3.0 / 7.0  # without its weights of 7 and 3
    scores["corrected"] = odds / (1.0 + odds)
    costs = {name: cost_over_the_range(bad, score) for name, score in scores.items()}
    assert sorted(costs, key=costs.get) == ["corrected", "logistic", "boosting", "forest"]
    assert costs["forest"] - costs["logistic"] == pytest.approx(14.5, abs=0.1)


def test_cost_matrix_of_the_loans_is_read_as_its_description_prints_it():
    bad = LOANS.read()["bad"]
    refuse_all, refuse_none = np.ones(1000, bool), np.zeros(1000, bool)
    # the matrix says 5 and 1: to accept everyone costs 1.5 a case, to refuse everyone 0.7
    assert cost_per_1000(bad, refuse_none, 5) * 6 == pytest.approx(1500)
    assert cost_per_1000(bad, refuse_all, 5) * 6 == pytest.approx(700)
