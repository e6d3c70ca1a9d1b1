"""The plain-language conclusion on three real data sets, one of them without a real difference."""

from stakes import costs, evaluate


def test_breast_cancer_risks_only_one_model_does_anything(load_data):
    data = load_data("bcsc_predictions/bcsc_predictions")
    names = ["logistic_minimal", "logistic_+_density", "xgboost", "xgboost_2pct"]
    result = evaluate(data["cancer"], data[names], costs=(costs.from_odds(0.0166), costs.from_odds(0.03)))
    assert result.conclusion[0].startswith("USE xgboost_2pct. ")
    assert result.conclusion[1].startswith("xgboost_2pct costs ")
    assert result.selection.possible == ("xgboost_2pct",)
    assert "Shown (95%, all at once): xgboost_2pct costs less than every other" in " ".join(result.conclusion)
    (idle,) = [found for found in result.answer.findings if found.code == "acts-like-constant"]
    assert set(idle.models) == {"logistic_minimal", "logistic_+_density", "xgboost"}


def test_two_solar_flare_forecasters_do_not_really_differ(load_data):
    data = load_data("solar_flares_c1/solar_flares_c1")
    result = evaluate(data["y"], data[["NICT", "NOAA", "CLIM120"]], costs=(0.1, 0.6))
    assert result.conclusion[0] == "These rows cannot tell NOAA from NICT."
    said = " ".join(result.conclusion)
    assert "Shown (95%, all at once): NOAA costs less than CLIM120 and treating everyone or no one" in said
    assert "Not shown: that NOAA costs less than NICT" in said
    assert "probability" not in said


def test_naive_bayes_cells_lose_and_are_badly_calibrated(load_data):
    data = load_data("tidymodels_predictions/cell_segmentation_two_models")
    models = data.drop(columns="class")
    result = evaluate(data["class"], models, costs=(0.2, 0.7), pos_label="good")
    text = " ".join(result.conclusion)
    assert "logistic" in result.ranking[0]
    assert text.startswith(f"USE {result.ranking[0]}. {result.ranking[1]} costs ")
    worse = result[result.ranking[1]].decomposition
    assert worse.miscalibration > 3 * result.best.decomposition.miscalibration
