"""Pictures stay as they are: each artist's place, limits, labels and look are those of the table that is kept."""

import json
import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from tests.display import pictures

if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    pytest.skip("older versions of matplotlib draw a few things otherwise.", allow_module_level=True)

KEPT = json.loads(pictures.KEPT.read_text(encoding="utf-8"))


def differences(found, kept, at=""):
    """List where numbers are not the same to five digits, or anything else is not the same at all.

    The place of a label along its line is that of equals by the last bit, which processors round differently.
    """
    if isinstance(kept, dict) and isinstance(found, dict) and list(kept) == list(found):
        return [each for key in kept for each in differences(found[key], kept[key], f"{at} {key}")]
    if isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        return [each for k, part in enumerate(kept) for each in differences(found[k], part, f"{at} {k}")]
    numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (found, kept))
    digits = 2e-2 if " texts " in at else 2e-5
    same = math.isclose(found, kept, rel_tol=digits, abs_tol=1e-7) if numbers else found == kept
    return [] if same else [f"{at}: {found!r}, not {kept!r}"]


@pytest.mark.parametrize("name", [*pictures.PICTURES, *pictures.OWN])
def test_a_picture_is_that_of_the_table(name):
    assert differences(pictures.picture(name), KEPT[name]) == []


@pytest.mark.parametrize("name", pictures.OF_THEIR_OWN)
def test_a_figure_of_its_own_grows_by_its_legend(name):
    assert differences(pictures.in_own_figure(name), KEPT[f"{name}, of its own"]) == []


@pytest.mark.parametrize("name", ["roc", "lift", "utility", "gains", "costs, linear", "decision, constant"])
def test_a_second_display_in_the_same_axes_has_the_only_legend(name):
    first = pictures.PICTURES[name](None)
    figure = first.figure_
    before = figure.get_figheight()
    pictures.PICTURES[name](first.ax_)
    legends = [*figure.legends, *filter(None, (ax.get_legend() for ax in figure.axes))]
    figure.draw_without_rendering()
    box = legends[0].get_window_extent()
    assert len(legends) == 1
    assert min(box.x0, box.y0, figure.bbox.x1 - box.x1) >= 0.0
    assert box.y1 <= first.ax_.xaxis.get_tightbbox().y0 + 1.0
    assert figure.get_figheight() >= before


def test_the_height_of_a_legend_goes_with_it():
    first = pictures.PICTURES["decision, ten"](None)
    first.curves = first.curves[:1]
    height = first.figure_.get_figheight()
    first.plot(first.ax_, legend="below")
    first.plot(first.ax_, legend="inside")
    assert (first.figure_.legends, first.ax_.get_legend() is None) == ([], False)
    assert first.figure_.get_figheight() < height


def test_the_table_names_every_picture_and_no_other():
    own = {f"{name}, of its own" for name in pictures.OF_THEIR_OWN}
    assert set(KEPT) == {*pictures.PICTURES, *pictures.OWN, *own}
