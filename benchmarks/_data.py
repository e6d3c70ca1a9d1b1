"""Made-up predictions: calibrated scores from a Beta distribution, the same for a seed wherever they are made."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 20250408
TIED_DECIMALS = 4
DESCRIPTION = (
    f"y int64 and s float64, s ~ Beta(1, 9), P(y = 1) = s, seed {SEED}; "
    f"tied: s rounded to {TIED_DECIMALS} decimals; weighted: weights uniform on [0.5, 2]"
)


@dataclass(frozen=True)
class Inputs:
    """The arrays that a user would hold."""

    y: np.ndarray
    score: np.ndarray
    weight: np.ndarray | None

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in (self.y, self.score, self.weight) if column is not None)


def make_columns(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(SEED)
    score = rng.beta(1.0, 9.0, rows)
    y = (rng.random(rows) < score).astype(np.int64)
    return {"y": y, "score": score, "tied": score.round(TIED_DECIMALS), "weight": rng.uniform(0.5, 2.0, rows)}


def save_columns(rows: int, folder: Path) -> None:
    for name, column in make_columns(rows).items():
        np.save(folder / f"{name}.npy", column)


def make_inputs(rows: int, *, tied: bool, weighted: bool) -> Inputs:
    columns = make_columns(rows)
    return Inputs(columns["y"], columns["tied" if tied else "score"], columns["weight"] if weighted else None)


def load_inputs(folder: Path, *, tied: bool, weighted: bool) -> Inputs:
    """Read the arrays straight into memory, so that making them leaves no trace in the process that is measured."""

    def column(name):
        return np.load(folder / f"{name}.npy")

    return Inputs(column("y"), column("tied" if tied else "score"), column("weight") if weighted else None)
