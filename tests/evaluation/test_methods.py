"""The methods paragraph says what was computed and nothing else, and cites what it says."""

import re

import numpy as np
import pytest

from stakes import PartlyVerified, RowCosts, TimeToEvent, costs, evaluate

RNG = np.random.default_rng(2)
Q = RNG.beta(1, 5, 600)
Y = RNG.random(600) < Q
MODELS = {"a": Q, "b": np.sqrt(Q)}


@pytest.mark.parametrize(
    ("options", "said", "unsaid"),
    [
        (
            {"costs": (0.1, 0.3)},
            "from 10% to 30% that count alike; ",
            "clusters|Holm|hindsight|weighted|log-odds",
        ),
        ({"costs": costs.LogOddsUniform(0.1, 0.3)}, "count alike on the log-odds scale", "hindsight"),
        ({"costs": 0.2}, "at a threshold of 20%; ", "averaged over thresholds"),
        ({"costs": (0.1, 0.3), "clusters": np.arange(600) // 3}, "leaving out clusters in turn", "in order of time"),
        ({"costs": (0.1, 0.3), "lags": "auto"}, "by slow cosines", "clusters"),
        ({"costs": (0.1, 0.3), "lags": 5}, "by 5 lags", "cosines"),
        ({"costs": (0.1, 0.3), "rule": "optimal"}, "in hindsight", "Student|multiple comparisons"),
        ({"costs": (0.1, 0.3), "rule": 0.25}, "reached 0.25, whatever the threshold", "hindsight"),
        ({"costs": (0.1, 0.3), "prevalence": 0.02}, "2% of them positive \\(stated", "weighted rows"),
        ({"costs": (0.1, 0.3), "sample_weight": RNG.integers(1, 3, 600)}, "600 weighted rows", "stated"),
        ({"costs": (0.1, 0.3), "groups": {"site": np.arange(600) % 2}}, "adjusted after Holm", "clusters"),
        ({"costs": (0.1, 0.3), "n_tried": 12}, "of 12 that were tried", "hindsight"),
        ({"costs": 0.2}, "when its predicted risk reached the threshold\\. ", "one at the threshold"),
        (
            {"costs": costs.Fixed(0.2, tie=0.0)},
            "when its predicted risk exceeded the threshold; one at the threshold counted as not acted on\\. ",
            "reached the threshold",
        ),
        ({"costs": costs.Fixed(0.2, tie=0.5)}, "exceeded the threshold; one at .* as 50% acted on", "reached the"),
        (
            {"costs": (0.1, 0.3), "groups": {"site": np.arange(600) % 2}, "rule": "optimal"},
            "Subgroups were compared with all other rows\\. ",
            "p-values|Holm",
        ),
        (
            {"costs": (0.1, 0.3), "prevalence": 0.02, "sample_weight": RNG.integers(1, 3, 600)},
            "600 weighted rows, 2% of them positive \\(stated",
            "Holm",
        ),
        (
            {"costs": (0.1, 0.3), "clusters": np.arange(600) // 2},
            "has the variance of its placements \\[\\d+\\] over clusters and an interval of Wilson's form",
            "variance of DeLong",
        ),
        ({"costs": (0.1, 0.3), "lags": 2}, "placements \\[\\d+\\] over rows in order and", "variance of DeLong"),
        ({"costs": (0.1, 0.3), "prevalence": 0.02, "sample_weight": np.ones(600)}, "on 600 rows, 2%", "weighted rows"),
    ],
)
def test_paragraph_follows_what_was_asked_for(options, said, unsaid):
    text = evaluate(Y, MODELS, **options).methods()
    assert re.search(said, text)
    assert not re.search(unsaid, text)
    paragraph, _, title, *references = text.split("\n")
    assert title == "References"
    cited = list(dict.fromkeys(re.findall(r"\[(\w+)\]", paragraph)))
    assert cited == [str(k) for k in range(1, len(references) + 1)]
    assert all(line.startswith(f"{k}. ") for k, line in enumerate(references, start=1))


def test_calibration_is_in_it_only_where_it_is_reported():
    evaluation = evaluate(Y, Q, costs=(0.1, 0.3))
    assert "Integrated Calibration Index" in evaluation.methods()
    assert "alibration" not in evaluation.methods(calibration=False).replace("miscalibration", "").replace(
        "recalibr", ""
    )


def test_the_area_of_partly_verified_rows_has_no_variance_of_delong():
    seen = np.where((Q < 0.3) & (np.arange(600) % 2 == 0), np.nan, Y)
    text = evaluate(PartlyVerified(seen, groups=Q < 0.3), Q, costs=(0.1, 0.3)).methods()
    assert "has the variance of its weighted placements and an interval of Wilson's form" in text
    assert "DeLong" not in text


def followed(**options):
    rng = np.random.default_rng(0)
    event, left = rng.exponential(3.0 / (Q + 0.1)), rng.exponential(12.0, 600)
    status = np.where(event <= left, 1 + (rng.random(600) < 0.3) * options.pop("competing", False), 0)
    return TimeToEvent(time=np.minimum(event, left), event=status, horizon=5.0, **options)


CENSORING = {
    "by the horizon of 5, in the unit of the times",
    "is unknown",
    "inverse of the probability of being uncensored",
    "Graf E",
    "Uno H",
}
ESTIMATED = CENSORING | {"Kaplan-Meier estimate of censoring", "allow for the estimated weights"}
CENSORING_DEPENDS = "That censoring depends on nothing that bears on the event is assumed"


@pytest.mark.parametrize(
    ("outcome", "said", "unsaid"),
    [
        (followed, ESTIMATED | {"over all cases", CENSORING_DEPENDS, "1 less the Kaplan-Meier"}, "compete|DeLong"),
        (
            lambda: followed(groups=np.arange(600) % 3),
            ESTIMATED | {"within each of 3 groups", "depends on nothing in a group that bears on the event"},
            "over all cases",
        ),
        (
            lambda: followed(competing=True, cause=1),
            (ESTIMATED - {"Uno H"}) | {"the event of interest", "not as censored", "Aalen OO", "Blanche P"},
            "Uno H|less the Kaplan-Meier",
        ),
        (
            lambda: followed(censoring=np.full(600, 0.8)),
            CENSORING | {"were given and are taken as known", "depends on nothing else that bears on the event"},
            "Kaplan-Meier estimate of censoring|allow for",
        ),
        (
            lambda: PartlyVerified(np.where(np.arange(600) % 4 > 0, Y, np.nan), groups=np.arange(600) % 2),
            {"verified for 450 of 600 cases", "in their group, one of 2", "does not depend on the label", "Begg CB"},
            "Graf|given",
        ),
        (
            lambda: PartlyVerified(np.where(np.arange(600) % 4 > 0, Y, np.nan), probability=np.full(600, 0.75)),
            {"which was given and is taken as known", "depends on nothing else that bears on the label", "Begg CB"},
            "in their group",
        ),
        (
            lambda: RowCosts(followed(), false_positive=10.0, false_negative=1.0 + 50.0 * Q, unit="EUR"),
            (ESTIMATED - {"Uno H"}) | {"at stake (EUR)", "taken as known when it is decided", "Bahnsen"},
            "under the ROC",
        ),
    ],
)
def test_every_assumption_on_the_outcome_is_named(outcome, said, unsaid):
    given = outcome()
    text = evaluate(given, MODELS, **({} if isinstance(given, RowCosts) else {"costs": (0.1, 0.3)})).methods()
    assert [part for part in said if part not in text] == []
    assert not re.search(unsaid, text)
    assert type(given).__name__ not in text
    assert "Nobody was censored" in " ".join(followed().at(1e-9).methods)
