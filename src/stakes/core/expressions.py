"""Rules where the data are: one formula becomes an expression of a data engine, the text of plain SQL, or ONNX.

A formula made of sums, products, quotients and comparisons of doubles, in one order, has the same bits everywhere.
Comparisons with NaN do not: DuckDB, Postgres, Snowflake and Spark order it above every number. A decision is therefore
taken only where each input less itself is zero, which holds neither of NULL, nor of NaN, nor of an infinite number.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from stakes.core.validation import check_choice, check_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

Dialect = Literal["duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"]
DIALECTS = get_args(Dialect)
Missing = Literal["refuse", "act", "wait"]
MISSING = get_args(Missing)
CODES = {"act": 1, "wait": 0, "defer": -1}
_DOUBLE = {"postgres": "DOUBLE PRECISION", "bigquery": "FLOAT64"}
_BACKTICKS = ("bigquery", "spark")
_IS_NAN = {"bigquery": "IS_NAN({0})", "duckdb": "isnan({0})", "spark": "isnan({0})"}
LARGEST = sys.float_info.max
_LONGEST = 62  # a power of two that an integer of SQLite holds


class Formula(ABC):
    """What is put together by sums, products, quotients and comparisons, with numbers or its own kind."""

    @abstractmethod
    def joined(self, sign: str, other: Any, *, swapped: bool = False) -> Self:
        """Join by a sign with another, which comes first if swapped."""

    def __add__(self, other: Any) -> Self:
        return self.joined("+", other)

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
        """One of two values, by this condition; None is the value of no decision."""

    @abstractmethod
    def missing(self) -> Self:
        """Whether the value is missing: NULL or NaN."""

    @abstractmethod
    def known(self) -> Self:
        """Whether the truth of this condition is known."""


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
    >>> print(shift_prior(sql_column("risk"), old=0.5, new=0.2))
    ("risk" / (((CAST('1.0' AS DOUBLE) - "risk") * CAST('4.0' AS DOUBLE)) + "risk"))
    """

    text: str
    dialect: Dialect = "duckdb"

    def __str__(self) -> str:
        return self.text

    def __ge__(self, other: Any) -> Sql:
        return self._compared(">=", other)

    def __le__(self, other: Any) -> Sql:
        return self._compared("<=", other)

    def _compared(self, sign: str, other: Any) -> Sql:
        return decided(self.joined(sign, other), [self, other] if isinstance(other, Sql) else [self])

    def joined(self, sign: str, other: Any, *, swapped: bool = False) -> Sql:
        """Join by a sign with another, which comes first if swapped."""
        its = self._spelled(other if isinstance(other, Sql) else finite(other))
        left, right = (its, self.text) if swapped else (self.text, its)
        return Sql(f"({left} {sign} {right})", self.dialect)

    def choosing(self, yes: Any, no: Any) -> Sql:
        """One of two values, by this condition; None, which is NULL, is the value of no decision."""
        other = "" if no is None else f" ELSE {self._spelled(no)}"
        return Sql(f"CASE WHEN {self} THEN {self._spelled(yes)}{other} END", self.dialect)

    def missing(self) -> Sql:
        """Whether the value is missing: NULL or NaN."""
        if self.dialect == "sqlite":  # which stores NaN as NULL
            return Sql(f"({self} IS NULL)", self.dialect)
        equal = f"({self} = CAST('NaN' AS {_DOUBLE.get(self.dialect, 'DOUBLE')}))"
        # DuckDB believes statistics of Parquet files that leave NaN out, but asks the rows for isnan
        return Sql(f"({self} IS NULL OR {_IS_NAN.get(self.dialect, equal).format(self)})", self.dialect)

    def known(self) -> Sql:
        """Whether the truth of this condition is known."""
        return Sql(f"({self} IS NOT NULL)", self.dialect)

    def _spelled(self, value: Any) -> str:
        if isinstance(value, Sql | int):
            return str(value)
        if value is None:
            return "NULL"
        if self.dialect == "sqlite":
            return _exact(finite(value))
        # as text it is read to the last bit; a plain 0.1 would be a decimal in some dialects
        return f"CAST('{finite(value)!r}' AS {_DOUBLE.get(self.dialect, 'DOUBLE')})"


def _exact(value: float) -> str:
    """A double as a whole number times or over powers of two: SQLite may read its decimals a bit off."""
    top, bottom = value.as_integer_ratio()
    sign, power = "/", bottom.bit_length() - 1
    if abs(top) >= 2**53:
        sign, power = "*", top.bit_length() - 53
        top >>= power
    text = f"CAST({top} AS REAL)"
    while power > 0:
        text = f"({text} {sign} CAST({2 ** min(power, _LONGEST)} AS REAL))"
        power -= _LONGEST
    return text


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
    check_choice(dialect, "dialect", DIALECTS)
    check_kind(name, "name", str, "that of a column")
    if not name or "\x00" in name or (dialect == "bigquery" and set(name) & set("`\\")):
        raise ValueError(f"name must be that of a column in {dialect}, got {name!r}.")
    mark = "`" if dialect in _BACKTICKS else '"'
    return Sql(mark + name.replace(mark, 2 * mark) + mark, dialect)


def column_of(name: str) -> Any:
    """Name a column of a frame of narwhals."""
    import narwhals.stable.v2 as nw

    return nw.col(name)


def check_missing(missing: str, choices: tuple[str, ...] = MISSING) -> str:
    """Check what is to be decided about rows in which a value is missing."""
    return check_choice(missing, "missing", choices)


def is_expression(value: Any) -> bool:
    """Whether scores stand elsewhere: SQL, ONNX, or an expression of narwhals or polars.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.core.expressions import is_expression
    >>> is_expression(pl.col("a")), is_expression([0.1])
    (True, False)
    """
    return isinstance(value, Formula) or any(kind.__name__ == "Expr" for kind in type(value).__mro__)


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """One of two values, by a condition of the same kind; values are numbers, or again expressions; None is NULL.

    Examples
    --------
    >>> from stakes.core.expressions import at_least, choose
    >>> from stakes.tables import sql_column
    >>> print(choose(at_least(sql_column("a"), 0.5), 1, 0))
    CASE WHEN ("a" >= CAST('0.5' AS DOUBLE)) THEN 1 ELSE 0 END
    """
    if yes is None and no is None:
        return None
    if isinstance(condition, Formula):
        return condition.choosing(yes, no)
    if isinstance(condition, bool):  # of numbers alone
        return yes if condition else no
    library = _library(condition)
    yes = library.lit(yes) if yes is None or isinstance(yes, int | float) else yes
    no = library.lit(no) if isinstance(no, int | float) else no
    chosen = library.when(condition).then(yes)
    return chosen if no is None else chosen.otherwise(no)


def _library(expression: Any) -> Any:
    """Return polars or narwhals, whichever an expression is of."""
    if type(expression).__module__.startswith("polars"):
        import polars as pl

        return pl
    import narwhals.stable.v2 as nw

    return nw


def at_least(value: Any, bound: Any) -> Any:
    """Compare as the engine does: for values that are known to be finite numbers."""
    return value.joined(">=", bound) if isinstance(value, Formula) else value >= bound


def at_most(value: Any, bound: Any) -> Any:
    """Compare as the engine does: for values that are known to be finite numbers."""
    return value.joined("<=", bound) if isinstance(value, Formula) else value <= bound


def reaching(value: Any, threshold: float, yes: Any, no: Any) -> Any:
    """One of two values, by whether a finite number reaches a threshold, which may be infinite."""
    if math.isinf(threshold):
        return no if threshold > 0.0 else yes
    return choose(at_least(value, float(threshold)), yes, no)


def by_level(value: Any, cuts: Sequence[float], found: Sequence[Any]) -> Any:
    """Return ``found[k]`` where a finite number lies in (cuts[k - 1], cuts[k]], by halves: as deep as log2 of them."""
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
    >>> from stakes.core.expressions import decided
    >>> from stakes.tables import sql_column
    >>> print(decided(1, [sql_column("a")]))
    CASE WHEN (("a" - "a") <= CAST('0.0' AS DOUBLE)) THEN 1 END
    """
    fine = [is_fine(value, within if place == 0 else None) for place, value in enumerate(inputs)]
    otherwise = None
    if missing != "refuse":
        either = [ok | _is_missing(value) for ok, value in zip(fine, inputs, strict=True)]
        otherwise = choose(reduce(and_, either), kind(CODES[missing]), None)
    return choose(reduce(and_, fine), found, otherwise)


def where_known(condition: Any, found: Any) -> Any:
    """A value where the truth of a condition is known, NULL or NaN elsewhere."""
    return choose(condition.known() if isinstance(condition, Formula) else ~condition.is_null(), found, None)


def is_fine(value: Any, within: tuple[float, float] | None = None) -> Any:
    """Whether a value is a finite number, in any engine, and lies within bounds."""
    ok = at_most(value - value, 0.0)
    return ok if within is None else ok & at_least(value, within[0]) & at_most(value, within[1])


def _is_missing(value: Any) -> Any:
    return value.missing() if isinstance(value, Formula) else value.is_null() | is_nan(value)


def is_nan(value: Any) -> Any:
    """Whether a float is NaN, also where DuckDB trusts the statistics of Parquet files, which leave NaN out."""
    return value.is_nan() | ((value * 0.0 != 0.0) & (value <= LARGEST) & (value >= -LARGEST))


def finite(value: Any) -> float:
    """A number of a formula."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"numbers in SQL and ONNX must be finite numbers, got {value!r}.")
    return number
