"""Without PyTorch the room imports, and what needs it says how to install it."""

import sys

import pytest

from stakes.uncertainty import PosteriorNetwork, mc_dropout


@pytest.mark.parametrize("call", [lambda: PosteriorNetwork().fit([[0.0], [1.0]], [0, 1]), lambda: mc_dropout(None, [])])
def test_missing_library_names_its_extra(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'stakes\[torch\]'"):
        call()
