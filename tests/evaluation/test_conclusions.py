"""The plain-language conclusion on three real data sets, one of them without a real difference."""

from stakes import costs, evaluate


def test_breast_cancer_risks_only_one_model_does_anything(load_data):
    data = load_data("bcsc_predictions/bcsc_predictions")
    names = ["logistic_minimal", "logistic_+_density", "xgboost", "xgboost_2pct"]
    result = evaluate(data["cancer"], data[names], costs=(costs.from_odds(0.0166), costs.from_odds(0.03)))
    lead, rivals, constants, *_, idle = result.conclusion
    assert lead.startswith(
        "With thresholds anywhere between 1.63% and 2.91%, xgboost_2pct has the lowest expected cost"
    )
    assert rivals.startswith(
        "xgboost_2pct costs less than logistic_minimal, logistic_+_density and xgboost, beyond chance"
    )
    assert "is better than treating everyone" in constants
    assert "better than treating no one" in constants
    assert idle == (
        "In this range logistic_minimal, logistic_+_density and xgboost practically act like treating no one."
    )


def test_two_solar_flare_forecasters_do_not_really_differ(load_data):
    data = load_data("solar_flares_c1/solar_flares_c1")
    result = evaluate(data["y"], data[["NICT", "NOAA", "CLIM120"]], costs=(0.1, 0.6))
    _, tied, beaten, constants, *_ = result.conclusion
    versus = result.compare("NOAA", "NICT")
    assert versus.interval[0] < 0.0 < versus.interval[1]
    assert tied.startswith("The data do not show a real difference between NOAA and NICT (NICT: difference -0.00466,")
    assert beaten.startswith("NOAA costs less than CLIM120, beyond chance")
    assert "NOAA is better than treating everyone" in constants


def test_naive_bayes_cells_lose_and_are_badly_calibrated(load_data):
    data = load_data("tidymodels_predictions/cell_segmentation_two_models")
    models = data.drop(columns="class")
    result = evaluate(data["class"], models, costs=(0.2, 0.7), pos_label="good")
    text = " ".join(result.conclusion)
    assert "logistic" in result.ranking[0]
    assert "beyond chance" in text
    worse = result[result.ranking[1]].decomposition
    assert worse.miscalibration > 3 * result.best.decomposition.miscalibration
