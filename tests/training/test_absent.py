"""Without the optional libraries the room imports, and what needs one says how to install it."""

import sys

import pytest

from stakes.training import (
    Checkpoint,
    EarlyStopping,
    keras_callback,
    lightgbm_callback,
    lightning_callback,
    xgboost_callback,
)


@pytest.mark.parametrize(
    ("library", "make"),
    [
        ("keras", lambda: keras_callback(((), ()), stopping=EarlyStopping())),
        ("lightning", lambda: lightning_callback(stopping=EarlyStopping())),
        ("xgboost", lambda: xgboost_callback("validation", stopping=EarlyStopping())),
        ("lightgbm", lambda: lightgbm_callback("validation", stopping=EarlyStopping())),
        ("torch", lambda: Checkpoint("nowhere").step(0.5, {})),
    ],
)
def test_missing_library_names_its_extra(library, make, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"pip install 'stakes\[{library}\]'"):
        make()
