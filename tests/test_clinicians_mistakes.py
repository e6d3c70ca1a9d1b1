"""Honest mistakes in a validation study: each is met by a sentence that names what was passed and what to do."""

import numpy as np
import pytest

from stakes import PartlyVerified, TimeToEvent, compare, evaluate, metric_interval, net_benefit_curve, net_benefit_score
from stakes.correction import update
from stakes.evaluation import evaluate_centres, evaluate_horizons
from stakes.inference import calibration_summary, confidence_band, integrated_metric, random_effects
from stakes.outcomes import Imputed

RNG = np.random.default_rng(0)
N = 300
X = RNG.normal(size=N)
EVENT_AT, LEFT_AT = RNG.exponential(np.exp(1.5 - X)), RNG.uniform(0.0, 9.0, N)
YEARS, STATUS = np.minimum(EVENT_AT, LEFT_AT), (EVENT_AT <= LEFT_AT).astype(int)
RISKS = np.stack([1.0 - np.exp(-h * np.exp(X - 1.5)) for h in (1, 3)], axis=1)
RISK, SITE = RISKS[:, 1], np.repeat([1, 2, 3], 100)
ILL = RNG.random(N) < RISK
GAP = np.where(X > 2.0, np.nan, 1.0)  # some are missing
FOLLOWED = TimeToEvent(event=STATUS, time=YEARS, horizon=3.0)


def followed(**changed):
    return TimeToEvent(**{"event": STATUS, "time": YEARS, "horizon": 3.0} | changed)


def over(**changed):
    given = {"outcome": FOLLOWED, "y_prob": {"a": RISKS}, "horizons": [1, 3]} | changed
    return evaluate_horizons(given.pop("outcome"), given.pop("y_prob"), **given)


def centres(**changed):
    given = {"y_true": ILL, "y_prob": {"a": RISK}, "centres": SITE} | changed
    return evaluate_centres(given.pop("y_true"), given.pop("y_prob"), given.pop("centres"), **given)


# The call, then what its error must say: the argument or the value, and the remedy.
REFUSED = {
    "horizon in days, times in years": (lambda: followed(horizon=1825), "1825 lies beyond.*8.9.*same unit"),
    "horizon after the last patient": (lambda: followed(horizon=12), "12 lies beyond.*8.9.*Pass an earlier one"),
    "several horizons at once": (lambda: followed(horizon=[1, 3]), r"one time, got \[1, 3\]: .* evaluate_horizons"),
    "horizon with its unit": (lambda: followed(horizon="5 years"), "horizon must be a number, got '5 years'"),
    "horizon 0": (lambda: followed(horizon=0), "horizon must be a finite number > 0, got 0"),
    "status 1 and 2 as in R": (lambda: followed(event=STATUS + 1), r"no code 0.*1, 2.*pass censored=1"),
    "status 1 and 2, death is 2": (lambda: followed(event=STATUS + 1, cause=2), "no code 0.*pass censored=1"),
    "alive and dead": (lambda: followed(event=np.where(STATUS == 1, "dead", "alive")), "'alive', 'dead'.*cause="),
    "a second cause": (lambda: followed(event=np.where(X > 1.0, 2, STATUS)), r"causes, 1 \(.*pass cause="),
    "a cause that nobody had": (lambda: followed(cause=3), "cause.*occur, got 3: event holds 0, 1"),
    "time and event swapped": (lambda: followed(event=YEARS, time=STATUS), "event must hold whole codes"),
    "times before the start": (lambda: followed(time=YEARS - 0.5), "time must be finite and >= 0, got -0.0"),
    "missing times": (lambda: followed(time=YEARS * GAP), "time must be finite.*got nan at index"),
    "missing status": (lambda: followed(event=STATUS * GAP), "event must not be missing, got .* the first at"),
    "times and status of two tables": (lambda: followed(time=YEARS[1:]), "same length, got shapes"),
    "strata of another table": (lambda: followed(groups=SITE[1:]), "groups must have one value for each of the 300"),
    "dates for times": (
        lambda: followed(time=np.array(["2020-01-01"] * N, dtype="datetime64[D]")),
        "count time in numbers, such as days since",
    ),
    "risks in percent": (lambda: evaluate(FOLLOWED, 100.0 * RISK), r"\[0, 1\].*percentages, divide by 100"),
    "the linear predictor": (lambda: evaluate(FOLLOWED, X), "y_prob must lie in.*logits=True"),
    "missing risks": (lambda: evaluate(FOLLOWED, RISK * GAP), "y_prob must be finite, got nan at index"),
    "risks of another table": (lambda: evaluate(FOLLOWED, RISK[1:]), "length"),
    "decimal commas": (lambda: evaluate(ILL, ["0,5"] * N), "'0,5'.*decimal comma.*as a number it is 0.5"),
    "weights beside follow-up": (
        lambda: evaluate(FOLLOWED, RISK, sample_weight=np.ones(N)),
        "sample_weight belongs to the outcome: pass it to TimeToEvent",
    ),
    "labels yes and no": (lambda: evaluate(np.where(ILL, "yes", "no"), RISK), "'no', 'yes': pass pos_label="),
    "labels 1 and 2": (lambda: evaluate(ILL + 1, RISK), "1, 2: pass pos_label="),
    "missing labels": (lambda: evaluate(np.where(X > 2.0, None, ILL), RISK), "y_true must not be missing"),
    "nobody ill": (lambda: evaluate(np.zeros(N), RISK), "both classes, got 300 rows that are all negative"),
    "thresholds in percent": (lambda: evaluate(ILL, RISK, costs=(5, 20)), r"5 to 20% is \(0.05, 0.2\)"),
    "a threshold in percent": (lambda: net_benefit_score(ILL, RISK, threshold=20), "got 20; 20% is 0.2"),
    "thresholds as text": (lambda: evaluate(ILL, RISK, costs="5%-20%"), r"numbers, not text, such as \(0.02, 0.10\)"),
    "a ratio of costs": (lambda: evaluate(ILL, RISK, costs=4), r"costs must lie in \[0, 1\], got 4"),
    "the larger threshold first": (lambda: evaluate(ILL, RISK, costs=(0.3, 0.1)), "smaller one comes first"),
    "the prevalence in percent": (lambda: evaluate(ILL, RISK, prevalence=20), "got 20; 20% is 0.2"),
    "columns of a table in percent": (lambda: evaluate(ILL, RISK).clinical_table([10, 20]), "got 10.*10% is 0.1"),
    "a table of seven thresholds": (
        lambda: evaluate(ILL, RISK).clinical_table(np.linspace(0.1, 0.7, 7)),
        "at most 6 for a table, got 7",
    ),
    "a confidence of 95": (lambda: metric_interval(ILL, RISK, "roc_auc_score", confidence_level=95), "95% is 0.95"),
    "AUC by its short name": (lambda: metric_interval(ILL, RISK, "auc"), "did you mean 'roc_auc_score'"),
    "Brier by its short name": (lambda: metric_interval(ILL, RISK, "brier"), "did you mean 'bounded_brier_loss'"),
    "one column for two horizons": (lambda: over(y_prob={"a": RISK}), r"y_prob\['a'\].*each of the 2 horizons"),
    "survival for risk, over time": (lambda: over(y_prob={"a": 1.0 - RISKS}), r"must not fall.*1 - S\(t\)"),
    "horizons from the last": (lambda: over(horizons=[3, 1]), r"ascending times, got \[3, 1\]"),
    "status in place of follow-up": (lambda: over(outcome=STATUS), "outcome must be a TimeToEvent, got ndarray"),
    "treatment threshold in percent": (lambda: over(threshold=30), "got 30; 30% is 0.3"),
    "a horizon nobody reached": (lambda: over(horizons=[1, 12]), "12 lies beyond.*8.9.*Pass an earlier one"),
    "one horizon to integrate": (
        lambda: integrated_metric(FOLLOWED, RISK, "bounded_brier_loss", horizons=[3]),
        r"two or more ascending times, got \[3\]",
    ),
    "patients' numbers for centres": (lambda: centres(centres=np.arange(N)), "several rows each, got 300 in 300"),
    "missing centres": (lambda: centres(centres=np.where(X > 2.0, None, SITE)), "centres must not be missing"),
    "a centre without events": (lambda: centres(y_true=ILL & (SITE != 2)), "rows of 2, none.*leave such centres out"),
    "one model without its name": (lambda: centres(y_prob=RISK), "map the names of models"),
    "two centres to pool": (lambda: random_effects([0.1, 0.2], [0.1, 0.1]), "at least 3 of them"),
    "one imputation": (lambda: evaluate(ILL, Imputed([RISK])), "two or more columns.*got 1"),
    "imputations to a test of two models": (
        lambda: compare(ILL, Imputed([RISK, RISK**0.9]), RISK, costs=0.2),
        "elsewhere pass one column, or pool the values and standard errors",
    ),
    "updating with follow-up": (lambda: update(FOLLOWED, RISK), "weights as known.*Pass the labels"),
    "chances of verification in percent": (
        lambda: PartlyVerified(np.where(X > 0.0, ILL, np.nan), probability=np.full(N, 50.0)),
        "probability.*50",
    ),
    "bands of a reliability curve with censoring": (
        lambda: confidence_band(FOLLOWED, RISK, "reliability"),
        'kind="smooth"',
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_mistake_is_met_by_its_remedy(name):
    call, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence):
        call()


# What cannot be refused, for it may be meant, and the finding that asks.
ASKED = {
    "times in days, horizon in years": (
        lambda: evaluate(followed(time=365.25 * YEARS), RISK),
        "calibration-in-the-large",
    ),
    "survival for risk": (lambda: evaluate(FOLLOWED, 1.0 - RISK), "looks-like-survival"),
    "decisions for risks": (lambda: evaluate(ILL, (RISK > 0.5).astype(float)), "hard-labels"),
    "the columns of predict_proba swapped": (lambda: evaluate(ILL, 1.0 - RISK), "inverted"),
    "censored patients left out": (
        lambda: evaluate(
            TimeToEvent(event=STATUS[STATUS == 1], time=YEARS[STATUS == 1], horizon=3.0), RISK[STATUS == 1]
        ),
        "nobody-censored",
    ),
    "a risk that does not tell them apart": (lambda: evaluate(FOLLOWED, np.full(N, 0.3)), "constant"),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_mistake_that_may_be_meant_is_asked_about(name):
    call, finding = ASKED[name]
    assert finding in {found.code for found in call().findings}


def test_there_are_fifty_and_what_is_right_passes():
    assert len(REFUSED) + len(ASKED) >= 50
    assert calibration_summary(FOLLOWED, RISK).n_rows > 0
    assert net_benefit_curve(FOLLOWED, RISK).at(0.3) > 0.0
    assert over().horizons.tolist() == [1.0, 3.0]
    assert len(centres().sizes) == 3
