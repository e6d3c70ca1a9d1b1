"""What may stand where labels stand: an outcome that gives each row a class, a weight, and a score in its own terms.

Everything that makes rows unequal is a weight. Weights that were estimated from the rows have an error of their own: an
outcome turns the rows' parts in the error of any estimate, its weights taken as known, into the whole parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


class Outcome(ABC):
    """What happened to every row, and how much it counts.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Whether the row is a positive; False where that is unknown.
    weight : ndarray of shape (n,)
        Of each row, 0 where its class is unknown.
    sample_weight : ndarray of shape (n,) or None
        Weights the rows had before; None for all ones.
    """

    y: Bools
    weight: Floats
    sample_weight: Floats | None = None
    by_amount: bool = False  # whether rows count by what is at stake in them, and scores are no probabilities
    row_labels: tuple[str, Any] | None = None  # the first argument with an index that it was made from, and that index

    @property
    def plain(self) -> bool:
        """Whether every row counts by its sample weight alone, with its score as it is."""
        return False

    def scores(self, score: Floats) -> Floats:
        """Scores in the terms of the outcome."""
        return score

    @abstractmethod
    def parts(self, parts: Floats) -> Floats:
        """Parts of all rows (the last axis) in an error, from those that hold if the weights are known."""

    @property
    def estimated(self) -> bool:
        """Whether the weights were estimated from the rows."""
        return not self.plain

    @property
    def in_order(self) -> tuple[Outcome, NDArray[np.intp]] | None:
        """The same rows in an order in which their parts are found faster, and that order; None where none is."""
        return None

    @property
    def summary(self) -> str:
        """One line on the rows."""
        return f"{self.present.sum():,} rows"

    @property
    def about(self) -> str:
        """A few words that pictures of the rows must say: what happened by when, and what weighs them."""
        return ""

    @property
    def reason(self) -> str:
        """Why estimates have no interval; empty where they have."""
        return ""

    @property
    def one_class_hint(self) -> str:
        """What to look at where all rows are of one class; empty if there is nothing."""
        return ""

    @property
    def present(self) -> Bools:
        """The rows of positive sample weight."""
        return np.ones(len(self.y), dtype=bool) if self.sample_weight is None else self.sample_weight > 0.0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001  (numpy's protocol)
        """Refuse to be read as labels: this also makes it what numpy calls array-like."""
        raise ValueError(f"{type(self).__name__} cannot stand for labels here: this function needs one in every row.")


class OutcomeFromColumns(Protocol):
    """Which columns of a table, beside the label, say what happened to its rows and how much it counts."""

    @property
    def numbers(self) -> Mapping[str, float]:
        """Columns of numbers, each with the least that is possible."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Columns of labels."""

    @property
    def partly(self) -> bool:
        """Whether a missing label says that nobody looked."""

    def made(self, label: NDArray[Any], cells: Mapping[str, NDArray[Any]], weight: Floats | None, pos: Any) -> Outcome:
        """Make the outcome of the rows from the label, the other columns, the weights and the positive label."""


@dataclass(frozen=True)
class Origin:
    """Where the rows with a known class stand among all rows of their outcome.

    Parameters
    ----------
    outcome : Outcome
        What they come from.
    places : ndarray of shape (k,)
        Indices of the known rows.
    score : ndarray of shape (n,)
        Scores of all rows.
    among : ndarray of shape (n,), optional
        Which of all rows an estimate is of; by default all.
    """

    outcome: Outcome
    places: NDArray[np.intp]
    score: Floats
    among: Bools | None = None

    @property
    def n_rows(self) -> int:
        """All rows of positive sample weight, whether known or not."""
        return int(np.count_nonzero(self.outcome.present))

    @property
    def as_weights(self) -> bool:
        """Whether the errors are those of rows with these weights: none was estimated, and every row has its own."""
        outcome, whole = self.outcome, self.among is None and len(self.places) == self.n_rows
        return whole and not (outcome.estimated or outcome.reason)

    @property
    def counted(self) -> Floats:
        """Sample weight of each present row that the estimate is of, zero for the others."""
        outcome = self.outcome
        weight = np.ones(len(self.score)) if outcome.sample_weight is None else outcome.sample_weight
        return (weight if self.among is None else np.where(self.among, weight, 0.0))[outcome.present]

    def arranged(self) -> tuple[Origin, NDArray[np.intp]] | None:
        """The same where errors are found faster, and the order of the known rows there; None where that is here."""
        found = self.outcome.in_order
        if found is None or self.among is not None:
            return None
        outcome, order = found
        places = np.empty(len(order), dtype=np.intp)
        places[order] = np.arange(len(order))
        own = np.argsort(places[self.places])
        return Origin(outcome, places[self.places][own], self.score[order]), own

    def spread(self, parts: Floats) -> Floats:
        """Parts of all present rows in an error, from those of the known rows (the last axis)."""
        found = self.outcome.parts(self.scattered(parts))
        return found if self.outcome.sample_weight is None else found[..., self.outcome.present]

    def scattered(self, values: Floats) -> Floats:
        """Values of the known rows at their places among all rows, zero elsewhere."""
        full = np.zeros((*values.shape[:-1], len(self.outcome.y)))
        full[..., self.places] = values
        return full
