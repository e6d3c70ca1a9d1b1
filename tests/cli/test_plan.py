"""`stakes plan` gives the library's number of rows, and names what is missing."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from stakes.information import rows_needed

PLANS = {
    "auc": ({"auc": 0.8, "prevalence": 0.1, "width": 0.1}, []),
    "slope": ({"linear_predictor": (-2.6, 1.2), "width": 0.2}, ["--linear-predictor", "-2.6,1.2", "--width", "0.2"]),
    "regret": ({"standard_deviation": 0.2, "difference": 0.01, "power": 0.9}, []),
    "certificate": ({"error": 0.0, "max_error": 0.1, "power": 0.99}, []),
    "gain": ({"prevalence": 0.1, "sensitivity": 0.7, "specificity": 0.8, "threshold": 0.1, "power": 0.8}, []),
}


@pytest.mark.parametrize("target", PLANS)
def test_the_number_is_that_of_the_library(cli, target):
    settings, argv = PLANS[target]
    argv = argv or [part for key, value in settings.items() for part in ("--" + key.replace("_", "-"), str(value))]
    found = rows_needed(question=target, **settings)
    outcome = cli("plan", target, *argv)
    assert (outcome.code, " ".join(outcome.out.split())) == (0, found.sentence + ".")
    assert json.loads(cli("plan", target, *argv, "--json").out)["records"] == json.loads(found.to_json())


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["f1"], "'f1' is not one of"),
        (["auc", "--auc", "0.8"], "plan auc also needs --prevalence, --width"),
        (["regret"], "plan regret also needs --standard-deviation"),
        (["regret", "--standard-deviation", "1"], "plan regret needs either --width or --power"),
        (["regret", "--standard-deviation", "1", "--max-error", "0.1"], "plan regret takes no --max-error"),
        (["auc", "--auc", "0.8", "--prevalence", "0.1", "--width", "1e-6"], "for --width 1e-06, --prevalence 0.1"),
        (
            ["certificate", "--error", "0.2", "--max-error", "0.1", "--power", "0.8"],
            "--error must be below --max-error for a certificate, got 0.2 and 0.1",
        ),
        *(
            (
                ["certificate", "--max-error", "0.1", "--power", "0.8", "--error", typed],
                f"from 0 to 1, got '{typed}'{hint}",
            )
            for typed, hint in (
                *(
                    ("5%", "; 5% is written 0.05"),
                    ("5", "; 5% is written 0.05"),
                    ("-0.5%", "; -0.5% is written -0.005"),
                ),
                *(("-1", ""), ("101", ""), ("none", "")),
            )
        ),
        (["auc", "--auc", "80"], "--auc must be a number between 0 and 1, got '80'"),
        (
            ["regret", "--standard-deviation", "1", "--width", "1", "--difference", "1"],
            "takes no --difference beside --width",
        ),
        (["regret", "--standard-deviation", "1", "--power", "0.03", "--difference", "1"], "--power must be above 0.05"),
        (["slope", "--linear-predictor", "nan,1", "--width", "0.1"], "--linear-predictor must be two finite numbers"),
        (["slope", "--linear-predictor", "1", "--width", "0.1"], "--linear-predictor must be two numbers"),
    ],
)
def test_refusals(cli, argv, message):
    outcome = cli("plan", *argv)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


@pytest.mark.parametrize("typed", ["0", "0.00", "5e-2"])
def test_no_mistakes_may_be_expected(cli, typed):
    found = rows_needed(question="certificate", error=float(typed), max_error=0.1, power=0.8)
    outcome = cli("plan", "certificate", "--error", typed, "--max-error", "0.1", "--power", "0.8")
    assert (outcome.code, " ".join(outcome.out.split())) == (0, found.sentence + ".")


def test_missing_target_is_listed_in_one_line(cli):
    outcome = cli("plan")
    assert outcome.code == 2
    assert "\\" not in outcome.err
    assert "Choose from: net_benefit, standardized_net_benefit, gain, regret, auc" in outcome.err.splitlines()[0]
