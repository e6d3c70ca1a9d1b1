"""Outcomes, which may be passed instead of labels: a class, a weight and possibly a transformed score for each row.

Weights that were estimated from the rows have a sampling error: an outcome turns the rows' contributions to the error
of any estimate, computed with fixed weights, into contributions that include the estimation of the weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Floats = NDArray[np.float64]  # those of validation, which imports this file
    Bools = NDArray[np.bool_]


class Outcome(ABC):
    """What happened to every row, and how much it counts.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Whether the row is a positive; False where that is unknown.
    weight : ndarray of shape (n,)
        Weight of each row, 0 where its class is unknown.
    sample_weight : ndarray of shape (n,) or None
        Weights before those of the outcome; None for all ones.
    """

    y: Bools
    weight: Floats
    sample_weight: Floats | None = None
    by_amount: bool = False  # whether rows are weighted by amounts, so that scores are not probabilities
    row_labels: tuple[str, Any] | None = None  # name and index of the first argument that has an index

    positive_first: bool | None = False  # whether the positive label sorts first, and its column of two; None: unknown
    labels: Sequence[Any] = ()  # the labels, sorted, where columns of scores may be named so

    @property
    def plain(self) -> bool:
        """Whether sample weights and scores are used unchanged."""
        return False

    def scores(self, score: Floats) -> Floats:
        """Transform scores to the scale of the outcome."""
        return score

    @abstractmethod
    def parts(self, parts: Floats) -> Floats:
        """Contributions of all rows (last axis) to an error, from those computed with fixed weights."""

    @property
    def estimated(self) -> bool:
        """Whether the weights were estimated from the rows."""
        return not self.plain

    @property
    def in_order(self) -> tuple[Outcome, NDArray[np.intp]] | None:
        """The rows in an order in which ``parts`` is faster, and that order; None if there is no such order."""
        return None

    @property
    def summary(self) -> str:
        """One line that describes the rows."""
        return f"{self.present.sum():,} rows"

    @property
    def about(self) -> str:
        """A short note for figures: the event, the horizon, and the weighting."""
        return ""

    @property
    def methods(self) -> tuple[str, ...]:
        """Sentences on what was done with the rows, and what that assumes; [names] cite the papers."""
        return ()

    @property
    def reason(self) -> str:
        """Why estimates have no interval; empty if they have one."""
        return ""

    @property
    def one_class_hint(self) -> str:
        """What to check if all rows are of one class; may be empty."""
        return ""

    @property
    def units(self) -> Floats:
        """Sample weight of each row, one without weights."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.summary})"

    @property
    def present(self) -> Bools:
        """The rows of positive sample weight."""
        return np.ones(len(self.y), dtype=bool) if self.sample_weight is None else self.sample_weight > 0.0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001  (numpy's protocol)
        """Refuse conversion to an array of labels; its presence makes this array-like for numpy's types."""
        raise ValueError(f"{type(self).__name__} cannot stand for labels here: this function needs one in every row.")


class OutcomeFromColumns(Protocol):
    """Names of the columns of a table, beside the label, from which an outcome is built."""

    @property
    def numbers(self) -> Mapping[str, float]:
        """Numeric columns, each with its smallest allowed value."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Columns of group labels."""

    @property
    def partly(self) -> bool:
        """Whether a missing label means that it was not verified."""

    def made(self, label: NDArray[Any], cells: Mapping[str, NDArray[Any]], weight: Floats | None, pos: Any) -> Outcome:
        """Build the outcome from the label, the other columns, the weights and the positive label."""


@dataclass(frozen=True, eq=False, repr=False)
class Origin:
    """Positions of the rows with a known class among all rows of their outcome.

    Parameters
    ----------
    outcome : Outcome
        The outcome of all rows.
    places : ndarray of shape (k,)
        Indices of the known rows.
    score : ndarray of shape (n,)
        Scores of all rows.
    among : ndarray of shape (n,), optional
        Which of all rows an estimate is about; by default all.
    """

    outcome: Outcome
    places: NDArray[np.intp]
    score: Floats
    among: Bools | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of positive sample weight, with a known class or not."""
        return int(np.count_nonzero(self.outcome.present))

    @property
    def among_present(self) -> NDArray[np.intp]:
        """Positions of the known rows among those of positive sample weight."""
        if self.outcome.sample_weight is None:
            return self.places
        return np.asarray(np.cumsum(self.outcome.present)[self.places] - 1)

    @property
    def as_weights(self) -> bool:
        """Whether errors are those of ordinary weighted rows: no estimated weights, and every class known."""
        complete = self.among is None and len(self.places) == self.n_rows
        return complete and not (self.outcome.estimated or self.outcome.reason)

    @property
    def counted(self) -> Floats:
        """Sample weight of each present row that the estimate is about, zero for the others."""
        weight = self.outcome.units
        return (weight if self.among is None else np.where(self.among, weight, 0.0))[self.outcome.present]

    def arranged(self) -> tuple[Origin, NDArray[np.intp]] | None:
        """The rows in an order in which errors are faster to compute, and the known rows' order; None if already so."""
        found = self.outcome.in_order
        if found is None or self.among is not None:
            return None
        outcome, order = found
        places = np.empty(len(order), dtype=np.intp)
        places[order] = np.arange(len(order))
        known = np.argsort(places[self.places])
        return Origin(outcome, places[self.places][known], self.score[order]), known

    def spread(self, parts: Floats) -> Floats:
        """Contributions of all present rows to an error, from those of the known rows (last axis)."""
        found = self.outcome.parts(self.scattered(parts))
        return found if self.outcome.sample_weight is None else found[..., self.outcome.present]

    def scattered(self, values: Floats) -> Floats:
        """Place values of the known rows at their positions among all rows, zero elsewhere."""
        full = np.zeros((*values.shape[:-1], len(self.outcome.y)))
        full[..., self.places] = values
        return full
