"""Pieces of a curve whose rows depend on each other: in clusters, or by weights estimated from all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks
from stakes.inference._band_pieces import SIDES
from stakes.inference._cluster_sums import row_rates
from stakes.inference._dependence import Design
from stakes.inference._power_sums import members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.core.validation import BinarySample
    from stakes.inference._band_pieces import Pieces
    from stakes.inference._paired_rows import PairedRows

    Bins = NDArray[np.intp]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]

_AT_ONCE = 1 << 19  # parts of rows in shares: more of them leave the cache


def dependent_pieces(
    pieces: Pieces,
    kind: str,
    rows: BinarySample | PairedRows,
    bins: Sequence[Bins],
    *,
    fixed_prevalence: bool,
    codes: Integers | None = None,
) -> Pieces:
    """The pieces of one model, or of the difference of two, with errors that rest on what is independent.

    ``bins`` say how many of the thresholds each score reaches, for each model; ``codes`` are those of the clusters.
    """
    design = _design(rows, codes)
    if not design.dependent:
        return pieces
    if design.reason:
        raise ValueError(f"there is no band: {design.reason}.")
    arranged = None if design.origin is None or codes is not None else design.origin.arranged()
    if arranged is not None:  # sums over rows are the same in any order
        origin, order = arranged
        design = Design(design.y[order], design.weight[order], origin=origin)
        bins = [reached[order] for reached in bins]
    y, weight = design.y, design.weight
    classes = ~y, y
    whole = [weight[mine].sum() if fixed_prevalence else weight.sum() for mine in classes]
    domain = [mine if fixed_prevalence else np.ones(len(y), dtype=bool) for mine in classes]
    share, (count, size) = pieces.share, pieces.share.shape
    errors, cross = [], np.empty((count, count, size))
    for part in blocks(size, max(_AT_ONCE // (count * len(y)), 1)):
        held = _held(kind, bins, np.arange(part.start, part.stop))
        parts = []
        for k in range(count):
            own, mine = k % 2, held[k] & classes[k % 2]
            centred = mine - share[k, part, None] * domain[own]
            parts.append(design.unit_parts(design.whole(centred * (weight / whole[own]))))
        units = np.stack(parts)
        cross[:, :, part] = np.einsum("ibn,jbn->ijb", units, units)
        errors.append(np.einsum("kb,kbn->bn", pieces.coefficient[:, part], units))
    found = _with_errors(pieces, np.concatenate(errors), cross)
    return found if codes is None else _clustered(found, design)


def _design(rows: BinarySample | PairedRows, codes: Integers | None) -> Design:
    weight = np.broadcast_to(1.0, len(rows.y)) if rows.weight is None else rows.weight  # most have no use for it
    return Design(rows.y, weight, codes=codes, origin=rows.origin)


def _with_errors(pieces: Pieces, errors: Floats, cross: Floats) -> Pieces:
    variance = np.einsum("kkb->kb", cross)
    spread, size = pieces.share * (1.0 - pieces.share), pieces.size.copy()
    np.divide(spread, variance, out=size, where=(spread > 0.0) & (variance > 0.0))
    scale = np.sqrt(variance[:, None] * variance[None])
    correlation = np.divide(cross, scale, out=np.zeros_like(cross), where=scale > 0.0)
    correlation[np.diag_indices(len(correlation))] = 1.0
    return replace(pieces, size=size, correlation=np.clip(correlation, -1.0, 1.0), covariance=errors @ errors.T)


def _clustered(pieces: Pieces, design: Design) -> Pieces:
    """A row not yet seen brings others of its cluster; the errors have as many degrees of freedom as clusters allow."""
    clusters, y = design.clusters
    if clusters.reason():
        raise ValueError(f"there is no band: {clusters.reason()}.")
    more = np.resize(clusters.rows_at_once(row_rates(members(y))), len(pieces.row))
    size = np.where(pieces.share * (1.0 - pieces.share) > 0.0, pieces.size, pieces.size / more[:, None])
    return replace(pieces, size=size, row=pieces.row * more, degrees=clusters.degrees())


def _held(kind: str, bins: Sequence[Bins], places: Bins) -> list[Bools]:
    """Which rows each piece counts at some thresholds, were they of its class: of shape (thresholds, rows)."""
    acted = [reached > places[:, None] for reached in bins]
    if len(acted) == 1:
        return [acted[0] if above else ~acted[0] for above in SIDES[kind]]
    only = acted[0] & ~acted[1], ~acted[0] & acted[1]
    return [only[0], only[0], only[1], only[1]]
