"""Pieces of a curve whose rows have estimated weights: every error rests on all rows of their outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks
from stakes.inference._band_pieces import SIDES
from stakes.inference._power_sums import freed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.core.outcome import Origin
    from stakes.core.validation import BinarySample
    from stakes.inference._band_pieces import Pieces
    from stakes.inference._loss_moments import PairedRows

    Bins = NDArray[np.intp]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_AT_ONCE = 1 << 22  # parts of rows in shares


def estimated_pieces(
    pieces: Pieces, kind: str, rows: BinarySample | PairedRows, bins: Sequence[Bins], *, fixed_prevalence: bool
) -> Pieces:
    """The pieces of one model, or of the difference of two, with errors that allow for the weights' estimation.

    ``bins`` say how many of the thresholds each score reaches, for each model.
    """
    origin, y, weight = rows.origin, rows.y, rows.weight
    if origin is None or weight is None:
        return pieces
    if origin.outcome.reason:
        raise ValueError(f"there is no band: {origin.outcome.reason}.")
    classes = ~y, y
    whole = [weight[mine].sum() if fixed_prevalence else weight.sum() for mine in classes]
    domain = [mine if fixed_prevalence else np.ones(len(y), dtype=bool) for mine in classes]
    share, (count, size) = pieces.share, pieces.share.shape
    errors, cross = np.empty((size, origin.n_rows)), np.empty((count, count, size))
    for part in blocks(size, max(_AT_ONCE // (count * len(origin.score)), 1)):
        held = _held(kind, bins, np.arange(part.start, part.stop))
        parts = np.empty((count, len(held[0]), origin.n_rows))
        for k in range(count):
            own, mine = k % 2, held[k] & classes[k % 2]
            centred = mine - share[k, part, None] * domain[own]
            parts[k] = origin.spread(centred * (weight / whole[own]))
        cross[:, :, part] = np.einsum("ibn,jbn->ijb", parts, parts)
        errors[part] = np.einsum("kb,kbn->bn", pieces.coefficient[:, part], parts)
    return _with_errors(pieces, origin, errors, cross)


def _with_errors(pieces: Pieces, origin: Origin, errors: Floats, cross: Floats) -> Pieces:
    variance = np.einsum("kkb->kb", cross)
    spread, size = pieces.share * (1.0 - pieces.share), pieces.size.copy()
    np.divide(spread, variance, out=size, where=(spread > 0.0) & (variance > 0.0))
    scale = np.sqrt(variance[:, None] * variance[None])
    correlation = np.divide(cross, scale, out=np.zeros_like(cross), where=scale > 0.0)
    correlation[np.diag_indices(len(correlation))] = 1.0
    covariance = float(freed(origin.n_rows)) * (errors @ errors.T)
    return replace(pieces, size=size, correlation=np.clip(correlation, -1.0, 1.0), covariance=covariance)


def _held(kind: str, bins: Sequence[Bins], places: Bins) -> list[Bools]:
    """Which rows each piece counts at some thresholds, were they of its class: of shape (thresholds, rows)."""
    acted = [reached > places[:, None] for reached in bins]
    if len(acted) == 1:
        return [acted[0] if above else ~acted[0] for above in SIDES[kind]]
    only = acted[0] & ~acted[1], ~acted[0] & acted[1]
    return [only[0], only[0], only[1], only[1]]
