"""The picture of a boundary: cells, thresholds, the single threshold, regions of other kinds."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest

from stakes.boundary import Boundary, fit_boundary
from stakes.display import BoundaryDisplay


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    score, uncertainty = rng.random(4000), rng.random(4000)
    return rng.random(4000) < score ** (0.5 + uncertainty), score, uncertainty


def test_cells_are_the_observed_rates_of_positives(rows):
    y, score, uncertainty = rows
    display = fit_boundary(*rows, min_precision=0.9, levels=[0.5]).plot()
    rates = display.cells_.get_array().reshape(2, 20)
    inside = (uncertainty <= 0.5) & (score >= 0.45) & (score < 0.5)
    assert rates[0, 9] == pytest.approx(y[inside].mean())
    inside = (uncertainty > 0.5) & (score >= 0.95)
    assert rates[1, 19] == pytest.approx(y[inside].mean())


def test_line_steps_through_the_thresholds(rows):
    boundary = fit_boundary(*rows, min_precision=0.9, levels=3)
    display = BoundaryDisplay(boundary).plot()
    assert display.boundary_.get_xdata() == pytest.approx(np.repeat(boundary.thresholds, 2))
    assert display.boundary_.get_ydata().tolist() == [0, 1, 1, 2, 2, 3]
    assert display.single_.get_xdata()[0] == boundary.threshold
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels[0] == f"up to {boundary.cuts[0]:.3g}"


def test_level_where_nothing_is_selected_lies_on_the_edge():
    y, score, uncertainty = [1, 0, 0, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1]
    display = fit_boundary(y, score, uncertainty, min_precision=1, levels=2).plot()
    assert display.boundary_.get_xdata().tolist() == [0.9, 0.9, 1.0, 1.0]


@pytest.mark.parametrize(
    "options", [{"confidence_level": 0.9, "random_state": 0}, {"solver": "heuristic_recalibration"}]
)
def test_outline_of_a_region_separates_what_it_selects(rows, options):
    boundary = fit_boundary(*rows, min_precision=0.7, levels=2, **options)
    display = boundary.plot()
    x, height = display.boundary_.get_data()
    low, high = rows[2].min(), rows[2].max()
    if options.get("solver"):
        uncertainty = np.interp(height, [0, 1], [low, high])  # one level
    else:
        uncertainty = np.interp(height, [0, 1, 2], [low, boundary.cuts[0], high])
    seen = np.isfinite(x)
    assert seen.any()
    assert not np.any(boundary.predict(x[seen] - 0.01, uncertainty[seen]))
    assert np.all(boundary.predict(x[seen] + 0.01, uncertainty[seen]))


def test_boundary_read_from_json_is_drawn_the_same(rows):
    boundary = fit_boundary(*rows, min_precision=0.9)
    one, two = (BoundaryDisplay(b).plot() for b in (boundary, Boundary.from_json(boundary.to_json())))
    assert np.array_equal(one.cells_.get_array(), two.cells_.get_array())
    assert np.array_equal(one.boundary_.get_xdata(), two.boundary_.get_xdata())


def test_own_axes_and_other_scores_are_used(plt, rows):
    y, score, uncertainty = rows
    _, ax = plt.subplots()
    display = BoundaryDisplay.from_predictions(y, score * 8 - 4, uncertainty, ax=ax, capacity=100, legend=None)
    assert display.ax_ is ax
    assert ax.get_xlim() == pytest.approx((-4, 4), abs=0.01)
    assert ax.get_legend() is None


def test_other_objects_are_refused():
    with pytest.raises(ValueError, match="boundary must be a Boundary"):
        BoundaryDisplay("boundary")


def test_outline_does_not_jump_where_a_second_region_begins_at_the_lowest_scores():
    # The order learned from these loans also selects a score of exactly 0, above some uncertainty: a second outline.
    path = resources.files("stakes") / "data" / "german_credit.csv"
    bad, logistic, forest = np.loadtxt(path.read_text().splitlines(), delimiter=",", skiprows=1, usecols=(0, 1, 2)).T[
        :, :700
    ]
    risk = 3 * forest / (3 * forest + 7 * (1 - forest))
    boundary = fit_boundary(bad, risk, abs(risk - logistic), min_precision=0.5, solver="ranker")
    main, *others = boundary.plot()._outlines()
    assert len(others) == 1
    assert np.nanmax(np.abs(np.diff(main[0]))) < 0.02
    assert np.nanmin(main[0]) > 0.25
