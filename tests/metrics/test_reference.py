"""Every metric against the 34-digit oracle: numerical quadrature of the definition, no closed form used."""

import math

import numpy as np
import pytest

from stakes import (
    ScoreTable,
    bounded_brier_loss,
    bounded_log_loss,
    costs,
    decompose,
    expected_regret,
    net_benefit_curve,
    net_benefit_score,
    regret_curve,
)
from stakes.metrics import (
    average_net_benefit_score,
    beta_loss,
    bounded_brier_skill_score,
    bounded_log_skill_score,
    regret_skill_score,
    roc_auc_score,
    shifted_brier_loss,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
TOLERANCE = 1e-12


def distribution(weight, low, high):
    family, *parameters = weight
    build = {
        "uniform": costs.Uniform,
        "logit": costs.LogOddsUniform,
        "netbenefit": costs.NetBenefitUniform,
        "beta": lambda a, b: costs.Beta(*parameters, a, b),
        "shift": lambda a, b: costs.Shifted(*parameters, a, b),
    }[family]
    return build(low, high)


def agrees(ours, reference):
    if reference is None:
        return math.isnan(ours)
    if isinstance(reference, str):
        return ours == float(reference)
    return abs(ours - reference) <= TOLERANCE


def cases(reference):
    for name, data in reference["binary"].items():
        rows = {"y_true": data["y"], "y_prob": data["s"], "sample_weight": data["w"]}
        yield name, data, rows, ScoreTable.from_predictions(data["y"], data["s"], sample_weight=data["w"])


def test_integrals_regrets_and_masses(eval_reference):
    count = 0
    for name, data, rows, table in cases(eval_reference):
        for interval in data["intervals"]:
            for row in interval["weights"]:
                measure = distribution(row["weight"], interval["a"], interval["b"])
                where = (name, measure)
                assert agrees(measure.mass, row["mass"]), where
                infinite = math.isinf(measure.mass)
                for source in (rows, {"y_true": table}):
                    ours = expected_regret(**source, costs=measure, scale="integral")
                    assert agrees(ours, row["integral"]), where
                    mean = expected_regret(**source, costs=measure, scale="regret")
                    # the reference writes 0 where the mean of an infinite mass is undefined
                    assert math.isnan(mean) if infinite else agrees(mean, row["mean"]), where
                    best = expected_regret(**source, costs=measure, scale="integral", rule="optimal")
                    assert agrees(best, row["integral_optimal"]), where
                    assert agrees(best, row["integral_pav"]), where
                count += 1
    assert count == 12 * 5 * 9


def test_decompositions(eval_reference):
    for name, data, _, table in cases(eval_reference):
        for interval in data["intervals"]:
            for row in interval["weights"]:
                measure = distribution(row["weight"], interval["a"], interval["b"])
                parts = decompose(table, costs=measure, scale="integral")
                assert agrees(parts.miscalibration, row["MCB"]), (name, measure)
                assert agrees(parts.discrimination, row["DSC"]), (name, measure)
                assert agrees(parts.uncertainty, row["UNC"]), (name, measure)


def test_named_losses_and_skill(eval_reference):
    for name, data, rows, _ in cases(eval_reference):
        for interval in data["intervals"]:
            bounds = (interval["a"], interval["b"])
            for row in interval["weights"]:
                family, *parameters = row["weight"]
                where = (name, row["weight"], bounds)
                integral = row["integral"]
                twice = integral if isinstance(integral, str) else 2 * integral
                if family == "uniform":
                    assert agrees(bounded_brier_loss(**rows, bounds=bounds), twice), where
                    assert agrees(bounded_brier_skill_score(**rows, bounds=bounds), row["skill"]), where
                    ours = bounded_brier_skill_score(**rows, bounds=bounds, rule="optimal")
                    assert agrees(ours, row["skill_optimal"]), where
                elif family == "logit":
                    assert agrees(bounded_log_loss(**rows, bounds=bounds), integral), where
                    assert agrees(bounded_log_skill_score(**rows, bounds=bounds), row["skill"]), where
                elif family == "beta":
                    a, b = parameters
                    assert agrees(beta_loss(**rows, a=a, b=b, bounds=bounds), twice), where
                elif family == "shift":
                    assert agrees(shifted_brier_loss(**rows, median=parameters[0], bounds=bounds), twice), where
            ours = average_net_benefit_score(**rows, bounds=bounds)
            assert agrees(ours, interval["average_net_benefit"]), (name, bounds)


def test_regret_and_net_benefit_at_single_costs(eval_reference):
    for name, data, rows, table in cases(eval_reference):
        for rule in ("score", "optimal"):
            curve = regret_curve(table, rule=rule)
            for row in data["regret"]:
                measure = costs.Fixed(row["c"])
                assert agrees(expected_regret(**rows, costs=measure, rule=rule), row[rule]), (name, row)
                assert agrees(float(curve.at(row["c"])), row[rule]), (name, row)
            decision = net_benefit_curve(table, rule=rule)
            for row in data["net_benefit"]:
                assert agrees(net_benefit_score(**rows, threshold=row["c"], rule=rule), row[rule]), (name, row)
                assert agrees(float(decision.at(row["c"])), row[rule]), (name, row)


def test_area_under_the_roc_curve_and_recalibrated_scores(eval_reference):
    for name, data, rows, table in cases(eval_reference):
        assert agrees(roc_auc_score(rows["y_true"], rows["y_prob"], sample_weight=rows["sample_weight"]), data["auc"])
        assert agrees(roc_auc_score(table.recalibrated()), data["auc_of_pav"]), name
        kept = [s for s, w in zip(data["s"], data["w"] or [1] * len(data["s"]), strict=True) if w > 0]
        ours = table.pav_by_score()[np.searchsorted(table.scores, kept)]
        np.testing.assert_allclose(ours, data["pav_at_rows_with_positive_weight"], rtol=0, atol=TOLERANCE)


# The first data set of the oracle, copied with its values, so that the suite bites without the reference folder.
Y_TIES = [0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1]
S_TIES = [0.0, 0.05, 0.05, 0.1, 0.1, 0.1, 0.2, 0.2, 0.5, 0.8, 0.8, 1.0]
W_TIES = [1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 1.0, 2.5, 1.0, 0.25, 2.0, 1.0]
SAMPLE = """
uniform - 0.0 1.0 0.10272388059701493 0.06459119238969985
logit - 0.0 1.0 0.606906998967326 0.40811519664779045
netbenefit - 0.0 1.0 0.2702813097706301 0.19365111515936367
beta 2,2 0.0 1.0 0.12254337686567164 0.07497410346276578
beta 2,8 0.0 1.0 0.1132449498669846 0.06673919820831156
beta 0.5,0.5 0.0 1.0 0.07690232182920109 0.04956034742169096
shift 0.125 0.0 1.0 0.08131715082874832 0.05036821233864013
shift 0.5 0.0 1.0 0.10272388059701493 0.06459119238969985
shift 0.9 0.0 1.0 0.05489814782924641 0.04040672939741397
uniform - 0.05 0.2 0.011399253731343284 0.008638059701492538
logit - 0.05 0.2 0.11011401062653467 0.07927582450174278
netbenefit - 0.05 0.2 0.01317106369400388 0.010063419623751334
beta 2,2 0.05 0.2 0.007754430970149255 0.006145947994402986
beta 2,8 0.05 0.2 0.03784746304561684 0.028636648705649356
beta 0.5,0.5 0.05 0.2 0.011134385769189563 0.008229276986747294
shift 0.125 0.05 0.2 0.02626658346424586 0.018964464000814286
shift 0.5 0.05 0.2 0.011399253731343284 0.008638059701492538
shift 0.9 0.05 0.2 0.0016359274231094539 0.0012576453944209752
uniform - 0.2 0.8 0.08238805970149254 0.0484861407249467
logit - 0.2 0.8 0.3798062485973296 0.2232212693975209
netbenefit - 0.2 0.8 0.17292976658387899 0.1090264482066347
beta 2,2 0.2 0.8 0.10899402985074627 0.06420472564292241
beta 2,8 0.2 0.8 0.07433157488238805 0.03703700652652511
beta 0.5,0.5 0.2 0.8 0.05618654589268686 0.033045920778384225
shift 0.125 0.2 0.8 0.050676765923425626 0.027312038348738542
shift 0.5 0.2 0.8 0.08238805970149254 0.0484861407249467
shift 0.9 0.2 0.8 0.03320515350114113 0.021745257855897603
"""


@pytest.mark.parametrize("line", SAMPLE.strip().splitlines())
def test_sample_of_the_reference_values(line):
    family, parameters, low, high, integral, optimal = line.split()
    weight = [family, *(float(p) for p in parameters.split(",") if p != "-")]
    measure = distribution(weight, float(low), float(high))
    table = ScoreTable.from_predictions(Y_TIES, S_TIES, sample_weight=W_TIES)
    assert expected_regret(table, costs=measure, scale="integral") == pytest.approx(float(integral), abs=1e-13)
    ours = expected_regret(table, costs=measure, scale="integral", rule="optimal")
    assert ours == pytest.approx(float(optimal), abs=1e-13)


@pytest.mark.parametrize("skill", [regret_skill_score, bounded_brier_skill_score])
def test_reference_forecasts_are_read_as_the_scores_are(skill):
    p, q = np.array([0.1, 0.8, 0.6, 0.3]), np.array([0.2, 0.5, 0.5, 0.2])
    label, weight = np.array(["good", "bad", "bad", "good"]), [1, 1, 1, 0]
    more = {"costs": (0, 1)} if skill is regret_skill_score else {}
    brier = [np.average((each - [0, 1, 1, 0]) ** 2, weights=weight) for each in (p, q)]
    for ours in (q, np.column_stack([q, 1.0 - q])):
        found = skill(label, p, reference=ours, sample_weight=weight, pos_label="bad", **more)
        assert found == pytest.approx(1.0 - brier[0] / brier[1], rel=1e-12)
    with pytest.raises(ValueError, match="y_true and reference must have the same length, got 4 and 3"):
        skill(label, p, reference=q[:3], sample_weight=weight, pos_label="bad", **more)
