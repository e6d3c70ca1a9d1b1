"""The picture of what tells apart the rows that a boundary decides otherwise than one threshold."""

import numpy as np
import pytest

from stakes.boundary import fit_boundary
from stakes.display import BoundaryExplanationDisplay


@pytest.fixture(scope="module")
def explanation():
    rng = np.random.default_rng(3)
    score, doubt = rng.random(3000), rng.random(3000)
    y = rng.random(3000) < score ** (0.3 + 2.0 * doubt)
    features = {"doubt": doubt} | {f"noise {k}": rng.normal(size=3000) for k in range(20)}
    return fit_boundary(y, score, doubt, min_precision=0.9, levels=3).explain(features)


def test_points_are_the_differences_from_rows_that_stay(explanation):
    display = explanation.plot()
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    for line, group in zip(display.lines_, ("added", "dropped"), strict=True):
        at = dict(zip(names, line.get_xdata(), strict=True))
        wanted = dict(zip(explanation.features, explanation.difference(group, "unchanged"), strict=True))
        assert at == pytest.approx({name: wanted[name] for name in names})
        assert line.get_label() == f"{group}: {getattr(explanation, group).sum():,} of 3,000 rows"


def test_the_fifteen_largest_differences_are_shown_the_largest_on_top(explanation):
    display = BoundaryExplanationDisplay(explanation).plot()
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    pairs = [np.abs(explanation.difference(group, "unchanged")) for group in ("added", "dropped")]
    largest = dict(zip(explanation.features, np.max(pairs, axis=0), strict=True))
    assert names == sorted(largest, key=largest.get)[-15:]
    assert names[-1] == "doubt"
