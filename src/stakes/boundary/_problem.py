"""What a boundary is asked for: one goal and constraints, as integers and exact fractions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from stakes.core.exact import as_fraction, refuse_one
from stakes.core.remedies import in_percent
from stakes.core.validation import SQUARED_WELL, check_choice
from stakes.costs import as_costs

if TYPE_CHECKING:
    from stakes.costs import CostsLike

Goal = Literal["recall", "precision", "false_positives", "f_beta", "cost"]
GOALS = ("recall", "precision", "false_positives", "f_beta", "cost")


@dataclass(frozen=True)
class Problem:
    """A goal with its constraints, none where None.

    ``beta2`` is the square of beta; ``cost`` is the cost ratio c of goal "cost" (false positives cost c, misses 1 - c).
    ``min_recall`` and ``max_selected`` (a share) are turned into counts for the data at hand.
    """

    goal: str
    min_precision: Fraction | None = None
    min_recall: Fraction | None = None
    max_selected: Fraction | int | None = None
    beta2: Fraction = Fraction(1)
    cost: Fraction = Fraction(1, 2)

    @property
    def bounds_precision_alone(self) -> bool:
        """Whether this is the most recall under a precision bound and nothing else."""
        others = self.min_recall is not None or self.max_selected is not None
        return self.goal == "recall" and self.min_precision is not None and not others

    def least_positives(self, total_positives: int) -> int:
        """Count of true positives that the recall bound asks for."""
        return 0 if self.min_recall is None else math.ceil(self.min_recall * total_positives)

    def capacity(self, total: int) -> int | None:
        """Count of rows that may be selected."""
        if self.max_selected is None or isinstance(self.max_selected, int):
            return self.max_selected
        return math.floor(self.max_selected * total)

    def describe(self) -> str:
        """Say the goal in words."""
        words = {
            "recall": "most recall",
            "precision": "most precision",
            "false_positives": "fewest false positives",
            "f_beta": f"best F-beta, beta = {math.sqrt(self.beta2):g}",
            "cost": f"least cost at cost ratio {float(self.cost):g}",
        }
        bounds = []
        if self.min_precision is not None:
            bounds.append(f"precision >= {float(self.min_precision):g}")
        if self.min_recall is not None:
            bounds.append(f"recall >= {float(self.min_recall):g}")
        if isinstance(self.max_selected, int):
            bounds.append(f"at most {self.max_selected} rows selected")
        elif self.max_selected is not None:
            bounds.append(f"at most {float(self.max_selected):.4g} of the rows selected")
        return words[self.goal] + (", " + " and ".join(bounds) if bounds else "")


def check_problem(
    goal: str,
    *,
    min_precision: Any = None,
    min_recall: Any = None,
    max_selected: Any = None,
    f_beta: Any = None,
    costs: CostsLike | None = None,
) -> Problem:
    """Validate goal and constraints."""
    check_choice(goal, "goal", GOALS)
    if (f_beta is not None) != (goal == "f_beta"):
        raise ValueError(f'f_beta= and goal="f_beta" go together, got goal={goal!r} and f_beta={f_beta!r}.')
    if (costs is not None) != (goal == "cost"):
        raise ValueError(f'costs= and goal="cost" go together, got goal={goal!r} and costs={costs!r}.')
    precision, recall = _share(min_precision, "min_precision"), _share(min_recall, "min_recall")
    most = _capacity(max_selected)
    if goal == "recall" and precision is None and most is None:
        raise ValueError('goal="recall" needs min_precision= or max_selected=: without, selecting every row is best.')
    if goal in {"precision", "false_positives"} and recall is None:
        raise ValueError(f"goal={goal!r} needs min_recall=: without, selecting next to nothing is best.")
    beta2 = Fraction(1) if f_beta is None else _positive(f_beta) ** 2
    cost = Fraction(1, 2) if costs is None else as_fraction(as_costs(costs).mean(), "costs")
    return Problem(goal, precision, recall, most, beta2, cost)


def _share(value: Any, name: str) -> Fraction | None:
    if value is None:
        return None
    share = as_fraction(value, name)
    if not 0 < share <= 1:
        raise ValueError(f"{name} must lie in (0, 1], got {value}{in_percent(share)}.")
    return share


def _positive(value: Any) -> Fraction:
    number = as_fraction(value, "f_beta")
    if number <= 0:
        raise ValueError(f"f_beta must be > 0, got {value}.")
    if number > SQUARED_WELL[1]:
        raise ValueError(f"f_beta must be at most {SQUARED_WELL[1]:g}, got {value}: so large a beta asks for recall.")
    return number


def _capacity(value: Any) -> Fraction | int | None:
    if value is None:
        return None
    number = Fraction(-1) if isinstance(value, bool) else as_fraction(value, "max_selected")
    if number < 0 or (number > 1 and number.denominator > 1):
        raise ValueError(f"max_selected must be a count of rows >= 0 or a share in (0, 1), got {value}.")
    refuse_one(value, "max_selected", "leave max_selected out")
    return int(number) if number.denominator == 1 else number
