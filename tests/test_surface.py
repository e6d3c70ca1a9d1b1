"""What the rooms of the methods show: public names only, each cost distribution and display tested and documented."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from stakes import costs, display

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ["costs", "metrics", "curves", "inference"]


def everything_below(base):
    for kind in base.__subclasses__():
        yield kind
        yield from everything_below(kind)


def text_of(folder, pattern):
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).glob(pattern)))


PUBLIC_COSTS = sorted(
    kind.__name__
    for kind in everything_below(costs.CostDistribution)
    if kind.__module__.startswith("stakes.") and not kind.__name__.startswith("_")
)
DISPLAYS = [name for name in display.__all__ if name.endswith("Display")]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_shows_its_public_names_and_nothing_else(room):
    module = importlib.import_module(f"stakes.{room}")
    assert dir(module) == sorted(module.__all__)
    assert not any(name.startswith("_") for name in module.__all__)


def test_every_random_step_has_the_same_seed_unless_another_is_given():
    found = {}
    for room in (
        *ROOMS,
        "correction",
        "utility",
        "boundary",
        "actions",
        "evaluation",
        "information",
        "monitoring",
        "training",
    ):
        for name, value in vars(importlib.import_module(f"stakes.{room}")).items():
            if inspect.isfunction(value) or hasattr(value, "fit"):
                found[name] = inspect.signature(value).parameters.get("random_state")
            if inspect.isclass(value):
                for key, method in inspect.getmembers(value, inspect.isroutine):
                    if not key.startswith("_") and (inspect.getmodule(method) or pytest).__name__.startswith("stakes"):
                        found[f"{name}.{key}"] = inspect.signature(method).parameters.get("random_state")
    found = {name: parameter.default for name, parameter in found.items() if parameter is not None}
    assert len(found) > 5
    assert {"Boundary.gain", "Boundary.report", "Uniform.sample"} < set(found)
    assert set(found.values()) == {0}, found


def test_every_cost_distribution_is_public():
    assert "Uniform" in PUBLIC_COSTS
    assert set(PUBLIC_COSTS) - set(costs.__all__) == {"Weighted"}  # what k * W and W1 + W2 return


@pytest.mark.parametrize("name", [name for name in PUBLIC_COSTS if name != "Weighted"])
def test_a_cost_distribution_is_documented_and_tested_beside_its_definition(name):
    assert f"| `{name}` |" in text_of("docs", "costs.md")
    assert f"costs.{name}(" in text_of("tests", "cost_cases.py")


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_display_is_documented_and_tested(name):
    assert f"| `{name}` |" in text_of("docs", "displays.md")
    assert re.search(rf"\b{name}\b", text_of("tests", "display/test_*.py"))


def test_only_displays_end_in_display():
    kinds = {name for name in display.__all__ if isinstance(getattr(display, name), type)}
    assert kinds == set(DISPLAYS)
