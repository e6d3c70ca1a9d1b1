"""What dir() says a module offers: its public names, those of classes made when they are first asked for too."""

import importlib

import pytest

LATE = {
    "boundary": {"UncertaintyBoundaryClassifier"},
    "correction": {"LossCorrectedClassifier"},
    "uncertainty": {"PosteriorNetwork"},
    "utility": {"ExpectedUtilityClassifier", "PlugInThresholdClassifier"},
}


@pytest.mark.parametrize("room", LATE)
def test_a_module_lists_its_public_names_and_nothing_else(room):
    module = importlib.import_module(f"stakes.{room}")
    assert set(dir(module)) == set(module.__all__)
    assert LATE[room] <= set(dir(module))


@pytest.mark.parametrize(("room", "name"), [(room, name) for room, names in LATE.items() for name in sorted(names)])
def test_a_class_made_late_is_there_when_asked_for(room, name):
    pytest.importorskip("sklearn")
    assert getattr(importlib.import_module(f"stakes.{room}"), name).__name__ == name
