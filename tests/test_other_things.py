"""Something else where a result, a curve or a frame is expected is refused by the name of the argument."""

import math

import numpy as np
import pytest

from stakes import costs, curves, display, evaluate, evaluation, metrics
from stakes.tables import frame_columns, group_scores, sql_column
from tests.mistakes import assert_named

Y, P = [0, 1] * 10, np.linspace(0.05, 0.95, 20)
OTHERS = [None, 2.5, object(), math.nan, costs.Uniform(0, 1), {"a": None}]
CURVES = [name for name in display.__all__ if name.endswith("Display")]
TAKES = {"BandDisplay": "bands", "BinnedReliabilityDisplay": "bins", "CostDistributionDisplay": "costs"}
TAKES |= {"DecompositionDisplay": "decompositions", "MonitorDisplay": "comparison", "ThresholdDisplay": "tables"}
TAKES |= {"ActionCostsDisplay": "evaluation", "ValueOfInformationDisplay": "value", "BoundaryDisplay": "boundary"}
TAKES |= {"BoundaryExplanationDisplay": "explanation"}
TAKES |= {"CostMonitorDisplay": "monitor", "HorizonDisplay": "evaluation", "ForestDisplay": "evaluation"}


@pytest.mark.parametrize("other", OTHERS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", CURVES)
def test_display_of_other_things_names_its_argument(name, other):
    if name == "CostDistributionDisplay" and isinstance(other, costs.CostDistribution):
        pytest.skip("that is what it draws")
    assert_named(TAKES.get(name, "curves"), lambda: getattr(display, name)(other))


@pytest.mark.parametrize("other", OTHERS, ids=lambda value: type(value).__name__)
def test_functions_of_results_name_their_argument(other):
    report = pytest.importorskip("stakes.report")
    assert_named("curve", lambda: display.plot_curve(other))
    assert_named("evaluation", lambda: display.plot_evaluation(other))
    assert_named("evaluation", lambda: report.render_report(other))
    assert_named("evaluation", lambda: report.render_amounts(other))
    assert_named("found", lambda: report.render_actions(other))
    assert_named("checks", lambda: evaluation.findings_table(other))
    assert_named("metric", lambda: metrics.register(other))
    assert_named("frame", lambda: frame_columns(other, label="y", models=["p"]))
    assert_named("frame", lambda: group_scores(other, label="y", score="p"))
    if not isinstance(other, dict):
        assert_named("description", lambda: costs.CostDistribution.from_dict(other))


@pytest.mark.parametrize("other", [None, "x", [0.1], 10**400, math.inf], ids=lambda value: type(value).__name__)
def test_formula_takes_finite_numbers_alone(other):
    assert_named("finite numbers", lambda: sql_column("p") + other)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("digits", value) for value in (0, 0.5, "3", True, 1e308, 18)),
        *(("columns", value) for value in (1.5, "score", {1, 2})),
    ],
)
def test_options_of_a_table_are_named(argument, value):
    assert_named(argument, lambda: evaluate(Y, P, costs=0.2).to_latex(**{argument: value}))


@pytest.mark.parametrize("backend", [3, [None], b"pandas", "frames", math])
def test_backend_of_a_frame_is_named(backend):
    assert_named("backend", lambda: evaluate(Y, P, costs=0.2).frame(backend=backend))


def test_frame_takes_a_module_as_its_backend():
    pandas = pytest.importorskip("pandas")
    assert isinstance(evaluate(Y, P, costs=0.2).frame(backend=pandas), pandas.DataFrame)


@pytest.mark.parametrize("value", ["a", None, [0.1], {}, np.datetime64("2020-01-01")])
def test_places_of_a_curve_are_named(value):
    curve = curves.regret_curve(Y, P)
    if value is not None:
        assert_named("low", lambda: curve.integral(low=value))
        assert_named("high", lambda: curve.thinned(high=value))
    assert_named("max_points", lambda: curve.thinned(max_points=value))
    if value != [0.1]:
        assert_named("x", lambda: curve.at(value))


def test_scale_of_a_plot_of_costs_is_called_scale():
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match=r"^scale must be one of 'linear', 'log-odds', got 'odds'"):
        costs.Uniform(0, 1).plot(scale="odds")
