"""Time to event: weights, prevalence and errors against exact fractions, R and the complex step of the oracle."""

import math
import re

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from stakes import ScoreTable, TimeToEvent, evaluate_frame, metric_interval
from stakes.base.validation import to_array
from stakes.evaluation import evaluate_horizons
from stakes.inference import metric_difference
from stakes.metrics import METRICS
from stakes.outcomes import OutcomeColumns
from stakes.outcomes._time_to_event import Censoring, check_groups

UP = math.sqrt(750 / 749)
# R 4.2.2, survival 3.5-3 and riskRegression 2022.11.28 on df_surv, as in the reference; figures of the oracle
SINGLE, CAUSES = {"horizon": 1.5}, {"horizon": 1.5, "censored": "censor", "cause": "diagnosed with cancer"}
SMALL = {"event": [1, 0, 1, 0, 2, 0, 1, 0], "time": [1, 2, 2, 2, 3, 3, 4, 5], "horizon": 3.5, "cause": 1}
SCORE = [0.9, 0.1, 0.8, 0.3, 0.5, 0.2, 0.4, 0.3]


@pytest.fixture(scope="module")
def df_surv(load_data):
    return load_data("dcurves/df_surv")


def other_score(data):
    return 1.0 / (1.0 + np.exp(1.2 - 0.9 * data.famhistory - 0.3 * (data.marker - 0.8)))


def of_case(case, **more):
    names = ("event", "time", "horizon", "cause", "groups", "sample_weight")
    return TimeToEvent(**{name: case[name] for name in names if name in case}, **more)


def test_small_case_worked_by_hand():
    outcome = TimeToEvent(**SMALL)
    # two of six left at time 2, after the event then: (6 - 2) / 6; one of three followed further at time 3
    assert outcome.weight == pytest.approx([1, 0, 1, 0, 1.5, 0, 2.25, 2.25])
    assert outcome.y.tolist() == [True, False, True, *[False] * 5]
    assert outcome.known.tolist() == [True, False, True, False, True, False, True, True]
    assert (outcome.prevalence, outcome.at_risk, outcome.unknown_share) == (pytest.approx(0.25), 2, 0.375)


def test_weights_estimates_and_errors_are_those_of_the_reference(outcomes_reference):
    for name, case in outcomes_reference["inputs"]["survival"].items():
        expected = outcomes_reference["expected"]["survival"][name]
        if "raises" in case:
            continue
        outcome = of_case(case)
        assert outcome.weight == pytest.approx(expected["weight"], abs=1e-14), name
        assert outcome.y.astype(int).tolist() == expected["y"], name
        table = ScoreTable.from_predictions(outcome, case["score"])
        assert table.prevalence == pytest.approx(expected["table"]["prevalence"], abs=1e-14)
        assert METRICS["bounded_brier_loss"].function(table) == pytest.approx(expected["table"]["brier"], abs=1e-14)
        if expected["table"]["auc"] is not None:
            assert METRICS["roc_auc_score"].function(table) == pytest.approx(expected["table"]["auc"], abs=1e-14)


def slopes(y, score, weight):
    """Derivative of each estimate to the weight of each row, times the sum of weights, from its definition."""
    share = weight / weight.sum()
    rate = share @ y
    found = {"prevalence": y - rate, "brier": (y - score) ** 2 - share @ (y - score) ** 2}
    for t in (0.1, 0.2, 0.3):
        loss = np.where(score >= t, t * ~y, (1 - t) * y)
        found[f"regret({t})"] = loss - share @ loss
        gain = (score >= t) * np.where(y, 1.0, -t / (1 - t))
        found[f"net_benefit({t})"] = gain - share @ gain
    if 0 < rate < 1:
        above = (score[:, None] > score) + 0.5 * (score[:, None] == score)
        placed = np.where(y, above @ (share * ~y) / (1 - rate), (share * y) @ above / rate)
        area = share[y] @ placed[y] / rate
        found["auc"] = np.where(y, (placed - area) / rate, (placed - area) / (1 - rate))
    return found


def test_every_error_of_the_small_cases_is_that_of_the_reference(outcomes_reference):
    checked = 0
    for name, case in outcomes_reference["inputs"]["survival"].items():
        if "raises" in case:
            continue
        outcome, score = of_case(case), np.array(case["score"])
        v = np.array(case.get("sample_weight", np.ones(len(score))))
        own = slopes(outcome.y, score, outcome.weight)
        other = slopes(outcome.y, np.array(case["other"]), outcome.weight) if "other" in case else {}
        for label, expected in outcomes_reference["expected"]["survival"][name]["errors"].items():
            plain = label.removeprefix("difference ")
            psi = outcome.influence(own[plain] - (other[plain] if plain != label else 0.0)) * v / v.sum()
            assert math.sqrt(psi @ psi) == pytest.approx(expected["se"], rel=1e-10, abs=1e-14), (name, label)
            checked += 1
    assert checked == sum(
        len(case["errors"]) for case in outcomes_reference["expected"]["survival"].values() if case is not None
    )


def test_rows_of_length_zero_count_if_they_ended_in_an_event():
    outcome = TimeToEvent(event=[1, 0, 0, 1], time=[0, 0, 2, 1], horizon=1.5)
    assert outcome.weight == pytest.approx([1, 0, 1.5, 1.5])  # one of three at risk left at once


@pytest.mark.parametrize("horizon", [0.5, 9.0])
def test_one_class_by_the_horizon_has_losses_but_no_ranking(horizon):
    outcome = TimeToEvent(event=[1, 1, 1, 1], time=[1.0, 2.0, 2.5, 3.0], horizon=horizon)
    score, happened = np.array([0.4, 0.1, 0.2, 0.3]), horizon > 3
    assert METRICS["bounded_brier_loss"].function(outcome, score) == pytest.approx(np.mean((happened - score) ** 2))
    with pytest.warns(UndefinedMetricWarning, match="roc_auc_score"):
        assert math.isnan(METRICS["roc_auc_score"].function(outcome, score))


def test_errors_of_greenwood_and_of_aalen_and_johansen_are_those_of_survfit(outcomes_reference):
    case = outcomes_reference["inputs"]["survival"]["ties"]
    for tau, (first, second, se_first, se_second) in outcomes_reference["expected"]["r_ties"].items():
        for cause, share, error in ((1, first, se_first), (2, second, se_second)):
            outcome = of_case(case | {"horizon": float(tau), "cause": cause})
            psi = outcome.influence(outcome.y - outcome.prevalence)
            assert (outcome.prevalence, math.sqrt(psi @ psi) / len(psi)) == pytest.approx((share, error), abs=1e-14)


def test_influence_is_the_derivative_by_complex_step(outcomes_reference):
    """The weights of the oracle take complex sample weights: its whole estimate is differentiated here."""
    for case in outcomes_reference["inputs"]["survival"].values():
        if "raises" in case:
            continue
        outcome, score = of_case(case), np.array(case["score"])
        v = np.array(case.get("sample_weight", np.ones(len(score))))
        terms = (outcome.y - score) ** 2
        mean = outcome.weight @ terms / outcome.weight.sum()
        by_step = _complex_step(case, outcome, terms, v)
        assert outcome.influence(terms - mean) == pytest.approx(by_step, abs=1e-12)
        assert outcome.influence(np.ones(len(v))) == pytest.approx(np.ones(len(v)), abs=1e-14)  # the sum has no error


def _complex_step(case, outcome, terms, v):
    found = np.empty(len(v))
    for i in range(len(v)):
        z = v.astype(complex)
        z[i] += 1e-30j
        weight = z * _product_limit(case, outcome, z)
        found[i] = ((weight * terms).sum() / weight.sum()).imag / 1e-30
    return found * v.sum()


def _product_limit(case, outcome, v):
    """Inverse-probability weights straight from the definition, one censoring time after the other."""
    time, event = np.array(case["time"]), np.array(case["event"])
    groups, tau = np.array(case.get("groups", np.zeros(len(time)))), case["horizon"]
    found = outcome.known.astype(complex)
    for group in np.unique(groups):
        for u in np.unique(time[(event == 0) & (time < tau) & (groups == group)]):
            risk = (groups == group) & ((time > u) | ((time == u) & (event == 0)))
            gone = risk & (time == u)
            found[(groups == group) & (np.minimum(time, tau) > u)] /= 1 - v[gone].sum() / v[risk].sum()
    return found


def test_df_surv_has_the_estimates_and_errors_of_r(df_surv):
    outcome = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, **SINGLE)
    assert outcome.prevalence == pytest.approx(0.2201127546956282, abs=1e-15)
    assert outcome.weight.sum() == pytest.approx(750, abs=1e-11)
    error = outcome.influence(outcome.y - outcome.prevalence)
    assert math.sqrt(error @ error) / 750 == pytest.approx(0.0234013917951514, rel=1e-13)
    early = outcome.at(1)
    error = early.influence(early.y - early.prevalence)
    assert early.prevalence == pytest.approx(0.1472870677429278, abs=1e-15)
    assert math.sqrt(error @ error) / 750 == pytest.approx(0.01684555326716873, rel=1e-13)


def test_competing_causes_have_the_estimates_of_aalen_and_johansen(df_surv):
    rows = {"event": df_surv.cancer_cr, "time": df_surv.ttcancer}
    outcome = TimeToEvent(**rows, **CAUSES)
    assert outcome.prevalence == pytest.approx(0.2059572320314746, abs=1e-14)
    error = outcome.influence(outcome.y - outcome.prevalence)
    assert math.sqrt(error @ error) / 750 == pytest.approx(0.02151062502350148, rel=1e-12)
    other = TimeToEvent(**rows, **CAUSES | {"cause": "dead other causes"})
    assert other.prevalence == pytest.approx(0.1291424900674155, abs=1e-14)
    both = TimeToEvent(**rows, **CAUSES | {"cause": ["dead other causes", "diagnosed with cancer"]})
    assert 1 - both.prevalence == pytest.approx(0.6649002779011096, abs=1e-14)
    assert outcome.prevalence + other.prevalence == pytest.approx(both.prevalence, abs=1e-14)


def test_errors_of_brier_score_and_auc_are_those_of_r(df_surv):
    outcome, score = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, **SINGLE), df_surv.cancerpredmarker
    brier, area = (metric_interval(outcome, score, name) for name in ("bounded_brier_loss", "roc_auc_score"))
    assert (brier.value, area.value) == pytest.approx((0.1135693741758699, 0.8878249886398263), abs=1e-14)
    assert (brier.standard_error, area.standard_error) == pytest.approx((0.01277359935, 0.02204654172), rel=1e-5)
    outcome = TimeToEvent(event=df_surv.cancer_cr, time=df_surv.ttcancer, **CAUSES)
    brier, area = (metric_interval(outcome, score, name) for name in ("bounded_brier_loss", "roc_auc_score"))
    assert (brier.value, area.value) == pytest.approx((0.1069388912637335, 0.8853249545360778), abs=1e-14)


def test_errors_of_paired_differences_are_those_of_r(df_surv):
    outcome = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, **SINGLE)
    pair = df_surv.cancerpredmarker, other_score(df_surv)
    brier = metric_difference(outcome, *pair, "bounded_brier_loss")
    assert brier.difference == pytest.approx(-0.0471258625053766, abs=1e-14)
    assert brier.standard_error / UP == pytest.approx(0.0074785265, rel=1e-5)
    area = metric_difference(outcome, *pair, "roc_auc_score")
    assert area.difference == pytest.approx(0.1675603656316276, abs=1e-14)
    assert area.standard_error / UP == pytest.approx(0.0340512809, rel=1e-5)


@pytest.mark.parametrize("how", ["marginal", "risk_group", "score_fifths"])
@pytest.mark.parametrize("kind", ["single", "competing"])
def test_every_error_on_df_surv_is_that_of_the_oracle(outcomes_reference, df_surv, kind, how):
    score = df_surv.cancerpredmarker.to_numpy()
    fifths = np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score, "right")
    rows = {"time": df_surv.ttcancer, "groups": {"risk_group": df_surv.risk_group, "score_fifths": fifths}.get(how)}
    rows |= {"event": df_surv.cancer, **SINGLE} if kind == "single" else {"event": df_surv.cancer_cr, **CAUSES}
    errors = outcomes_reference["expected"]["df_surv"][f"1.5|{kind}|{how}"]["errors"]
    outcome, pair = TimeToEvent(**rows), (score, other_score(df_surv))
    for label, name, options in (
        ("brier", "bounded_brier_loss", {}),
        ("auc", "roc_auc_score", {}),
        ("net_benefit(0.2)", "net_benefit_score", {"threshold": 0.2}),
    ):
        own = metric_interval(outcome, score, name, **options)
        gap = metric_difference(outcome, *pair, name, **options)
        assert own.standard_error / UP == pytest.approx(errors[label]["se"], rel=1e-10)
        assert gap.standard_error / UP == pytest.approx(errors[f"difference {label}"]["se"], rel=1e-10)


def test_who_is_censored_at_the_horizon_is_a_negative(df_surv):
    cut = df_surv.ttcancer.clip(upper=1.0)
    seen = df_surv.cancer & (df_surv.ttcancer <= 1.0)
    outcome = TimeToEvent(event=seen, time=cut, horizon=1)
    assert outcome.prevalence == pytest.approx(0.1472870677429278, abs=1e-12)
    table = ScoreTable.from_predictions(outcome, df_surv.cancerpredmarker)
    assert METRICS["bounded_brier_loss"].function(table) == pytest.approx(0.0887038949667024, abs=1e-12)
    assert METRICS["roc_auc_score"].function(table) == pytest.approx(0.8454266030936716, abs=1e-12)


def test_horizon_beyond_follow_up_is_refused_and_one_after_the_last_event_is_not():
    rows = {"time": [1.0, 2.0, 2.5, 3.0], "horizon": 3.5}
    message = "horizon 3.5 lies beyond the last time anyone was followed, 3: nothing is known about 0.333 of the weight"
    with pytest.raises(ValueError, match=message):
        TimeToEvent(event=[0, 1, 1, 0], **rows)
    with pytest.raises(ValueError, match=r"followed in group 'b', 3: nothing is known about 0\.5"):
        TimeToEvent(event=[0, 1, 0, 0], groups=["a", "a", "b", "b"], time=[1, 4, 2, 3], horizon=3.5)
    with pytest.raises(ValueError, match=r"followed, 3: nothing is known about 1 of the weight"):
        TimeToEvent(event=[0, 0, 0, 0], cause=1, **rows)
    assert TimeToEvent(event=[0, 1, 0, 1], time=[1.0, 2.0, 2.5, 3.0], horizon=9).prevalence == pytest.approx(1.0)


def test_cases_of_the_reference_beyond_follow_up_are_refused_in_its_words(outcomes_reference):
    cases = outcomes_reference["inputs"]["survival"]
    refused = {name: case for name, case in cases.items() if "raises" in case}
    assert set(refused) == {"past_follow_up"}
    for case in refused.values():
        with pytest.raises(ValueError, match=re.escape(case["raises"])):
            of_case(case)
    assert of_case(cases["past_last_event"]).prevalence == 1.0


def test_without_censoring_every_result_is_that_of_plain_labels_bit_for_bit():
    rng = np.random.default_rng(1)
    time, score, horizon = rng.exponential(size=200), rng.random(200), 0.7
    event = np.where(time < horizon, 1, rng.integers(0, 2, 200))
    outcome = TimeToEvent(event=event, time=time, horizon=horizon, cause=1)
    plain = ScoreTable.from_predictions(time <= horizon, score)
    found = ScoreTable.from_predictions(outcome, score)
    for name in ("scores", "positives", "negatives", "positives_squared", "negatives_squared"):
        assert np.array_equal(getattr(found, name), getattr(plain, name))
    ours = metric_interval(outcome, score, "bounded_brier_loss")
    assert ours == metric_interval(time <= horizon, score, "bounded_brier_loss")


def test_whole_sample_weights_are_repeated_rows():
    rng = np.random.default_rng(2)
    times, count = rng.integers(1, 8, 30).astype(float), rng.integers(0, 4, 30)
    rows = {"event": rng.integers(0, 3, 30), "time": times}
    score, place = rng.random(30), np.repeat(np.arange(30), count)
    weighted = TimeToEvent(**rows, horizon=4, cause=1, sample_weight=count)
    repeated = TimeToEvent(event=rows["event"][place], time=times[place], horizon=4, cause=1)
    assert weighted.prevalence == pytest.approx(repeated.prevalence, rel=1e-14)
    ours, theirs = (
        METRICS["bounded_brier_loss"].function(*pair) for pair in ((weighted, score), (repeated, score[place]))
    )
    assert ours == pytest.approx(theirs, rel=1e-14)


def test_one_group_is_no_group():
    grouped, plain = TimeToEvent(**SMALL, groups=["a"] * 8), TimeToEvent(**SMALL)
    assert np.array_equal(grouped.weight, plain.weight)
    assert grouped.influence(SCORE) == pytest.approx(plain.influence(SCORE), abs=0)


def test_given_censoring_weighs_as_known(outcomes_reference, df_surv):
    expected = outcomes_reference["expected"]["given"]
    score = df_surv.cancerpredmarker.to_numpy()
    given = np.exp(-0.9 * np.minimum(df_surv.ttcancer, 1.5) * (0.8 + 0.4 * score))
    outcome = TimeToEvent(event=df_surv.cancer_cr, time=df_surv.ttcancer, censoring=given, **CAUSES)
    found = metric_interval(outcome, score, "net_benefit_score", threshold=0.2)
    assert found.value == pytest.approx(expected["table"]["net_benefit(0.2)"], abs=1e-14)
    whole = expected["table"]["sum_of_weights"] / 750
    assert outcome.summary.endswith(f", weights sum to {whole:.1%} of the rows")
    assert found.standard_error / UP == pytest.approx(expected["net_benefit(0.2)_se_known"], rel=1e-12)


def test_censoring_test_has_the_statistics_of_r(df_surv):
    outcome = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, **SINGLE)
    found = outcome.censoring_test(df_surv.cancerpredmarker)
    assert found.trend_z == pytest.approx(-0.27620739424, abs=1e-10)
    assert (found.logrank, found.degrees) == (pytest.approx(8.1381032858906, abs=1e-10), 4)


def test_structured_arrays_of_scikit_survival_are_read():
    y = np.array(list(zip(np.array(SMALL["event"]) == 1, SMALL["time"], strict=True)), "?,f8")
    rows = SMALL | {"event": [int(code == 1) for code in SMALL["event"]]}
    found = TimeToEvent.from_structured(y, horizon=3.5)
    assert np.array_equal(found.weight, TimeToEvent(**rows).weight)
    for kind, event, time in (("f4,?", "f1", "f0"), ("?,i8", "f0", "f1"), ("u1,?", "f1", "f0")):
        other = np.zeros(len(y), kind)
        other[event], other[time] = y["f0"], y["f1"]
        assert np.array_equal(TimeToEvent.from_structured(other, horizon=3.5).weight, found.weight)
    for kind in ("f8", "?", "?,?", "f8,f8", "?,U3", "U3,f8", "?,f8,f8", "?,?,f8", "?,f8,U3", "f8,f8,i4"):
        with pytest.raises(ValueError, match="one boolean and one numeric field"):
            TimeToEvent.from_structured(np.ones(3, kind), horizon=1)


def test_taken_rows_estimate_censoring_anew():
    rows = np.array([0, 2, 2, 5, 6, 7, 7])
    found = TimeToEvent(**SMALL).take(rows)
    expected = TimeToEvent(**SMALL | {name: np.array(SMALL[name])[rows] for name in ("event", "time")})
    assert np.array_equal(found.weight, expected.weight)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": 0}, "horizon must be a finite number > 0, got 0"),
        ({"horizon": math.inf}, "horizon must be a finite number > 0"),
        ({"time": [1, 2, -1, 2, 3, 3, 4, 5]}, r"time must be finite and >= 0, got -1\.0 at index 2 \(1 of 8\)"),
        ({"time": [1, 2, math.nan, 2, 3, 3, 4, 5]}, "time must be finite and >= 0, got nan at index 2"),
        ({"time": [[0, 1]] * 8}, "late entry"),
        ({"time": [1, 2]}, "event and time must have the same length"),
        ({"event": [1, 0, 1.5, 0, 2, 0, 1, 0]}, r"event must hold whole codes >= 0, got 1\.5 at index 2"),
        ({"event": [1, 0, -1, 0, 2, 0, 1, 0]}, "event must hold whole codes >= 0, got -1 at index 2"),
        ({"event": [1, 0, None, 0, 2, 0, 1, 0]}, "event must not be missing, got 1 of 8 missing"),
        ({"event": list("aabbcabc")}, "pass censored= and cause="),
        ({"cause": None}, r"event holds several causes, 1 \(3 rows\), 2 \(1 rows\): pass cause="),
        ({"cause": None, "event": [0] * 8}, "event holds no event at all"),
        ({"cause": 0}, "cause must name events"),
        ({"censoring": "acted"}, "belongs to net_benefit_curve"),
        ({"censoring": [0.5] * 3}, "one probability per row"),
        ({"censoring": [1.5] * 8}, r"in \(0, 1\], got 1\.5 at index 0"),
        ({"censoring": [0.5] * 8, "groups": [0] * 8}, "groups= estimates censoring"),
        ({"groups": [0] * 3}, "groups must have one value for each of the 8 rows"),
        ({"sample_weight": [-1] * 8}, "sample_weight must be finite and >= 0"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(change, message):
    with pytest.raises(ValueError, match=message):
        TimeToEvent(**SMALL | change)


def test_declared_cause_where_all_are_censored_is_no_event():
    assert TimeToEvent(**SMALL | {"event": [0] * 8, "cause": 3}).prevalence == 0.0


@pytest.mark.parametrize("kind", [int, float, np.uint8])
def test_codes_of_which_none_means_censored_are_asked_about(kind):
    rows = {"event": np.array([1, 2, 1, 2, 2, 1], kind), "time": [1, 2, 3, 5, 6, 7], "horizon": 4}
    message = "no code 0 among the event codes 1, 2; if one of them means censored, pass censored=1 "
    for cause in (None, 1, 2, [2]):
        with pytest.raises(ValueError, match=re.escape(message)):
            TimeToEvent(**rows, cause=cause)


def test_times_in_the_place_of_events_are_asked_about():
    days = np.arange(30, 60)
    with pytest.raises(
        ValueError, match=r"event must hold codes of events, got 30 different ones \(30, .*wrong way round"
    ):
        TimeToEvent(event=days, time=days % 2, horizon=1)


@pytest.mark.parametrize(
    ("count", "message"), [(20, "no code 0 among"), (21, "got 21 different ones .*wrong way round")]
)
def test_twenty_codes_may_be_causes_and_more_are_times(count, message):
    codes = np.arange(1, count + 1)
    with pytest.raises(ValueError, match=message):
        TimeToEvent(event=codes, time=codes, horizon=1)


def test_codes_of_r_with_their_censored_one_are_those_of_zero_and_one():
    event, time = np.array([1, 0, 0, 1, 1, 0]), [1, 2, 3, 5, 6, 7]
    wanted = TimeToEvent(event=event, time=time, horizon=4)
    found = TimeToEvent(event=event + 1, time=time, horizon=4, censored=1)
    assert found.weight.tolist() == wanted.weight.tolist()
    assert found.summary == wanted.summary
    left = TimeToEvent(event=1 - event, time=time, horizon=4, censored=1)  # a column of who was censored
    assert left.weight.tolist() == wanted.weight.tolist()


def test_competing_events_may_be_all_there_is_where_that_is_said():
    rows = {"event": [1, 2, 1, 2], "time": [1, 2, 3, 5], "horizon": 4}
    assert TimeToEvent(**rows, cause=1, censored=0).y.tolist() == [True, False, True, False]


def test_everybody_followed_to_the_event_is_complete_follow_up():
    for event in ([1, 1, 1, 1], [True] * 4):
        assert TimeToEvent(event=event, time=[1, 2, 3, 5], horizon=4).prevalence == 0.75


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cause": 3}, "cause must name events that occur, got 3: event holds 0, 1, 2."),
        ({"cause": [1, 3]}, "cause must name events that occur, got 3: event holds 0, 1, 2."),
        ({"cause": 1.5}, "cause must name events that occur, got 1.5: event holds 0, 1, 2."),
        ({"cause": []}, "cause must name an event, got none."),
        (
            {"cause": 1, "censored": 9},
            "code of censored rows, one of 0, 1, 2 (or 0 where nobody is), got 9",
        ),
        (
            {"event": list("aabbbbbb"), "censored": "a", "cause": "bb"},
            "events that occur, got 'bb': event holds 'a', 'b'.",
        ),
        ({"event": list("aabbbbbb"), "cause": "b"}, "event holds labels ('a', 'b'): pass censored= and cause="),
        (
            {"event": ["dead", "alive"] * 4, "cause": "dead", "censored": "Alive"},
            "one of 'alive', 'dead' (where nobody is, pass whole codes and censored=0), got 'Alive'; did you mean 'al",
        ),
        (
            {"event": list("aabbcabc"), "cause": "a", "censored": 0},
            "censored must be the label of censored rows, one of 'a",
        ),
    ],
)
def test_what_never_occurs_is_no_cause_and_no_censoring(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TimeToEvent(**SMALL | change)


def test_weights_and_labels_belong_to_the_outcome():
    outcome = TimeToEvent(**SMALL)
    for name, value in (("sample_weight", [1] * 8), ("pos_label", 1)):
        with pytest.raises(ValueError, match=f"{name} belongs to the outcome: pass it to TimeToEvent"):
            ScoreTable.from_predictions(outcome, SCORE, **{name: value})


def test_no_function_takes_an_outcome_for_labels_in_silence():
    with pytest.raises(ValueError, match="TimeToEvent cannot stand for y_true here"):
        to_array(TimeToEvent(**SMALL), "y_true")
    with pytest.raises(ValueError, match="class of every row"):
        METRICS["bounded_brier_loss"].function(TimeToEvent(**SMALL), SCORE, per_sample=True)


def test_few_rows_at_the_horizon_have_no_interval():
    rng = np.random.default_rng(3)
    time, score = rng.exponential(size=100), rng.random(100)
    outcome = TimeToEvent(event=rng.integers(0, 2, 100), time=time, horizon=np.sort(time)[-4])
    found = metric_interval(outcome, score, "bounded_brier_loss")
    assert math.isnan(found.interval[0])
    assert found.note == "only 4 rows were followed to the horizon: an interval needs 5"


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_hazards_and_weights_do_not_depend_on_the_scale_of_the_weights(scale):
    time, weight = np.array([1.0, 2, 2, 3, 4, 4.5, 5]), scale * np.array([1.0, 2, 1, 1, 3, 1, 0.5])
    censored = np.array([True, False, True, False, True, False, True])
    found = Censoring.of(time, censored, weight, None, 4.75)
    stratum = found.strata[0]
    # those with an event are gone before those who leave at the same time
    assert stratum.hazard == pytest.approx([1 / 9.5, 1 / 6.5, 3 / 4.5], rel=1e-12)
    stay = np.cumprod(1 - np.array([1 / 9.5, 1 / 6.5, 3 / 4.5]))
    known = [1, 3, 5, 6]  # the others left before anything was known of them
    assert stratum.weights()[known] == pytest.approx(1 / stay[[0, 1, 2, 2]], rel=1e-12)
    parts = np.array([0.0, 1, 0, -2, 0, 0.5, 3])
    assert found.estimated(scale * parts) == pytest.approx(
        Censoring.of(time, censored, weight / scale, None, 4.75).estimated(parts), rel=1e-10
    )
    assert not stratum.beyond


def test_rows_beyond_the_last_who_leave_early_are_known_to_be_missed():
    for weight, horizon, beyond in (([1, 1, 1], 4.0, True), ([1, 1, 0], 4.0, False), ([1, 1, 1], 3.0, False)):
        censored = np.array([False, False, True])
        stratum = Censoring.of(np.array([1.0, 2, 3]), censored, np.array(weight, float), None, horizon).strata[0]
        assert (stratum.beyond, stratum.last) == (beyond, 3.0 if weight[2] else 2.0)
    nobody = Censoring.of(np.array([1.0]), np.array([True]), np.zeros(1), None, 2.0).strata[0]
    assert (nobody.beyond, nobody.last) == (False, math.inf)


def test_groups_keep_their_type_but_for_mixed_ones():
    assert check_groups([1, 10, 2], 3).tolist() == [1, 10, 2]
    assert check_groups(np.array(["a", 1], dtype=object), 2).tolist() == ["a", "1"]


def test_given_probabilities_are_those_of_one_horizon():
    """By simulation: the probabilities for 1 give the share with the event by 1, those for 3 kept there 64% of it."""
    rng = np.random.default_rng(0)
    rate = rng.beta(1, 2, 4000)
    died, left = -np.log(rng.random(4000)) / rate, rng.exponential(2.0, 4000)
    time, event = np.minimum(died, left), (died <= left).astype(int)
    given = {tau: np.exp(-np.minimum(time, tau) / 2.0) for tau in (1.0, 3.0)}
    one, three = (TimeToEvent(event=event, time=time, horizon=tau, censoring=given[tau]) for tau in given)
    assert one.prevalence == pytest.approx(np.mean(died <= 1.0), abs=0.02)
    assert three.at(3.0).prevalence == three.prevalence
    refused = "horizon must stay 3 where censoring= is an array, got 1"
    with pytest.raises(ValueError, match=refused):
        three.at(1.0)
    with pytest.raises(ValueError, match=refused):
        evaluate_horizons(
            three, {"a": np.stack([1.0 - np.exp(-rate), 1.0 - np.exp(-3.0 * rate)], axis=1)}, horizons=[1.0, 3.0]
        )
    with pytest.raises(ValueError, match="groups= estimates censoring in each group"):
        three.within(event)


def test_labels_where_nobody_is_censored_are_passed_as_codes():
    found = TimeToEvent(event=[1, 2, 1, 1], time=range(1, 5), horizon=2.5, cause=1, censored=0)
    assert (found.y.tolist(), found.weight.tolist()) == ([True, False, False, False], [1.0] * 4)


def test_five_of_the_labels_that_mean_nothing_yet_are_shown():
    labels = list("gfedcba")
    with pytest.raises(ValueError, match=r"event holds labels \('a', 'b', 'c', 'd', 'e'\): pass censored= and cause="):
        TimeToEvent(event=labels, time=range(7), horizon=3)


def test_given_probabilities_reach_from_above_zero_to_one():
    rows = {"event": [1, 0, 1], "time": [1.0, 3.0, 3.0], "horizon": 2.0}
    one = TimeToEvent(**rows, censoring=[1.0, 1.0, 1.0])
    assert one.weight.tolist() == [1.0, 1.0, 1.0]
    for bad in (0.0, 1.0 + 2.0**-52):
        with pytest.raises(ValueError, match=r"censoring must hold .* \(0, 1\]"):
            TimeToEvent(**rows, censoring=[1.0, bad, 1.0])


def test_one_cause_may_be_an_array_without_dimensions():
    rows = {"event": ["relapse", "none", "death"], "time": [1.0, 3.0, 1.0], "horizon": 2.0, "censored": "none"}
    for cause in ("relapse", np.array("relapse"), np.array(["relapse"]), ["relapse"]):
        assert TimeToEvent(**rows, cause=cause).y.tolist() == [True, False, False]


def censored_share(time, event, end):
    """Kaplan-Meier of staying uncensored until just before a time, by its definition; events come before censorings."""
    free = 1.0
    for t in sorted({t for t, e in zip(time, event, strict=True) if e == 0 and t < end}):
        risk = sum(s > t or (s == t and e == 0) for s, e in zip(time, event, strict=True))
        free *= 1.0 - sum(s == t and e == 0 for s, e in zip(time, event, strict=True)) / risk
    return free


@pytest.mark.parametrize("ordered", [True, False])
def test_censoring_of_one_stratum_says_nothing_of_another(ordered):
    rng = np.random.default_rng(12)
    time = np.concatenate([np.sort(rng.integers(1, 9, 40)), np.sort(rng.integers(2, 14, 50))]) * 1.0
    event, groups = rng.integers(0, 2, 90), np.repeat(["a", "b"], [40, 50])
    score = rng.random(90)
    order = np.arange(90) if ordered else rng.permutation(90)
    outcome = TimeToEvent(event=event[order], time=time[order], horizon=6.0, groups=groups[order])
    expected = []
    for k in order:
        mine = groups == groups[k]
        known = event[k] == 1 or time[k] >= 6.0
        end = min(time[k], 6.0)
        expected.append(1.0 / censored_share(time[mine], event[mine], end) if known else 0.0)
    assert outcome.weight == pytest.approx(expected, rel=1e-12)
    found = metric_interval(outcome, score[order], "bounded_brier_loss")
    plain = TimeToEvent(event=event, time=time, horizon=6.0, groups=groups)
    assert found.interval == pytest.approx(metric_interval(plain, score, "bounded_brier_loss").interval, rel=1e-9)


@pytest.mark.parametrize("horizon", [0.3, 0.7])  # one is larger in single precision, one smaller
def test_times_in_single_precision_reach_the_horizon_that_they_reach_in_double(horizon):
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    time = np.round(np.ceil(rng.exponential(2.0, 500) * 10) / 10, 1)
    time, event = np.where(time > 0.7, 0.7, time), (time <= 0.7) & (rng.random(500) < 0.6)
    wanted = TimeToEvent(event=event, time=time, horizon=horizon)
    single = {"event": event, "time": time.astype(np.float32)}
    first = TimeToEvent(**single, horizon=0.1)
    widened = TimeToEvent(event=event, time=single["time"].astype(float), horizon=horizon)
    given = {"censoring": np.full(500, 0.9)}
    at, taken = first.at(horizon), first.at(horizon).take(range(500))
    for found in (TimeToEvent(**single, horizon=horizon), widened, at, taken):
        assert np.array_equal(found.y, wanted.y)
        assert np.array_equal(found.weight, wanted.weight)
        assert (found.at_risk, f"{found.horizon:g}") == (wanted.at_risk, f"{horizon:g}")
    assert TimeToEvent(**single, horizon=horizon, **given).at(horizon).prevalence == pytest.approx(
        TimeToEvent(event=event, time=time, horizon=horizon, **given).prevalence
    )
    frame = pl.DataFrame({**single, "risk": rng.random(500)})
    columns = OutcomeColumns(time="time", horizon=horizon)
    found = evaluate_frame(frame, label="event", models=["risk"], outcome=columns)
    assert found.prevalence == pytest.approx(wanted.prevalence, rel=1e-12)


def test_the_horizon_stays_where_no_time_equals_it_in_single_precision():
    assert TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=2.3).horizon == 2.3
    far = 2.0**24 + 1.0  # single precision rounds it to an even number
    outcome = TimeToEvent(event=[1, 1, 0], time=[far - 1.0, far, far + 1.0], horizon=far)
    assert (outcome.horizon, outcome.y.tolist()) == (far, [True, True, False])


@pytest.mark.parametrize(
    ("method", "asked", "message"),
    [
        ("repeated", [1, 1], r"times must have one number for each of the 3 rows, got \(2,\)"),
        ("repeated", [1, -1, 2], r"times must hold whole numbers >= 0, got -1\.0 at index 1 \(1 of 3\)"),
        ("repeated", [1, 0.5, 2], r"times must hold whole numbers >= 0, got 0\.5 at index 1"),
        ("repeated", [0, 0, 0], "times must leave a row of positive weight, got none"),
        ("take", [0, 3], r"rows must lie in 0 to 2, got 3 at index 1 \(1 of 2\)"),
        ("take", [True, False], "rows must be indices, or True or False for each of the 3 rows"),
        ("take", [0.0, 1.0], "rows must be indices, or True or False for each of the 3 rows"),
        ("take", [], "rows must hold a row of positive weight, got none"),
        ("take", [False] * 3, "rows must hold a row of positive weight, got none"),
    ],
)
def test_rows_that_cannot_be_taken_are_refused_by_name(method, asked, message):
    outcome = TimeToEvent(event=[1, 0, 1], time=[1, 2, 3], horizon=2)
    with pytest.raises(ValueError, match=message):
        getattr(outcome, method)(asked)


@pytest.mark.parametrize("event", [[1, 0, 1, 2], [1.0, 0.0, 1.0, 2.0]])
def test_codes_may_stand_in_an_array_of_objects(event):
    rows = {"time": [1, 2, 3, 4], "horizon": 3.5, "cause": 1}
    held = np.array(event, dtype=object)
    assert TimeToEvent(event=held, **rows).y.tolist() == TimeToEvent(event=event, **rows).y.tolist()
    flags = np.array([True, False, True, False], dtype=object)
    assert TimeToEvent(event=flags, time=[1, 2, 3, 4], horizon=3.5).y.tolist() == [True, False, True, False]
