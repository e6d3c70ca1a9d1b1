"""Uncertainty of scores from ensembles, forests, dropout and posterior networks, and the bias of uncertain scores.

An uncertainty is worth having where the score alone misleads. ``estimation_bias`` says by how much scores of little
evidence exceed the truth, and ``advise_uncertainty`` whether thresholds by uncertainty (``stakes.boundary``) can pay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.uncertainty._ensembles import EnsembleUncertainty, from_bagging, from_ensemble, mc_dropout
from stakes.uncertainty._positivity import (
    PositivityPosterior,
    UncertaintyAdvice,
    advise_uncertainty,
    beta_entropy,
    estimation_bias,
    positivity_posterior,
)

if TYPE_CHECKING:
    from stakes.uncertainty._posterior_network import PosteriorNetwork

__all__ = [
    "EnsembleUncertainty",
    "PositivityPosterior",
    "PosteriorNetwork",
    "UncertaintyAdvice",
    "advise_uncertainty",
    "beta_entropy",
    "estimation_bias",
    "from_bagging",
    "from_ensemble",
    "mc_dropout",
    "positivity_posterior",
]


def __getattr__(name: str) -> Any:
    """Import the classifier, and with it scikit-learn, on first access."""
    if name == "PosteriorNetwork":
        from stakes.uncertainty._posterior_network import PosteriorNetwork

        return PosteriorNetwork
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names only."""
    return __all__
