"""empulse: expected maximum profit of churn and credit, and costs and savings with amounts by row."""

import numpy as np
from empulse import metrics

from conformance._inputs import load
from conformance._record import Record

CHURN = [{}, {"alpha": 3, "beta": 5, "clv": 100, "incentive_cost": 8, "contact_cost": 2}]
CREDIT = [{}, {"success_rate": 0.7, "default_rate": 0.2, "roi": 0.3}]
OURS = {"alpha": "a", "beta": "b", "clv": "clv", "incentive_cost": "incentive", "contact_cost": "contact"}
OURS |= {"success_rate": "p_no_loss", "default_rate": "p_full_loss", "roi": "roi"}
ADMINISTRATION = 20.0


def main():
    """Write the values."""
    record = Record("empulse")
    for name in ("calibrated", "overconfident", "rare", "tied", "cells"):
        data = load(name)
        for kind, function, settings in (("churn", metrics.empc_score, CHURN), ("credit", metrics.empcs_score, CREDIT)):
            for arguments in settings:
                value = function(data["y"], data["p"], **arguments)
                ours = {OURS[key]: given for key, given in arguments.items()}
                asked = {"kind": kind, "tolerance": 1e-6, "arguments": arguments, **ours}
                record.add(function.__name__, name, "profit", value, **asked)
        if "amount" not in data:
            continue
        cost = {"fp_cost": ADMINISTRATION, "tp_cost": ADMINISTRATION, "fn_cost": data["amount"], "tn_cost": 0.0}
        acted = (data["p"] * data["amount"] >= ADMINISTRATION).astype(int)
        for read, function in (("cost", metrics.cost_loss), ("savings", metrics.savings_score)):
            value = function(data["y"], acted, **cost)
            arguments = {"fp_cost": ADMINISTRATION, "tp_cost": ADMINISTRATION, "fn_cost": "amount"}
            asked = {"read": read, "false_positive": ADMINISTRATION, "arguments": arguments}
            record.add(function.__name__, name, "amounts", np.asarray(value), **asked)
    record.write()


if __name__ == "__main__":
    main()
