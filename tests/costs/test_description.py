"""Descriptions: to_dict and from_dict through JSON, pickles, representations."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from cost_cases import CASES
from hypothesis import given
from strategies import distributions

from stakes import costs

WITHOUT_FUNCTION = [case for case in CASES if not isinstance(case.costs, costs.Density)]
through = pytest.mark.parametrize(
    "through",
    [pytest.param(lambda d: pickle.loads(pickle.dumps(d)), id="pickle"), pytest.param(copy.deepcopy, id="copy")],  # noqa: S301
)


def through_json(made):
    return costs.CostDistribution.from_dict(json.loads(json.dumps(made.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("case", WITHOUT_FUNCTION, ids=str)
def test_every_family_survives_json(case):
    again = through_json(case.costs)
    assert type(again) is type(case.costs)
    assert again == case.costs
    assert hash(again) == hash(case.costs)
    at = np.linspace(0.01, 0.99, 23)
    np.testing.assert_array_equal(again.negative_loss(at), case.costs.negative_loss(at))
    np.testing.assert_array_equal(again.positive_loss(at), case.costs.positive_loss(at))
    assert (again.mass, again.low, again.high, again.tie) == (
        case.costs.mass,
        case.costs.low,
        case.costs.high,
        case.costs.tie,
    )


@given(distributions())
def test_any_parameters_survive_json_to_the_last_digit(made):
    assert through_json(made) == made
    assert through_json(made.flip()) == made.flip()


@through
@pytest.mark.parametrize("case", WITHOUT_FUNCTION, ids=str)
def test_distributions_can_be_sent_to_another_process(case, through):
    assert through(case.costs) == case.costs


PROFITS = [costs.churn_profit().costs, costs.credit_profit().costs, costs.credit_profit(p_full_loss=0).costs]
ROUNDED = [costs.Triangular(0.1, 0.2, 0.5), costs.Beta(3, 2, 0.5, 1.0), *PROFITS[:1]]
HELD = [costs.held(law * (1.0 / law.mass), scale) for law in ROUNDED for scale in ("false_negative", "false_positive")]


@through
@pytest.mark.parametrize("made", [*PROFITS, PROFITS[0].flip(), PROFITS[0].restrict(0.2, 0.5), *HELD], ids=str)
def test_densities_of_the_library_can_be_sent_to_another_process(made, through):
    again, at = through(made), np.linspace(0.01, 0.99, 23)
    assert again == made
    np.testing.assert_array_equal(again.negative_loss(at), made.negative_loss(at))
    np.testing.assert_array_equal(again.positive_loss(at), made.positive_loss(at))


def test_laws_of_profit_are_compared_by_their_parameters():
    assert costs.churn_profit() == costs.churn_profit() != costs.churn_profit(a=7)
    assert costs.credit_profit().costs == PROFITS[1] != PROFITS[2]


def test_descriptions_are_those_of_the_constructor():
    assert costs.Beta(2, 8, 0.1, 0.5).to_dict() == {"kind": "beta", "a": 2.0, "b": 8.0, "low": 0.1, "high": 0.5}
    assert costs.Triangular(0, 0.1, 0.5).to_dict() == {"kind": "triangular", "low": 0.0, "mode": 0.1, "high": 0.5}
    both = (2 * costs.Fixed(0.5, tie=0.5)).to_dict()
    assert both == {"kind": "weighted", "parts": [{"kind": "fixed", "c": 0.5, "tie": 0.5}], "factors": [2.0]}


def test_from_dict_leaves_its_argument_alone():
    description = {"kind": "uniform", "low": 0.1, "high": 0.5}
    costs.CostDistribution.from_dict(description)
    assert description == {"kind": "uniform", "low": 0.1, "high": 0.5}


@pytest.mark.parametrize("description", [{}, {"kind": "unknown"}, {"low": 0.1, "high": 0.5}])
def test_unknown_kind_is_an_error_that_lists_the_kinds(description):
    with pytest.raises(ValueError, match=r"kind must name a cost distribution \(.*beta.*uniform.*\), got"):
        costs.CostDistribution.from_dict(description)


def test_bad_parameters_of_a_description_are_the_constructors_errors():
    with pytest.raises(ValueError, match="bounds must satisfy"):
        costs.CostDistribution.from_dict({"kind": "uniform", "low": 0.5, "high": 0.1})


@pytest.mark.parametrize(
    "description", [{"kind": "uniform", "lo": 0.1}, {"kind": "weighted"}, {"kind": ["uniform"]}, {"kind": "fixed"}]
)
def test_malformed_descriptions_are_value_errors(description):
    with pytest.raises(ValueError, match=r"uniform|weighted|fixed|kind"):
        costs.CostDistribution.from_dict(description)


@pytest.mark.parametrize(
    ("kind", "arguments", "why"),
    [("flipped_density", {"base": 1}, "has no attribute"), ("density", {"pdf": 1, "low": 0, "high": 1}, "got 1\\.$")],
)
def test_kinds_that_hold_a_function_cannot_be_read(kind, arguments, why):
    with pytest.raises(ValueError, match=rf"^\[.*\] do not describe a cost distribution of kind '{kind}': .*{why}"):
        costs.CostDistribution.from_dict({"kind": kind, **arguments})


def test_a_function_cannot_be_described():
    with pytest.raises(ValueError, match=r"Density holds a function.*PiecewiseLinear"):
        costs.Density(lambda c: c, 0, 1).to_dict()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (costs.Uniform(0.02, 0.1), "Uniform(low=0.02, high=0.1)"),
        (costs.Fixed(0.1), "Fixed(c=0.1, tie=1.0)"),
        (costs.Empirical([0.1, 0.3]), "Empirical(2 values in [0.1, 0.3], tie=1.0)"),
        (costs.NetBenefitUniform(0.25, 0.5).flip(), "NetBenefitUniform(low=0.25, high=0.5).flip()"),
        (4 * costs.Uniform() + costs.Fixed(0.5, tie=0.5), "4 * Uniform(low=0.0, high=1.0) + Fixed(c=0.5, tie=0.5)"),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_representation_reads_like_the_code_that_makes_it(made, text):
    assert repr(made) == text
