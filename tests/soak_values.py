"""Arguments for every public function: valid ones, forms that mean the same, and values that nobody should pass."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from stakes import RowCosts, ScoreTable, costs


def optional(name):
    """Import a library that may be absent."""
    try:
        return __import__(name)
    except ImportError:
        return None


pd, pl, pa = optional("pandas"), optional("polars"), optional("pyarrow")
sparse = __import__("scipy.sparse").sparse

ROWS = ("y_true", "y_prob", "y_score", "a", "b", "uncertainty", "sample_weight", "event", "time", "first_rows")


def rows(rng):
    """Draw labels of both classes and scores: ties, ends and neighbours of numbers among them."""
    n = int(rng.integers(4, 25))
    y = (rng.random(n) < rng.random()).astype(int)
    y[:2] = 0, 1
    p = rng.random(n) if rng.random() < 0.6 else rng.integers(0, 5, n) / 4.0
    if rng.random() < 0.3:
        p[rng.integers(n)] = rng.choice([0.0, 1.0, 5e-324, np.nextafter(1.0, 0.0), 0.5 + 2**-53, -0.0])
    return y, p


def valid(rng):
    """Return values that a parameter of this name takes."""
    y, p = rows(rng)
    q = rng.permutation(p)
    table = ScoreTable.from_predictions(y, p)
    two = np.column_stack([1.0 - p, p])
    low, high = sorted(rng.uniform(0.01, 0.99, 2))
    return {
        "y_true": y,
        "y_prob": p,
        "y_score": p,
        "a": p,
        "b": q,
        "uncertainty": rng.random(len(y)).round(1),
        "costs": float(rng.choice([0.2, 0.5])) if rng.random() < 0.5 else (low, high),
        "deferral": 0.05,
        "bounds": (low, high),
        "fpr_bounds": (0.0, high),
        "threshold": low,
        "thresholds": [low, high],
        "median": low,
        "capacity": 1,
        "models": {"new": p, "old": q},
        "p_values": [0.01, 0.2],
        "two": two,
        "other table": ScoreTable.from_predictions(y, q),
        "table": table,
        "parts": [costs.Uniform(0, 1)],
        "matrices": [[0, 1], [4, 0]],
        "metric": "bounded_brier_loss",
        "kind": "regret",
        "odds": "1:9",
        "ratio": 0.1,
        "false_alarms": 9,
        "tn": 0,
        "fp": 1,
        "fn": 9,
        "tp": 0,
        "weights": [1.0],
        "rule": "score",
        "low": 0.0,
        "high": high,
        "mode": high / 2,
        "c": low,
        "values": [0.1, 0.2],
        "knots": [0.1, high + 0.01],
        "alpha": 2.0,
        "standard_errors": [0.01, 0.02],
        "measure": "f1",
        "training_prior": 0.3,
        "beta": 2.0,
        "keep": {0: 0.5, 1: 1},
        "outcome": RowCosts(y, false_positive=1, false_negative=9),
        "min_precision": 0.5,
        "positives": [3, 5],
        "n_examples": [9, 9],
        "prior": (1.0, 2.0),
        "true_prior": (2.0, 3.0),
        "model_prior": (1.0, 1.0),
        "score": [0.2, 0.4],
        "member_probs": np.stack([p, q]),
        "event": y,
        "time": rng.integers(1, 9, len(y)) * 1.0,
        "horizon": 4.0,
        "question": "net_benefit",
        "decisions": "independent",
        "max_error": 0.5,
        "rows": len(y),
        "width": 2,
        "tables": {"new": table, "old": table},
        "means": [0.1, 0.2],
        "covariance": np.eye(2) / 100,
        "name": "risk",
        "loss": lambda p, k: 1.0 - p[k],
        "pdf": np.ones_like,
        "f": lambda tp, fp, fn, tn: tp + tn - fp - fn,
    }


# a small number of draws, where a function makes many
FEW = {"n_resamples": 1000, "n_repeats": 2}
OWN = {
    "beta_loss": {"a": 2, "b": 8},
    "Beta": {"a": 2, "b": 8},
    "Density": {"low": 0.0, "high": 1.0},
    "PiecewiseLinear": {"values": [1.0, 2.0]},
    "evaluate": {"costs": 0.2},
    "FractionalLinear": {"c": (0, 1, 0, 0), "d": (0, 1, 1, 0)},
    "fit_boundary": {"goal": "recall", "min_precision": 0.5},
    "multilabel_loss": {"y_true": np.array([[0, 1], [1, 0]] * 4), "y_prob": np.array([[0.2, 0.7], [0.5, 0.4]] * 4)},
    "decomposition_interval": {"costs": (0.1, 0.5)},
    "rows_needed": {"prevalence": 0.3, "sensitivity": 0.8, "specificity": 0.7, "threshold": 0.2, "width": 0.05},
    "advise": {"knowledge": "known"},
    "value_of_information": {"costs": 0.2},
    "correct_probabilities": {"class_weight": {0: 1, 1: 4}},
    "apply_class_weight": {"positive_share": 0.8},
    "undo_class_weight": {"positive_share": 0.8},
    "shift_prior": {"prior": 0.2},
    "RowCosts": {"false_positive": 1.0, "false_negative": 9.0},
    "Deferral": {"fee": 0.05},
    "compare_monitors": None,
    "evaluate_frame": None,
    "get_scorer": {"name": "brier"},
    "random_effects": {"values": [0.1, 0.2, 0.4], "standard_errors": [0.01, 0.02, 0.05]},
    "apply_loss_matrix": {"beta": [[1.0, 2.0], [3.0, 1.0]]},
    "undo_loss_matrix": {"beta": [[1.0, 2.0], [3.0, 1.0]]},
}
MODELS = ("best_models", "evaluate_actions", "select_best")
TABLES = ("dominance", "lc_index")
TWO_COLUMNS = (
    "penalized_brier_loss",
    "penalized_log_loss",
    "cost_matrix_loss",
    "ordinal_loss",
    "one_vs_rest_bounded_loss",
)
TWO_COLUMNS += ("decision_calibration_test", "apply_loss_matrix", "undo_loss_matrix")


def same_forms(values, rng):
    """Return the values in a form that means the same numbers, and whether they are still of double precision."""
    array = np.asarray(values)
    exact = array.dtype.kind != "f" or bool(np.all(array.astype(np.float32) == array))
    big = np.zeros(2 * len(array), array.dtype)
    big[::2] = array
    read_only = array.copy()
    read_only.setflags(write=False)
    forms = [
        array.tolist,
        lambda: tuple(array.tolist()),
        lambda: array.astype(array.dtype.newbyteorder(">")),
        lambda: big[::2],
        lambda: read_only,
        lambda: array.astype(object),
        lambda: np.ma.masked_array(array, mask=False),
        lambda: memoryview(array),
        lambda: array.astype(np.float32) if exact else array,
        lambda: array.astype(np.float64),
        lambda: array[:, None] if array.dtype.kind == "f" else array.astype(bool),
    ]
    if pd is not None:
        forms += [lambda: pd.Series(array), lambda: pd.Series(array).convert_dtypes(), lambda: pd.Index(array)]
    if pl is not None:
        forms += [lambda: pl.Series("x", array)]
    if pa is not None:
        forms += [lambda: pa.array(array), lambda: pa.chunked_array([array[:2], array[2:]])]
    return forms[int(rng.integers(len(forms)))]()


def strange_array(values, rng):
    """Return rows that are wrong, or extreme."""
    array = np.asarray(values, dtype=float)
    spoiled = array.copy()
    spoiled[rng.integers(len(array))] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 2.0, 1e308, 1e-310])
    choices = [
        lambda: spoiled,
        lambda: array[:-1],
        lambda: np.append(array, 0.5),
        lambda: array[:0],
        lambda: array * 0.0,
        lambda: array * 5e-324,
        lambda: 0.5 + 2.0**-53 * np.arange(len(array)),
        lambda: array.astype(np.float16),
        lambda: array.astype(complex) + 1j,
        lambda: array.astype(str),
        lambda: array.astype(bytes),
        lambda: (value for value in array),
        lambda: iter(array),
        lambda: array.reshape(1, -1),
        lambda: np.stack([array] * 3, axis=1),
        lambda: np.stack([array] * 2)[..., None],
        lambda: np.ma.masked_less(array, 0.5),
        lambda: sparse.csr_matrix(array),
        lambda: array.astype("datetime64[s]"),
        lambda: np.array([None] * len(array)),
        lambda: [*array[:-1].tolist(), None],
        lambda: [*array[:-1].tolist(), "x"],
        lambda: [[v] * (i % 2 + 1) for i, v in enumerate(array)],
        lambda: np.array(list(zip(array, array, strict=True)), dtype=[("a", float), ("b", float)]),
        lambda: [10**400] * len(array),
        lambda: [Fraction(1, 3)] * len(array),
        lambda: [Decimal("0.5")] * len(array),
        lambda: dict(enumerate(array)),
        lambda: set(array),
        lambda: np.array(0.5),
    ]
    if pd is not None:
        choices += [
            lambda: pd.Series(array, dtype="Float64").mask(pd.Series(array) < 0.5),
            lambda: pd.Series(array).astype("category"),
            lambda: pd.Series(array[::-1], index=range(len(array))[::-1]),
            lambda: pd.DataFrame({"a": array, "b": array}),
            lambda: pd.Series(pd.arrays.SparseArray(array)),
        ]
    if pl is not None:
        choices += [
            lambda: pl.Series([None, *array[1:]]),
            lambda: pl.Series(array.astype(str)).cast(pl.Categorical),
            lambda: pl.DataFrame({"a": array}).lazy(),
        ]
    return choices[int(rng.integers(len(choices)))]()


STRANGE = [
    *[None, True, False, "", "0.5", "no", b"0.5", "nan", "\0", "x" * 50, math.nan, math.inf, -math.inf, -0.0, 5e-324],
    *[1e-300, 1e-17, 0.5, 1.0, 1 - 2**-53, 1.5, -1, 0, 1, 2, 3, 2.5, 1e308, 10**400, -(10**400), 1j, Fraction(1, 3)],
    *[Decimal("0.1"), Decimal("NaN"), [], (), {}, set(), [0.1], (0.1, 0.3), (0.3, 0.1), [0.1, math.nan], [[0.1]]],
    *[("0.1", "0.3"), (None, None), (0, 10**400), {"a": 1}, {"a": None}, [None], ["a"], ["a", "b"], object(), int, len],
    *[np.float16(0.1), np.int8(3), np.bool_(True), np.array(0.3), np.array([]), np.array([[0.1, 0.2]]), np.nan],  # noqa: FBT003
    *[np.array(["a"]), np.datetime64("2020-01-01"), dt.timedelta(1), range(3), slice(None), NotImplemented, ...],
    *[
        costs.Uniform(0, 1),
        costs.LogOddsUniform(0, 1),
        costs.Fixed(0.5, tie=0.5),
        costs.Beta(2, 8),
        "f1",
        "roc_auc_score",
    ],
]


def strange(rng):
    """Return a value that is rarely right for anything."""
    if rng.random() < 0.05:
        return (value for value in (0.1, 0.2))
    return STRANGE[int(rng.integers(len(STRANGE)))]
