"""Moments of losses against fractions worked out row by row, and the words and ends of an estimate by hand."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from stakes import ScoreTable, costs
from stakes.core.options import evaluation_data
from stakes.inference import Decisions, Moments
from stakes.inference._area import row_mean
from stakes.variance.dependence import PairedRows
from stakes.variance.influence import cells_of, skill_influence
from stakes.variance.sums import _density

HALF = costs.Uniform(0, 1)  # a negative with score s costs s^2 / 2, a positive (1 - s)^2 / 2
NEVER, ALWAYS, NOTHING = "never", "always", "nothing"


def rows(seed, n=14):
    """Labels, the scores of two models and weights, all multiples of 1/16."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    scores = np.clip(rng.integers(1, 16, (2, n)) + 4 * y, 0, 16) / 16
    return y, list(scores), rng.integers(1, 9, n) / 4


def exact_losses(y, rule):
    """What each row costs under a rule."""
    if isinstance(rule, str):
        costly = {ALWAYS: 0, NEVER: 1, NOTHING: 2}[rule]
        return [Fraction(int(int(label) == costly), 2) for label in y]
    pairs = zip(y, (Fraction(s) for s in rule), strict=True)
    return [((1 - s) ** 2 if label else s**2) / 2 for label, s in pairs]


def exact(y, one, other, weight, *, fixed=False):
    """Mean, variance, degrees of freedom, room, carriers of three kinds of a difference of mean losses."""
    w = [Fraction(v) for v in weight]
    gaps = [a - b for a, b in zip(exact_losses(y, one), exact_losses(y, other), strict=True)]
    total, mean = sum(w), sum(v * d for v, d in zip(w, gaps, strict=True)) / sum(w)
    second, fourth, rows_of, parts, carrying, carriers, ones, equal = [], [], [], [], [], [], [], []
    for k in (0, 1):
        mine = [(v, d) for v, d, label in zip(w, gaps, y, strict=True) if int(label) == k]
        centre = sum(v * d for v, d in mine) / sum(v for v, _ in mine) if fixed else mean
        second.append(sum((v * (d - centre)) ** 2 for v, d in mine))
        fourth.append(sum((v * (d - centre)) ** 4 for v, d in mine))
        n = len(mine)
        rows_of.append(n)
        parts.append(Fraction(n, n - 1) * second[k])
        squares, fourths = sum((v * d) ** 2 for v, d in mine), sum((v * d) ** 4 for v, d in mine)
        carrying.append(squares**2 / fourths if fourths else Fraction(0))
        carriers.append(sum(d != 0 for _, d in mine))
        equal.append(sum(v * d for v, d in mine) ** 2 / squares if squares else Fraction(0))
        most = Fraction(1, 2) if not _same_for_all(one, other, k, fixed=fixed) else Fraction(0)
        one_more = most * sum(v for v, _ in mine) / n / total
        dominant = math.sqrt(fourths / squares) if squares else 0.0
        ones.append(float(one_more) if carriers[k] < 5 else min(float(one_more), 3 * dominant / float(total)))
        if fixed:
            lacking = [v * (most * (1 if centre >= 0 else -1) - d) for v, d in mine]
            spared = sum(lacking) ** 2 / sum(v**2 for v in lacking) if any(lacking) else Fraction(0)
            if spared < min(carrying[k], 5):  # fewer rows lack a part of the most than carry some of it
                carrying[k], ones[k] = spared, float(one_more)
    n, both = sum(rows_of), sum(second)
    if fixed:
        variance = sum(parts) / total**2
        shares = sum(p**2 / (m - 1) for p, m in zip(parts, rows_of, strict=True))
        cap = sum(parts) ** 2 / shares if shares else Fraction(n - 1)
        uneven = sum(f - s**2 / m for f, s, m in zip(fourth, second, rows_of, strict=True))
    else:
        variance, cap = Fraction(n, n - 1) * both / total**2, n - 1
        uneven = sum(fourth) - both**2 / n
    scarce = [carrying[k] < 5 and ones[k] > 0.1 * math.sqrt(variance) for k in (0, 1)]
    room = sum(jump**2 for jump, asked in zip(ones, scarce, strict=True) if asked)
    degrees = min(cap, 2 * both**2 / uneven) if uneven > both**2 * Fraction(1, 10**12) else cap
    carrying, equal = ([*map(float, each)] for each in (carrying, equal))
    return float(mean), float(variance), float(degrees), room, carrying, carriers, scarce, equal


def _same_for_all(one, other, k, *, fixed):
    """Whether two rules cost rows of a class alike, or their difference has no error."""
    plain = {rule for rule in (one, other) if isinstance(rule, str)}
    alike = ({ALWAYS, NOTHING}, 1), ({NEVER, NOTHING}, 0)
    return (fixed and len(plain) == 2) or any(plain == pair and k == which for pair, which in alike)


def assert_moments(found, known):
    mean, variance, degrees, room, carrying, carriers, scarce, equal = known
    assert found.value == pytest.approx(mean, rel=1e-12, abs=1e-15)
    assert found.variance == pytest.approx(variance, rel=1e-12, abs=1e-18)
    if variance > 1e-18:
        assert found.degrees == pytest.approx(degrees, rel=1e-10)
        assert found.room == pytest.approx(room, rel=1e-10)
        assert list(found.scarce) == scarce
    assert found.carrying == pytest.approx(carrying, rel=1e-12)
    assert found.carriers == pytest.approx(carriers, rel=1e-12)
    assert found.equal == pytest.approx(equal, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("fixed", [False, True], ids=["", "fixed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("seed", [0, 1])
def test_moments_of_every_pair_of_rules_are_the_fractions(seed, weighted, fixed):
    y, scores, weight = rows(seed)
    w = weight if weighted else np.ones(len(y))
    found = Decisions.from_scores(
        PairedRows(y, scores, weight if weighted else None, fixed), HALF, "score", constants=True
    )
    rules = [*scores, ALWAYS, NEVER, NOTHING]
    assert found.rows == (9, 5)
    for i, j in combinations(range(5), 2):
        known = exact(y, rules[i], rules[j], w, fixed=fixed)
        assert_moments(found.of(i) if j == 4 else found.difference(i, j), known)
    alone = Decisions.from_scores(PairedRows(y, scores[:1], weight if weighted else None, fixed), HALF, "score")
    assert alone.rows == (9, 5)
    assert_moments(alone.of(0), exact(y, scores[0], NOTHING, w, fixed=fixed))
    gaps = [exact(y, rules[i], rules[j], w, fixed=fixed)[1] for i, j in ((0, 4), (1, 4), (0, 1))]
    assert found.covariance[0, 1] == pytest.approx((gaps[0] + gaps[1] - gaps[2]) / 2, rel=1e-10)


@pytest.mark.parametrize("fixed", [False, True], ids=["", "fixed"])
def test_moments_of_a_table_are_those_of_its_rows_and_tables_apart_have_no_pairs(fixed):
    y, scores, _ = rows(2)
    # three rows of each score and class: a cell of the table holds several
    y, scores = np.tile(y, 3), [np.tile(s, 3) for s in scores]
    ones, rules = np.ones(len(y)), [*scores, ALWAYS, NEVER, NOTHING]

    def table_of(score, weight):
        return replace(ScoreTable.from_predictions(y, score, sample_weight=weight), fixed_prevalence=fixed)

    tables = [table_of(score, ones) for score in scores]
    both = Decisions.from_tables(tables, HALF, "score")
    for i, score in enumerate(scores):
        # rows of one score have one weight: else their number is not known
        heavy = Decisions.from_table(table_of(score, score + 0.25), HALF, "score")
        for rule, own, among in ((score, 0, i), (ALWAYS, 1, 2), (NEVER, 2, 3)):
            assert_moments(heavy.of(own), exact(y, rule, NOTHING, score + 0.25, fixed=fixed))
            assert_moments(both.of(among), exact(y, rule, NOTHING, ones, fixed=fixed))
        for j in (2, 3):
            assert_moments(both.difference(i, j), exact(y, score, rules[j], ones, fixed=fixed))
        assert heavy.rows == both.rows == (27, 15)
    gap = both.difference(0, 1)
    assert math.isnan(gap.variance)
    assert gap.note.startswith("separate score tables do not say which scores belong together")
    assert both.of(0).note == Decisions.from_table(tables[0], HALF, "score").of(0).note
    assert Decisions.from_tables(tables[:1], HALF, "score").unpaired == ""
    assert not both.matrices.scarce[:, 0, 1].any()  # nothing is known of the difference, not that few rows carry it
    rounded = replace(both, means=np.array([0.1 + 0.2, 0.3, 0.3 + 1e-9, *both.means[3:]]))
    assert rounded.difference(0, 1).value == 0.0
    assert rounded.difference(2, 1).value != 0.0


def test_rows_in_clusters_of_one_have_the_spread_of_rows():
    y, scores, weight = rows(3)
    alone = Decisions.from_scores(PairedRows(y, scores, weight), HALF, "score", constants=True)
    found = Decisions.from_scores(
        PairedRows(y, scores, weight, clusters=np.arange(len(y))), HALF, "score", constants=True
    )
    for i, j in combinations(range(4), 2):
        one, two = found.difference(i, j), alone.difference(i, j)
        assert one.value == pytest.approx(two.value, rel=1e-12)
        # leaving out a row moves the total weight too: the same to first order
        assert one.variance == pytest.approx(two.variance, rel=0.25)
        assert (one.rows, one.clustered, two.clustered) == (two.rows, True, False)


def test_copies_of_a_model_are_the_same_model_and_models_that_cost_alike_are_not():
    y, scores, _ = rows(4)
    same = Decisions.from_scores(PairedRows(y, [scores[0], scores[0].copy()], None), HALF, "score").difference(0, 1)
    assert (same.value, same.variance, same.room, same.scarce) == (0.0, 0.0, 0.0, (False, False))
    # above and below every cost ratio: the scores differ, the costs of these rows do not
    narrow = costs.Uniform(0.96, 0.98)
    alike = Decisions.from_scores(PairedRows(y, [scores[0] / 2, scores[0] / 4], None), narrow, "score").difference(0, 1)
    assert (alike.value, alike.variance, alike.carriers) == (0.0, 0.0, (0.0, 0.0))
    assert alike.room > 0.0
    assert alike.scarce == (True, True)


def test_a_model_fitted_to_the_rows_loses_its_spread_and_no_other_does():
    y, scores, _ = rows(5)
    found = Decisions.from_scores(PairedRows(y, scores, None), HALF, "score", constants=True)
    known = found.without_intervals(1)
    for i, j in combinations(range(5), 2):
        variances = [each.matrices.variance[i, j] for each in (known, found)]
        assert math.isnan(variances[0]) if i == 0 else variances[0] == variances[1]


# ------------------------------------------------------------------------------------- one estimate, by hand
ONE = Moments(0.5, 0.04, 10.0, 0.01, (4.0, 30.0), (6.0, 40.0), (True, False), (60, 50))
TWO = Moments(0.2, 0.01, 5.0, 0.02, (9.0, 3.0), (11.0, 7.0), (False, True), (80, 70), least=9)


@pytest.mark.parametrize("fixed", [False, True], ids=["", "fixed"])
def test_costs_lie_between_what_is_known_of_them_and_that_with_every_row_wrong(fixed):
    y = np.arange(60) % 3 == 0
    right = np.where(y, 0.7, 0.1)
    one, two = (
        np.where(np.arange(60) % 5 == 0, 0.8 - right, right),
        np.where(np.arange(60) % 4 == 0, 0.8 - right, right),
    )
    found = Decisions.from_scores(PairedRows(y, [one, two], None, fixed), costs.Fixed(0.2), "score")
    most = (
        0.2 * (2 / 3) + 0.8 * (1 / 3) if fixed else 0.8
    )  # rows of either class may be drawn where shares are not known
    sure = 1.0 - 1e-15  # so sure that only what is possible bounds an interval
    assert found.of(0).interval(sure) == pytest.approx((0.0, most), abs=1e-12)
    assert found.difference(0, 1).interval(sure) == pytest.approx((-most, most), abs=1e-12)
    dearer = found.costing(np.array([0.3, 0.1]))
    assert dearer.of(0).value == pytest.approx(found.of(0).value + 0.3)
    assert dearer.of(0).interval(sure) == pytest.approx((0.3, most + 0.3), abs=1e-12)
    assert dearer.of(1).interval(sure) == pytest.approx((0.1, most + 0.1), abs=1e-12)
    assert dearer.difference(0, 1).interval(sure) == pytest.approx((0.2 - most, 0.2 + most), abs=1e-12)


@pytest.mark.parametrize("unit", [1.0, 0.1, 0.7, 3.0, 1e-3])
def test_rules_that_cost_the_same_on_the_whole_have_no_difference_in_any_unit_of_weights(unit):
    y = np.repeat([False, True], [70, 30])
    scores = []
    for seed in range(6):  # as many mistakes of each kind, in other rows
        rng = np.random.default_rng(seed)
        scores.append(
            np.concatenate([rng.permutation(np.linspace(0.1, 0.5, 70)), rng.permutation(np.linspace(0.2, 0.9, 30))])
        )
    found = Decisions.from_scores(PairedRows(y, scores, np.full(100, unit)), costs.Fixed(0.3), "score")
    first, second = np.triu_indices(6, 1)
    gaps = found.differences(first, second)
    assert not gaps.value.any()
    assert (gaps.variance > 0.0).all()
    assert gaps.p_values().tolist() == [1.0] * 15
    alone = [found.difference(i, j) for i, j in zip(first.tolist(), second.tolist(), strict=True)]
    assert [(gap.value, gap.p_value()) for gap in alone] == [(0.0, 1.0)] * 15
    assert all(gap.variance > 0.0 for gap in alone)


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_least_p_values_of_many_models_are_below_those_of_every_pair(unit):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.random(300) < 0.3
        base = np.clip(0.3 * y + 0.7 * rng.random(300), 0.0, 1.0)
        apart = (0.05, 0.1, 0.2, 0.3, 1e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 1e-4)  # some are all but one model
        scores = [np.clip(base + rng.normal(0.0, each, 300), 0.0, 1.0) for each in apart]
        same = Decisions.from_scores(PairedRows(y, [*scores, scores[0]], np.full(300, unit)), HALF, "score")
        assert same.least_p_values(np.array([0]), np.array([len(scores)])) == pytest.approx([1.0], abs=1e-6)
        found = Decisions.from_scores(PairedRows(y, scores, np.full(300, unit)), HALF, "score")
        first, second = np.triu_indices(len(scores), 1)
        least, known = found.least_p_values(first, second), found.differences(first, second).p_values()
        assert np.all(least <= known)
        far = (first < 4) & (known > 0.01)
        assert np.all(least[far] >= 0.8 * known[far])  # and not far below
        unbounded = Decisions.from_scores(PairedRows(y, scores, None), costs.LogOddsUniform(0.0, 1.0), "score")
        assert not unbounded.least_p_values(first, second).any()


def test_difference_of_independent_estimates_is_welchs_and_names_the_scarcer_of_each_class():
    for one, two, sign in ((ONE, TWO, 1.0), (TWO, ONE, -1.0)):
        gap = one.minus(two)
        assert gap.value == pytest.approx(sign * 0.3)
        assert gap.variance == pytest.approx(0.05)
        assert gap.degrees == pytest.approx(0.05**2 / (0.04**2 / 10 + 0.01**2 / 5))
        assert gap.room == pytest.approx(0.03)
        assert (gap.carrying, gap.carriers, gap.scarce) == ((4.0, 3.0), (6.0, 7.0), (True, True))
        assert (gap.rows, gap.least, gap.reason) == ((60, 70), 9, "")
    # of two that are both scarce, or both not, the one that fewer rows carry
    less = replace(ONE, carrying=(3.0, 20.0), rows=(33, 22))
    assert ONE.minus(less).carrying == less.minus(ONE).carrying == (3.0, 20.0)
    assert ONE.minus(less).rows == (33, 22)


def test_difference_without_spread_has_the_fewer_degrees_of_freedom():
    still = replace(ONE, variance=0.0, degrees=0.0), replace(TWO, variance=0.0, degrees=4.0)
    assert still[0].minus(still[1]).degrees == still[1].minus(still[0]).degrees == 0.0
    assert replace(still[0], degrees=7.0).minus(still[1]).degrees == 4.0
    # a share whose degrees are 1/2 counts as any other
    assert replace(ONE, degrees=0.5).minus(TWO).degrees == pytest.approx(0.05**2 / (0.04**2 / 0.5 + 0.01**2 / 5))


def test_difference_has_no_interval_where_one_of_the_two_has_none():
    short = replace(TWO, rows=(80, 8))
    for gap in (ONE.minus(short), short.minus(ONE)):
        assert gap.note == "only 8 positives: an interval needs 9"
        assert math.isnan(gap.interval(0.95)[0])
        assert math.isnan(gap.p_value())
    for gap in (ONE.minus(replace(TWO, reason="why")), replace(ONE, reason="why").minus(TWO)):
        assert (gap.reason, gap.note, gap.scarcity) == ("why", "why", "why")
        assert math.isnan(gap.interval(0.95)[1])
        assert math.isnan(gap.p_value())


def test_scaled_estimate_has_a_scaled_interval_and_the_same_p_value():
    found = ONE.scaled(-3.0)
    assert found.value == -1.5
    assert found.variance == pytest.approx(0.36)
    assert found.room == pytest.approx(0.09)
    assert found.interval(0.9) == pytest.approx([-3 * end for end in ONE.interval(0.9)[::-1]])
    assert found.p_value() == pytest.approx(ONE.p_value(), rel=1e-12)
    assert found.standard_error == pytest.approx(0.6)


def test_interval_is_students_with_room_and_its_p_value_the_level_that_reaches_the_null():
    t, log = stats.t.ppf(0.95, 10.0), math.log(0.1)
    half = math.sqrt(t * t * 0.04 + log * log * 0.01)
    assert ONE.interval(0.9) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-10)
    assert [ONE.p_value(0.5 - half), ONE.p_value(0.5 + half)] == pytest.approx([0.1, 0.1], rel=1e-9)
    for value in (math.nan, math.inf):
        assert all(math.isnan(end) for end in replace(ONE, value=value).interval(0.95))


def test_notes_say_on_what_the_estimate_rests():
    widened = "few, so the interval is widened"
    assert ONE.note == f"the estimate rests on about 4 of 60 negatives: {widened}; about 75 negatives would do"
    both = replace(ONE, scarce=(True, True), carrying=(4.0, 2.5), paired=True, clustered=True)
    known = "the difference rests on about 2.5 of 50 clusters with positives"
    assert both.note == f"{known}: {widened}; about 100 such clusters would do"
    assert replace(ONE, room=math.inf).note.endswith("negatives: there is no interval; about 75 negatives would do")
    # at most as many are wanted as if one row carried it
    assert replace(ONE, carrying=(0.5, 30.0)).note.endswith("about 300 negatives would do")
    # rounded up to two digits
    assert replace(ONE, carrying=(1.0, 30.0), rows=(61, 50)).note.endswith("about 310 negatives would do")
    none = replace(ONE, carriers=(0.0, 40.0))
    assert none.note == "no negative carries a cost here: at least 5 must"
    known = "no negative tells the two apart: at least 5 must; there is no interval"
    assert replace(none, paired=True, room=math.inf).note == known
    assert replace(ONE, variance=math.nan).note == ""
    assert replace(ONE, names=("healthy", "ill"), least=61).note == "only 50 ills: an interval needs 61"
    assert replace(ONE, names=("healthy", "ill"), rows=(60, 1), least=2).note == "only 1 ill: an interval needs 2"


def test_estimate_of_which_no_more_is_said_is_normal_and_rests_on_enough():
    plain = Moments(0.2, 0.0001)
    assert (plain.note, plain.scarcity, plain.reason) == ("", "", "")
    assert plain.interval(0.95) == pytest.approx((0.2 - 0.01 * 1.959963984540054, 0.2 + 0.01 * 1.959963984540054))
    assert plain.p_value() == pytest.approx(2 * stats.norm.sf(20.0), rel=1e-9)
    assert replace(plain, scarce=(True, False), carriers=(0.0, 9.0)).note.startswith("no negative carries a cost")


def test_few_degrees_of_freedom_are_said_up_to_a_width_of_a_twentieth():
    plain = replace(ONE, scarce=(False, False))
    words = "few rows carry the error of the estimate (about 10 degrees of freedom)"
    assert plain.note == f"{words}: the interval is wider than a normal one"
    assert plain.scarcity == ""
    assert replace(plain, paired=True, clustered=True).note.startswith("few clusters carry the error of the difference")
    # 26 degrees make a 95% interval 1.05 times as wide as a normal one
    assert stats.t.ppf(0.975, 26) / stats.norm.ppf(0.975) < 1.05 < stats.t.ppf(0.975, 25) / stats.norm.ppf(0.975)
    assert replace(plain, degrees=25.9).note
    assert replace(plain, degrees=0.5).note
    assert [replace(plain, **part).note for part in ({"degrees": 26.0}, {"degrees": 0.0}, {"variance": 0.0})] == [
        ""
    ] * 3


@pytest.mark.parametrize("degrees", [0.7, 5.0, 40.0, math.inf])
def test_density_of_the_step_that_ends_the_quantile_is_students(degrees):
    t = np.array([-6.0, -1.0, 0.0, 0.3, 2.5])
    known = stats.norm.pdf(t) if degrees == math.inf else stats.t.pdf(t, degrees)
    assert _density(t, np.full(5, degrees)) == pytest.approx(known, rel=1e-9)


# ------------------------------------------------------------------------------------------ influence of rows
def test_what_a_row_adds_to_a_mean_is_counted_from_the_best_decision():
    y, score, weight = np.array([1, 1, 0, 0, 0]) == 1, np.array([0.1, 0.9, 0.1, 0.2, 0.9]), np.array([1.0, 2, 1, 3, 1])
    cells = cells_of(evaluation_data(y, score, sample_weight=weight), fixed_prevalence=False)
    # net benefit at 1/5: a hit is worth 1, a false alarm costs 1/4
    values = np.array([0.0, 1.0, 0.0, -0.25, -0.25])
    found = row_mean("net_benefit_score", {"threshold": 0.2}).influence(cells)
    assert found.value == pytest.approx((2.0 - 0.75 - 0.25) / 8.0)
    assert found.slope == pytest.approx(values - 1.0 / 8.0)
    assert found.raw == pytest.approx([-1.0, 0.0, 0.0, -0.25, -0.25])
    assert found.max_loss == (0.25, 1.0)
    gap = found.minus(row_mean("net_benefit_score", {"threshold": 0.2, "rule": 0.15}).influence(cells))
    assert (gap.value, gap.raw.tolist(), gap.slope.tolist()) == (0.0, [0.0] * 5, [0.0] * 5)
    nothing = row_mean("bounded_log_loss", {"bounds": (0.0, 1.0)}).influence(replace(cells, score=1.0 * ~y))
    assert (nothing.value, nothing.max_loss) == (math.inf, (0.0, 0.0))
    assert np.isnan(nothing.slope).all()


def test_influence_on_a_skill_is_the_derivative_of_the_ratio():
    y, (score, _), weight = rows(6)
    cells = cells_of(evaluation_data(y, score, sample_weight=weight), fixed_prevalence=False)
    for reference in (None, 0.25):
        guess = weight[y].sum() / weight.sum() if reference is None else reference
        own, base = ((np.where(y, 1.0 - s, s)) ** 2 for s in (score, np.full(len(y), guess)))
        mean, of_base = (np.average(loss, weights=weight) for loss in (own, base))
        found = row_mean("bounded_brier_skill_score", {"reference": reference}).influence(cells)
        assert found.value == pytest.approx(1.0 - mean / of_base, rel=1e-12)
        slope = mean / of_base**2 * (base - of_base) - (own - mean) / of_base
        assert found.slope == pytest.approx(slope, rel=1e-10, abs=1e-12)
        assert found.raw == pytest.approx(-own / of_base, rel=1e-12)
        assert found.max_loss == pytest.approx([1.0 / of_base] * 2, rel=1e-12)
        assert found.least == 5


def test_most_that_one_more_row_brings_to_a_skill_is_what_it_costs_beside_the_reference():
    y, law = np.tile([0, 1, 0, 0], 10), costs.Uniform(0.1, 0.4)
    cells = cells_of(evaluation_data(y, np.linspace(0.0, 1.0, 40)), fixed_prevalence=False)
    worst = float(law.negative_loss(np.inf)), float(law.positive_loss(-np.inf))
    constant = np.where(y, law.positive_loss(0.25), law.negative_loss(0.25)).mean()
    assert skill_influence(cells, law, "score", 0.25).max_loss == pytest.approx([each / constant for each in worst])


def test_cells_of_light_rows_know_their_place_among_the_scores():
    y, score, weight = [0, 1, 0, 1, 1], [0.1, 0.1, 0.3, 0.6, 0.3], [0.5, 0.25, 0.5, 2.0, 0.5]
    table = ScoreTable.from_predictions(y, score, sample_weight=weight)
    cells = cells_of(evaluation_data(table, None), fixed_prevalence=False)
    assert cells.level.tolist() == np.searchsorted([0.1, 0.3, 0.6], cells.score).tolist()
    assert cells.weight.tolist() == [0.5, 0.5, 0.25, 0.5, 2.0]
    assert cells.square.tolist() == [0.25, 0.25, 0.0625, 0.25, 4.0]
