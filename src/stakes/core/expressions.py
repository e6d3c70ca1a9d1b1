"""Rules where the data are: one formula becomes an expression of a data engine, the text of plain SQL, or ONNX.

A formula made of sums, products, quotients and comparisons of doubles, in one order, has the same bits everywhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from stakes.core.validation import check_choice

Dialect = Literal["duckdb", "postgres", "bigquery", "snowflake", "spark"]
DIALECTS = get_args(Dialect)
_DOUBLE = {"postgres": "DOUBLE PRECISION", "bigquery": "FLOAT64"}
_BACKTICKS = ("bigquery", "spark")


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

    @abstractmethod
    def choosing(self, yes: Any, no: Any) -> Self:
        """One of two values, by this condition."""


@dataclass(frozen=True, eq=False)
class Sql(Formula):
    """SQL that is put together as a formula is; ``str`` gives the text.

    Made by :func:`sql_column`; corrections and comparisons take it in place of scores.

    Parameters
    ----------
    text : str
        The SQL.
    dialect : str
        "duckdb", "postgres", "bigquery", "snowflake" or "spark".

    Examples
    --------
    >>> from stakes.correction import shift_prior
    >>> from stakes.tables import sql_column
    >>> print(sql_column("risk") >= 0.5)
    ("risk" >= CAST('0.5' AS DOUBLE))
    >>> print(shift_prior(sql_column("risk"), old=0.5, new=0.2))
    ("risk" / (((CAST('1.0' AS DOUBLE) - "risk") * CAST('4.0' AS DOUBLE)) + "risk"))
    """

    text: str
    dialect: Dialect = "duckdb"

    def __str__(self) -> str:
        return self.text

    def joined(self, sign: str, other: Any, *, swapped: bool = False) -> Sql:
        """Join by a sign with another, which comes first if swapped."""
        its = self._spelled(finite(other) if isinstance(other, int) else other)
        left, right = (its, self.text) if swapped else (self.text, its)
        return Sql(f"({left} {sign} {right})", self.dialect)

    def choosing(self, yes: Any, no: Any) -> Sql:
        """One of two values, by this condition."""
        return Sql(f"CASE WHEN {self} THEN {self._spelled(yes)} ELSE {self._spelled(no)} END", self.dialect)

    def _spelled(self, value: Any) -> str:
        if isinstance(value, Sql | int):
            return str(value)
        # as text it is read to the last bit; a plain 0.1 would be a decimal in some dialects
        return f"CAST('{finite(value)!r}' AS {_DOUBLE.get(self.dialect, 'DOUBLE')})"


def sql_column(name: str, dialect: Dialect = "duckdb") -> Sql:
    """Name a column of doubles in SQL, quoted as the dialect wants it.

    Parameters
    ----------
    name : str
        The column.
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark"}, default "duckdb"
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
    if not name or "\x00" in name or (dialect == "bigquery" and set(name) & set("`\\")):
        raise ValueError(f"name must be that of a column in {dialect}, got {name!r}.")
    mark = "`" if dialect in _BACKTICKS else '"'
    return Sql(mark + name.replace(mark, 2 * mark) + mark, dialect)


def is_expression(value: Any) -> bool:
    """Whether scores stand elsewhere: SQL, ONNX, or an expression of narwhals or polars.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.core.expressions import is_expression
    >>> is_expression(pl.col("a")), is_expression([0.1])
    (True, False)
    """
    return isinstance(value, Formula) or type(value).__name__ == "Expr"


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """One of two values, by a condition of the same kind; values are numbers, or again expressions.

    Examples
    --------
    >>> from stakes.core.expressions import choose
    >>> from stakes.tables import sql_column
    >>> print(choose(sql_column("a") >= 0.5, 1, 0))
    CASE WHEN ("a" >= CAST('0.5' AS DOUBLE)) THEN 1 ELSE 0 END
    """
    if isinstance(condition, Formula):
        return condition.choosing(yes, no)
    import narwhals.stable.v2 as nw

    yes, no = (nw.lit(value) if isinstance(value, int | float) else value for value in (yes, no))
    return nw.when(condition).then(yes).otherwise(no)


def finite(value: Any) -> float:
    """A number of a formula."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"numbers in SQL and ONNX must be finite numbers, got {value!r}.")
    return number
