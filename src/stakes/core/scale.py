"""Three scales of one integral over cost ratios: mean regret per decision, the integral itself, the customary loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from stakes.core.validation import check_choice

if TYPE_CHECKING:
    from stakes.costs import CostDistribution

Scale = Literal["regret", "integral", "loss"]
SCALES = ("regret", "integral", "loss")


def check_scale(scale: Scale | None, costs: CostDistribution) -> tuple[Scale, float]:
    """Resolve the scale and the factor that takes the integral to it; None picks the scale that is defined."""
    if scale is None:
        scale = "regret" if math.isfinite(costs.mass) else "integral" if costs.loss_factor is None else "loss"
    check_choice(scale, "scale", SCALES)
    if scale == "integral":
        return scale, 1.0
    if scale == "regret":
        return scale, 1.0 / costs.mass if 0.0 < costs.mass < math.inf else math.nan
    if costs.loss_factor is None:
        raise ValueError(f'scale="loss" is not defined for {costs!r}, whose parts have unlike loss factors.')
    return scale, costs.loss_factor
