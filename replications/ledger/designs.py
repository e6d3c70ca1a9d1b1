"""The designs of the ledger: which population, how many rows, which costs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from replications.ledger.populations import fitted, published, simulated, twins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from replications.ledger.populations import Population

BCSC = ("logistic_minimal", "logistic_+_density", "random_forest", "xgboost")
BCSC_ALL = (*BCSC, "xgboost_2pct", "xgboost_5pct", "xgboost_8pct", "xgboost_10pct", "xgboost_15pct")
FLARES = ("ASSA", "CLIM120", "DAFFS", "GDAFFS", "MCEVOL", "MCSTAT", "NICT", "NOAA", "SIDC")


@dataclass(frozen=True)
class Design:
    """A population, the rows drawn from it in each sample, and the costs: a range, or one threshold."""

    name: str
    population: Callable[[], Population]
    rows: int
    costs: tuple[float, float] | float


def designs() -> Iterator[Design]:
    """Yield all designs, those with few models first."""
    yield from _real()
    yield from _simulated()


def _real() -> Iterator[Design]:
    for models, label in ((BCSC, "bcsc"), (BCSC_ALL, "bcsc, all")):
        for rows, costs in product((1000, 4000), ((0.01, 0.05), (0.02, 0.1), 0.03)):
            yield Design(
                label, lambda m=models: published("bcsc_predictions/bcsc_predictions", "cancer", m), rows, costs
            )
    for rows, costs in product((300, 700), ((0.1, 0.5), 0.3)):
        yield Design("flares", lambda: published("solar_flares_c1/solar_flares_c1", "y", FLARES), rows, costs)
    ranges = {
        "bank_marketing": ((0.01, 0.05), (0.05, 0.4), 0.1),
        "credit_default": ((0.02, 0.1), (0.1, 0.5), 0.25),
        "adult": ((0.1, 0.5), (0.0, 1.0), 0.3),
        "htru2_pulsar": ((0.01, 0.05), (0.05, 0.4), 0.1),
        "telco_churn": ((0.05, 0.3), 0.2),
        "spambase": ((0.3, 0.9), 0.5),
    }
    for name, several in ranges.items():
        for costs, rows in product(several, (300, 2000)):
            yield Design(name, lambda n=name: fitted(n), rows, costs)
    for name, noise, rows in product(("bank_marketing", "credit_default"), (0.02, 0.1, 0.35), (500, 3000)):
        yield Design(f"{name}, twins {noise}", lambda n=name, s=noise: twins(fitted(n), s), rows, (0.05, 0.3))


def _simulated() -> Iterator[Design]:
    for kind, count, common, rows in product(("equal", "one better"), (2, 5, 10), (0.3, 0.9), (500, 2000)):
        yield _design(0.2, count, common, kind, rows, (0.1, 0.3))
    for kind, prevalence, rows in product(("equal", "spread", "useless"), (0.01, 0.05, 0.5), (500, 5000)):
        low, high = (0.5 * prevalence, min(2.0 * prevalence, 0.9))
        yield _design(prevalence, 4, 0.6, kind, rows, (low, high))
    for kind, prevalence in product(("equal", "useless"), (0.02, 0.2)):
        yield _design(prevalence, 3, 0.98, kind, 1000, prevalence)
    for kind, rows, count in product(("equal", "spread"), (500, 3000), (3, 8)):
        yield _design(0.2, count, 0.6, kind, rows, (0.1, 0.3), clustered=True)
    for kind, rows, count in product(("equal", "spread"), (500, 3000), (3, 8)):
        yield _design(0.2, count, 0.6, kind, rows, (0.1, 0.3), weighted=True)
    for kind, rows in product(("equal", "spread"), (500, 2000)):
        yield _design(0.1, 50, 0.7, kind, rows, (0.05, 0.3))


def _design(prevalence, count, common, kind, rows, costs, *, clustered=False, weighted=False) -> Design:  # noqa: PLR0917
    marks = "".join([", clusters" * clustered, ", weights" * weighted])
    label = f"{kind}, {count} models, {prevalence:g} positive, common {common}{marks}"
    settings = (prevalence, count, common, kind, clustered, weighted)
    return Design(label, lambda: simulated(*settings), rows, costs)
