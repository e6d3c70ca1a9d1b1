"""Likely mistakes: each is answered in our own words, with the name of the argument."""

import numpy as np
import pytest

from stakes import RowCosts
from stakes.training import (
    Checkpoint,
    EarlyStopping,
    HBlockSplit,
    MetricMonitor,
    compare_monitors,
    lightgbm_metric,
    segment_windows,
    xgboost_metric,
)

HISTORY = {"f1": [0.2, 0.5, 0.4], "brier": [0.5, 0.3, 0.4]}
LOWER = {"brier": "lower"}
AMOUNTS = RowCosts([0, 1], false_positive=5, false_negative=[15, 45])


def compared(history=HISTORY, criteria=LOWER, **options):
    return compare_monitors(history, criteria=criteria, **options)


def differences(*given, **options):
    return compared(HISTORY | {"seed": [1, 1, 2]}, run="seed").differences(*given, **options)


MISTAKES = [
    ("metric", lambda: MetricMonitor(len)),
    ("metric", lambda: xgboost_metric(3)),
    ("metric", lambda: lightgbm_metric(["roc_auc_score"])),
    ("bounds", lambda: xgboost_metric("bounded_brier_loss", bounds="0.1:0.3")),
    ("outcome", lambda: xgboost_metric("money", outcome=3)),
    ("outcome", lambda: lightgbm_metric("money", outcome="RowCosts")),
    ("outcome", lambda: lightgbm_metric("money", outcome={"valid": AMOUNTS})),
    ("pos_label", lambda: MetricMonitor("money", pos_label=0).update(AMOUNTS, [0.2, 0.3])),
    ("sample_weight", lambda: MetricMonitor("money").update(AMOUNTS, [0.2, 0.3], [1, 2])),
    ("false_positive", lambda: MetricMonitor("money", false_positive=5, false_negative=3).update(AMOUNTS, [0.2, 0.3])),
    ("bounds", lambda: MetricMonitor("bounded_brier_loss", bounds=(0.3, 0.1))),
    ("bounds", lambda: MetricMonitor("bounded_brier_loss", bounds=(2, 10))),
    ("costs", lambda: MetricMonitor("expected_regret", costs="x")),
    ("y_true", lambda: MetricMonitor("bounded_brier_loss").update([0.2, 0.3, 0.4], [0, 1, 1])),
    ("y_prob", lambda: MetricMonitor("bounded_brier_loss").update([0, 1], [20, 70])),
    ("labels", lambda: MetricMonitor(labels=[0, 1, 2]).update([2], [[0.6, 0.4]])),
    ("other", lambda: MetricMonitor().merge("x")),
    ("patience", lambda: EarlyStopping(patience="5")),
    ("patience", lambda: EarlyStopping(patience=float("inf"))),
    ("min_delta", lambda: EarlyStopping(min_delta="0.1")),
    ("restore_best", lambda: EarlyStopping(restore_best="no")),
    ("history", lambda: EarlyStopping(history=0.5)),
    ("history", lambda: EarlyStopping(history="0.5")),
    ("value of an epoch", lambda: EarlyStopping().step("0.5")),
    ("value of an epoch", lambda: EarlyStopping().step(np.array([0.5, 0.4]))),
    ("model", lambda: EarlyStopping().step(0.5, "model.pt")),
    ("folder", lambda: Checkpoint(None)),
    ("which", lambda: Checkpoint("nowhere").load(1)),
    ("state", lambda: Checkpoint("nowhere").step(0.5, [1])),
    ("value of an epoch", lambda: Checkpoint("nowhere").step("a", {})),
    ("report", lambda: compared(HISTORY | {"epoch": [1, 2, 3]}, report=["epoch"])),
    ("n_blocks", lambda: HBlockSplit("5")),
    ("gap", lambda: HBlockSplit(gap=0.1)),
    ("X", lambda: next(HBlockSplit().split(10))),
    ("X", lambda: next(HBlockSplit().split(np.array(3)))),
    ("groups", lambda: next(HBlockSplit(2).split(range(4), groups=3))),
    ("groups", lambda: next(HBlockSplit(2).split(range(4), groups=[1.0, 1.0, np.nan, np.nan]))),
    ("groups", lambda: next(HBlockSplit(2).split(range(4), groups=[1, "a", None, 2]))),
    ("width", lambda: segment_windows([0, 1], width="2")),
    ("rows", lambda: segment_windows([True, False], width=1)),
    ("rows", lambda: segment_windows(5, width=1)),
    ("groups", lambda: segment_windows([0, 1], width=1, groups=3)),
    ("criteria", lambda: compared(criteria=3)),
    ("criteria", lambda: compared(criteria=[["brier"]])),
    ("criteria", lambda: compared(criteria={"brier": ["lower"]})),
    ("history", lambda: compared([0.5, 0.4])),
    ("f1", lambda: compared({"f1": ["a", "b"], "brier": [1, 2]})),
    ("target", lambda: compared(target=["f1"])),
    ("report", lambda: compared(report="f1")),
    ("patience", lambda: compared(patience="2")),
    ("run", lambda: compared(run=["seed"])),
    ("baseline", lambda: differences(["brier"])),
    ("confidence_level", lambda: differences("brier", confidence_level=95)),
    ("confidence_level", lambda: differences("brier", confidence_level="0.9")),
]


@pytest.mark.parametrize(("name", "call"), MISTAKES)
def test_message_names_the_argument(name, call):
    with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b.*must|must.*\b{name}\b"):
        call()
