"""Away from the reported range: costs, intervals of single models and notes are the library's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from stakes import PartlyVerified, TimeToEvent, costs, evaluate
from tests.report.conftest import simulated
from tests.report.pages import numbers
from tests.report.reader import SETTLED, Report, assert_clean, assert_table_is_the_librarys, opened, shown, type_range


def intervals(chromium):
    """Return the interval of every row, per decision."""
    rows = shown(chromium)
    return {name: [float(end) / 1000.0 for end in ends[0].split()] for name, (_, ends) in rows.items()}


@pytest.fixture(scope="module")
def report_once(folder):
    """Return a function that evaluates and writes a report the first time that it is asked for, by name."""
    known = {}

    def report(name, *data, **options):
        if name not in known:
            known[name] = Report(evaluate(*data, **options), folder / f"{name}.html")
        return known[name]

    return report


@pytest.mark.parametrize("dependence", [{"clusters": np.arange(400) // 4}, {"lags": 3}, {"lags": "auto"}], ids=repr)
def test_dependent_rows_have_the_librarys_intervals_elsewhere(chromium, folder, dependence):
    y, scores = simulated(["a", "b", "c"])
    report = Report(evaluate(y, scores, costs=(0.1, 0.3), **dependence), folder / "dependent.html")
    opened(chromium, report)
    cuts = numbers(report.page.payload["spread"]["cuts"])
    low, high = float(cuts[5]), float(cuts[-6])
    type_range(chromium, low, high)
    assert_table_is_the_librarys(chromium, report, costs.Uniform(low, high))
    again = evaluate(y, scores, costs=(low, high), **dependence)
    # the page finds the degrees of freedom of clusters by a factor
    apart = 0.05 if "clusters" in dependence else 1e-5
    for name, ends in intervals(chromium).items():
        found = again[name]
        assert ends == pytest.approx(found.interval, rel=apart, abs=apart * found.standard_error)
    words = "The light band is" if "clusters" in dependence else "No band is drawn, for a band would take the rows as"
    assert words in chromium.run("document.querySelector('#figure-regret figcaption').textContent")
    assert_clean(chromium, report)


@pytest.mark.parametrize("dependence", [{"lags": 2}, {"clusters": np.arange(400) // 4}], ids=repr)
@pytest.mark.parametrize(
    "bounds",
    [
        (0.05, 0.6),
        (0.21, 0.22),
        *(pytest.param(ends, marks=pytest.mark.thorough) for ends in ((0.0, 1.0), (0.08, 0.12))),
    ],
)
def test_intervals_follow_from_the_covariances_of_the_page(chromium, report_once, dependence, bounds):
    report = report_once(f"tails {[*dependence]}", *simulated(["a", "b", "c"]), costs=(0.1, 0.3), **dependence)
    opened(chromium, report)
    type_range(chromium, *bounds)
    spread, evaluation = report.page.payload["spread"], report.evaluation
    cuts, covariances = numbers(spread["cuts"]), numbers(spread["covariances"]).reshape(5, -1)
    width = np.clip(np.minimum(cuts[1:], bounds[1]) - np.maximum(cuts[:-1], bounds[0]), 0.0, None)
    weights = width / np.diff(cuts) / (bounds[1] - bounds[0])
    rows, columns = np.triu_indices(len(weights))
    form = np.where(rows == columns, 1.0, 2.0) * weights[rows] * weights[columns]
    errors = np.sqrt(covariances @ form)
    names = [*(model["name"] for model in report.page.payload["models"]), "treat all", "treat none"]
    table, found = shown(chromium), intervals(chromium)
    data = evaluation.rows.y, dict(zip(evaluation.models, evaluation.rows.scores, strict=True))
    again = evaluate(*data, costs=bounds, **dependence).moments
    for name, error in zip(names, errors, strict=True):
        mine = again.of(evaluation.place(name))
        unseen = math.sqrt(mine.room) / (bounds[1] - bounds[0]) * math.log(0.05)
        half = math.hypot(stats.t(mine.degrees).ppf(0.975) * error, unseen)
        ends = table[name][0][0] / 1000.0 + half * np.array([-1.0, 1.0])
        assert found[name] == pytest.approx(ends, abs=1e-9 if "lags" in dependence else 0.1 * error)


@pytest.mark.parametrize("bounds", [(0.05, 0.15), (0.02, 0.6), (0.2, 0.2), (0.003, 0.05)])
@pytest.mark.parametrize("rule", ["score", 0.25])
def test_models_that_act_like_a_constant_are_called_so(chromium, report_once, rule, bounds):
    y, scores = simulated(["helps", "also helps"], n=3989)
    scores |= {"high": scores["helps"] ** 0.3, "low": 0.02 * scores["helps"], "same": np.full(len(y), y.mean())}
    report = report_once(f"notes {rule}", y, scores, costs=(0.1, 0.3), rule=rule)
    opened(chromium, report)
    type_range(chromium, *bounds)
    again = evaluate(y, scores, costs=costs.Fixed(bounds[0]) if bounds[0] == bounds[1] else bounds, rule=rule)
    note = "head => head.querySelector('.note')?.textContent ?? ''"
    notes = chromium.run(f"[...document.querySelectorAll('#answer tbody th')].map({note})")
    labels = {"": "", "treat all": "acts like “treat everyone”", "treat none": "acts like “treat no one”"}
    assert notes == [*(labels[again[name].acts_like] for name in again.ranking), "", ""]
    assert_clean(chromium, report)


@pytest.mark.parametrize(
    ("rule", "bounds", "wide"),
    [
        ("score", (0.0, 0.004), 1),
        ("score", (0.3, 0.5), 0),
        ("score", (0.05, 0.07), 0),
        (0.4, (0.05, 0.07), 0),
        (0.9, (0.5, 0.5), 2),
        (0.9, (0.6, 0.8), 2),
    ],
)
def test_intervals_are_widened_where_few_rows_carry_a_cost(chromium, report_once, rule, bounds, wide):
    rng = np.random.default_rng(7)
    risk = rng.beta(0.6, 12.0, size=1500)
    y = rng.random(1500) < risk
    scores = {"plain": risk, "noisy": np.clip(risk + 0.05 * rng.normal(size=1500), 0.0, 1.0)}
    report = report_once(f"few {rule}", y, scores, costs=(0.0, 1.0), rule=rule)
    opened(chromium, report)
    type_range(chromium, *bounds)
    measure = costs.Fixed(bounds[0]) if bounds[0] == bounds[1] else costs.Uniform(*bounds)
    again = evaluate(y, scores, costs=measure, rule=rule)
    found = intervals(chromium)
    scarce, widths = 0, []
    for name in again.models:
        low, high = again[name].interval
        widths.append((found[name][1] - found[name][0]) / (high - low))
        # wider than Student's t alone would have it
        moments = again.moments.of(again.place(name))
        scarce += moments.scarce[0] or moments.scarce[1]
    assert scarce == wide
    # the page keeps the degrees of freedom of the report's own range, here 0 to 1
    assert widths == pytest.approx([1.0] * 2, rel=0.4)


@pytest.mark.parametrize("known", [{}, {"prevalence": 0.1}], ids=repr)
def test_interval_of_a_cost_that_two_rows_carry_is_as_wide_as_the_librarys(chromium, folder, known):
    y = np.arange(400) < 100
    score = np.where(y, 0.9, 0.02) + np.random.default_rng(7).uniform(-0.01, 0.01, 400)
    score[:2] = 0.05
    evaluation = evaluate(y, {"nearly": score}, costs=(0.2, 0.4), **known)
    opened(chromium, Report(evaluation, folder / f"two {[*known]}.html"))
    type_range(chromium, 0.2, 0.4 * (1.0 + 1e-12))
    for name, ends in intervals(chromium).items():
        assert ends == pytest.approx(evaluation[name].interval, rel=2e-3)
    moments = evaluation.moments.of(0)
    by_t = stats.t.ppf(0.975, moments.degrees) * moments.standard_error
    assert intervals(chromium)["nearly"][1] - evaluation.best.score > 1.2 * by_t


@pytest.mark.parametrize("rule", ["score", 0.4])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_at_one_threshold_are_the_librarys_where_scores_are_tied_there(chromium, folder, rule, weighted):
    rng = np.random.default_rng(1)
    y, score = rng.random(500) < 0.3, rng.choice([0.1, 0.4, 0.8], 500)
    options = {"rule": rule, "sample_weight": 1.0 + rng.integers(0, 2, 500) if weighted else None}
    report = Report(evaluate(y, {"card": score}, costs=(0.1, 0.3), **options), folder / f"tied {rule} {weighted}.html")
    for at in (0.0, 0.1, 0.4, 0.8, 1.0):
        opened(chromium, report, f"thresholds={at}:{at}")
        again = evaluate(y, {"card": score}, costs=costs.Fixed(at), **options)
        for name, (low, high) in intervals(chromium).items():
            width = again[name].interval[1] - again[name].interval[0]
            # with weights the page has the mean loss over a stretch up to the threshold, here 0.7 to 0.8 at most
            near = {"rel": 0.3, "abs": 1e-3} if weighted else {"rel": 0.01, "abs": 1e-12}
            assert high - low == pytest.approx(width, **near), (name, at)
    assert_clean(chromium, report)


@pytest.mark.parametrize("rule", ["score", 0.25])
def test_shares_and_means_of_follow_up_are_those_of_all_rows(chromium, folder, rule):
    rng = np.random.default_rng(5)
    rate = np.exp(rng.normal(size=700)) / 5.0
    time, censored = rng.exponential(1.0 / rate), rng.exponential(4.0, 700) * rate**0.8
    outcome = TimeToEvent(event=time <= censored, time=np.minimum(time, censored), horizon=3.0)
    risk = 1.0 - np.exp(-3.0 * rate)
    scores = {"risk": risk, "late": np.where(np.arange(700) < 6, 0.01, 0.5 + risk / 2.0)}
    report = Report(evaluate(outcome, scores, costs=(0.1, 0.3), rule=rule), folder / f"follow-up {rule}.html")
    for low, high in ((0.1, 0.3 * (1.0 + 1e-12)), (0.2, 0.6), (0.2, 0.2)):
        opened(chromium, report, f"thresholds={low}:{high}")
        again = evaluate(outcome, scores, costs=costs.Fixed(low) if low == high else (low, high), rule=rule)
        found = shown(chromium, "#reliability")
        for name, score in scores.items():
            inside = (score >= low) & (score <= high)
            expected = [inside.mean(), score[inside].mean() if inside.any() else np.nan]
            assert found[name][0][:2] == pytest.approx(expected, abs=1e-12, nan_ok=True)
            assert found[name][0] == pytest.approx(again[name].in_range, abs=1e-12, nan_ok=True)
        note = "head => head.querySelector('.note')?.textContent ?? ''"
        notes = chromium.run(f"[...document.querySelectorAll('#answer tbody th')].map({note})")
        assert [*map(bool, notes)] == [*(bool(again[name].acts_like) for name in again.ranking), False, False]
    assert_clean(chromium, report)


def known_in_part(kind):
    """Return an outcome that knows the class of some rows only, more often of low scores, and the scores of all."""
    rng = np.random.default_rng(8)
    score = rng.beta(1.0, 3.0, 600)
    if kind == "verified":
        y, seen = (rng.random(600) < score) * 1.0, 0.9 - 0.8 * score
        return PartlyVerified(np.where(rng.random(600) < seen, y, np.nan), probability=seen), score
    time, censored = rng.exponential(-1.0 / np.log1p(-score)), rng.exponential(0.4 / score)
    return TimeToEvent(event=time <= censored, time=np.minimum(time, censored), horizon=1.0), score


@pytest.mark.parametrize("rule", ["score", 0.25])
@pytest.mark.parametrize("kind", ["followed", "verified"])
def test_the_table_at_one_threshold_counts_all_rows_acted_on(chromium, folder, kind, rule):
    outcome, score = known_in_part(kind)
    opened(chromium, Report(evaluate(outcome, score, costs=(0.1, 0.3), rule=rule), folder / f"{kind} {rule}.html"))
    for at in (0.1, 0.2, float(score[0]), 0.5):
        chromium.run("document.getElementById('field-at').select()")
        chromium.type(repr(at))
        chromium.press("Tab")
        chromium.wait_for(SETTLED)
        rows = shown(chromium, "#threshold-table")
        counted = np.mean(score >= (at if rule == "score" else rule))
        assert [rows[name][0][1] for name in ("model", "treat all", "treat none")] == pytest.approx(
            [1000 * counted, 1000, 0], abs=1e-9
        )
    words = chromium.run("document.querySelector('#threshold-table caption').textContent")
    assert words.endswith("; Acted on counts all cases, the other numbers are estimates")


def test_decisions_fitted_to_the_rows_have_no_intervals_and_the_page_says_why(chromium, folder):
    report = Report(evaluate(*simulated(["a", "b"]), costs=(0.1, 0.3), rule="optimal"), folder / "fitted.html")
    opened(chromium, report)
    why = "for the decisions were fitted to these same rows"
    figure = "document.querySelector('#figure-regret figcaption').textContent"
    assert f"No band is drawn, {why}" in chromium.run(figure)
    type_range(chromium, 0.05, 0.6)
    assert f"there are no intervals, {why}" in chromium.run(figure)
    assert "no interval" in chromium.run("document.querySelector('#answer tbody').textContent")


def test_the_harm_of_the_test_follows_the_range(chromium, folder):
    y, scores = simulated(["a", "b"], n=2000)
    harm = {"a": 0.004, "b": 0.02}
    report = Report(evaluate(y, scores, costs=(0.1, 0.3), harm=harm), folder / "harm.html")
    opened(chromium, report)
    said = "missed positives (test harm): a 0.00400 and b 0.0200."
    assert said in chromium.run("document.querySelector('#stake').textContent")
    cuts = numbers(report.page.payload["spread"]["cuts"])
    inside = cuts[(cuts >= 0.1) & (cuts <= 0.3)]
    low, high = float(inside[0]), float(inside[6])
    type_range(chromium, low, high)
    again = evaluate(y, scores, costs=(low, high), harm=harm)
    for name, ends in intervals(chromium).items():
        assert ends == pytest.approx(again[name].interval, rel=1e-3)
        assert shown(chromium)[name][0][0] == pytest.approx(1000.0 * again[name].score, abs=1e-6)
    assert said in chromium.run("document.querySelector('#stake').textContent")
    chromium.run("document.getElementById('field-at').select()")
    chromium.type("0.18")
    chromium.press("Tab")
    chromium.wait_for(SETTLED)
    found = shown(chromium, "#threshold-table")
    t = 0.18
    for name, score in scores.items():
        act = score >= t
        hits, alarms = np.mean(act & y), np.mean(act & ~y)
        benefit = hits - alarms * t / (1.0 - t) - harm[name]
        everyone = np.mean(y) - np.mean(~y) * t / (1.0 - t)
        values, _ = found[name]
        by_hand = (1000 * benefit, 1000 * (benefit - everyone) * (1.0 - t) / t)
        assert values[-2:] == pytest.approx(by_hand, rel=1e-9)
        assert values[0] == pytest.approx(1000 * (1.0 - t) * (np.mean(y) - benefit), rel=1e-9)
    assert_clean(chromium, report)


def test_models_that_do_harm_are_seen_to_within_the_range(chromium, folder):
    y = np.random.default_rng(3).random(2000) < 0.1
    scores = {name: np.random.default_rng(seed).random(2000) for seed, name in enumerate(("noise", "more noise"))}
    report = Report(evaluate(y, scores, costs=(0.2, 0.4)), folder / "harmful.html")
    opened(chromium, report)
    ticks = "[...document.querySelectorAll('#plot-decision .tick')].map((tick) => tick.textContent)"
    lowest = min(float(text.replace("\u2212", "-")) for text in chromium.run(ticks) if text[-1].isdigit())
    worst = min(float(curve.at(0.4)) for curve in report.evaluation.curves("net_benefit").values())
    assert worst < -0.25
    assert lowest == pytest.approx(1000.0 * worst, abs=50.0)
