"""Where an uncertainty comes from: ensembles, forests, dropout, posterior networks; and what it says about the score.

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
    """Load the classifier, and with it scikit-learn, when it is first asked for."""
    if name == "PosteriorNetwork":
        from stakes.uncertainty._posterior_network import PosteriorNetwork

        return PosteriorNetwork
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what this module offers, and nothing else."""
    return __all__
