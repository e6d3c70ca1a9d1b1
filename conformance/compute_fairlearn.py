"""fairlearn: rates of decisions at a threshold in each of three groups, weighted and not."""

from fairlearn import metrics

from conformance._inputs import load
from conformance._record import Record

RATES = {
    "share_flagged": metrics.selection_rate,
    "sensitivity": metrics.true_positive_rate,
    "specificity": metrics.true_negative_rate,
}
CUTS = (0.2, 0.4)


def make():
    """Return the values."""
    record = Record("fairlearn")
    for name in ("calibrated", "overconfident", "tied", "weighted", "tied-weighted"):
        data = load(name)
        weights = {"sample_weight": data["w"]} if "w" in data else None
        asked = {"weighted": True} if "w" in data else {}
        for cut in CUTS:
            acted = (data["p"] >= cut).astype(int)
            for column, function in RATES.items():
                frame = metrics.MetricFrame(
                    metrics=function,
                    y_true=data["y"],
                    y_pred=acted,
                    sensitive_features=data["amount"] % 3,
                    sample_params=weights,
                )
                values = frame.by_group.to_numpy()
                function_name = f"MetricFrame, {function.__name__}"
                record.add(function_name, name, "grouped", values, threshold=cut, column=column, **asked)
    return record


if __name__ == "__main__":
    make().write()
