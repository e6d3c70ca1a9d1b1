"""Without the optional libraries the room imports, and what needs one says how to install it."""

import sys

import pytest

from stakes.training import Checkpoint, keras_metric, lightning_metric
from stakes.training._metric_monitor import _callback_class, _metric_class


@pytest.mark.parametrize(
    ("missing", "extra", "make"),
    [
        ("keras", "keras", lambda: keras_metric(validation_data=((), ()))),
        ("torchmetrics", "lightning", lightning_metric),
        ("torch", "torch", lambda: Checkpoint("nowhere").step(0.5, {})),
    ],
)
def test_missing_library_names_its_extra(missing, extra, make, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, missing, None)
    for made_before in (_callback_class, _metric_class):
        made_before.cache_clear()
    with pytest.raises(ImportError, match=rf"pip install 'stakes\[{extra}\]'"):
        make()
