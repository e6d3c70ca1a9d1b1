"""scikit-learn: losses, ranking, confusion matrices, curves, isotonic regression."""

import warnings

import numpy as np
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

from conformance._inputs import load
from conformance._record import Record

CUTS = [0.2, 0.35, 0.6]
MEASURES = {
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "accuracy": metrics.accuracy_score,
}
ONE_CLASS = ["no positives", "no negatives"]


def _losses(record):
    for name in (
        "calibrated",
        "overconfident",
        "rare",
        "tied",
        "tied-weighted",
        "weighted",
        "cells",
        "two_class_example",
        "underconfident",
        "small",
        "weighted, some 0",
    ):
        data = load(name)
        weight = data.get("w")
        asked = {"weighted": True} if weight is not None else {}
        for function, ours in (
            (metrics.brier_score_loss, "bounded_brier_loss"),
            (metrics.log_loss, "bounded_log_loss"),
            (metrics.roc_auc_score, "roc_auc_score"),
            (metrics.d2_brier_score, "bounded_brier_skill_score"),
            (metrics.d2_log_loss_score, "bounded_log_skill_score"),
        ):
            value = function(data["y"], data["p"], sample_weight=weight)
            record.add(function.__name__, name, "metric", value, name=ours, **asked)
        value = metrics.average_precision_score(data["y"], data["p"], sample_weight=weight)
        asked = {"name": "precision_recall_curve", "read": "average_precision", **asked}
        record.add("average_precision_score", name, "of_curve", value, **asked)


def _one_class(record):
    for name in ONE_CLASS:
        y, p = load(name)["y"], load(name)["p"]
        for function, ours, given in (
            (metrics.brier_score_loss, "bounded_brier_loss", {"labels": [0, 1], "pos_label": 1}),
            (metrics.log_loss, "bounded_log_loss", {"labels": [0, 1]}),
            (metrics.roc_auc_score, "roc_auc_score", {}),
            (metrics.d2_brier_score, "bounded_brier_skill_score", {"labels": [0, 1], "pos_label": 1}),
            (metrics.d2_log_loss_score, "bounded_log_skill_score", {"labels": [0, 1]}),
        ):
            record.add(function.__name__, name, "metric", function(y, p, **given), name=ours)
        for column, values in zip(("tn", "fp", "fn", "tp"), _cells(y, p), strict=True):
            record.add("confusion_matrix", name, "counted", values, at=CUTS, column=column)
        hard = [(p >= cut).astype(int) for cut in CUTS]
        for measure, function in MEASURES.items():
            given = {"labels": [0, 1]} if function is metrics.cohen_kappa_score else {}
            values = [function(y, h, **given) for h in hard]
            record.add(function.__name__, name, "measured", values, measure=measure, at=CUTS)


def _cells(y, p, weight=None):
    """Each cell of the confusion matrix at the thresholds."""
    tables = [metrics.confusion_matrix(y, p >= cut, labels=[0, 1], sample_weight=weight) for cut in CUTS]
    return np.array(tables).reshape(len(CUTS), 4).T


def _partial_areas(record):
    for name in ("calibrated", "tied", "tied-weighted", "overconfident", "rare", "small", "weighted, some 0", "cells"):
        data = load(name)
        for most in (0.05, 0.1, 0.3, 0.7):
            value = metrics.roc_auc_score(data["y"], data["p"], max_fpr=most, sample_weight=data.get("w"))
            asked = {"weighted": True} if "w" in data else {}
            options = {"name": "partial_auc_score", "fpr_bounds": [0, most], **asked}
            record.add("roc_auc_score", name, "metric", value, arguments={"max_fpr": most}, **options)


def _confusion(record):
    for name in ("calibrated", "tied-weighted", "rare", "overconfident", "small", "weighted, some 0", "tied"):
        data = load(name)
        weight = data.get("w")
        asked = {"at": CUTS, **({"weighted": True} if weight is not None else {})}
        hard = [(data["p"] >= cut).astype(int) for cut in CUTS]
        for column, values in zip(("tn", "fp", "fn", "tp"), _cells(data["y"], data["p"], weight), strict=True):
            record.add("confusion_matrix", name, "counted", values, column=column, **asked)
        for measure, function in MEASURES.items():
            values = [function(data["y"], h, sample_weight=weight) for h in hard]
            record.add(function.__name__, name, "measured", values, measure=measure, **asked)
        values = [metrics.fbeta_score(data["y"], h, beta=2, sample_weight=weight) for h in hard]
        record.add("fbeta_score", name, "measured", values, arguments={"beta": 2}, measure="fbeta", beta=2, **asked)
        ratios = np.array([metrics.class_likelihood_ratios(data["y"], h, sample_weight=weight) for h in hard])
        record.add("class_likelihood_ratios", name, "counted", ratios[:, 0], column="lr_positive", **asked)
        record.add("class_likelihood_ratios", name, "counted", ratios[:, 1], column="lr_negative", **asked)


def _curves(record):
    for name in ("small", "tied"):
        data = load(name)
        fpr, tpr, _ = metrics.roc_curve(data["y"], data["p"], drop_intermediate=False)
        for values, read in ((fpr, "false_positive_rate"), (tpr, "true_positive_rate")):
            arguments = {"drop_intermediate": False}
            record.add("roc_curve", name, "of_curve", values, arguments=arguments, name="roc_curve", read=read)
        corners = len(metrics.roc_curve(data["y"], data["p"])[0])
        asked = {"name": "roc_curve", "read": "false_positive_rate", "count": True}
        record.add("roc_curve, number of points", name, "of_curve", corners, **asked)
        precision, recall, cuts = metrics.precision_recall_curve(data["y"], data["p"])
        for values, column in ((precision, "ppv"), (recall, "sensitivity")):
            record.add("precision_recall_curve", name, "counted", values[:-1], column=column, at=cuts.tolist())
    for name in ("calibrated", "underconfident", "overconfident", "small"):
        data = load(name)
        for bins in (4, 10):
            rate, mean = calibration_curve(data["y"], data["p"], n_bins=bins)
            for values, read in ((rate, "event_rate"), (mean, "mean_score")):
                record.add("calibration_curve", name, "binned", values, read=read, n_bins=bins, binning="uniform")
    for name in ("overconfident", "tied-weighted"):
        data = load(name)
        asked = {"weighted": True} if "w" in data else {}
        distinct = np.unique(data["p"])
        points = distinct[:: max(1, len(distinct) // 20)].tolist()
        fitted = IsotonicRegression().fit(data["p"], data["y"], sample_weight=data.get("w")).predict(points)
        record.add("IsotonicRegression", name, "curve", fitted, name="reliability_curve", at=points, **asked)


def _classes(record):
    for name in ("three-classes", "five-classes", "species", "hpc_cv"):
        data = load(name)
        labels = np.arange(data["classes"].shape[1])
        for weighted in (False, True) if "w" in data else (False,):
            weight = data["w"] if weighted else None
            asked = {"weighted": True} if weighted else {}
            given = {"sample_weight": weight, "labels": labels}
            value = metrics.log_loss(data["y"], data["classes"], **given)
            record.add("log_loss", name, "classes", value, name="penalized_log_loss", penalty=0.0, **asked)
            value = metrics.brier_score_loss(data["y"], data["classes"], **given)
            record.add("brier_score_loss", name, "classes", value, name="penalized_brier_loss", penalty=0.0, **asked)


def make():
    """Return the values."""
    warnings.simplefilter("ignore")
    record = Record("scikit-learn")
    for part in (_losses, _one_class, _partial_areas, _confusion, _curves, _classes):
        part(record)
    return record


if __name__ == "__main__":
    make().write()
