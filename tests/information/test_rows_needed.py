"""Rows needed: Riley's formulas as published and in pmvalsampsize, quadrature, exact binomial tails, and simulation."""

import re

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import binom, norm

from stakes.inference import calibration_summary, metric_difference, metric_interval
from stakes.information import Plan, rows_needed

CELLS = {"prevalence": 0.1, "sensitivity": 0.7, "specificity": 0.8, "threshold": 0.1}
REGRET = {"question": "regret", "standard_deviation": 0.2}
SLOPE = {"question": "slope", "width": 0.2}


def test_published_and_quadrature_values(actions_reference):
    """Acceptance 10; pmvalsampsize uses z = 1.96."""
    planning = actions_reference["planning"]
    for auc, prevalence, width, rows in planning["c_statistic"]:
        assert rows_needed(question="auc", auc=auc, prevalence=prevalence, width=width).rows == rows
    for ratio, width, prevalence, _, exact in planning["oe"]:
        found = rows_needed(question="o_to_e", o_to_e=ratio, width=width, prevalence=prevalence)
        assert found.rows == pytest.approx(np.ceil(exact), abs=0 if width == 1.0 else 1)
    for mean, spread, width, exact in planning["slope"]:
        assert rows_needed(question="slope", linear_predictor=(mean, spread), width=width).rows == pytest.approx(
            exact, abs=1
        )
    for se, sp, prevalence, threshold, width, exact in planning["standardised_net_benefit"]:
        cells = {"sensitivity": se, "specificity": sp, "prevalence": prevalence, "threshold": threshold}
        assert rows_needed(question="standardized_net_benefit", width=width, **cells).rows == np.ceil(exact)
    assert rows_needed(question="net_benefit", width=0.02, **CELLS).rows == 2679
    assert rows_needed(question="gain", power=0.8, **CELLS).rows == 115


def test_widths_of_the_first_published_example():
    """Riley 2021: 906 for O:E by exact width (905 in pmvalsampsize), 4,252 for the AUC, 4,554 for the slope."""
    assert rows_needed(question="o_to_e", prevalence=0.018, width=1.0).rows == 906
    assert rows_needed(question="auc", auc=0.8, prevalence=0.018, width=0.1).rows == 4252
    assert rows_needed(question="slope", linear_predictor=(-5, 2.5), width=0.2).rows == 4554


@pytest.mark.parametrize("normal", [(0, 30), (0, 15), (-12, 12), (-10, 20), (-5, 2.5), (3, 0.1), (-8, 300), (7, 1)])
def test_the_slope_needs_what_adaptive_quadrature_gives(normal):
    """Of wide linear predictors too, where fixed nodes of the normal density miss the logistic one."""
    mean, spread = normal
    ends = max(mean - 12 * spread, -60), min(mean + 12 * spread, 60)
    places = [at for at in (mean, mean - 2 * spread, mean + 2 * spread, 0.0) if ends[0] < at < ends[1]]

    def moment(power, about=0.0):
        def inside(x):
            return (x - about) ** power * expit(x) * expit(-x) * norm.pdf(x, mean, spread)

        return quad(inside, *ends, points=places, limit=1000, epsabs=1e-13, epsrel=1e-10)[0]

    exact = 1.0 / ((0.4 / (2 * norm.ppf(0.975))) ** 2 * moment(2, moment(1) / moment(0)))
    with np.errstate(all="raise", under="ignore"):
        found = rows_needed(question="slope", linear_predictor=normal, width=0.4)
    assert found.rows == pytest.approx(exact, abs=1)


def test_certificates_from_where_every_number_suffices(actions_reference):
    for error, limit, delta, power, first, safe in actions_reference["planning"]["certificate"]:
        found = rows_needed(
            question="certificate", error=error, max_error=limit, power=power, confidence_level=1 - delta
        )
        assert found.rows == safe
        n = np.arange(1, safe + 400)
        most = np.array([max([-1, *np.flatnonzero(binom.cdf(np.arange(60), k, limit) <= delta)]) for k in n])
        enough = binom.cdf(most, n, error) >= power
        assert n[enough][0] == first
        assert enough[safe - 1 :].all()
        assert not enough[: safe - 1].all()


def test_power_by_simulation():
    """Where many rows are needed; with 115 the normal power of 0.8 is 0.74."""
    rng = np.random.default_rng(0)
    cells = {**CELLS, "sensitivity": 0.55, "specificity": 0.6}
    found = rows_needed(question="gain", power=0.8, **cells)
    shares = [0.045, 0.055 + 0.36, 0.54]  # missed, alike, spared: the rows that tell the model from treating all
    drawn = rng.multinomial(found.rows, shares, 20_000)
    gain = drawn[:, 2] / 9 - drawn[:, 0]
    square = drawn[:, 2] / 81 + drawn[:, 0] - gain**2 / found.rows
    assert np.mean(gain / np.sqrt(square) > 1.96) == pytest.approx(0.8, abs=0.02)


RARE = {"prevalence": 0.05, "sensitivity": 0.9, "specificity": 0.6, "threshold": 0.05}
RARER = {"prevalence": 0.02, "sensitivity": 0.8, "specificity": 0.7, "threshold": 0.02}


def gains_drawn(rows, *, prevalence, sensitivity, specificity, threshold, samples=200):
    """How often the library's own test shows that a model differs from treating all, and the mean width."""
    rng, found = np.random.default_rng(1), []
    for _ in range(samples):
        y = (rng.random(rows) < prevalence).astype(int)
        acted = np.where(y == 1, rng.random(rows) < sensitivity, rng.random(rows) >= specificity)
        model, everyone = np.where(acted, 1.2 * threshold, 0.4 * threshold), np.full(rows, threshold)
        gap = metric_difference(y, model, everyone, "net_benefit_score", threshold=threshold)
        found.append((gap.p_value <= 0.05, np.diff(gap.interval)[0]))
    return np.mean(found, axis=0)


@pytest.mark.parametrize("cells", [CELLS, RARE, RARER], ids=["readme", "rare", "rarer"])
def test_a_gain_is_shown_as_often_as_is_said(cells):
    """Of 200 samples; the normal formula alone promised 0.8 where 0.00 to 0.57 are shown."""
    found = rows_needed(question="gain", power=0.8, **cells)
    said = float(found.why.split("probability about ")[1].split(";")[0])
    assert gains_drawn(found.rows, **cells)[0] == pytest.approx(said, abs=0.1)
    assert f"0.8 takes about {found.enough:,} rows" in found.sentence
    assert gains_drawn(found.enough, **cells)[0] == pytest.approx(0.8, abs=0.1)
    assert gains_drawn(3 * found.enough // 2, **cells)[0] > 0.85


def test_the_interval_of_a_gain_is_as_wide_as_is_said():
    width, cells = 0.05, RARE
    found = rows_needed(question="gain", width=width, **cells)
    said = float(found.why.split("interval is then about ")[1].split(" wide")[0])
    assert said > 1.5 * width
    assert gains_drawn(found.rows, **cells)[1] == pytest.approx(said, rel=0.1)
    assert 0.75 * width < gains_drawn(found.enough, **cells)[1] < 1.05 * width  # it falls by steps


def area_widths(rows, auc, prevalence, samples=100):
    """Widths of the library's own interval for normal scores of the same spread in both classes."""
    rng, found = np.random.default_rng(2), []
    for _ in range(samples):
        y = (rng.random(rows) < prevalence).astype(int)
        score = rng.normal(norm.ppf(auc) * 2**0.5 * y, 1.0)
        found.append(np.diff(metric_interval(y, norm.cdf(score / 3.0), "roc_auc_score").interval)[0])
    return np.array(found)


AREAS = [(0.8, 0.1, 0.1), (0.9, 0.05, 0.15), (0.95, 0.02, 0.1), (0.95, 0.98, 0.1)]


@pytest.mark.parametrize(("auc", "prevalence", "width"), AREAS)
def test_the_interval_of_an_area_is_about_as_wide_as_is_said(auc, prevalence, width):
    """Of 100 samples; that it is at most as wide as asked was false in 59, 68, 86 and 81 of them."""
    found = rows_needed(question="auc", auc=auc, prevalence=prevalence, width=width)
    said = float(found.why.split("is then about ")[1].split(" wide")[0])
    assert area_widths(found.rows, auc, prevalence).mean() == pytest.approx(said, rel=0.06)
    assert np.mean(area_widths(found.enough or found.rows, auc, prevalence) <= 1.05 * width) > 0.5
    assert (found.enough is None) == (prevalence == 0.1)


def test_where_many_missed_positives_carry_a_gain_the_formula_is_enough():
    found = rows_needed(question="gain", width=0.001, **CELLS)
    assert (found.enough, "normal" in found.sentence) == (None, False)


def test_a_gain_is_said_to_be_over_treating_all_and_less_than_one_positive_to_be_expected():
    cells = {"prevalence": 0.01, "sensitivity": 0.8, "specificity": 0.9, "threshold": 0.1}
    found = rows_needed(question="gain", power=0.8, **cells)
    benefit = 0.01 * 0.8 - 0.99 * 0.1 / 9  # below that of treating no one
    gain = benefit - (0.01 - 0.99 / 9)
    assert benefit < 0.0
    assert f"a gain of {gain:.4f} over treating all is then shown" in found.sentence
    assert found.enough * 0.01 < 1.0
    assert found.sentence.startswith("3 rows, fewer than one of them positive: ")
    assert found.sentence.endswith(f"about {found.enough} rows, fewer than one of them positive")
    assert found.events == 0
    assert rows_needed(question="auc", auc=0.8, prevalence=0.1, width=0.1).events == 84


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("normal", "width", "least", "most"),
    [((-5, 1), 1.0, 1.08, 1.3), ((2.5, 1.2), 1.0, 1.05, 1.3), ((-3, 1), 0.4, 0.97, 1.06)],
)
def test_the_interval_of_a_slope_is_said_to_be_wider_where_one_class_is_rare(normal, width, least, most):
    """By intervals of the library in 40 samples: without a word they were a sixth wider than said with 17 events."""
    found, rng, widths, rarer = (
        rows_needed(question="slope", linear_predictor=normal, width=width),
        np.random.default_rng(0),
        [],
        [],
    )
    for _ in range(40):
        p = expit(rng.normal(*normal, found.rows))
        y = (rng.random(found.rows) < p).astype(int)
        widths.append(np.diff(calibration_summary(y, p).interval("slope"))[0])
        rarer.append(min(y.sum(), (1 - y).sum()))
    assert least < np.median(widths) / width < most
    said = re.search(r"wider than that with only (\d+) rows of the rarer class$", found.why)
    assert (said is None) == (np.mean(rarer) > 50)
    assert said is None or int(said[1]) == pytest.approx(np.mean(rarer), abs=2.5)
    assert "is then about" in found.why


def test_any_mean_and_what_is_said():
    pytest.importorskip("pandas")
    found = rows_needed(question="regret", standard_deviation=0.2, difference=0.01, power=0.9)
    assert found.rows == np.ceil(((1.959964 + 1.2815516) * 20) ** 2)
    assert found.events is None
    assert found.sentence.endswith("a difference of 0.0100 is then shown at 0.05 with probability about 0.9")
    assert "where some 50 rows or more carry the largest costs" in found.why
    assert found.frame("pandas")["rows"].tolist() == [found.rows]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"question": "f1"}, "question must be one of"),
        ({"question": "auc", "auc": 0.8}, "question='auc' also needs prevalence, width"),
        (
            {"question": "auc", "auc": 0.8, "prevalence": 0.1, "width": 0.1, "power": 0.8},
            "question='auc' takes no power",
        ),
        ({"question": "gain", **CELLS}, "needs either width or power"),
        ({"question": "auc", "auc": 1.8, "prevalence": 0.1, "width": 0.1}, r"auc must lie in \(0, 1\), got 1.8"),
        ({"question": "auc", "auc": 0.8, "prevalence": 0.1, "width": 0}, "width must be a finite number > 0, got 0"),
        ({"question": "regret", "standard_deviation": 0.2, "power": 0.8}, "power needs a difference other than zero"),
        ({**REGRET, "difference": 0.01, "power": 0.05}, "power must be above 0.05, with which the test shows"),
        ({**REGRET, "difference": 0.01, "power": 0.001}, "power must be above 0.05"),
        ({**REGRET, "difference": 0.01, "power": 0.15, "confidence_level": 0.8}, "power must be above 0.2"),
        ({"question": "gain", **CELLS, "power": 0.03}, "power must be above 0.05"),
        ({**REGRET, "difference": 0.05, "width": 0.01}, "takes no difference beside width"),
        ({**SLOPE, "linear_predictor": 1.0}, "linear_predictor must be two finite numbers, .* got 1.0"),
        ({**SLOPE, "linear_predictor": (1.0, 2.0, 3.0)}, "linear_predictor must be two finite numbers"),
        ({**SLOPE, "linear_predictor": (2000.0, 1.0)}, "slope needs more than 10,000,000 rows"),
        (
            {**SLOPE, "linear_predictor": (float("nan"), 1.0)},
            "linear_predictor must be two finite numbers",
        ),
        ({**SLOPE, "linear_predictor": ((1.0,), 1.0)}, "linear_predictor must be a number"),
        ({"question": "certificate", "error": 0.1, "max_error": 0.1, "power": 0.8}, "error must be below max_error"),
        ({"question": "regret", "standard_deviation": 1.0, "width": 1e-6}, "needs more than 10,000,000 rows"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        rows_needed(**options)


def test_rows_rise_with_the_power_of_a_test_from_its_size_on():
    """Of the rows that are said, the two-sided test has no less power than was asked, and little more from 0.3 on."""
    rows = []
    for power in (0.06, 0.1, 0.3, 0.5, 0.8, 0.95):
        rows.append(rows_needed(**REGRET, difference=0.01, power=power).rows)
        shift = 0.01 * np.sqrt(rows[-1]) / 0.2
        true = norm.cdf(shift - 1.959964) + norm.cdf(-shift - 1.959964)
        assert true >= power - 1e-6
        assert true < power + (0.04 if power < 0.3 else 0.01)
    assert rows == sorted(set(rows))


@pytest.mark.parametrize(
    ("question", "widest"),
    [("auc", 1.0), ("net_benefit", 0.1 + 0.9 / 4.0), ("standardized_net_benefit", 1.0 + 9.0 / 4.0), ("gain", 0.325)],
)
def test_no_interval_is_as_wide_as_all_values_that_there_are(question, widest):
    """From no true positive and every false one, each worth threshold odds of 1/4, to the other way round."""
    cells = {"prevalence": 0.1, "sensitivity": 0.7, "specificity": 0.8, "threshold": 0.2}
    asked = {"auc": 0.8, "prevalence": 0.1} if question == "auc" else cells
    assert rows_needed(question=question, width=0.9 * widest, **asked).rows >= 1
    for width in (widest + 1e-9, 3.0 * widest):
        with pytest.raises(ValueError, match=r"width must be below .*, the whole range of values, got"):
            rows_needed(question=question, width=width, **asked)


def test_no_plan_is_for_a_single_row():
    """One row has no spread, and its interval no width."""
    asked = [
        {"question": "regret", "standard_deviation": 0.1, "width": 1.0},
        {"question": "o_to_e", "prevalence": 0.88, "width": 1.9},
        {"question": "slope", "linear_predictor": (-2.3, 2.0), "width": 9.5},
    ]
    plans = [rows_needed(**each) for each in asked]
    assert [plan.rows for plan in plans] == [2, 2, 2]
    assert plans[1].events == 2
    assert plans[2].why.endswith("with only 1 row of the rarer class")


def test_one_row_is_not_rows():
    assert Plan("auc", 1, 1, "enough").sentence == "1 row, 1 of them positive: enough"
    assert Plan("auc", 2, None, "enough").sentence == "2 rows: enough"
