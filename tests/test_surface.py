"""What the public names show: defaults as documented, each cost distribution and display tested and documented."""

import ast
import importlib
import inspect
import math
import pkgutil
import re
from pathlib import Path

import pytest

import stakes
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


def public_callables():
    """Every public function and class, and their public methods, by name."""
    modules = [each.name for each in pkgutil.iter_modules(stakes.__path__, "stakes.") if "._" not in each.name]
    for module in map(importlib.import_module, ["stakes", *modules]):
        for name in getattr(module, "__all__", []):
            if inspect.isclass(value := getattr(module, name)):
                yield from inspect.getmembers(value, lambda each: inspect.isfunction(each) and each.__name__[0] != "_")
            if callable(value):
                yield name, value


def stated_defaults(text):
    """The defaults that a docstring states, by parameter: of each from `low, high : float, default 0 and 1`."""
    found = {}
    for line, default in re.findall(r"^(\w+(?:, \w+)*) : .*\bdefault (.+)$", text, re.MULTILINE):
        names = line.split(", ")
        several = re.split(" and |, ", default) if len(names) > 1 else [default]
        found |= dict(zip(names, several if len(several) > 1 else several * len(names), strict=True))
    return found


def value_of(text):
    known = {"1 GiB": 2**30, "inf": math.inf, "(-inf, inf)": (-math.inf, math.inf)}
    return known[text] if text in known else ast.literal_eval(re.sub(r"(?<=\d),(?=\d{3})", "", text))


def test_a_docstring_states_the_default_that_the_code_has():
    stated, wrong = set(), []
    for name, one in public_callables():
        found = stated_defaults(inspect.getdoc(one) or "")
        for key, parameter in inspect.signature(one).parameters.items() if found else ():
            if key in found and found[key] != "FINDINGS":
                stated.add(f"{one.__module__}.{one.__qualname__} {key}")
                if parameter.default != value_of(found[key]):
                    wrong.append((name, key, parameter.default, found[key]))
    assert wrong == []
    assert len(stated) > 400
