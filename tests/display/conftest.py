"""Figures are drawn without a screen and closed after each test."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def plt():
    """Return pyplot on the Agg backend; skip where matplotlib is not installed."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


@pytest.fixture
def rows():
    """Return labels and the probabilities of three models, with ties."""
    rng = np.random.default_rng(7)
    truth = rng.beta(1.0, 4.0, size=300)
    y = (rng.random(300) < truth).astype(int)
    return y, {
        "sharp": np.round(truth, 3),
        "coarse": np.round(truth, 1),
        "shifted": np.round(np.clip(truth + 0.1, 0.0, 1.0), 2),
    }


@pytest.fixture
def ten(rows):
    """Return labels and the probabilities of ten models."""
    y, models = rows
    return y, {f"model {k}": np.clip(models["sharp"] + 0.01 * k, 0.0, 1.0) for k in range(10)}
