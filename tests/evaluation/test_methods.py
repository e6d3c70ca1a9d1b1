"""The methods paragraph says what was computed and nothing else, and cites what it says."""

import re

import numpy as np
import pytest

from stakes import costs, evaluate

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
