"""The shipped predictions file is what its script makes, and small and clean enough to ship."""

import csv
import importlib.util
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "examples" / "make_breast_cancer_example.py"
MODELS = ["logistic_regression", "random_forest", "naive_bayes"]


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, np.array(rows, dtype=float).T, strict=True))


@pytest.fixture(scope="module")
def shipped():
    return read(resources.files("stakes") / "data" / "breast_cancer.csv")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.thorough
def test_script_makes_the_shipped_file_again(script, shipped, tmp_path):
    path = tmp_path / "again.csv"
    script.write(script.cross_validated_columns(), path)
    again = read(path)
    assert list(again) == list(shipped)
    for name, column in shipped.items():
        # scikit-learn 1.4 and 1.9 agree within 2e-11; the rest is room for other linear algebra libraries.
        np.testing.assert_allclose(again[name], column, rtol=0, atol=1e-6, err_msg=name)


def test_shipped_file_is_small_and_clean(shipped):
    size = (resources.files("stakes") / "data" / "breast_cancer.csv").stat().st_size
    assert size <= 200_000
    assert list(shipped) == ["malignant", *MODELS]
    # 212 malignant and 357 benign masses, as the data set's own description counts them.
    assert np.bincount(shipped["malignant"].astype(int)).tolist() == [357, 212]
    for name in MODELS:
        assert np.all((shipped[name] >= 0) & (shipped[name] <= 1)), name


def test_positive_label_is_malignant_for_every_model(shipped):
    positive = shipped["malignant"] == 1
    for name in MODELS:
        assert shipped[name][positive].mean() > 0.8, name
        assert shipped[name][~positive].mean() < 0.2, name


def test_tiny_probabilities_are_not_rounded_to_zero(shipped):
    # Naive Bayes gives a malignant mass the probability 6.4e-12: a bad forecast, but a finite log loss.
    worst = shipped["naive_bayes"][shipped["malignant"] == 1].min()
    assert worst == pytest.approx(6.38525518e-12, rel=1e-6)
