"""Rules as ONNX: the formula of a rule becomes a graph of doubles, which any runtime of ONNX computes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.expressions import Formula, choose, decided, finite, is_fine

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

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
}
_COMPARISONS = (">=", "<=")
_CONDITIONS = (*_COMPARISONS, "AND", "OR", "is nan")
# the oldest versions of the format and of the operators that have all of these for doubles
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
    >>> shift_prior(onnx_column("risk"), old=0.5, new=0.2) >= 0.1
    Onnx((risk / (((1.0 - risk) * 4.0) + risk)) >= 0.1)
    """

    sign: str
    parts: tuple[Any, ...] = ()

    def joined(self, sign: str, other: Any, *, swapped: bool = False) -> Onnx:
        """Join by a sign with another, which comes first if swapped."""
        its = other if isinstance(other, Onnx) else finite(other)
        return Onnx(sign, (its, self) if swapped else (self, its))

    def choosing(self, yes: Any, no: Any) -> Onnx:
        """One of two values, by this condition; None is NaN beside doubles and -1 beside whole numbers."""
        whole = int in (_kind(yes), _kind(no)) and float not in (_kind(yes), _kind(no))
        nothing = -1 if whole else math.nan
        values = [nothing if value is None else value for value in (yes, no)]
        return Onnx("if", (self, *(value if whole or isinstance(value, Onnx) else float(value) for value in values)))

    def missing(self) -> Onnx:
        """Whether the value is NaN, for ONNX knows no NULL."""
        return Onnx("is nan", (self,))

    def known(self) -> Onnx:
        """Whether every value that this condition compares is a finite number."""
        parts = self._graphs()
        return reduce(and_, map(is_fine, parts) if self.sign in _COMPARISONS else (part.known() for part in parts))

    def _graphs(self) -> list[Onnx]:
        return [part for part in self.parts if isinstance(part, Onnx)]

    def _decided(self) -> Onnx:
        """Return a comparison as a decision: 1, 0, or -1 where one of its values is NaN or infinite."""
        return decided(choose(self, 1, 0), self._graphs()) if self.sign in _COMPARISONS else self

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
        ImportError
            If onnx is not installed (``pip install 'stakes[onnx]'``).

        Examples
        --------
        >>> from stakes.tables import onnx_column
        >>> (onnx_column("risk") >= 0.5).model().graph.input[0].name  # doctest: +SKIP
        'risk'
        """
        try:
            from onnx import TensorProto, helper
        except ImportError:
            raise ImportError("a model of ONNX needs onnx: pip install 'stakes[onnx]'.") from None
        graph, formula = _Graph(), self._decided()
        graph.nodes.append(helper.make_node("Identity", [graph.add(formula)], [name]))
        kinds = {bool: TensorProto.BOOL, int: TensorProto.INT64, float: TensorProto.DOUBLE}
        found = helper.make_tensor_value_info(name, kinds[_kind(formula)], ["rows"])
        inputs = [helper.make_tensor_value_info(column, TensorProto.DOUBLE, ["rows"]) for column in graph.columns]
        whole = helper.make_graph(graph.nodes, "stakes", inputs, [found], list(graph.numbers.values()))
        return helper.make_model(whole, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_FORMAT)

    def __str__(self) -> str:
        if self.sign == "if":
            return "({1} if {0} else {2})".format(*self.parts)
        if len(self.parts) == 1:
            return f"({self.parts[0]} {self.sign})"
        return f"({self.parts[0]} {self.sign} {self.parts[1]})" if self.parts else self.sign

    def __repr__(self) -> str:
        text = str(self)
        return f"Onnx({text.removeprefix('(').removesuffix(')') if self.parts else text})"


_OURS = "stakes."  # begins the names inside the graph


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
    if not name or name.startswith(_OURS):
        raise ValueError(f"name must be that of an input, and not begin with {_OURS!r}, got {name!r}.")
    return Onnx(name)


def _kind(formula: Any) -> type:
    """What the values of a formula are."""
    if not isinstance(formula, Onnx):
        return type(formula)
    if formula.sign == "if":
        return _kind(formula.parts[1])
    return bool if formula.sign in _CONDITIONS else float


@dataclass(frozen=True)
class _Graph:
    """Nodes in an order in which they can be computed, each formula once, and the numbers by name."""

    columns: dict[str, None] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    nodes: list[NodeProto] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)

    def add(self, formula: Any) -> str:
        """Add what a formula needs, and name its value."""
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
