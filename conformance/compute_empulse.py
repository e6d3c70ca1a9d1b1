"""empulse: expected maximum profit of churn and credit, and costs and savings with amounts by row."""

import numpy as np
from empulse import metrics
from empulse.models import CSThresholdClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

from conformance._inputs import load
from conformance._record import Record

CHURN = [{}, {"alpha": 3, "beta": 5, "clv": 100, "incentive_cost": 8, "contact_cost": 2}]
CREDIT = [{}, {"success_rate": 0.7, "default_rate": 0.2, "roi": 0.3}]
OURS = {"alpha": "a", "beta": "b", "clv": "clv", "incentive_cost": "incentive", "contact_cost": "contact"}
OURS |= {"success_rate": "p_no_loss", "default_rate": "p_full_loss", "roi": "roi"}
# what a false alarm and a true one cost; a miss costs the row's amount; scores of a digit lie at the threshold of some,
# and a call for 60 never pays where the amount is less
MATRICES = [(20.0, 20.0), (50.0, 0.0), (10.0, 20.0), (60.0, 60.0), (2.5, -15.0)]


class _Given(ClassifierMixin, BaseEstimator):
    """Takes the scores as they are."""

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def make():
    """Return the values."""
    record = Record("empulse")
    for name in ("calibrated", "overconfident", "rare", "tied", "cells"):
        data = load(name)
        for kind, function, settings in (("churn", metrics.empc_score, CHURN), ("credit", metrics.empcs_score, CREDIT)):
            for arguments in settings:
                value = function(data["y"], data["p"], **arguments)
                ours = {OURS[key]: given for key, given in arguments.items()}
                asked = {"kind": kind, "tolerance": 1e-6, "arguments": arguments, **ours}
                record.add(function.__name__, name, "profit", value, **asked)
        for fraction in (0.1, 0.25, 0.5):
            value = metrics.lift_score(data["y"], data["p"], fraction=fraction)
            asked = {"name": "lift_curve", "at": [fraction], "arguments": {"fraction": fraction}}
            record.add("lift_score", name, "curve", value, **asked)
        if "amount" not in data:
            continue
        for alarm, found in MATRICES:
            cost = {"fp_cost": alarm, "tp_cost": found, "fn_cost": data["amount"], "tn_cost": 0.0}
            rule = CSThresholdClassifier(_Given(), calibrator=None).fit(data["p"].reshape(-1, 1), data["y"])
            acted = rule.predict(data["p"].reshape(-1, 1), **cost)
            for read, function in (("cost", metrics.cost_loss), ("savings", metrics.savings_score)):
                arguments = {"fp_cost": alarm, "tp_cost": found, "fn_cost": "amount"}
                asked = {"read": read, "false_positive": alarm, "true_positive": found, "arguments": arguments}
                record.add(function.__name__, name, "amounts", function(data["y"], acted, **cost), **asked)
    return record


if __name__ == "__main__":
    make().write()
