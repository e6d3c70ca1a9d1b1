"""Labels in a column of any kind and library are the same labels as in an array of numpy."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from stakes import evaluate, expected_regret, undo_class_weight, undo_sampling
from stakes.actions import DeferralClassifier
from stakes.boundary import UncertaintyBoundaryClassifier
from stakes.correction import LossCorrectedClassifier
from stakes.metrics import cost_matrix_loss
from stakes.training import lightgbm_metric
from stakes.utility import ExpectedUtilityClassifier, PlugInThresholdClassifier

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))


def far(_estimator, X):
    """Tell how far from the centre a row is."""
    return np.abs(X).sum(axis=1)


INNER = GaussianNB()
MODELS = [
    LossCorrectedClassifier(INNER, prior=0.4),
    PlugInThresholdClassifier(INNER, cv=2),
    ExpectedUtilityClassifier(INNER, mode="frozen", cv=2),
    DeferralClassifier(INNER, costs=0.1, deferral=0.01),
    UncertaintyBoundaryClassifier(INNER, far, min_precision=0.6, cv=2),
]
# the negative and the positive label as numpy has them
PAIRS = {
    "int": np.array([0, 1]),
    "bool": np.array([False, True]),
    "float": np.array([0.0, 1.0]),
    "other numbers": np.array([1, 2]),
    "text": np.array(["no", "yes"]),
}
NULLABLE = {"i": "Int64", "b": "boolean", "f": "Float64", "U": "string"}
ARROW = {"i": "int64[pyarrow]", "b": "bool[pyarrow]", "f": "double[pyarrow]", "U": "string[pyarrow]"}


def categorical(y, categories, *, ordered=False):
    return pd.Series(pd.Categorical(y, categories=categories, ordered=ordered))


KINDS = {
    "list": lambda y: y.tolist(),
    "tuple": lambda y: tuple(y.tolist()),
    "small numpy": lambda y: y.astype({"i": np.int8, "f": np.float32}.get(y.dtype.kind, y.dtype)),
    "pandas": pd.Series,
    "pandas, own index": lambda y: pd.Series(y, index=range(len(y), 0, -1)),
    "index": pd.Index,
    "nullable": lambda y: pd.Series(y, dtype=NULLABLE[y.dtype.kind]),
    "extension array": lambda y: pd.array(y, dtype=NULLABLE[y.dtype.kind]),
    "pandas of arrow": lambda y: pd.Series(y, dtype=ARROW[y.dtype.kind]),
    "category": lambda y: pd.Series(y, dtype="category"),
    "category, ordered": lambda y: categorical(y, np.unique(y), ordered=True),
    "category, reversed": lambda y: categorical(y, np.unique(y)[::-1]),
    "category of nullable": lambda y: pd.Series(y, dtype=NULLABLE[y.dtype.kind]).astype("category"),
    "category of arrow": lambda y: pd.Series(y, dtype=ARROW[y.dtype.kind]).astype("category"),
    "categorical": pd.Categorical,
    "categorical index": pd.CategoricalIndex,
    "polars": pl.Series,
    "polars, small": lambda y: pl.Series(y).cast({"i": pl.Int8, "f": pl.Float32}.get(y.dtype.kind, pl.Series(y).dtype)),
    "polars category": lambda y: pl.Series(y).cast(pl.Categorical) if y.dtype.kind == "U" else pl.Series(y),
    "polars enum": lambda y: pl.Series(y).cast(pl.Enum(["yes", "no"])) if y.dtype.kind == "U" else pl.Series(y),
    "arrow": pa.array,
    "arrow in chunks": lambda y: pa.chunked_array([y[:9], y[9:]]),
    "arrow dictionary": lambda y: pa.chunked_array([pa.array(y).dictionary_encode()]),
}
every_column = pytest.mark.parametrize("kind", KINDS)
RNG = np.random.default_rng(5)
X = RNG.normal(size=(160, 2))
TRUTH = (X[:, 0] + RNG.normal(size=160) > 0.5).astype(int)
PROB = 1.0 / (1.0 + np.exp(-X[:, 0]))


@functools.cache
def fitted(place, pair):
    return fit(place, pair, PAIRS[pair][TRUTH])


def fit(place, pair, y):
    model = clone(MODELS[place]).set_params(pos_label=PAIRS[pair].tolist()[1]).fit(X, y)
    return model.classes_.tolist(), model.predict(X).tolist()


@every_column
@pytest.mark.parametrize("place", range(len(MODELS)), ids=[type(model).__name__ for model in MODELS])
def test_classifiers_take_labels_in_any_column_as_in_an_array(place, kind):
    for pair, labels in PAIRS.items():
        known = fitted(place, pair)
        assert known[0] == labels.tolist()
        assert fit(place, pair, KINDS[kind](labels[TRUTH])) == known


def undone(y, labels):
    return undo_class_weight(PROB, class_weight="balanced", y_train=y, labels=labels.tolist()).tolist()


FUNCTIONS = {
    "expected_regret": lambda y, labels: expected_regret(y, PROB, costs=(0.1, 0.4), pos_label=labels.tolist()[1]),
    "evaluate": lambda y, labels: evaluate(y, {"a": PROB}, costs=(0.1, 0.4), pos_label=labels.tolist()[1]).to_json(),
    "cost_matrix_loss": lambda y, _: cost_matrix_loss(y, np.column_stack([1 - PROB, PROB]), matrices=1 - np.eye(2)),
    "undo_class_weight": undone,
}


@every_column
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_labels_in_any_column_as_in_an_array(name, kind):
    for labels in PAIRS.values():
        y = labels[TRUTH]
        assert FUNCTIONS[name](KINDS[kind](y), labels) == FUNCTIONS[name](y, labels)


@pytest.mark.parametrize("kind", ["category", "category, reversed", "category of nullable", "categorical"])
def test_fractions_in_a_category_are_no_labels(kind):
    with pytest.raises(ValueError, match=r"y_true must hold labels, got fractions \(0.2, 0.7\)"):
        expected_regret(KINDS[kind](np.array([0.2, 0.7, 0.2])), [0.1, 0.2, 0.3], costs=0.2)


KIND_OF = r"must be of one kind, got values of {}, str: make them all numbers or all texts\.$"


@pytest.mark.parametrize("value", [1, 1.5, True])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_numbers_beside_texts_are_refused_as_labels_in_fit(model, value):
    rule = "^y " + KIND_OF.format(type(value).__name__)
    for first, second in ((value, "none"), ("none", value)):
        mixed = [first, *(second if each else first for each in TRUTH[1:])]
        for y in (mixed, np.array(mixed, dtype=object), pd.Series(mixed), pd.Series(mixed, dtype="category")):
            with pytest.raises(ValueError, match=rule):
                clone(model).set_params(pos_label=value).fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_an_infinite_label_is_refused_in_fit_without_a_warning(model):
    with pytest.raises(ValueError, match=r"^y must be finite, got -?inf at index 1 \(1 of "):
        clone(model).fit(X, np.where(np.arange(len(X)) == 1, -np.inf, np.asarray(TRUTH, dtype=float)))


HALF, MIXED = np.full((4, 2), 0.5), [1, "none", "none", 1]
SORTED = {
    "y_train": lambda: undo_class_weight(HALF, class_weight="balanced", y_train=MIXED),
    "the classes of class_weight": lambda: undo_class_weight(HALF, class_weight={1: 2.0, "none": 1.0}),
    "the classes of keep": lambda: undo_sampling(HALF, keep={"none": 0.1, 1: 1.0}),
    "labels": lambda: lightgbm_metric("ordinal_loss", labels=["low", 1, "high"])(np.arange(3), np.eye(3)),
    "y_true and labels": lambda: cost_matrix_loss(MIXED, HALF, matrices=1 - np.eye(2)),
}


@pytest.mark.parametrize("name", SORTED)
def test_numbers_beside_texts_are_refused_where_labels_are_sorted(name):
    with pytest.raises(ValueError, match=f"^{name} " + KIND_OF.format("int")):
        SORTED[name]()


def test_numbers_beside_texts_are_classes_in_an_order_that_is_stated():
    given = undo_class_weight(HALF, class_weight="balanced", y_train=[1, *MIXED[1:3], "none"], labels=["none", 1])
    assert given[0].tolist() == pytest.approx([0.75, 0.25])  # 3 of 4 rows are "none"
    assert undo_class_weight(HALF, class_weight={1: 3.0}, labels=["none", 1])[0].tolist() == pytest.approx([0.75, 0.25])
