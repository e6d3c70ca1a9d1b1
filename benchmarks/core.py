"""The main job: losses in one pass, the score table by one sort, everything else from the table."""

from dataclasses import replace

import numpy as np

import stakes
from benchmarks._rows import PEER_ROWS, Entry, Row, at_most_times, faster_than, within_memory, within_seconds
from stakes.inference import table_standard_error

BOUNDS = (0.02, 0.10)
UNIFORM, LOG_ODDS = stakes.costs.Uniform(*BOUNDS), stakes.costs.LogOddsUniform(*BOUNDS)
THRESHOLDS = np.linspace(0.005, 0.5, 100)
SCORE_GRID = np.linspace(0.01, 0.5, 200)
MEMORY = within_memory(4)


def ours(call, run, **options):
    return Entry("stakes", call, run, **options)


def sklearn_metric(name, **options):
    def run(inputs):
        from sklearn import metrics

        return getattr(metrics, name)(inputs.y, inputs.score, sample_weight=inputs.weight)

    return Entry("scikit-learn", name, run, answer=float, **options)


def briertools_score(scorer, bounds):
    def run(inputs):
        import briertools

        return getattr(briertools, scorer)().score(inputs.y, inputs.score, threshold_range=bounds)

    return Entry("briertools", f"{scorer}().score", run, answer=float, max_rows=PEER_ROWS)


def brier(bounds=(0.0, 1.0)):
    def run(inputs):
        return stakes.bounded_brier_loss(inputs.y, inputs.score, sample_weight=inputs.weight, bounds=bounds)

    return ours("bounded_brier_loss", run, answer=float)


def log_loss(bounds=(0.0, 1.0)):
    return ours(
        "bounded_log_loss", lambda inputs: stakes.bounded_log_loss(inputs.y, inputs.score, bounds=bounds), answer=float
    )


def build_table(inputs):
    return stakes.ScoreTable.from_predictions(inputs.y, inputs.score, sample_weight=inputs.weight)


FROM_PREDICTIONS = ours("ScoreTable.from_predictions", build_table)
SORT = Entry("numpy", "sort of the scores", lambda inputs: np.sort(inputs.score))
STABLE_ARGSORT = Entry("numpy", "argsort of the scores", lambda inputs: np.argsort(inputs.score, kind="stable"))


def everything(table):
    table = replace(table)  # without the values that an earlier question left behind
    curves = [question(table) for question in (stakes.regret_curve, stakes.net_benefit_curve, stakes.reliability_curve)]
    terms = [stakes.decompose(table, costs=costs) for costs in (UNIFORM, LOG_ODDS)]
    errors = [table_standard_error(table, costs, "score") for costs in (UNIFORM, LOG_ODDS)]
    return curves, terms, errors, stakes.metrics.roc_auc_score(table)


def evaluations(table):
    table = replace(table)
    return [stakes.evaluate(table, costs=costs) for costs in (UNIFORM, LOG_ODDS)]


EVERYTHING = ours("3 curves, 2 decompositions, 2 errors, AUC", everything, prepare=build_table)
EVALUATE = ours("evaluate, 2 cost ranges", evaluations, prepare=build_table)


def isotonic_fit(inputs):
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(out_of_bounds="clip").fit(inputs.score, inputs.y)


RELIABILITY = ours(
    "reliability_curve",
    lambda inputs: stakes.reliability_curve(inputs.y, inputs.score),
    answer=lambda curve: curve.at(SCORE_GRID),
)
ISOTONIC = Entry(
    "scikit-learn",
    "IsotonicRegression.fit",
    isotonic_fit,
    answer=lambda model: model.predict(SCORE_GRID),
    max_rows=PEER_ROWS,
)


def dcurves_frame(inputs):
    import pandas as pd

    return pd.DataFrame({"outcome": inputs.y, "risk": inputs.score})


def dcurves_net_benefit(frame):
    from dcurves import dca

    return dca(data=frame, outcome="outcome", modelnames=["risk"], thresholds=THRESHOLDS)


NET_BENEFIT = ours(
    "net_benefit_curve().at",
    lambda inputs: stakes.net_benefit_curve(inputs.y, inputs.score).at(THRESHOLDS),
    answer=list,
)
DCURVES = Entry(
    "dcurves",
    "dca",
    dcurves_net_benefit,
    prepare=dcurves_frame,
    answer=lambda frame: frame.loc[frame["model"] == "risk", "net_benefit"],
    max_rows=PEER_ROWS,
)

AUC = ours("roc_auc_score", lambda inputs: stakes.metrics.roc_auc_score(inputs.y, inputs.score), answer=float)

ROWS = (
    Row(
        "bounded_brier_loss",
        brier(),
        (sklearn_metric("brier_score_loss"), briertools_score("BrierScorer", (0.0, 1.0))),
        goals=(within_seconds(0.25), faster_than("scikit-learn", 6), MEMORY),
    ),
    Row(
        "bounded_brier_loss, weighted",
        brier(),
        (sklearn_metric("brier_score_loss", max_rows=PEER_ROWS),),
        weighted=True,
    ),
    Row("bounded_brier_loss, 2 to 10%", brier(BOUNDS), (briertools_score("BrierScorer", BOUNDS),)),
    Row(
        "bounded_log_loss",
        log_loss(),
        (sklearn_metric("log_loss", max_rows=PEER_ROWS), briertools_score("LogLossScorer", None)),
    ),
    Row("bounded_log_loss, 2 to 10%", log_loss(BOUNDS), (briertools_score("LogLossScorer", BOUNDS),)),
    Row(
        "ScoreTable",
        FROM_PREDICTIONS,
        (SORT,),
        goals=(within_seconds(1.5), at_most_times("numpy", "np.sort of the scores", 2.2), MEMORY),
    ),
    Row("ScoreTable, tied", FROM_PREDICTIONS, (SORT,), tied=True, goals=(MEMORY,)),
    Row("ScoreTable, weighted", FROM_PREDICTIONS, (STABLE_ARGSORT,), weighted=True, goals=(MEMORY,)),
    Row("everything from the table", EVERYTHING, goals=(within_seconds(1.5), MEMORY)),
    Row("everything from the table, weighted", EVERYTHING, weighted=True, goals=(MEMORY,)),
    Row("evaluate from the table", EVALUATE),
    Row("roc_auc_score", AUC, (sklearn_metric("roc_auc_score", max_rows=PEER_ROWS),)),
    Row("reliability curve", RELIABILITY, (ISOTONIC,)),
    Row("net benefit at 100 thresholds", NET_BENEFIT, (DCURVES,)),
)
