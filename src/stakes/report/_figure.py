"""A figure of the page: its legend, its buttons, the place of the drawing, its words."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from stakes.report._models import REFERENCE_DASHES, swatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stakes.report._models import Model

# so many bands can be told apart
_FEW = 3
_BUTTONS = {"near": "Plausible range", "whole": "Whole range"}
_SHAPES = {"isotonic": "Isotonic", "smooth": "Smooth"}


@dataclass(frozen=True)
class Figure:
    """What is said about a figure.

    Parameters
    ----------
    key : str
        Identifier in the page.
    axis : str
        What the vertical axis shows, as text.
    label : str
        The figure in words, for those who do not see it, as text.
    caption : str
        HTML.
    references : tuple of str
        References drawn, for the legend.
    near : bool
        Whether there is a closer look at the plausible thresholds.
    band : str
        What the light band is, for the legend, as text, where the reader can choose whose is drawn.
    smooth : bool
        Whether the curve may be drawn smooth too.
    below : str
        Identifier of a second drawing under the first, if there is one.
    """

    key: str
    axis: str
    label: str
    caption: str
    references: tuple[str, ...] = ()
    near: bool = False
    band: str = ""
    smooth: bool = False
    below: str = ""

    def html(self, models: Sequence[Model], legend: str = "") -> str:
        """A figure: legend (that of the models, if no other is given), buttons, the drawing itself, caption."""
        below = f'<div class="plot low" id="plot-{self.below}" aria-hidden="true"></div>' if self.below else ""
        label = escape(self.label)
        return (
            f'<figure id="figure-{self.key}">{legend or _legend(self, models)}'
            f'<div class="above"><p class="axis">{escape(self.axis)}</p>{_tools(self, models)}</div>'
            f'<div class="plot" id="plot-{self.key}" role="img" aria-label="{label}" data-label="{label}"></div>{below}'
            "<noscript><p>The figure needs JavaScript; the tables do not.</p></noscript>"
            f"<figcaption>{self.caption}</figcaption></figure>"
        )


def _legend(figure: Figure, models: Sequence[Model]) -> str:
    items = [
        f'<label><input type="checkbox" checked data-show="{model.rank - 1}"> '
        f'<span class="rank">{model.rank}</span> {model.sample}</label>'
        for model in models
    ]
    items += [
        f'<span class="reference">{swatch("--reference", REFERENCE_DASHES[name])} {escape(name)}</span>'
        for name in figure.references
    ]
    if figure.band:
        items.append(f'<span class="reference"><span class="sample"></span> {escape(figure.band)}</span>')
    return f'<fieldset class="legend"><legend>Models shown</legend>{"".join(items)}</fieldset>'


def _bands(models: Sequence[Model]) -> str:
    """Which models have their band drawn."""
    options = [("best", "best model"), *((str(model.rank - 1), escape(model.short)) for model in models)]
    if 1 < len(models) <= _FEW:
        options.append(("all", "every model"))
    items = "".join(f'<option value="{value}">{words}</option>' for value, words in [*options, ("none", "none")])
    return f"<label>Band of <select data-band>{items}</select></label>"


def _tools(figure: Figure, models: Sequence[Model]) -> str:
    """Whose band to draw and which range to show, if there is a choice, and to save the picture."""
    choice = _choice("Range shown", "view", _BUTTONS) if figure.near else ""
    shape = _choice("Shape of the curve", "shape", _SHAPES) if figure.smooth else ""
    band = _bands(models) if figure.band else ""
    return f'<p class="tools">{band}{shape}{choice}<button type="button" data-save>Save picture</button></p>'


def _choice(label: str, name: str, options: Mapping[str, str]) -> str:
    """Buttons of which one is pressed, the first at the start."""
    buttons = [
        f'<button type="button" data-{name}="{key}" aria-pressed="{str(not k).lower()}">{words}</button>'
        for k, (key, words) in enumerate(options.items())
    ]
    return f'<span role="group" aria-label="{label}">{"".join(buttons)}</span>'
