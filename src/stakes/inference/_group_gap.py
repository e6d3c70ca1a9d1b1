"""The estimate of a group less that of all other rows, which may lie in the same clusters or stretches of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.inference._cluster_sums import NEEDED_CLUSTERS, Clusters, left_out_variance
from stakes.inference._dependence import ordered_variance, variance_of_parts
from stakes.inference._influence_moments import influence_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._influence import Cells, Influence
    from stakes.inference._moments import Moments

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Part = tuple[Cells, Influence]


def gap_moments(own: Part, rest: Part, chosen: Bools, codes: Integers | None, lags: int | str | None) -> Moments:
    """Moments of the difference between the chosen rows and the rest."""
    if codes is not None:
        return _clustered(own, rest, chosen, codes)
    gap = influence_moments(*own).minus(influence_moments(*rest))
    if lags is None and own[0].origin is None:
        return gap
    terms = _terms(own, rest, chosen)
    if lags is None:
        variance, degrees = variance_of_parts(terms)
        return replace(gap, variance=float(variance), degrees=float(degrees))
    variance, degrees, reason = ordered_variance(terms, lags)
    return replace(gap, variance=float(variance), degrees=float(degrees), reason=reason)


def _terms(own: Part, rest: Part, chosen: Bools) -> Floats:
    """Parts of the rows in the error of the difference; both may rest on the same estimated weights."""
    if own[0].origin is not None:
        mine, theirs = (cells.design().parts(influence.slope) for cells, influence in (own, rest))
        return np.asarray(mine - theirs)
    terms = np.empty(len(chosen))
    for (cells, influence), part, sign in ((own, chosen, 1.0), (rest, ~chosen, -1.0)):
        terms[part] = sign * cells.design().share * influence.slope
    return terms


def _clustered(own: Part, rest: Part, chosen: Bools, codes: Integers) -> Moments:
    """Leaving out a cluster moves either part."""
    if own[0].origin is not None:
        return _clustered_outcome(own, rest, chosen, codes)
    moved, caps, counts, found = np.zeros(int(codes.max()) + 1), [], [], []
    for (cells, influence), part, sign in ((own, chosen, 1.0), (rest, ~chosen, -1.0)):
        share = cells.design().share
        clusters = Clusters(codes[part], share)
        moved[clusters.codes] += sign * clusters.left_out(share * influence.slope)
        counts.append(len(clusters))
        caps.append(clusters.degrees())
        found.append(influence_moments(cells, influence, codes[part]))
    variance, degrees = left_out_variance(moved[np.bincount(codes) > 0], min(caps))
    gap = replace(found[0].minus(found[1]), degrees=float(degrees))
    if min(counts) < NEEDED_CLUSTERS:
        return replace(gap, reason=f"only {min(counts)} clusters: a difference needs {NEEDED_CLUSTERS}")
    return replace(gap, variance=float(variance))


def _clustered_outcome(own: Part, rest: Part, chosen: Bools, codes: Integers) -> Moments:
    """The same where an outcome weighs the rows: the clusters are those of all its rows."""
    sums: Floats = np.bincount(codes, weights=_terms(own, rest, chosen)).astype(np.float64)
    found = [influence_moments(cells, influence, codes) for cells, influence in (own, rest)]
    variance, degrees = left_out_variance(sums, len(sums) - 1.0)
    return replace(found[0].minus(found[1]), variance=float(variance), degrees=float(degrees))
