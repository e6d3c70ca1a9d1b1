"""Drawings that need no script: lines of models and words in a picture of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stakes.report._models import Model

    Floats = NDArray[np.float64]


def line(x: Floats, y: Floats, model: Model) -> str:
    """The line of a model, in units of the picture."""
    return path(x, y, f"--model-{model.colour}", model.dash)


def path(x: Floats, y: Floats, colour: str, dash: str) -> str:
    """A line in a colour of the style sheet."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    pattern = "" if dash == "solid" else f' stroke-dasharray="{dash.replace("px", "")}"'
    return f'<polyline points="{points}" stroke="var({colour})" stroke-width="2"{pattern} fill="none"/>'


def word(x: float, y: float, text: str, anchor: str) -> str:
    """A word in a picture."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" fill="var(--muted)">{text}</text>'
