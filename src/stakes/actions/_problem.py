"""What is asked about many actions: clean rows of one or several models, the matrices, and the names of both."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import to_array
from stakes.inference import NEEDED, CostRows, check_dependence
from stakes.metrics import check_multiclass, check_problem
from stakes.shown.text import shown_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.metrics import CostProblem

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ActionRows:
    """Class of each row, its probabilities by model, its weight and cluster; the matrices; names."""

    index: Integers
    probs: dict[str, Floats]
    weight: Floats
    clusters: Integers | None
    problem: CostProblem
    classes: tuple[Any, ...]
    actions: tuple[Any, ...]

    @property
    def class_share(self) -> Floats:
        """Weighted share of each class."""
        sums = np.bincount(self.index, self.weight, len(self.classes))
        return np.asarray(sums / self.weight.sum(), dtype=np.float64)

    def best(self) -> Floats:
        """What each class costs at least: an oracle knows it, and at each point of a segment acts by it."""
        own = np.arange(len(self.classes))
        return self.problem.losses(np.eye(len(own)), own)

    def constant(self) -> Floats:
        """What each class costs under the one action that is best for all rows, at each matrix."""
        share = np.tile(self.class_share, (len(self.classes), 1))
        return self.problem.losses(share, np.arange(len(self.classes)))

    def worst(self) -> Floats:
        """What each class costs at most, by the worst action at each matrix."""
        own = np.arange(len(self.classes))
        return -replace(self.problem, matrices=-self.problem.matrices).losses(np.eye(len(own)), own)

    def kinds(self) -> Integers:
        """Class of each class where two are given, else groups of those whose costs are about as large.

        Rows whose errors cost the same are one kind whatever their class: what is rare among them is seen in all.
        """
        best, worst = self.best(), self.worst()
        if len(best) == 2:
            return np.arange(2)
        most = np.stack([worst - best, worst - best.min()])
        with np.errstate(divide="ignore", invalid="ignore"):
            halvings = np.floor(np.log2(most.max(axis=1, keepdims=True) / most))
        halvings = np.where(most > 0.0, halvings, -1.0)
        return np.asarray(np.unique(halvings, axis=1, return_inverse=True)[1]).reshape(-1)

    def cost_rows(self, columns: Floats, beyond: Floats, most: Floats, *, whole: bool = True) -> CostRows:
        """Rows whose columns are averaged, of kinds as dear as each other.

        ``beyond`` is what each row costs beyond the best action for its class, and ``most`` (classes, columns) the most
        that can be. Small errors may hide that the large ones have not been seen: what lies above the fifth largest has
        room of its own. Where classes differ in what the best action costs, a rare one may be dear although no row of
        it errs: ``whole`` costs have room for that too.
        """
        best, kinds = self.best(), self.kinds()
        least, kind = best - best.min(), kinds[self.index]
        places = range(int(kinds.max()) + 1)

        def of_kinds(values: Floats) -> Floats:
            return np.stack([values[kinds == each].max(axis=0) for each in places])

        largest = of_kinds(most)
        carried = [(beyond, largest)]
        if len(best) > 2:
            seen = np.stack([_fifth(beyond[kind == each]) for each in places])
            carried.append((np.maximum(beyond - seen[kind], 0.0), largest - seen))
        if whole and least.any():
            carried.append((beyond + least[self.index][:, None], of_kinds(most + least[:, None])))
        return CostRows(columns, kind, self.weight, self.clusters, largest, carried=tuple(carried))


def read_rows(
    y_true: Any,
    y_probs: Any,
    *,
    matrices: Any,
    theta: Any = None,
    weights: Any = None,
    actions: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
) -> ActionRows:
    """Check all that was given; rows of weight zero are as if absent."""
    models = dict(y_probs) if isinstance(y_probs, Mapping) else {"model": y_probs}
    if not models:
        raise ValueError("y_probs must hold at least one model, got none.")
    read = {str(name): check_multiclass(y_true, prob, labels, sample_weight) for name, prob in models.items()}
    index, first, weight = next(iter(read.values()))
    shapes = {prob.shape for _, prob, _ in read.values()}
    if len(shapes) > 1:
        raise ValueError(f"y_probs must have the same shape for every model, got {sorted(shapes)}.")
    problem = check_problem(matrices, first.shape[1], theta=theta, weights=weights)
    given = np.ones(len(index)) if weight is None else weight
    used = given > 0.0
    codes, _ = check_dependence(clusters, None, int(np.count_nonzero(used)), sample_weight)
    classes = _class_names(y_true, labels, first.shape[1])
    names = _action_names(actions, classes, problem.matrices.shape[2])
    if actions is None and names == classes:
        _warn_if_transposed(problem.mean_matrix, classes)
    probs = {name: np.asarray(prob, dtype=np.float64)[used] for name, (_, prob, _) in read.items()}
    return ActionRows(index[used], probs, given[used], codes, problem, classes, names)


def _fifth(values: Floats) -> Floats:
    """So much at least have as many rows as an interval needs (0 with fewer)."""
    if len(values) < NEEDED:
        return np.zeros(values.shape[1])
    return np.asarray(np.partition(values, len(values) - NEEDED, axis=0)[len(values) - NEEDED])


def _class_names(y_true: Any, labels: Any, count: int) -> tuple[Any, ...]:
    if labels is not None:
        return tuple(to_array(labels, "labels").tolist())
    seen = to_array(y_true, "y_true")
    if seen.ndim == 2 or seen.dtype.kind in "iub":
        return tuple(range(count))
    return tuple(np.unique(seen).tolist())


def _action_names(actions: Any, classes: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    if actions is None:
        return classes if count == len(classes) else tuple(range(count))
    names = tuple(actions if isinstance(actions, (list, tuple)) else to_array(actions, "actions").ravel().tolist())
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"actions must name the {count} columns of the matrices once each, got {list(names)}.")
    return names


def _warn_if_transposed(matrix: Floats, classes: tuple[Any, ...]) -> None:
    """Say where the action named like a class is dearer for it than another."""
    k = int(np.argmax(np.diag(matrix) - matrix.min(axis=1)))
    best = int(np.argmin(matrix[k]))
    if matrix[k, k] > matrix[k, best]:
        own, other = (shown_name(str(classes[each])) for each in (k, best))
        costs = f"the action {own} costs {matrix[k, k]:g}, the action {other} {matrix[k, best]:g}"
        warnings.warn(
            f"matrices: for class {own} {costs}. "
            "Rows are true classes and columns actions: is the matrix transposed? If it is meant, name actions=.",
            stacklevel=4,
        )
