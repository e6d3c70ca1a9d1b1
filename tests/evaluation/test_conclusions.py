"""The plain-language conclusion on three real data sets, one of them without a real difference."""

from stakes import costs, evaluate


def test_breast_cancer_risks_only_one_model_does_anything(load_data):
    data = load_data("bcsc_predictions/bcsc_predictions")
    names = ["logistic_minimal", "logistic_+_density", "xgboost", "xgboost_2pct"]
    result = evaluate(data["cancer"], data[names], costs=(costs.from_odds(0.0166), costs.from_odds(0.03)))
    lead, possible, *_, idle = result.conclusion
    assert lead.startswith(
        "On average over thresholds from 1.63% to 2.91%, xgboost_2pct costs least on these 10,732 rows"
    )
    assert possible == ("xgboost_2pct is the only possible best decision, treating everyone or no one included (95%).")
    assert "xgboost_2pct is shown to cost less than treating everyone (by at least" in " ".join(result.conclusion)
    assert idle == (
        "In this range logistic_minimal, logistic_+_density and xgboost practically act like treating no one."
    )


def test_two_solar_flare_forecasters_do_not_really_differ(load_data):
    data = load_data("solar_flares_c1/solar_flares_c1")
    result = evaluate(data["y"], data[["NICT", "NOAA", "CLIM120"]], costs=(0.1, 0.6))
    _, possible, probable, *_ = result.conclusion
    assert possible == "The best decision, treating everyone or no one included, is among NICT and NOAA (95%)."
    assert probable.startswith("NOAA is the best decision with probability 7")
    assert "NOAA is shown to cost less than treating everyone" in " ".join(result.conclusion)


def test_naive_bayes_cells_lose_and_are_badly_calibrated(load_data):
    data = load_data("tidymodels_predictions/cell_segmentation_two_models")
    models = data.drop(columns="class")
    result = evaluate(data["class"], models, costs=(0.2, 0.7), pos_label="good")
    text = " ".join(result.conclusion)
    assert "logistic" in result.ranking[0]
    assert f"{result.ranking[0]} is the only possible best decision" in text
    worse = result[result.ranking[1]].decomposition
    assert worse.miscalibration > 3 * result.best.decomposition.miscalibration
