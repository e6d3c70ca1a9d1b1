"""One decision rule as a formula for arrays, data engines, SQL and ONNX."""

from __future__ import annotations

import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from stakes.base import validation
from stakes.base.outcome import Outcome
from stakes.outputs.files import delivered
from stakes.outputs.hooks import import_optional, nw

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


# Rules where the data are: one formula becomes an expression of a data engine, the text of plain SQL, or ONNX.
#
# A formula made of sums, products, quotients and comparisons of doubles, in one order, has the same bits everywhere.
# Comparisons with NaN do not: DuckDB, Postgres, Snowflake and Spark order it above every number. A decision is
# therefore taken only where each input less itself is zero, which holds neither of NULL, nor of NaN, nor of an
# infinite number; in SQLite, where '' less itself is zero, only where each lies between the two infinities.

Dialect = Literal["duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"]
DIALECTS = get_args(Dialect)
Missing = Literal["refuse", "act", "wait"]
MISSING = get_args(Missing)
CODES = {"act": 1, "wait": 0, "defer": -1}
_DOUBLE = {"postgres": "DOUBLE PRECISION", "bigquery": "FLOAT64"}
_BACKTICKS = ("bigquery", "spark")
_IS_NAN = {"bigquery": "IS_NAN({0})", "duckdb": "isnan({0})", "spark": "isnan({0})"}
LARGEST = sys.float_info.max
BELOW_HALF = math.nextafter(0.5, 0.0)
_LONGEST = 62  # a power of two that fits an integer of SQLite


class Formula(ABC):
    """An expression that sums, products, quotients and comparisons combine with numbers or other expressions."""

    @abstractmethod
    def joined(self, sign: str, other: Any, *, swapped: bool = False) -> Self:
        """Combine with another operand by an operator; ``swapped`` puts the other operand first."""

    def __add__(self, other: Any) -> Self:
        return self.joined("+", other)

    def __radd__(self, other: Any) -> Self:
        return self.joined("+", other, swapped=True)

    def __sub__(self, other: Any) -> Self:
        return self.joined("-", other)

    def __rsub__(self, other: Any) -> Self:
        return self.joined("-", other, swapped=True)

    def __mul__(self, other: Any) -> Self:
        return self.joined("*", other)

    def __rmul__(self, other: Any) -> Self:
        return self.joined("*", other, swapped=True)

    def __truediv__(self, other: Any) -> Self:
        return self.joined("/", other)

    def __rtruediv__(self, other: Any) -> Self:
        return self.joined("/", other, swapped=True)

    def __ge__(self, other: Any) -> Self:
        return self.joined(">=", other)

    def __le__(self, other: Any) -> Self:
        return self.joined("<=", other)

    def __and__(self, other: Any) -> Self:
        return self.joined("AND", other)

    def __or__(self, other: Any) -> Self:
        return self.joined("OR", other)

    @abstractmethod
    def choosing(self, yes: Any, no: Any) -> Self:
        """Return ``yes`` where this condition holds, else ``no``; None stands for a missing decision."""

    @abstractmethod
    def applied(self, function: str) -> Self:
        """Apply the natural logarithm, "ln", or the exponential function, "exp"."""

    @abstractmethod
    def missing(self) -> Self:
        """Whether the value is missing: NULL or NaN."""

    @abstractmethod
    def known(self) -> Self:
        """Test whether this condition is true or false, and not NULL."""


@dataclass(frozen=True, eq=False)
class Sql(Formula):
    """SQL that is put together as a formula is; ``str`` gives the text.

    Made by :func:`sql_column`; corrections and comparisons take it in place of scores.

    Parameters
    ----------
    text : str
        The SQL.
    dialect : str
        "duckdb", "postgres", "bigquery", "snowflake", "spark" or "sqlite".

    Notes
    -----
    ``>=`` and ``<=`` are NULL where a value is NULL, NaN or infinite, as scores are refused here.

    Examples
    --------
    >>> from stakes.correction import shift_prior
    >>> from stakes.tables import sql_column
    >>> print(sql_column("risk") >= 0.5)
    CASE WHEN (("risk" - "risk") <= CAST('0.0' AS DOUBLE)) THEN ("risk" >= CAST('0.5' AS DOUBLE)) END
    >>> print(shift_prior(sql_column("risk"), training_prior=0.5, prior=0.2))
    ("risk" / (((CAST('1.0' AS DOUBLE) - "risk") * CAST('4.0' AS DOUBLE)) + "risk"))
    """

    text: str
    dialect: Dialect = "duckdb"

    def __str__(self) -> str:
        return self.text

    def __ge__(self, other: Any) -> Sql:
        return self._compare(">=", other)

    def __le__(self, other: Any) -> Sql:
        return self._compare("<=", other)

    def _compare(self, sign: str, other: Any) -> Sql:
        return decided(self.joined(sign, other), [self, other] if isinstance(other, Sql) else [self])

    def joined(self, sign: str, other: Any, *, swapped: bool = False) -> Sql:
        """Combine with another operand by an operator; ``swapped`` puts the other operand first."""
        if isinstance(other, Sql) and other.dialect != self.dialect:
            raise ValueError(
                f"columns of one formula must be of one dialect, got {self.dialect!r} and {other.dialect!r}."
            )
        its = self._literal(other if isinstance(other, Sql) else finite(other))
        left, right = (its, self.text) if swapped else (self.text, its)
        return Sql(f"({left} {sign} {right})", self.dialect)

    def choosing(self, yes: Any, no: Any) -> Sql:
        """Return ``yes`` where this condition holds, else ``no``; None becomes NULL, a missing decision."""
        other = "" if no is None else f" ELSE {self._literal(no)}"
        return Sql(f"CASE WHEN {self} THEN {self._literal(yes)}{other} END", self.dialect)

    def applied(self, function: str) -> Sql:
        """Apply the natural logarithm, "ln", or the exponential function, "exp"."""
        return Sql(f"{function.upper()}({self})", self.dialect)

    def missing(self) -> Sql:
        """Whether the value is missing: NULL or NaN."""
        if self.dialect == "sqlite":  # which stores NaN as NULL
            return Sql(f"({self} IS NULL)", self.dialect)
        equal = f"({self} = CAST('NaN' AS {_DOUBLE.get(self.dialect, 'DOUBLE')}))"
        # DuckDB believes statistics of Parquet files that leave NaN out, but asks the rows for isnan
        return Sql(f"({self} IS NULL OR {_IS_NAN.get(self.dialect, equal).format(self)})", self.dialect)

    def known(self) -> Sql:
        """Test whether this condition is true or false, and not NULL."""
        return Sql(f"({self} IS NOT NULL)", self.dialect)

    def _literal(self, value: Any) -> str:
        if isinstance(value, Sql | int):
            return str(value)
        if value is None:
            return "NULL"
        if self.dialect == "sqlite":
            return _exact(finite(value))
        # as text it is read to the last bit; a plain 0.1 would be a decimal in some dialects
        return f"CAST('{finite(value)!r}' AS {_DOUBLE.get(self.dialect, 'DOUBLE')})"


def _exact(value: float) -> str:
    """Write a double as an integer times or divided by powers of two, since SQLite may misread decimals by one bit."""
    top, bottom = value.as_integer_ratio()
    sign, power = "/", bottom.bit_length() - 1
    if abs(top) >= 2**53:
        sign, power = "*", top.bit_length() - 53
        top >>= power
    text = f"CAST({top} AS REAL)"
    while power > 0:
        text = f"({text} {sign} CAST({2 ** min(power, _LONGEST)} AS REAL))"
        power -= _LONGEST
    # with the cast outside, a column of texts is compared as the numbers that they spell
    return text if text.startswith("CAST") else f"CAST({text} AS REAL)"


def sql_column(name: str, dialect: Dialect = "duckdb") -> Sql:
    """Name a column of doubles in SQL, quoted as the dialect wants it.

    Parameters
    ----------
    name : str
        The column.
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"}, default "duckdb"
        Of the SQL.

    Returns
    -------
    Sql

    Raises
    ------
    ValueError
        For an unknown dialect, or a name that cannot be quoted.

    Examples
    --------
    >>> from stakes.tables import sql_column
    >>> print(sql_column("a risk"), sql_column("a risk", "spark"))
    "a risk" `a risk`
    """
    validation.check_choice(dialect, "dialect", DIALECTS)
    validation.check_kind(name, "name", str, "that of a column")
    if not name or "\x00" in name or (dialect == "bigquery" and set(name) & set("`\\")):
        raise ValueError(f"name must be that of a column in {dialect}, got {name!r}.")
    mark = "`" if dialect in _BACKTICKS else '"'
    return Sql(mark + name.replace(mark, 2 * mark) + mark, dialect)


def column_of(name: str) -> Any:
    """Return a narwhals expression for a column."""
    return nw.col(name)


def refuse_first_column(y_true: Any, y_prob: Any, pos_label: object, name: str) -> None:
    """Raise where the positive class has the first of two columns: rules are fitted for the second, and decide by it.

    Examples
    --------
    >>> from stakes.base.formulas import refuse_first_column
    >>> refuse_first_column(["fraud", "ok"], [[0.9, 0.1], [0.2, 0.8]], "fraud", "y_prob")
    Traceback (most recent call last):
    ValueError: y_prob must be 1-D where the positive class is the first of two columns, for predict reads the ...
    """
    columns = None if y_prob is None else validation.to_array(y_prob, name)
    if columns is None or columns.ndim != 2 or columns.shape[1] != 2:
        return
    if isinstance(y_true, Outcome):
        first, seen = y_true.positive_first, y_true.labels
    else:
        labels, first, seen = validation.to_array(y_true, "y_true"), False, ()
        if labels.ndim == 1 and (pos_label is not None or validation.frame_names(y_prob)):
            y = validation.check_labels(labels, pos_label)
            first, seen = validation.positive_is_first(labels, y, pos_label), validation.labels_seen(labels, y)
    if first != (validation.label_places(validation.frame_names(y_prob), seen) == [1, 0]):
        raise ValueError(
            f"{name} must be 1-D where the positive class is the first of two columns, for predict reads the second: "
            f"pass that column alone, here and to predict, got shape {columns.shape} with pos_label={pos_label!r}."
        )


def refuse_positive_first(names: Sequence[Any], name: str, remedy: str) -> None:
    """Raise where two columns of a frame are named 1 and 0, or 1 and -1: nothing says which of them is positive.

    Examples
    --------
    >>> from stakes.base.formulas import refuse_positive_first
    >>> refuse_positive_first(["1", "0"], "y_prob", "pass one column")
    Traceback (most recent call last):
    ValueError: the columns of y_prob must be ['0', '1'] where '1' is the positive class, got ['1', '0']: order them ...
    """
    if validation.label_places(names, [1]) == [1, 0]:  # 1 is of either pair
        rule = f"the columns of {name} must be {[*names][::-1]} where {names[0]!r} is the positive class"
        raise ValueError(f"{rule}, got {[*names]}: order them so, or {remedy}.")


def positive_scores(scores: Any, name: str = "y_prob") -> NDArray[Any]:
    """Select the column that a rule decides by where no labels are known: the second of two."""
    refuse_positive_first(validation.frame_names(scores), name, "pass that of the positive class alone")
    return validation.pick_positive_column(scores, np.empty(0), None, name)


def check_missing(missing: str, choices: tuple[str, ...] = MISSING) -> str:
    """Check the decision for rows with a missing value."""
    return validation.check_choice(missing, "missing", choices)


def is_expression(value: Any) -> bool:
    """Whether scores are an expression: SQL, ONNX, narwhals or polars.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.base.formulas import is_expression
    >>> is_expression(pl.col("a")), is_expression([0.1])
    (True, False)
    """
    return isinstance(value, Formula) or any(kind.__name__ == "Expr" for kind in type(value).__mro__)


def widened(value: Any) -> Any:
    """Return a column of polars or narwhals in double precision, and anything else as it is.

    Polars and pandas round a number beside a column of single precision to that precision. The product with 1 has the
    same values, and refuses text, which a cast alone would read.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from stakes.base.formulas import widened
    >>> frame = pl.DataFrame({"a": np.array([0.7], dtype=np.float32)})  # 0.69999999
    >>> frame.select(alone=pl.col("a") >= 0.7, wide=widened(pl.col("a")) >= 0.7).row(0)
    (True, False)
    """
    if not (is_expression(value) and type(value).__module__.startswith(("polars", "narwhals"))):
        return value
    return (value * 1.0).cast(_library(value).Float64)


def rounded(limits: Any, column: NDArray[Any]) -> validation.Floats:
    """Round limits that lie on scores to the precision of a column, where its type is narrower than double precision.

    Then a score meets the limit that it was in double precision: 0.7 is 0.69999999 in single precision.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.base.formulas import rounded
    >>> single = np.array([0.7], dtype=np.float32)
    >>> single >= np.float64(0.7), single >= rounded(0.7, single)
    (array([False]), array([ True]))
    """
    narrow = column.dtype.kind == "f" and column.dtype.itemsize < 8
    with np.errstate(over="ignore"):
        return np.asarray(np.asarray(limits, dtype=column.dtype if narrow else np.float64), dtype=np.float64)


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """Return ``yes`` where a condition holds, else ``no``: numbers or expressions of the same kind; None is NULL.

    Examples
    --------
    >>> from stakes.base.formulas import at_least, choose
    >>> from stakes.tables import sql_column
    >>> print(choose(at_least(sql_column("a"), 0.5), 1, 0))
    CASE WHEN ("a" >= CAST('0.5' AS DOUBLE)) THEN 1 ELSE 0 END
    """
    if yes is None and no is None:
        return None
    if isinstance(condition, Formula):
        return condition.choosing(yes, no)
    if isinstance(condition, bool):  # both operands were numbers
        return yes if condition else no
    library = _library(condition)
    yes = library.lit(yes) if yes is None or isinstance(yes, int | float) else yes
    no = library.lit(no) if isinstance(no, int | float) else no
    chosen = library.when(condition).then(yes)
    return chosen if no is None else chosen.otherwise(no)


def _library(expression: Any) -> Any:
    """Return the module, polars or narwhals, that an expression belongs to."""
    if type(expression).__module__.startswith("polars"):
        import polars as pl

        return pl
    return nw


def at_least(value: Any, bound: Any) -> Any:
    """Compare without a check for missing values: for values that were checked to be finite."""
    return value.joined(">=", bound) if isinstance(value, Formula) else value >= bound


def at_most(value: Any, bound: Any) -> Any:
    """Compare without a check for missing values: for values that were checked to be finite."""
    return value.joined("<=", bound) if isinstance(value, Formula) else value <= bound


def ln(value: Any) -> Any:
    """Natural logarithm of an expression or an array; engines differ in its last bits.

    Examples
    --------
    >>> from stakes.base.formulas import ln
    >>> from stakes.tables import sql_column
    >>> print(ln(sql_column("a")))
    LN("a")
    """
    return value.applied("ln") if isinstance(value, Formula) else _function(value, "log")


def exp(value: Any) -> Any:
    """Exponential function of an expression or an array; engines differ in its last bits.

    Examples
    --------
    >>> from stakes.base.formulas import exp
    >>> from stakes.tables import sql_column
    >>> print(exp(sql_column("a")))
    EXP("a")
    """
    return value.applied("exp") if isinstance(value, Formula) else _function(value, "exp")


def _function(value: Any, name: str) -> Any:
    with np.errstate(divide="ignore", over="ignore"):  # as engines do: infinite
        return getattr(np, name)(value) if isinstance(value, np.ndarray) else getattr(value, name)()


def reaching(value: Any, threshold: float, yes: Any, no: Any) -> Any:
    """Return ``yes`` where a finite value is at least the threshold, else ``no``; the threshold may be infinite."""
    if math.isinf(threshold):
        return no if threshold > 0.0 else yes
    return choose(at_least(value, float(threshold)), yes, no)


def by_level(value: Any, cuts: Sequence[float], found: Sequence[Any]) -> Any:
    """Return ``found[k]`` for values in (cuts[k - 1], cuts[k]], by nested conditions of logarithmic depth."""
    if len(found) == 1 or all(each is found[0] for each in found):
        return found[0]
    middle = len(found) // 2
    lower, upper = by_level(value, cuts[: middle - 1], found[:middle]), by_level(value, cuts[middle:], found[middle:])
    return choose(at_most(value, float(cuts[middle - 1])), lower, upper)


def decided(
    found: Any,
    inputs: Sequence[Any],
    missing: str = "refuse",
    *,
    within: tuple[float, float] | None = None,
    kind: type = int,
) -> Any:
    """A decision where every input is a finite number, the first within bounds; what is said where one is missing.

    Elsewhere, and where missing values are refused, there is no decision: NULL, and in ONNX -1 of whole numbers and NaN
    of doubles. ``kind`` says which of the two decisions are.

    Examples
    --------
    >>> from stakes.base.formulas import decided
    >>> from stakes.tables import sql_column
    >>> print(decided(1, [sql_column("a")]))
    CASE WHEN (("a" - "a") <= CAST('0.0' AS DOUBLE)) THEN 1 END
    """
    fine = [is_fine(value, within if place == 0 else None) for place, value in enumerate(inputs)]
    otherwise = None
    if missing != "refuse":
        gone = [v.missing() if isinstance(v, Formula) else v.is_null() | is_nan(v) for v in inputs]
        either = [ok | absent for ok, absent in zip(fine, gone, strict=True)]
        otherwise = choose(reduce(and_, either), kind(CODES[missing]), None)
    return choose(reduce(and_, fine), found, otherwise)


def where_known(condition: Any, found: Any) -> Any:
    """Return a value where a condition is not NULL, and NULL or NaN elsewhere."""
    return choose(condition.known() if isinstance(condition, Formula) else ~condition.is_null(), found, None)


def is_fine(value: Any, within: tuple[float, float] | None = None) -> Any:
    """Test, in any engine, whether a value is a finite number and within bounds."""
    if isinstance(value, Sql) and value.dialect == "sqlite":  # which orders a text above every number
        ok = Sql(f"(({value} > CAST(-9e999 AS REAL)) AND ({value} < CAST(9e999 AS REAL)))", value.dialect)
    else:
        ok = at_most(value - value, 0.0)
    return ok if within is None else ok & at_least(value, within[0]) & at_most(value, within[1])


def is_nan(value: Any) -> Any:
    """Test for NaN without relying on the statistics of Parquet files, which ignore NaN and which DuckDB trusts."""
    return value.is_nan() | ((value * 0.0 != 0.0) & (value <= LARGEST) & (value >= -LARGEST))


def finite(value: Any) -> float:
    """Check that a number of a formula is finite."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"numbers in SQL and ONNX must be finite numbers, got {value!r}.")
    return number


# Rules as ONNX: the formula of a rule becomes a graph of doubles, which any runtime of ONNX computes.

_OPERATORS = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    ">=": "GreaterOrEqual",
    "<=": "LessOrEqual",
    "AND": "And",
    "OR": "Or",
    "is nan": "IsNaN",
    "if": "Where",
    "ln": "Log",
    "exp": "Exp",
}
_COMPARISONS = (">=", "<=")
_CONDITIONS = (*_COMPARISONS, "AND", "OR", "is nan")
_FUNCTIONS = ("ln", "exp")
# the oldest versions of the format and the operators that support doubles
_OPSET, _FORMAT = 16, 8


@dataclass(frozen=True, eq=False)
class Onnx(Formula):
    """A graph of ONNX that is put together as a formula is.

    Made by :func:`onnx_column`; corrections and comparisons take it in place of scores, and :meth:`model` gives what a
    runtime reads.

    Parameters
    ----------
    sign : str
        What the parts are joined by, or the name of an input.
    parts : tuple
        Graphs and numbers; none of an input.

    Examples
    --------
    >>> from stakes.correction import shift_prior
    >>> from stakes.tables import onnx_column
    >>> shift_prior(onnx_column("risk"), training_prior=0.5, prior=0.2) >= 0.1
    Onnx((risk / (((1.0 - risk) * 4.0) + risk)) >= 0.1)
    """

    sign: str
    parts: tuple[Any, ...] = ()

    def joined(self, sign: str, other: Any, *, swapped: bool = False) -> Onnx:
        """Combine with another operand by an operator; ``swapped`` puts the other operand first."""
        its = other if isinstance(other, Onnx) else finite(other)
        return Onnx(sign, (its, self) if swapped else (self, its))

    def choosing(self, yes: Any, no: Any) -> Onnx:
        """Return ``yes`` where this condition holds, else ``no``; None is NaN beside doubles, -1 beside integers."""
        whole = int in (_kind(yes), _kind(no)) and float not in (_kind(yes), _kind(no))
        nothing = -1 if whole else math.nan
        values = [nothing if value is None else value for value in (yes, no)]
        return Onnx("if", (self, *(value if whole or isinstance(value, Onnx) else float(value) for value in values)))

    def applied(self, function: str) -> Onnx:
        """Apply the natural logarithm, "ln", or the exponential function, "exp"."""
        return Onnx(function, (self,))

    def missing(self) -> Onnx:
        """Test whether the value is NaN (ONNX has no NULL)."""
        return Onnx("is nan", (self,))

    def known(self) -> Onnx:
        """Test whether every value that this condition compares is finite."""
        parts = self._graphs()
        return reduce(and_, map(is_fine, parts) if self.sign in _COMPARISONS else (part.known() for part in parts))

    def _graphs(self) -> list[Onnx]:
        return [part for part in self.parts if isinstance(part, Onnx)]

    def model(self, name: str = "decision") -> ModelProto:
        """Return the model, for ``onnx.save`` or ``.SerializeToString()``.

        Parameters
        ----------
        name : str, default "decision"
            Of its output: doubles, which are NaN where an input is; or the whole numbers of a comparison or a rule, 1
            or 0, and -1 where an input is NaN or infinite.

        Returns
        -------
        onnx.ModelProto
            Its inputs are the columns, of doubles.

        Raises
        ------
        ValueError
            For an empty name, or that of an input.
        ImportError
            If onnx is not installed (``pip install 'stakes[onnx]'``).

        Examples
        --------
        >>> from stakes.tables import onnx_column
        >>> (onnx_column("risk") >= 0.5).model().graph.input[0].name  # doctest: +SKIP
        'risk'
        """
        onnx = import_optional("onnx", "a model of ONNX needs onnx: pip install 'stakes[onnx]'.")
        helper, TensorProto = onnx.helper, onnx.TensorProto
        # a comparison is a decision: 1, 0, or -1 where one of its values is NaN or infinite
        formula = decided(choose(self, 1, 0), self._graphs()) if self.sign in _COMPARISONS else self
        graph = _Graph()
        graph.nodes.append(helper.make_node("Identity", [graph.add(formula)], [_plain_name(name, "the output")]))
        if name in graph.columns:
            raise ValueError(
                f"the output of a model of ONNX needs another name than its inputs, got {name!r} for both."
            )
        kinds = {bool: TensorProto.BOOL, int: TensorProto.INT64, float: TensorProto.DOUBLE}
        found = helper.make_tensor_value_info(name, kinds[_kind(formula)], ["rows"])
        inputs = [helper.make_tensor_value_info(column, TensorProto.DOUBLE, ["rows"]) for column in graph.columns]
        whole = helper.make_graph(graph.nodes, "stakes", inputs, [found], list(graph.numbers.values()))
        return helper.make_model(whole, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_FORMAT)

    def __str__(self) -> str:
        if self.sign == "if":
            return "({1} if {0} else {2})".format(*self.parts)
        if self.sign in _FUNCTIONS and self.parts:
            return f"{self.sign}({self.parts[0]})"
        if len(self.parts) == 1:
            return f"({self.parts[0]} {self.sign})"
        return f"({self.parts[0]} {self.sign} {self.parts[1]})" if self.parts else self.sign

    def __repr__(self) -> str:
        text = str(self)
        return f"Onnx({text.removeprefix('(').removesuffix(')') if self.parts else text})"


_OURS = "stakes."  # prefix of the names inside the graph


def onnx_column(name: str) -> Onnx:
    """Name an input of doubles of an ONNX model.

    Parameters
    ----------
    name : str
        The input.

    Returns
    -------
    Onnx

    Raises
    ------
    ValueError
        For an empty name.

    Examples
    --------
    >>> from stakes.tables import onnx_column
    >>> onnx_column("risk") >= 0.5
    Onnx(risk >= 0.5)
    """
    return Onnx(_plain_name(name, "an input"))


def _plain_name(name: Any, of: str) -> str:
    """Return a name that may stand in a graph beside those inside it, or raise."""
    validation.check_kind(name, "name", str, f"that of {of}")
    if not name or name.startswith(_OURS):
        raise ValueError(f"name must be that of {of}, and not begin with {_OURS!r}, got {name!r}.")
    return str(name)


def _kind(formula: Any) -> type:
    """Return the type of a formula's values."""
    if not isinstance(formula, Onnx):
        return type(formula)
    if formula.sign == "if":
        return _kind(formula.parts[1])
    return bool if formula.sign in _CONDITIONS else float


@dataclass(frozen=True, eq=False, repr=False)
class _Graph:
    """ONNX nodes in topological order, each formula once, and the constants by name."""

    columns: dict[str, None] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    nodes: list[NodeProto] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)

    def add(self, formula: Any) -> str:
        """Add the nodes of a formula and return the name of its value."""
        from onnx import helper, numpy_helper

        if not isinstance(formula, Onnx):
            name = f"{_OURS}value {formula!r}"
            self.numbers[name] = numpy_helper.from_array(np.asarray(formula), name)
            return name
        if not formula.parts:
            self.columns[formula.sign] = None
            return formula.sign
        if id(formula) not in self.names:
            parts = [self.add(part) for part in formula.parts]
            self.names[id(formula)] = name = f"{_OURS}{len(self.nodes)}"
            self.nodes.append(helper.make_node(_OPERATORS[formula.sign], parts, [name]))
        return self.names[id(formula)]


# Shared by decision rules: rows with missing values, and the rule as an expression, as SQL and as ONNX.


def decide_present(
    columns: Mapping[str, validation.Floats],
    missing: str,
    decide: Callable[..., NDArray[Any]],
    choices: tuple[str, ...] = MISSING,
    *,
    probability: bool = False,
) -> NDArray[Any]:
    """Apply ``decide`` to rows without nan, and the decision named ``missing`` to the others.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.base.formulas import decide_present
    >>> decide_present({"score": np.array([0.9, np.nan])}, "wait", lambda score: (score >= 0.5).astype(int)).tolist()
    [1, 0]
    """
    check_missing(missing, choices)
    if len({column.shape for column in columns.values()}) > 1 or next(iter(columns.values())).ndim != 1:
        return decide(**columns)  # raises the error
    gone = {name: np.isnan(column) for name, column in columns.items()}
    absent = np.logical_or.reduce(list(gone.values()))
    if not absent.any():
        return decide(**columns)
    if missing == "refuse":
        name = next(name for name, mine in gone.items() if mine.any())
        others = " or ".join(f'"{choice}"' for choice in choices[1:])
        remedy = f": say missing={others} to decide about rows without it."
        validation.refuse(gone[name], columns[name], f"{name} must be finite", " are missing", remedy)
    for place, (name, column) in enumerate(columns.items()):  # rows with nan are checked in their other columns too
        validation.check_scores(np.where(gone[name], 0.0, column), name, probability=probability and place == 0)
    if absent.all():
        return np.full(len(absent), CODES[missing], dtype=np.int64)
    stand_in = {name: np.where(absent, column[np.argmin(absent)], column) for name, column in columns.items()}
    return np.where(absent, CODES[missing], decide(**stand_in))


class DecidesByScore:
    """A rule that decides by the score alone; ``_choices`` lists the allowed decisions for a missing score."""

    _choices: ClassVar[tuple[str, ...]] = MISSING

    @abstractmethod
    def _rounded(self, score: NDArray[Any]) -> Self:
        """Return the rule with its thresholds in the precision of the scores."""

    @abstractmethod
    def _decide(self, score: validation.Floats) -> NDArray[Any]:
        """Check scores without nan and decide."""

    @abstractmethod
    def _expression(self, score: Any, missing: str) -> Any:
        """Build the decision as an expression of a score expression."""

    def _predicted(self, name: str, scores: Any, missing: str) -> Any:
        """Decide for an array of scores, or build an expression from a score expression."""
        if is_expression(scores):
            return self._expression(widened(scores), check_missing(missing, self._choices))
        given = positive_scores(scores, name)
        column, rule = validation.to_floats(given, name), self._rounded(given)
        return decide_present({name: column}, missing, lambda **clean: rule._decide(clean[name]), self._choices)

    def to_expression(self, score: str, *, missing: Any = "refuse") -> Any:
        """Return the rule as an expression of narwhals, for a frame that stays in its engine.

        Parameters
        ----------
        score : str
            Name of the column, of doubles.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score is NULL or NaN: NULL, 1 or 0; where the rule defers also "defer", which is -1.

        Returns
        -------
        narwhals.Expr
            The decisions of ``predict`` to the last bit; NULL where it would raise.

        Raises
        ------
        ValueError
            For another value of ``missing``.

        Examples
        --------
        >>> import narwhals.stable.v2 as nw
        >>> import polars as pl
        >>> from stakes.utility import population_threshold
        >>> rule = population_threshold([0, 1], [0.2, 0.6], "f1", n_resamples=0)
        >>> frame = nw.from_native(pl.LazyFrame({"risk": [0.7, 0.5, None]}))
        >>> frame.with_columns(treat=rule.to_expression("risk")).collect()["treat"].to_list()
        [1, 0, None]
        """
        return self._predicted("score", column_of(score), missing)

    def to_sql(
        self,
        score: str,
        path: str | os.PathLike[str] | None = None,
        *,
        dialect: Dialect = "duckdb",
        missing: Any = "refuse",
    ) -> str:
        """Return the rule as an expression of plain SQL.

        Parameters
        ----------
        score : str
            Name of the column, of doubles.
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"}, default "duckdb"
            Of the SQL.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score is NULL or NaN: NULL, 1 or 0; where the rule defers also "defer", which is -1.

        Returns
        -------
        str
            The decisions of ``predict`` to the last bit; NULL where it would raise.

        Raises
        ------
        ValueError
            For an unknown dialect or another value of ``missing``.

        Examples
        --------
        >>> from stakes.utility import population_threshold
        >>> rule = population_threshold([0, 1], [0.2, 0.6], "f1", n_resamples=0)
        >>> print(rule.to_sql("p"))
        CASE WHEN (("p" - "p") <= CAST('0.0' AS DOUBLE)) THEN CASE WHEN ("p" >= CAST('0.6' AS DOUBLE)) THEN ... END END
        """
        return delivered(str(self._predicted("score", sql_column(score, dialect), missing)), path)

    def to_onnx(
        self, score: str = "score", path: str | os.PathLike[str] | None = None, *, missing: Any = "refuse"
    ) -> bytes:
        """Return the rule as a model of ONNX.

        Parameters
        ----------
        score : str, default "score"
            Name of the input, of doubles.
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score is NaN: what they get where ``predict`` would raise, 1 or 0; where the rule
            defers also "defer", which is -1.

        Returns
        -------
        bytes of an onnx.ModelProto
            Its output ``decision`` holds the decisions of ``predict`` to the last bit. Where that would raise it is -1;
            of a rule that defers, for which -1 is a decision, the output is of doubles, and NaN there.

        Raises
        ------
        ValueError
            For another value of ``missing``, or an input named as the output, "decision".
        ImportError
            If onnx is not installed (``pip install 'stakes[onnx]'``).

        Examples
        --------
        >>> from stakes.utility import population_threshold
        >>> rule = population_threshold([0, 1], [0.2, 0.6], "f1", n_resamples=0)
        >>> model = rule.to_onnx("risk", "rule.onnx")  # doctest: +SKIP
        """
        model: ModelProto = self._predicted("score", onnx_column(score), missing).model()
        return delivered(model.SerializeToString(), path)
