"""Published numbers on real data, to the digits that were printed."""

import math

import numpy as np
import pytest

from stakes import (
    ScoreTable,
    bounded_brier_loss,
    bounded_log_loss,
    costs,
    decompose,
    evaluate,
    expected_regret,
    net_benefit_curve,
    net_benefit_score,
    roc_curve,
)
from stakes.metrics import roc_auc_score

# Flores et al. (arXiv:2504.04528), Table 2; its bounds 1.66% and 3% are odds (read as probabilities the bounded
# columns come out as 0.0157/0.0129 and 0.000693/0.000584).
TABLE_2_BOUNDS = (costs.from_odds(0.0166), costs.from_odds(0.03))
TABLE_2 = {
    "logistic_minimal": (0.601, 0.0263, 0.156, 0.0153, 0.000662),
    "logistic_+_density": (0.606, 0.0263, 0.156, 0.0153, 0.000662),
    "xgboost": (0.574, 0.0263, 0.155, 0.0153, 0.000662),
    "xgboost_2pct": (0.591, 0.0415, 0.193, 0.0123, 0.000545),
}


@pytest.mark.parametrize("model", TABLE_2)
def test_table_2_of_the_consequentialist_critique(load_data, model):
    data = load_data("bcsc_predictions/bcsc_predictions")
    table = ScoreTable.from_predictions(data["cancer"], data[model])
    auc, brier, log, bounded_log, bounded_brier = TABLE_2[model]
    assert round(roc_auc_score(table), 3) == auc
    assert round(bounded_brier_loss(table), 4) == brier
    assert round(bounded_log_loss(table), 3) == log
    assert round(bounded_log_loss(table, bounds=TABLE_2_BOUNDS, scale="loss"), 4) == bounded_log
    assert round(bounded_brier_loss(table, bounds=TABLE_2_BOUNDS, scale="loss"), 6) == bounded_brier


def test_three_of_the_four_models_act_like_treating_no_one(load_data):
    data = load_data("bcsc_predictions/bcsc_predictions")
    result = evaluate(data["cancer"], data[list(TABLE_2)], costs=TABLE_2_BOUNDS)
    acting = {name: result[name].acts_like for name in TABLE_2}
    assert acting == {
        "logistic_minimal": "treat none",
        "logistic_+_density": "treat none",
        "xgboost": "treat none",
        "xgboost_2pct": "",
    }
    found = {finding.code: finding.models for finding in result.findings}
    assert set(found["acts-like-constant"]) == {"logistic_minimal", "logistic_+_density", "xgboost"}


def cancer_risks(load_data, name):
    data = load_data("dcurves/df_binary")
    y = data["cancer"].to_numpy()
    if name == "famhistory":
        return y, data["famhistory"].to_numpy(dtype=float)
    from sklearn.linear_model import LogisticRegression

    age = data[["age"]].to_numpy(dtype=float)
    centred = (age - age.mean()) / age.std()
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(centred, y)
    return y, model.predict_proba(centred)[:, 1]


@pytest.mark.parametrize(
    ("expected", "model"),
    [("r_case1_results", "famhistory"), ("r_dca_famhistory", "famhistory"), ("r_simple_binary_dca_result_df", "age")],
)
def test_net_benefit_of_the_r_package_dcurves(load_data, expected, model):
    published = load_data(f"dcurves/expected/{expected}")
    y, risk = cancer_risks(load_data, model)
    rows = published[(published["variable"] == model) & (published["threshold"] > 0)]
    assert len(rows) == 99
    ours = net_benefit_curve(y, risk).at(rows["threshold"])
    np.testing.assert_allclose(ours, rows["net_benefit"], rtol=0, atol=1e-10)
    all_rows = published[(published["variable"] == "all") & (published["threshold"] > 0)]
    ours = net_benefit_curve(y, risk).references["treat all"].at(all_rows["threshold"])
    np.testing.assert_allclose(ours, all_rows["net_benefit"], rtol=0, atol=1e-10)


def test_net_benefit_of_dcurves_with_test_harm(load_data):
    published = load_data("dcurves/expected/r_case3_results")
    y = load_data("dcurves/df_cancer_dx")["cancer"].to_numpy()
    risk = load_data("dcurves/expected/dca_tut_bin_int_marker_risks").iloc[:, 0].to_numpy()
    rows = published[(published["variable"] == "marker") & (published["threshold"] > 0)]
    harm = 0.0333
    assert len(rows) == 35
    ours = [net_benefit_score(y, risk, threshold=t) - harm for t in rows["threshold"]]
    np.testing.assert_allclose(ours, rows["net_benefit"], rtol=0, atol=1e-10)


def test_spot_values_of_the_dcurves_tests(load_data):
    data = load_data("dcurves/df_binary")
    curve = net_benefit_curve(data["cancer"], data["cancerpredmarker"])
    assert float(curve.at(0.25)) == pytest.approx(0.0640000, abs=1e-7)
    assert float(curve.references["treat all"].at(0.25)) == pytest.approx(-0.1466667, abs=1e-7)


# Dimitriadis, Gneiting, Jordan and Vogel (2024): score, MCB, DSC, UNC of Brier and log score, AUC
SOLAR_FLARES = {
    "NOAA": ((0.144, 0.006, 0.073, 0.211), (0.449, 0.027, 0.191, 0.614), 0.839),
    "SIDC": ((0.172, 0.014, 0.053, 0.211), (0.515, 0.036, 0.135, 0.614), 0.781),
    "ASSA": ((0.184, 0.007, 0.035, 0.211), (math.inf, math.inf, 0.085, 0.614), 0.730),
    "MCSTAT": ((0.193, 0.034, 0.052, 0.211), (0.587, 0.101, 0.128, 0.614), 0.782),
}


@pytest.mark.parametrize("forecaster", SOLAR_FLARES)
def test_decomposition_of_solar_flare_forecasts(load_data, forecaster):
    data = load_data("solar_flares_c1/solar_flares_c1")
    table = ScoreTable.from_predictions(data["y"], data[forecaster])
    brier, log, auc = SOLAR_FLARES[forecaster]
    assert terms(decompose(table, costs=costs.Uniform(0, 1), scale="loss")) == brier
    assert terms(decompose(table, costs=costs.LogOddsUniform(0, 1), scale="loss")) == log
    assert round(roc_auc_score(table), 3) == auc


# the same table: misclassification at 0.5, a forecast of exactly 0.5 counting one half, and concave-hull AUC
MISCLASSIFICATION = {
    "NOAA": ((0.205, 0.004, 0.102, 0.303), 0.842),
    "SIDC": ((0.263, 0.038, 0.078, 0.303), 0.791),
    "ASSA": ((0.273, 0.006, 0.036, 0.303), 0.739),
    "MCSTAT": ((0.275, 0.042, 0.071, 0.303), 0.790),
}


@pytest.mark.parametrize("forecaster", MISCLASSIFICATION)
def test_misclassification_decomposition_and_hull_of_solar_flare_forecasts(load_data, forecaster):
    data = load_data("solar_flares_c1/solar_flares_c1")
    table = ScoreTable.from_predictions(data["y"], data[forecaster])
    published, hull = MISCLASSIFICATION[forecaster]
    assert terms(decompose(table, costs=costs.Fixed(0.5, tie=0.5), scale="loss")) == published
    assert round(roc_curve(table).hull_auc, 3) == hull
    assert round(roc_auc_score(table.recalibrated()), 3) == hull


@pytest.mark.parametrize(
    ("forecaster", "published"), [("NOAA", (0.005, 0.071, 0.191)), ("DAFFS", (0.012, 0.056, 0.191))]
)
def test_decomposition_of_solar_flare_forecasts_on_all_days(load_data, forecaster, published):
    data = load_data("solar_flares_c1/solar_flares_c1_all_days")[["y", forecaster]].dropna()
    parts = decompose(data["y"], data[forecaster], costs=costs.Uniform(0, 1), scale="loss")
    assert terms(parts)[1:] == published


def test_decomposition_of_the_niamey_rain_ensemble(load_data):
    data = load_data("niamey_precip/niamey_precip_ens")
    parts = decompose(data["y"], data["ENS"], costs=costs.Uniform(0, 1), scale="loss")
    assert terms(parts)[1:] == (0.066, 0.044, 0.244)  # Dimitriadis, Gneiting and Jordan (2021)


# computed once with plain array arithmetic, not by this library
TRIPTYCH = {"X01": (0.0827, 0.0047, 0.1715), "X02": (0.1273, 0.0233, 0.1455), "X06": (0.1797, 0.0049, 0.0748)}


@pytest.mark.parametrize("forecast", TRIPTYCH)
def test_decomposition_of_simulated_forecasts_with_nearly_equal_tiny_scores(load_data, forecast):
    data = load_data("triptych_simulated/ex_binary")
    parts = decompose(data["y"], data[forecast], costs=costs.Uniform(0, 1), scale="loss")
    assert terms(parts, digits=4)[:3] == TRIPTYCH[forecast]
    assert round(parts.uncertainty, 4) == 0.2495


def test_log_loss_and_brier_score_stored_in_the_yardstick_tests(load_data):
    data = load_data("tidymodels_predictions/two_class_example")
    arguments = {"y_true": data["truth"], "y_prob": data["Class1"], "pos_label": "Class1"}
    # scikit-learn 1.2.0, as stored in tidymodels/yardstick
    assert bounded_log_loss(**arguments) == pytest.approx(0.32830965, abs=5e-9)
    assert bounded_brier_loss(**arguments) == pytest.approx(0.10561859, abs=5e-9)
    assert roc_auc_score(data["truth"], data["Class1"], pos_label="Class1") == pytest.approx(
        0.939313857389967, abs=1e-14
    )


def test_case_control_data_weighted_to_a_prevalence(load_data):
    data = load_data("dcurves/df_case_control")
    curve = net_benefit_curve(data["casecontrol"], data["cancerpredmarker"], prevalence=0.15)
    assert float(curve.at(0.25)) == pytest.approx(0.01495671, abs=5e-9)
    assert float(curve.references["treat all"].at(0.25)) == pytest.approx(-0.13333333, abs=5e-9)


def test_expected_regret_of_a_published_cost_matrix(load_data):
    data = load_data("german_credit/german_credit")
    costs_per_case = data["bad"].mean() * 5, (1 - data["bad"].mean()) * 1
    assert costs_per_case == pytest.approx((1.5, 0.7))  # Statlog: accept all 1.5 a case, refuse all 0.7
    c = costs.from_cost_matrix(tn=0, fp=1, fn=5, tp=0)
    refuse_all = expected_regret(data["bad"], np.ones(len(data)), costs=costs.Fixed(c))
    assert refuse_all * (1 + 5) == pytest.approx(0.7)


def terms(parts, digits=3):
    values = (parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty)
    return tuple(round(value, digits) for value in values)
