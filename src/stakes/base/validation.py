"""Check arguments and convert them to clean arrays, fractions and random generators."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, MappingView, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.outcome import Origin, Outcome
from stakes.outputs.hooks import nw
from stakes.outputs.text import guess, level_name, shorten

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.intp]


def blocks(length: int, size: int = 1 << 13) -> Iterator[slice]:
    """Slices that cut a long array into pieces that fit the cache, temporaries included."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


# Numbers read as they are written.

_EXPONENT = re.compile(r"e[+-]?([\d_]+)\s*$", re.IGNORECASE)
_LARGEST_EXPONENT = 400  # beyond any float; larger exponents would only use memory
_LARGEST = 10**300


def as_fraction(value: Any, name: str) -> Fraction:
    """Convert a number to the fraction that it is written as: 0.9 is 9/10, not the nearest number of its precision."""
    number = value if isinstance(value, Fraction) else _parsed(value, name)
    if abs(number) > _LARGEST:
        raise ValueError(f"{name} must be at most 1e300 in size, got a larger number.")
    return number


def refuse_one(value: Any, every: str) -> None:
    """Refuse a capacity of 1.0, which may mean one row or all rows.

    ``every`` says what to do where all rows are meant.
    """
    whole = isinstance(value, (int, np.integer)) or (isinstance(value, str) and value.strip().isdecimal())
    if not whole and as_fraction(value, "capacity") == 1:
        raise ValueError(
            f"capacity={value} can mean one row, or a share of 1, which is all rows: "
            f"pass the whole number 1 for one row; for all rows {every}."
        )


def check_capacity(value: Any) -> int | Fraction:
    """Return a capacity as a count of rows >= 1 or an exact share in (0, 1), or raise.

    Examples
    --------
    >>> check_capacity(20), check_capacity(0.29)
    (20, Fraction(29, 100))
    """
    number = Fraction(-1) if isinstance(value, bool) else as_fraction(value, "capacity")
    if number <= 0 or (number > 1 and number.denominator > 1):
        raise ValueError(f"capacity must be a count of rows >= 1 or a share of them in (0, 1), got {value}.")
    refuse_one(value, "leave capacity out")
    return int(number) if number.denominator == 1 else number


def _parsed(value: Any, name: str) -> Fraction:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return Fraction(int(value))
    text = value if isinstance(value, str) else ""
    if not isinstance(value, str):
        if not isinstance(value, (float, np.floating, Decimal)) or not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number or a fraction, got {value!r}.")
        text = str(value) if isinstance(value, (np.float16, np.float32)) else repr(float(value))
    exponent = _EXPONENT.search(text)
    digits = "" if exponent is None else exponent[1].replace("_", "").lstrip("0")
    if len(digits) > 3 or int(digits or 0) > _LARGEST_EXPONENT:
        raise ValueError(f"{name} must have an exponent of at most {_LARGEST_EXPONENT}, got {text[:60]!r}.")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name} must be a finite number or a fraction, got {text[:60]!r}.") from None


# Random generators: every function that draws reads ``random_state`` here.


def settled_order(*columns: NDArray[Any] | None) -> NDArray[np.intp]:
    """Return an order of rows that does not depend on their input order, so that draws by position do not either.

    Rows that are equal in all columns can stand for each other. Columns that are None are left out.
    """
    return np.lexsort([column for column in columns if column is not None][::-1])


def generator(random_state: Any) -> np.random.Generator:
    """Return the random generator for a seed, a generator or None, or raise."""
    if isinstance(random_state, np.random.RandomState):  # accepted by scikit-learn
        return np.random.default_rng(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, (bool, np.bool_))
    if whole and random_state < 0:
        raise ValueError(f"random_state must be a whole number >= 0, got {random_state}.")
    known = isinstance(random_state, (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence))
    if not (random_state is None or whole or known):
        raise ValueError(f"random_state must be a whole number, a numpy Generator or None, got {random_state!r}.")
    return np.random.default_rng(random_state)


# Error messages: how they name a refused value, and the remedy they suggest.

_LONGEST = 80
_COMMA = re.compile(r"([+-]?[1-9][0-9]{0,2},[0-9]{3})|[+-]?[0-9]*,[0-9]+")  # the first may be of thousands
_PERCENT = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))\s*%")
_ODDS = re.compile(r"\s*[0-9]+\s*[:/]\s*[0-9]+\s*")


def brief(value: Any) -> str:
    """Format a value for a message: long columns and tables by their type only.

    Examples
    --------
    >>> brief("Old"), brief([0, 1] * 100), brief(np.zeros(99))
    ("'Old'", 'list of 200', 'ndarray')
    """
    text = " ".join(repr(value).split()) if hasattr(value, "shape") else repr(value)
    if len(text) <= _LONGEST:
        return text
    if isinstance(value, list | tuple):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__ if hasattr(value, "shape") else shorten(text, _LONGEST)


def one_of(known: Iterable[str], value: object) -> str:
    """Return "one of 'NAME', ..., got VALUE.", with a suggestion for a misspelt name.

    Examples
    --------
    >>> one_of(["new", "old"], "Old")
    "one of 'new', 'old', got 'Old'; did you mean 'old'?"
    """
    names = tuple(known)
    return f"one of {', '.join(map(repr, names))}, got {brief(value)}{near(value, names)}"


def near(value: object, known: Iterable[str]) -> str:
    """Return "; did you mean 'NAME'?" for a misspelt name, or a full stop.

    Examples
    --------
    >>> near("Old", ["new", "old"])
    "; did you mean 'old'?"
    >>> near(3, ["new", "old"])
    '.'
    """
    return (guess(value, known, mark="'") if isinstance(value, str) else "") or "."


def in_percent(number: float | Fraction) -> str:
    """Return "; 30% is 0.3" for a share that was probably written in percent, or "".

    Examples
    --------
    >>> in_percent(30)
    '; 30% is 0.3'
    >>> in_percent(-1)
    ''
    """
    share = float(number) if 2 <= number <= 100 else None
    return "" if share is None else f"; {share:g}% is {share / 100.0:g}"


def as_range(low: float, high: float) -> str:
    """Suggest how to write a range of thresholds that was passed in percent, reversed, without width or as money.

    Examples
    --------
    >>> as_range(5, 30)
    '; 5 to 30% is (0.05, 0.3)'
    """
    if 0.0 <= low < high <= 100.0:
        return f"; {low:g} to {high:g}% is ({low / 100.0:g}, {high / 100.0:g})"
    if 0.0 <= high < low <= 1.0:
        return "; the smaller one comes first"
    if low == high and 0.0 <= low <= 1.0:
        return "; one threshold alone is no range"
    if min(low, high) > 1.0:
        return "; of what mistakes cost in money costs.from_cost_matrix(tn, fp, fn, tp) makes a threshold"
    return ""


def check_interval(low: float, high: float, name: str = "bounds") -> None:
    """Raise unless 0 <= low < high <= 1."""
    try:
        ends = check_number(low, "low"), check_number(high, "high")
        good = 0.0 <= ends[0] < ends[1] <= 1.0
        remedy = "" if good else as_range(*ends)
    except ValueError:
        good, remedy = False, ""
    if not good:
        raise ValueError(f"{name} must satisfy 0 <= low < high <= 1, got ({low}, {high}){remedy}.")


def as_costs_of(given: Any) -> str:
    """Suggest how to convert odds, other text, a matrix or a mapping to cost ratios."""
    if isinstance(given, type):
        return "; call it with its parameters"
    if isinstance(given, str):
        odds = given.strip().replace("/", ":")
        if _ODDS.fullmatch(given):
            return f"; the cost ratio of odds is costs.from_odds({odds!r})"
        return "; pass numbers, not text, such as (0.02, 0.10)"
    rows = given if isinstance(given, list | tuple) else [given]
    if isinstance(given, Mapping) or all(isinstance(row, list | tuple) and len(row) == 2 for row in rows):
        return "; of a table of costs costs.from_cost_matrix(tn, fp, fn, tp) makes a cost ratio"
    return ""


def as_number(value: object) -> str:
    """Suggest how to convert text or dates to numbers.

    Examples
    --------
    >>> as_number("0,1")
    ': with a decimal comma it is text; as a number it is 0.1'
    """
    if isinstance(value, dt.date | dt.timedelta):
        return ": count time in numbers, such as days since a first day"
    if not isinstance(value, str):
        return ""
    text = ": turn text into numbers first, such as with astype(float)" if re.search("[0-9]", value) else ""
    return as_written(value) or text


def as_written(value: object) -> str:
    """Suggest how to write a number that has a comma or a percent sign, or return "".

    Examples
    --------
    >>> as_written("30%")
    ': with its sign it is text; as a number 30% is 0.3'
    >>> as_written("1,830")
    ': with a comma it is text; as a number it is 1.830, or 1830 where the comma separates thousands'
    """
    if not isinstance(value, str):
        return ""
    if found := _COMMA.fullmatch(value):
        end = f", or {value.replace(',', '')} where the comma separates thousands" if found[1] else ""
        return f": with a {'' if end else 'decimal '}comma it is text; as a number it is {value.replace(',', '.')}{end}"
    found = _PERCENT.fullmatch(value.strip())
    return f": with its sign it is text; as a number {value} is {float(found[1]) / 100.0:g}" if found else ""


def as_column(given: Any, name: str) -> str:
    """Describe what was passed instead of a column of scores, and how to get the column from it."""
    if isinstance(given, np.ndarray | np.generic):
        given = given.item()
    if isinstance(given, str):
        return f"{given!r}: columns by their names are for evaluate_frame"
    kind = type(given).__name__
    if isinstance(given, Mapping):
        first = next(iter(given), "name")
        return f"{kind}: this takes one model at a time, such as {name}[{first!r}]"
    if hasattr(given, "predict_proba"):
        return f"{kind}: pass its probabilities, such as predict_proba(X)[:, 1]"
    return f"{kind}: call it, and pass what it returns" if callable(given) else "shape ()"


def as_labels(given: Any, shape: tuple[int, ...]) -> str:
    """Describe what was passed instead of a column of labels, and how to get the column from it."""
    if isinstance(given, str):
        return f"{given!r}: columns by their names are for evaluate_frame(frame, label={given!r})"
    return f"shape {shape}" + (": pass one column of labels" if len(shape) == 2 else "")


def as_models(columns: Any, rows: int) -> str:
    """Suggest how to pass several models where a list of columns was passed."""
    if np.ndim(columns) == 2 and columns.shape[1] == rows:
        return f": {_SEVERAL_MODELS}"
    return ""


# Rows are paired by position: arguments with an index, such as pandas columns, must all have the same one.

_SCALARS = (str, bytes, int, float, complex, np.generic)


def check_same_order(**given: Any) -> None:
    """Refuse arguments whose indexes differ, since rows are paired by position and not by index.

    Mappings and sequences of columns are looked into, and an outcome carries the index of what it was made from.
    Indexes of different lengths are left to the errors about lengths, which say more.
    """
    row_labels(**given)


def row_labels(**given: Any) -> tuple[str, Any] | None:
    """Check that all indexes agree and return name and index of the first argument that has one, or None."""
    if "pandas" not in sys.modules:
        return None
    found = _indexed(given.items())
    first = next(found, None)
    if first is not None:
        for other in found:
            _compare(*first, *other)
    return first


def _indexed(given: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name, values in given:
        if values is None or isinstance(values, (np.ndarray, *_SCALARS)):
            continue
        if isinstance(values, Mapping):
            yield from _indexed((f"{name}[{key!r}]", column) for key, column in values.items())
        elif isinstance(values, list | tuple):
            if values and not isinstance(values[0], _SCALARS):
                yield from _indexed((f"{name}[{place}]", column) for place, column in enumerate(values))
        elif (index := _index_of(values)) is not None:
            yield name, index
        elif isinstance(kept := getattr(values, "row_labels", None), tuple):
            yield kept


def _index_of(values: Any) -> Any:
    found = getattr(nw.to_native(values, pass_through=True), "index", None)
    return found if isinstance(found, sys.modules["pandas"].Index) else None


def _compare(first: str, reference: Any, name: str, index: Any) -> None:
    if index is reference or len(index) != len(reference) or index.equals(reference):
        return
    row = _first_difference(reference, index)
    labels = [each[row : row + 1].tolist()[0] for each in (reference, index)]
    where = f"first at row {row} ({labels[0]!r} and {labels[1]!r})"
    if reference.is_unique and index.is_unique and set(index.tolist()) == set(reference.tolist()):
        raise ValueError(
            f"{first} and {name} hold the same index labels in another order, {where}: align them with "
            f"{name}.loc[{first}.index], or pass {name}.to_numpy() if the rows already correspond."
        )
    raise ValueError(
        f"{first} and {name} hold different index labels, {where}: pass {name}.to_numpy() if the rows already "
        "correspond, or select the same rows of both."
    )


def _first_difference(reference: Any, index: Any) -> int:
    """Find the first position at which two indexes of equal length differ, by bisection; missing labels are equal."""
    same, different = 0, len(index)
    while different - same > 1:
        middle = (same + different) // 2
        if index[same:middle].equals(reference[same:middle]):
            same = middle
        else:
            different = middle
    return same


# Arrays, lists and in-memory frames become clean arrays here, or an error that says what is wrong and where.
#
# Nothing is dropped, clipped or coerced silently: the one exception, rows of weight zero, is part of the
# conventions (such a row is as if absent).

_NO_NUMBER = (str, bytes, complex, np.complexfloating)  # though numpy can read each as a real number
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,15}")
_PAIRS = ([0, 1], [-1, 1])
_TWO_COLUMN_TOLERANCE = 1e-4
_TWO_COLUMN_TOLERANCE_HALF = 5e-3  # half precision
_SEVERAL_MODELS = "several models are passed as a mapping, {'name': probabilities, ...}, such as to evaluate"
SQUARED_WELL = (1e-140, 1e140)  # squares, needed for standard errors, neither overflow nor underflow
WEIGHT_RULE = f"must be 0 or lie in [{SQUARED_WELL[0]:g}, {SQUARED_WELL[1]:g}]"
TO_SCALE = (
    "divide all weights by a constant, which changes no result; where none will do, first replace those below "
    f"{SQUARED_WELL[0]:g} times the largest by 0"
)
SCORE_HINT = (
    "Pass the probability of the positive class (log-odds x: logits=True where it is an argument, else "
    "1 / (1 + exp(-x)); to judge scores that only rank: h_measure_score or roc_auc_score)."
)


@dataclass(frozen=True, eq=False, repr=False)
class BinarySample:
    """Clean rows: labels as booleans, scores as float64, weights as float64 or None for all ones.

    ``origin`` says where they stand among the rows of an outcome that knows the class of some only, or weighs them;
    ``given_weight`` are the sample weights of all rows of one that does neither, some of which are zero.
    """

    y: Bools
    score: Floats
    weight: Floats | None
    origin: Origin | None = None
    about: str = ""
    given_weight: Floats | None = None

    def arranged(self, order: NDArray[np.intp]) -> BinarySample:
        """Return the rows in another order."""
        weight = None if self.weight is None else self.weight[order]
        origin = None if self.origin is None else replace(self.origin, places=self.origin.places[order])
        return replace(self, y=self.y[order], score=self.score[order], weight=weight, origin=origin)


def check_sample(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    *,
    probability: bool = True,
    logits: bool = False,
    keep_zero_weight: bool = False,
    name: str = "y_prob",
) -> BinarySample:
    """Validate labels, scores and weights of one binary classifier."""
    check_flag(logits, "logits")
    check_same_order(**{"y_true": y_true, name: y_prob, "sample_weight": sample_weight})
    if isinstance(y_true, Outcome):
        _refuse_beside(y_true, sample_weight=sample_weight, pos_label=pos_label)
        options: dict[str, Any] = {"probability": probability, "logits": logits, "name": name}
        y_prob = _of_outcome(y_true, y_prob, name)
        if y_true.plain:
            options |= {"sample_weight": y_true.sample_weight, "keep_zero_weight": keep_zero_weight}
            found = replace(check_sample(y_true.y, y_prob, **options), about=y_true.about)
            return found if len(found.y) == len(y_true.y) else replace(found, given_weight=y_true.sample_weight)
        return replace(_outcome_sample(y_true, y_prob, options, per_row=keep_zero_weight), about=y_true.about)
    labels, columns = to_array(y_true, "y_true"), to_array(y_prob, name)
    if labels.ndim != 1:
        raise ValueError(f"y_true must be 1-D, got {as_labels(y_true, labels.shape)}.")
    if columns.ndim == 0:
        raise ValueError(f"{name} must be 1-D, or the two columns of predict_proba, got {as_column(columns, name)}.")
    if labels.size == 0 or columns.size == 0:
        raise ValueError(f"{'y_true' if labels.size == 0 else name} must hold at least one row, got none.")
    if len(columns) != len(labels):
        remedy = as_models(columns, len(labels))
        raise ValueError(f"y_true and {name} must have the same length, got {len(labels)} and {len(columns)}{remedy}.")
    weight = check_weights(sample_weight, len(labels))
    present = None if weight is None or keep_zero_weight or np.all(weight) else weight > 0.0
    if present is not None:  # rows of weight zero count as absent; row numbers in messages do not change
        labels, columns = _without(labels, present), _without(columns, present)
    y = check_labels(labels, pos_label)
    if columns.ndim == 2:
        columns = by_label(columns, y_prob, labels_seen(labels, y, pos_label))
    column = pick_positive_column(columns, labels, pos_label, name)
    score = check_scores(column, name, probability=probability, logits=logits)
    if weight is not None and present is not None:
        y, score, weight = y[present], score[present], weight[present]
    return BinarySample(y, score, weight)


def _of_outcome(outcome: Outcome, y_prob: Any, name: str) -> Any:
    """Scores of the positive class, which is the first of two columns where its label sorts first."""
    if outcome.labels:
        y_prob = by_label(to_array(y_prob, name), y_prob, outcome.labels)
    if outcome.positive_first is False:
        return y_prob
    if outcome.positive_first is None:
        if to_array(y_prob, name).shape[1:] == (2,):
            raise ValueError(
                f"the two columns of {name} cannot be distinguished where all labels are alike: pass the column of the "
                "positive class."
            )
        return y_prob
    return pick_positive_column(y_prob, np.array([False, True]), pos_label=False, name=name)


def _outcome_sample(outcome: Outcome, y_prob: Any, options: dict[str, Any], *, per_row: bool) -> BinarySample:
    """Select the rows with a known class and positive weight, and their positions among all rows."""
    if per_row:
        known = int(np.count_nonzero(outcome.weight))
        raise ValueError(
            f"per_sample=True needs the class of every row and one weight for all, got {known:,} of "
            f"{len(outcome.y):,} rows that {type(outcome).__name__} knows and weighs."
        )
    if outcome.sample_weight is None:
        score = check_sample(outcome.y, y_prob, **options).score
    else:
        present, score = outcome.present, np.zeros(len(outcome.y))
        score[present] = check_sample(outcome.y, y_prob, sample_weight=present.astype(float), **options).score
    score = outcome.scores(score)
    if outcome.weight.min() > 0.0:
        return BinarySample(outcome.y, score, outcome.weight, Origin(outcome, np.arange(len(score)), score))
    used = np.flatnonzero(outcome.weight)
    return BinarySample(outcome.y[used], score[used], outcome.weight[used], Origin(outcome, used, score))


def _refuse_beside(outcome: Outcome, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} belongs to the outcome: pass it to {type(outcome).__name__}, not beside it.")


def plain_labels(values: NDArray[Any]) -> NDArray[Any]:
    """Convert an array of Python objects to numbers or texts, which sort natively."""
    if values.dtype.kind != "O":
        return values
    try:
        found = np.array(values.tolist())
    except (ValueError, OverflowError):  # sequences of different lengths, integers beyond 64 bits
        return values.astype(str)
    whole = found.dtype.kind != "f" or bool(np.all(np.abs(found) < 2.0**53))  # no nan, no rounded integers
    return found if found.shape == values.shape and found.dtype.kind in "biufUS" and whole else values.astype(str)


def _without(values: NDArray[Any], present: Bools) -> NDArray[Any]:
    """Overwrite rows of weight zero by a row of positive weight."""
    values = values.copy()
    values[~present] = values[np.argmax(present)]
    return values


def to_array(values: Any, name: str) -> NDArray[Any]:
    """View any list, array or narwhals-supported series as a numpy array."""
    if np.ma.is_masked(values):
        first = int(np.argmax(np.ma.getmaskarray(values)))
        raise ValueError(f"{name} must not be masked, got a masked value at index {first}.")
    if isinstance(values, np.ndarray):
        return _no_records(np.asarray(values), name)  # subclasses, such as masked arrays, have their own arithmetic
    if isinstance(values, Outcome):
        raise ValueError(
            f"{type(values).__name__} cannot stand for {name} here: this function needs a label in every row."
        )
    if not isinstance(values, (list, tuple)):
        native = nw.from_native(values, allow_series=True, eager_only=True, pass_through=True)
        if isinstance(native, nw.Series) and native.dtype in {nw.String, nw.Categorical, nw.Enum}:
            values = _texts(native)
        elif isinstance(native, (nw.Series, nw.DataFrame)):
            values = native.to_numpy()
    array = _as_numpy(values, name)
    if (
        array.dtype == object
        and array.ndim == 1
        and any(hasattr(v, "__len__") and not isinstance(v, (str, bytes)) for v in array[:1])
    ):
        raise ValueError(f"{name} must be one value per row, got a sequence in row 0.")
    return array


def _as_numpy(values: Any, name: str) -> NDArray[Any]:
    """Convert to an array in which what is no text stays what it is: beside texts numpy makes "nan" of nan."""
    if isinstance(values, (Iterator, MappingView)):
        kind = type(values).__name__
        raise ValueError(f"{name} must be a list, an array or a column, got {kind}: pass list(...) of it.")
    try:
        array = np.asarray(values)
    except ValueError:
        if hasattr(values, "__array__"):  # raises its own error
            raise
        raise ValueError(f"{name} must be one value per row, got rows of different lengths.") from None
    if array.dtype.kind not in "US" or not isinstance(values, (list, tuple)):
        return array
    objects = np.array(values, dtype=object)
    kinds = set(map(type, objects.ravel().tolist()))
    return array if all(issubclass(kind, (str, bytes)) for kind in kinds) else objects


def _no_records(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype.names is not None:
        raise ValueError(f"{name} must be one value per row, got records of {', '.join(array.dtype.names)}.")
    return array


def _texts(column: nw.Series[Any]) -> NDArray[Any]:
    """Convert texts to objects, of which two distinct ones share two, which compare fast; numbers stay numbers."""
    distinct = column.unique().to_list()
    if list(map(type, distinct)) != [str, str]:
        return np.asarray(column.to_numpy())
    is_second = (column == distinct[1]).to_numpy().astype(np.intp)
    return np.array(distinct, dtype=object)[is_second]


def pick_positive_column(
    y_prob: ArrayLike, labels: NDArray[Any], pos_label: object, name: str = "y_prob"
) -> NDArray[Any]:
    """Select the positive class's column if both columns of ``predict_proba`` were passed."""
    array = to_array(y_prob, name)
    if array is not y_prob and array.ndim == 2 and labels.size:
        array = by_label(array, y_prob, _distinct_labels(labels))
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 2:
        if array.ndim != 1:
            raise ValueError(f"{name} must be 1-D, or the two columns of predict_proba, got shape {array.shape}.")
        return array
    if array.shape[1] != 2:
        raise ValueError(
            f"{name} must be 1-D, or the two columns of predict_proba, got shape {array.shape}; "
            f"multi-class probabilities go to one_vs_rest_bounded_loss or the penalized losses, {_SEVERAL_MODELS}."
        )
    off = np.abs(to_floats(array, name).sum(axis=1) - 1.0)
    tolerance = _TWO_COLUMN_TOLERANCE_HALF if array.dtype == np.float16 else _TWO_COLUMN_TOLERANCE
    if not np.all(off <= tolerance):
        first = int(np.argmax(~(off <= tolerance)))
        raise ValueError(
            f"the two columns of {name} must sum to 1 in every row, got {array[first].tolist()} at index {first}; "
            f"{_SEVERAL_MODELS}."
        )
    if pos_label is None:
        return array[:, 1]
    return array[:, _column_of(pos_label, _few_labels(labels) or _distinct_labels(labels), name)]


def by_label(columns: NDArray[Any], given: Any, labels: Sequence[Any]) -> NDArray[Any]:
    """Return the columns in the order of the labels where a frame names them so; else as they were given.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.base.validation import by_label
    >>> frame = pl.DataFrame({"yes": [0.9], "no": [0.1]})
    >>> by_label(frame.to_numpy(), frame, ["no", "yes"]).tolist()
    [[0.1, 0.9]]
    """
    places = label_places(frame_names(given), labels)
    return columns if places is None else columns[:, places]


def frame_names(given: Any, *, counted: bool = False) -> list[Any]:
    """Names of the columns of a frame; none for anything else, and unless ``counted`` where pandas only counts them."""
    if isinstance(given, np.ndarray):
        return []
    native = nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    names: list[Any] = native.columns if isinstance(native, nw.DataFrame) else []
    return [] if names == list(range(len(names))) and not counted else names


def label_places(names: Sequence[Any], labels: Sequence[Any]) -> list[int] | None:
    """Where the column of each label stands among columns that are named exactly as the labels; else None."""
    names = [as_name(name) for name in names]
    # a single label may be of a known pair
    for order in [labels] if len(labels) != 1 else [pair for pair in _PAIRS if labels[0] in pair]:
        wanted = [as_name(label) for label in order]
        if {*names} == {*wanted} and len(names) == len(wanted) == len({*names}) > 0:
            return [names.index(name) for name in wanted]
    return None


def as_name(label: Any) -> str:
    """What a column of a label is called: 1, 1.0, True, "1" and b"1" are alike, and 0.1 in any precision."""
    if isinstance(label, bytes):
        label = label.decode(errors="backslashreplace")
    elif isinstance(label, float) and label.is_integer():
        label = int(label)
    elif isinstance(label, float) and float(single := np.float32(label)) == label:
        label = single  # whose digits are fewer
    text = str(label)
    return {"False": "0", "True": "1"}.get(text, text)


def _column_of(pos_label: object, distinct: list[Any], name: str) -> int:
    """Return the positive class's column; a single label must be of the pair 0 and 1 or -1 and 1."""
    if len(distinct) < 2:
        pairs = [pair for pair in _PAIRS if distinct and distinct[0] in pair and pos_label in pair]
        if not pairs:
            held = f"{distinct[0]!r} only" if distinct else "no label"
            raise ValueError(
                f"the two columns of {name} cannot be distinguished where y_true holds {held}: "
                "pass the column of the positive class."
            )
        distinct = pairs[0]
    return 0 if pos_label == distinct[0] else 1


def positive_is_first(labels: NDArray[Any], y: Bools, pos_label: object) -> bool | None:
    """Whether the positive label sorts before the other, as columns of ``predict_proba`` do; None if that is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.base.validation import positive_is_first
    >>> positive_is_first(np.array(["fraud", "ok"]), np.array([True, False]), "fraud")
    True
    """
    if pos_label is None:
        return False
    if y.all():  # the other label is known where labels are numbers only
        return pos_label != 1 if pos_label in {0, -1, 1} else None
    try:
        return bool(pos_label < labels[int(np.argmin(y))])
    except TypeError:
        return repr(pos_label) < repr(labels[int(np.argmin(y))])


def match_label(pos_label: object, values: list[Any]) -> object:
    """Convert a positive label passed as text (by the command line) or kept as a number to the type of the labels."""
    if isinstance(pos_label, int) and pos_label not in values and str(pos_label) in values:
        return str(pos_label)
    if not isinstance(pos_label, str) or any(isinstance(v, str) for v in values):
        return pos_label
    if all(isinstance(v, bool) for v in values):
        return {"true": True, "1": True, "false": False, "0": False}.get(pos_label.strip().lower(), pos_label)
    try:
        number, exact = float(pos_label), Decimal(pos_label.strip())
    except ValueError:
        return pos_label
    # integers of 17 digits may be one float
    found = [v for v in values if v == exact] or [v for v in values if isinstance(v, float) and v == number]
    return found[0] if found else number if abs(number) < 2**53 else pos_label


NAME_LABEL = "pass pos_label= to say which label is positive"


def check_labels(labels: NDArray[Any], pos_label: object = None, *, remedy: str = NAME_LABEL) -> Bools:
    """Turn two-valued labels into booleans, True for the positive class; ``remedy`` closes what asks which that is."""
    if labels.size == 0:
        raise ValueError("y_true must hold at least one row, got none.")
    if labels.dtype == bool and pos_label is None:
        return labels
    if labels.dtype.kind in "iuf" and pos_label is None:
        positive = labels == 1
        if np.count_nonzero(positive) + np.count_nonzero(labels == 0) == len(labels):
            return positive
    distinct = _few_labels(labels) if labels.dtype.kind in "OU" else None
    if distinct is None:
        refuse_missing(labels, "y_true")
        distinct = _distinct_labels(labels)
    if len(distinct) > 2:
        shown = ", ".join(repr(v) for v in distinct[:5]) + (", ..." if len(distinct) > 5 else "")
        first = _first(labels == distinct[2])
        fractions = labels.dtype.kind == "f" and not np.all(labels == np.round(labels))
        raise ValueError(
            f"y_true must hold two values, got {len(distinct)} ({shown}); "
            f"the third, {distinct[2]!r}, is first seen at index {first}"
            f"{': are y_true and y_prob swapped?' if fractions else '.'}"
        )
    if pos_label is None and labels.dtype.kind == "f" and np.any(distinct != np.round(distinct)):
        shown = ", ".join(map(repr, distinct))
        raise ValueError(f"y_true must hold labels, got fractions ({shown}): are y_true and y_prob swapped?")
    return np.asarray(labels == positive_label(distinct, pos_label, remedy=remedy), dtype=bool)


def positive_label(
    distinct: list[Any], pos_label: object, source: str = "y_true holds", *, remedy: str = NAME_LABEL
) -> object:
    """Return ``pos_label``, or 1 if labels are 0 and 1 or -1 and 1; ``source`` and ``remedy`` frame the message."""
    shown = ", ".join(map(repr, distinct))
    if pos_label is not None:
        pos_label = one_label(pos_label)
        if len(distinct) == 2 and pos_label not in distinct:
            raise ValueError(f"pos_label must be one of the labels ({shown}), got {pos_label!r}.")
        return pos_label
    if not one_is_positive(distinct):
        raise ValueError(f"{source} {shown}: {remedy}.")
    return 1


def one_label(pos_label: object) -> object:
    """Return a positive label that can be compared with others, or raise."""
    # numpy cannot compare an integer beyond 64 bits with floats
    several = np.ndim(pos_label) or isinstance(pos_label, (Mapping, set, frozenset))  # type: ignore[arg-type]
    if several or (isinstance(pos_label, int) and not _is_number(pos_label)):
        raise ValueError(f"pos_label must be one label, got {pos_label!r}.")
    return pos_label.item() if isinstance(pos_label, np.ndarray) else pos_label


def one_is_positive(distinct: list[Any]) -> bool:
    """Whether the labels are 0 and 1, -1 and 1, or truth values."""
    return set(distinct) <= {0, 1} or set(distinct) <= {-1, 1}


def plain_label(pos_label: object) -> str | float:
    """Return the positive label as a text or a number: 1 for True and for None."""
    value = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
    if value is None:
        return 1
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) else value
    if isinstance(value, (int, float, Decimal)) and math.isfinite(value):
        return int(value) if value == int(value) else float(value) if isinstance(value, Decimal) else value
    return str(value)


def check_other_label(labels: Iterable[Any], pos_label: object, neg_label: str | float | None) -> str | float | None:
    """Return the label beside the positive one, if there is any, or raise for one that is not the known one.

    Where none is known, 0 or -1 stands beside 1, and beside another label the first that is seen.

    Examples
    --------
    >>> from stakes.base.validation import check_other_label
    >>> check_other_label(["yes", "no"], "yes", None), check_other_label([True, False], 1, 0)
    ('no', 0)
    """
    others = [label for label in map(plain_label, dict.fromkeys(labels)) if label != pos_label]
    unknown = [0, -1] if pos_label == 1 else others[:1]
    known = unknown if neg_label is None else [neg_label]
    wrong = next((label for label in others if label not in known), None)
    if wrong is not None:
        beside = " or ".join(map(repr, known))
        remedy = ": write 0 for the negative label, or make the reference anew, which keeps both"
        end = remedy if known == [0, -1] else ""
        raise ValueError(f"y_true must hold the labels from before, {pos_label!r} and {beside}, got {wrong!r}{end}.")
    return others[0] if others else None


def _distinct_labels(labels: NDArray[Any]) -> list[Any]:
    try:
        return list(np.unique(labels).tolist())
    except TypeError:
        return sorted(set(labels.tolist()), key=repr)


def labels_seen(labels: NDArray[Any], y: Bools, pos_label: object = None) -> list[Any]:
    """Return the labels, sorted, from the rows and which of them are positive; a known positive one is among them."""
    seen = _distinct_labels(labels[[int(np.argmin(y)), int(np.argmax(y))]])
    if pos_label is None or y.any():
        return seen
    return [pos_label, *seen] if positive_is_first(labels, y, pos_label) else [*seen, pos_label]


def _few_labels(labels: NDArray[Any]) -> list[Any] | None:
    """Return one or two distinct texts, sorted, by comparison, which is faster than a sort; else None."""
    first = labels[0] if len(labels) else None
    if not isinstance(first, str):
        return None
    try:
        other = np.asarray(labels != first)
    except TypeError:  # comparing pandas.NA is neither true nor false
        return None
    if not other.any():
        return [str(first)]
    second = labels[int(np.argmax(other))]
    if not isinstance(second, str) or np.count_nonzero(labels == second) != np.count_nonzero(other):
        return None
    return sorted([str(first), str(second)])


def absent(values: NDArray[Any]) -> Bools:
    """Mark missing labels."""
    if values.dtype.kind == "O":
        return np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    return np.isnan(values) if values.dtype.kind in "fmM" else np.zeros(len(values), dtype=bool)


def refuse_missing(values: NDArray[Any], name: str) -> None:
    """Raise if a label is missing."""
    missing = absent(values)
    if missing.any():
        count, first = int(missing.sum()), _first(missing)
        raise ValueError(
            f"{name} must not be missing, got {count} of {len(values)} missing, the first at index {first}."
        )


def is_missing(value: Any) -> bool:
    """Whether a value is None or not a number."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124  (NaN differs from itself)
    except TypeError:  # comparing pandas.NA is neither true nor false
        return True


def check_scores(
    values: NDArray[Any], name: str = "y_prob", *, probability: bool = True, logits: bool = False
) -> Floats:
    """Turn scores into finite float64, within [0, 1] where a probability is needed."""
    score = to_floats(values, name)
    if score.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {score.shape}.")
    if score.size == 0:
        raise ValueError(f"{name} must hold at least one row, got none.")
    low, high = score.min(), score.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        refuse(~np.isfinite(score), score, f"{name} must be finite", " are not finite")
    if logits:
        from scipy.special import expit

        return np.asarray(expit(score), dtype=np.float64)
    if probability and (low < 0.0 or high > 1.0):
        hint = f"{SCORE_HINT}{' If they are percentages, divide by 100.' if low >= 0.0 and high <= 100.0 else ''}"
        outside = (score < 0.0) | (score > 1.0)
        refuse(outside, score, f"{name} must lie in [0, 1]", " lie outside", f". {hint}")
    return score


def refuse(bad: Bools, values: NDArray[Any], rule: str, what: str = "", end: str = ".") -> None:
    """Raise for the first marked value, with the number of those marked, what they are and how to go on."""
    if bad.any():
        first = _first(bad)
        raise ValueError(f"{rule}, got {values[first]} at index {first} ({int(bad.sum())} of {len(bad)}{what}){end}")


def to_floats(values: NDArray[Any], name: str) -> Floats:
    """View numbers as float64, or raise."""
    # numpy would read text, times and complex numbers as real numbers
    kind = values.dtype.kind
    plain = kind in "biuf" or (kind == "O" and not any(isinstance(v, _NO_NUMBER) for v in values.flat))
    if plain:
        try:
            return np.asarray(values, dtype=np.float64, order="C")  # strided sums round differently
        except (TypeError, ValueError, OverflowError):
            pass
    flat = values.ravel()
    place = next((i for i, v in enumerate(flat) if getattr(v, "ndim", 0) or not _is_number(v)), 0)
    value = flat[place].astype(f"{kind}8[us]") if kind in "mM" else flat[place]  # nanoseconds would be shown as a count
    value = value.item() if isinstance(value, np.generic) else value
    index = place if values.ndim == 1 else tuple(map(int, np.unravel_index(place, values.shape)))
    where = "" if values.ndim == 0 else f" at index {index}"
    raise ValueError(f"{name} must be numeric, got {brief(value)}{where}{as_number(value)}.")


def check_weights(sample_weight: ArrayLike | None, length: int) -> Floats | None:
    """Turn weights into finite, non-negative float64, not all zero."""
    if sample_weight is None:
        return None
    weight = to_floats(to_array(sample_weight, "sample_weight"), "sample_weight")
    if weight.shape != (length,):
        raise ValueError(f"sample_weight must have one value per row, got shape {weight.shape} for {length} rows.")
    refuse(~np.isfinite(weight) | (weight < 0.0), weight, "sample_weight must be finite and >= 0")
    extreme = (weight > 0.0) & ((weight < SQUARED_WELL[0]) | (weight > SQUARED_WELL[1]))
    refuse(extreme, weight, f"sample_weight {WEIGHT_RULE}", end=f": {TO_SCALE}.")
    if not np.any(weight):
        raise ValueError(f"sample_weight must not be all zero, got {length} zeros.")
    return weight


def summable(weights: Floats) -> Floats:
    """Return non-negative weights of which only the proportions count, such that their sum does not overflow.

    Examples
    --------
    >>> summable(np.array([1e308, 1e308])).tolist(), summable(np.array([2.0, 1.0])).tolist()
    ([1.0, 1.0], [2.0, 1.0])
    """
    top = float(weights.max(initial=0.0))
    return weights if top * len(weights) < math.inf else weights / top


def check_unit(value: float, name: str, *, open_low: bool = False, open_high: bool = False) -> float:
    """Return a number in [0, 1], or in (0, 1) on request, or raise."""
    number = check_number(value, name)
    good = (number > 0.0 if open_low else number >= 0.0) and (number < 1.0 if open_high else number <= 1.0)
    if not good:
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        raise ValueError(f"{name} must lie in {left}0, 1{right}, got {value}{in_percent(number)}.")
    return number + 0.0  # -0.0 becomes 0.0


def check_level(confidence_level: float) -> float:
    """Return a level between 0 and 1, or raise; its normal quantile must be finite."""
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    if 0.5 + level / 2.0 == 1.0:
        raise ValueError(f"confidence_level must be at most {1.0 - 2.0**-52!r}, got {confidence_level!r}.")
    if level < 0.5:
        meant = f": {level_name(1.0 - level)} is confidence_level={1.0 - level:.12g}" if level >= 0.001 else ""
        raise ValueError(f"confidence_level must be at least 0.5, got {confidence_level}{meant}.")
    return level


def check_prevalence(value: float) -> float:
    """Return a prevalence to weight the classes by, or raise; too small a one would lose the weights' digits."""
    target = check_unit(value, "prevalence", open_low=True, open_high=True)
    if target < SQUARED_WELL[0]:
        raise ValueError(f"prevalence must be at least {SQUARED_WELL[0]:g}, got {value}.")
    return target


def check_number(value: Any, name: str) -> float:
    """Return a real number as a float; raise for text, booleans and anything else."""
    if isinstance(value, (bool, np.bool_)) or not _is_number(value):
        raise ValueError(f"{name} must be a number, got {value!r}.")
    return float(value)


def check_size(value: Any, name: str, *, zero: bool = False) -> float:
    """Return a finite number above zero, or zero where that is allowed, or raise."""
    number = check_number(value, name)
    if not 0.0 <= number < math.inf or (number == 0.0 and not zero):
        raise ValueError(f"{name} must be a finite number {'>=' if zero else '>'} 0, got {value}.")
    return number + 0.0  # -0.0 becomes 0.0


def check_whole(value: Any, name: str, least: int = 0) -> int:
    """Return a whole number of at least ``least``, or raise."""
    number = check_number(value, name)
    if not (number >= least and number == np.floor(number) and number < 2**53):
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}.")
    return int(number)


def check_names(names: Any) -> tuple[str, str]:
    """Return the names of two models, or raise."""
    if isinstance(names, str) or not isinstance(names, (list, tuple)) or len(names) != 2:
        raise ValueError(
            f"names must hold one name for each of two models, such as ('new', 'old'), got {brief(names)}."
        )
    if str(names[0]) == str(names[1]):
        raise ValueError(f"names must differ, got {names[0]!r} for both models.")
    return str(names[0]), str(names[1])


def by_name(given: Any, name: str) -> dict[str, Any]:
    """Return a mapping by the text of its keys, or raise where two of them are the same text."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if str(key) in found:
            same = [other for other in given if str(other) == str(key)]
            raise ValueError(f"{name} must have names that differ as text, got {same[0]!r} and {same[1]!r}.")
        found[str(key)] = value
    return found


def check_flag(value: Any, name: str) -> bool:
    """Return True or False, or raise: the text "no" would be true."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_name(value: Any, name: str) -> str:
    """Return a text, or raise."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, got {value!r}.")
    return value


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices, or raise."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be {one_of(choices, value)}")
    return value


def check_kind(value: object, name: str, kind: type, wanted: str = "", *, remedy: str = "") -> None:
    """Raise unless a value is an instance of a class; the message may describe the class and how to build one."""
    if not isinstance(value, kind):
        wanted = wanted or f"a {kind.__name__}"
        raise ValueError(f"{name} must be {wanted}, got {type(value).__name__}{remedy and ': '}{remedy}.")


def _is_number(value: object) -> bool:
    if isinstance(value, _NO_NUMBER) or getattr(value, "ndim", 0) != 0:  # older numpy takes arrays of one for numbers
        return False
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _first(mask: Bools) -> int:
    return int(np.argmax(mask))
