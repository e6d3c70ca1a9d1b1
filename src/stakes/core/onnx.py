"""Rules as ONNX: the formula of a rule becomes a graph of doubles, which any runtime of ONNX computes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.expressions import Formula, finite

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_OPERATORS = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    ">=": "GreaterOrEqual",
    "<=": "LessOrEqual",
    "if": "Where",
}
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
        """One of two values, by this condition."""
        return Onnx("if", (self, yes, no))

    def model(self, name: str = "decision") -> ModelProto:
        """Return the model, for ``onnx.save`` or ``.SerializeToString()``.

        Parameters
        ----------
        name : str, default "decision"
            Of its output: doubles, booleans of a comparison, or the whole numbers of a boundary.

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
        graph = _Graph()
        graph.nodes.append(helper.make_node("Identity", [graph.add(self)], [name]))
        kinds = {bool: TensorProto.BOOL, int: TensorProto.INT64, float: TensorProto.DOUBLE}
        found = helper.make_tensor_value_info(name, kinds[_kind(self)], ["rows"])
        inputs = [helper.make_tensor_value_info(column, TensorProto.DOUBLE, ["rows"]) for column in graph.columns]
        whole = helper.make_graph(graph.nodes, "stakes", inputs, [found], list(graph.numbers.values()))
        return helper.make_model(whole, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_FORMAT)

    def __str__(self) -> str:
        if self.sign == "if":
            return "({1} if {0} else {2})".format(*self.parts)
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
    return bool if formula.sign in {">=", "<="} else float


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
