"""The answer of expected_utility: which rows to act on, what that is worth, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.shown.tabular import Tabular
from stakes.utility._curve import UtilityCurve
from stakes.utility._decide import clean_probabilities, decide
from stakes.utility._sensitivity import Asked, sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from stakes.utility._decide import Correction
    from stakes.utility._measure import Measure
    from stakes.utility._ranking import RankingPrinciple
    from stakes.utility._sensitivity import Sensitivity

    Floats = NDArray[np.float64]

_SHOW_SENSITIVITY_UP_TO = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedUtility(Tabular):
    """Expected value of a measure for every number k of rows to act on, and the best one.

    Parameters
    ----------
    measure : Measure
        What is maximised (minimised, if it is a loss).
    curve : ndarray of shape (n + 1,)
        Expected value of acting on the k most probable rows, k = 0..n.
    best_k : int
        How many rows to act on; the smallest of ``ties``.
    threshold : float
        Probability of the last row that is acted on; infinite if there is none.
    utility : float
        ``curve[best_k]``.
    error_bound : float
        Bound on the absolute error of every value of the curve; an estimate where ``proved`` is False.
    proved : bool
        Whether the bound is proved.
    certified : bool
        Whether ``best_k`` is proved to be the only best choice, among all decisions.
    certificate : str
        Why, or why not.
    ties : ndarray of int
        Every k that cannot be told from the best one, ``best_k`` included.
    runner_up : int or None
        Best k outside ``ties``.
    gap : float
        By how much the runner-up is worse.
    method : str
        How the curve was computed.
    ranking : RankingPrinciple
        Whether the best k rows are the most probable ones.
    zero_division : float
        Value of the measure in place of 0/0.

    Examples
    --------
    >>> from stakes.utility import F1, expected_utility
    >>> result = expected_utility([0.9, 0.2, 0.6, 0.1], F1())
    >>> result
    ExpectedUtility(F1() on 4 rows: act on 2, from probability 0.6; 0.76788 +- 1.8e-13, certified)
    >>> result.predict().tolist()
    [1, 0, 1, 0]
    >>> result.curve.round(3).tolist()
    [0.0, 0.659, 0.768, 0.681, 0.596]
    """

    measure: Measure
    curve: Floats
    best_k: int
    threshold: float
    utility: float
    error_bound: float
    proved: bool
    certified: bool
    certificate: str
    ties: NDArray[np.intp]
    runner_up: int | None
    gap: float
    method: str
    ranking: RankingPrinciple
    zero_division: float
    _prob: Floats
    _correction: Correction | None = None
    _tied: int = 0
    _weighted: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows of the batch."""
        return len(self.curve) - 1

    def predict(self, y_prob: ArrayLike | None = None) -> NDArray[np.int64]:
        """Decide: 1 for the rows to act on, 0 for the others.

        Parameters
        ----------
        y_prob : array_like of shape (m,) or (m, 2), optional
            Probabilities; by default those of the batch, in their order. The same batch in another order gets exactly
            ``best_k`` decisions to act; other rows get the threshold that was best for the batch.

        Returns
        -------
        ndarray of int, shape (m,)
            Among rows that tie at the threshold, the first ones are acted on, as many as in the batch.

        Raises
        ------
        ValueError
            For invalid probabilities.

        Examples
        --------
        >>> from stakes.utility import GMean, expected_utility
        >>> result = expected_utility([0.4, 0.9, 0.4, 0.4, 0.4], GMean())
        >>> result.predict().tolist(), result.predict([0.3, 0.8, 0.4, 0.4]).tolist()
        ([1, 1, 0, 0, 0], [0, 1, 1, 0])
        """
        prob = self._prob if y_prob is None else clean_probabilities(y_prob, self._correction)
        return decide(prob, self.threshold, self._tied, descending=self.ranking.descending)

    def sensitivity(
        self, *, shifts: Sequence[float] = (-1.0, -0.5, 0.0, 0.5, 1.0), slopes: Sequence[float] = (0.5, 1.0, 2.0)
    ) -> Sensitivity:
        """How the best k and the utility change if the probabilities are wrong.

        Parameters
        ----------
        shifts : sequence of float, default (-1, -0.5, 0, 0.5, 1)
            What is added to the log-odds: log 2 doubles the odds.
        slopes : sequence of float, default (0.5, 1, 2)
            What the log-odds are multiplied by first: 0.5 makes overconfident probabilities cautious.

        Returns
        -------
        Sensitivity
            For each pair: the best k if those were the true probabilities, and what acting on ``best_k`` rows loses.

        Raises
        ------
        ValueError
            With sample weights, or where a slope is not positive.

        Examples
        --------
        >>> from stakes.utility import F1, expected_utility
        >>> result = expected_utility([0.9, 0.2, 0.6, 0.1], F1())
        >>> result.sensitivity(shifts=(0, 1.5), slopes=(1,)).best_k.tolist()
        [2, 3]
        """
        if self._weighted:
            raise ValueError("sensitivity needs a result without sample_weight: its best k are not certain anyway.")
        asked = Asked(self.measure, self.ranking, self.zero_division)
        return sensitivity(self._prob, asked, self.best_k, shifts, slopes)

    def as_curve(self) -> UtilityCurve:
        """Return the expected utility as an exact curve over k, to look up, tabulate or plot.

        Returns
        -------
        UtilityCurve
            Straight between whole numbers of rows.

        Raises
        ------
        ValueError
            For an empty batch.

        Examples
        --------
        >>> from stakes.utility import F1, expected_utility
        >>> float(expected_utility([0.9, 0.2], F1()).as_curve().at(1).round(3))
        0.84
        """
        if self.n_rows == 0:
            raise ValueError("a curve needs at least one row, got none.")
        k = np.arange(self.n_rows + 1.0)
        return UtilityCurve(
            "expected utility",
            k,
            self.curve[:-1],
            np.diff(self.curve),
            float(self.curve[0]),
            name=repr(self.measure),
            x_label="rows acted on",
            origin=k[:-1],
            width=np.ones(self.n_rows),
            measure=repr(self.measure),
            best=self.best_k,
            best_value=self.utility,
            ties=tuple(self.ties.tolist()),
            runner_up=self.runner_up,
            gap=self.gap,
            threshold=self.threshold,
            descending=self.ranking.descending,
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the expected utility against the number of rows acted on, with the best number, ties and runner-up.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to the display.

        Returns
        -------
        Display
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ValueError
            For an empty batch.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.utility import F1, expected_utility
        >>> expected_utility([0.9, 0.2, 0.6, 0.1], F1()).plot().ax_.get_xlabel()
        'Rows acted on'
        """
        return self.as_curve().plot(ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "measure": repr(self.measure),
                "rows": self.n_rows,
                "best_k": self.best_k,
                "threshold": self.threshold,
                "utility": self.utility,
                "error_bound": self.error_bound,
                "certified": self.certified,
                "ties": len(self.ties),
                "runner_up": self.runner_up,
                "gap": self.gap,
                "method": self.method,
            }
        ]

    def _repr_html_(self) -> str:
        table = super()._repr_html_()
        if self._weighted:
            return table
        if self.n_rows > _SHOW_SENSITIVITY_UP_TO:
            return (
                f"{table}<p>More than {_SHOW_SENSITIVITY_UP_TO:,} rows: ask sensitivity() for wrong probabilities.</p>"
            )
        return f"{table}<p>If the probabilities are wrong:</p>{self.sensitivity()._repr_html_()}"

    def __repr__(self) -> str:
        side = "from" if self.ranking.descending else "up to"
        what = f"act on {self.best_k}" + (f", {side} probability {self.threshold:.6g}" if self.best_k else "")
        sure = "certified" if self.certified else "not certified"
        about = "+-" if self.proved else "+- about"
        return (
            f"ExpectedUtility({self.measure!r} on {self.n_rows} rows: {what}; "
            f"{self.utility:.6g} {about} {self.error_bound:.1e}, {sure})"
        )
