"""The certificate of mistakes among the decided: the oracle's paths, exact tails, and how often the promise breaks."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.special import expit

from stakes.actions import certify_decided
from stakes.actions._deferral import binomial_tail, fewest_rows, new_cases_tail


def rows_of(errors, confidence):
    """Labels and scores whose decisions at 1/2 have these errors and an expected cost that falls with confidence."""
    p = 0.5 - 0.4 * np.asarray(confidence)
    return np.asarray(errors), p


def test_tails_of_the_oracle(actions_reference):
    for k, n, limit, stated in actions_reference["deferral"]["binomial_tail"]:
        assert float(binomial_tail(np.array([k]), np.array([n]), limit)[0]) == pytest.approx(stated, rel=1e-12)


def test_rows_that_a_limit_needs():
    assert (fewest_rows(0.1, 0.05), fewest_rows(0.05, 0.05)) == (29, 59)
    found = certify_decided([0] * 20, [0.1] * 20, threshold=0.5, max_error=0.1)
    assert (found.certified, found.rows_needed) == (False, 29)
    assert found.sentence.endswith("it takes 29 rows decided without a mistake, and there are 20")


def test_one_mistake_is_not_mistakes():
    for wrong, said in ((0, "0 mistakes"), (1, "1 mistake"), (2, "2 mistakes")):
        found = certify_decided(np.arange(500) < wrong, np.full(500, 0.01), threshold=0.5, max_error=0.05)
        assert found.sentence.endswith(f": 100% of cases decided, {said} in 500")


def test_paths_of_the_oracle(actions_reference):
    for case in actions_reference["deferral"]["certificate"]:
        y, p = rows_of(case["err"], case["conf"])
        found = certify_decided(
            y, p, threshold=0.5, max_error=case["alpha"], confidence_level=1 - case["delta"], min_rows=case["n_min"]
        )
        assert found.tested == len(case["path"])
        cut = case["confidence_cut"]
        assert found.certified == (cut is not None)
        if cut is not None:
            passed = next(step for step in case["path"] if step[0] == cut)
            assert (found.decided, found.errors) == (passed[1], passed[2])
            assert np.sum(np.asarray(case["conf"]) >= cut) == np.sum((p <= found.zone[0]) | (p >= found.zone[1]))


@pytest.mark.simulation
def test_promise_breaks_as_seldom_as_it_says():
    """Acceptance 6: the error rate is the limit at every level, the worst case; plug-in breaks it in 88 and 95%."""
    rng = np.random.default_rng(20261122)
    for n, draws in ((200, 2000), (1000, 2000)):
        p = 0.5 * (np.arange(n) + 0.5) / n
        broken = plug_in = 0
        for _ in range(draws):
            wrong = rng.random(n) < 0.1
            # true risk of every decided set is 0.1001, just above the limit
            broken += certify_decided(wrong, p, threshold=0.5, max_error=0.0999).certified
            rates = np.cumsum(wrong) / np.arange(1, n + 1)
            plug_in += bool(np.any(rates[: n - 1] <= 0.0999))
        assert broken / draws <= 0.05 + 2 * (0.05 * 0.95 / draws) ** 0.5
        assert plug_in / draws > 0.8


def test_undetected_mistakes_are_limited_per_case():
    rng = np.random.default_rng(1)
    p = rng.beta(0.4, 0.4, 2000)
    y = rng.random(2000) < p
    found = {
        target: certify_decided(y, p, threshold=0.5, max_error=0.03, target=target)
        for target in ("undetected", "expected undetected")
    }
    surest = np.argsort(np.minimum(p, 1 - p))
    wrong = np.cumsum(((p >= 0.5) != y)[surest])
    assert found["expected undetected"].errors == np.max(wrong[(wrong + 1) / 2001 <= 0.03])
    tail = binomial_tail(
        np.array([found["undetected"].errors, found["undetected"].errors + 1]), np.array([2000] * 2), 0.03
    )
    assert tail[0] <= 0.05 < tail[1]
    assert found["undetected"].coverage < found["expected undetected"].coverage
    assert "on average" in found["expected undetected"].sentence


def test_expected_mistakes_may_be_exactly_as_many_as_are_allowed():
    p, y = np.linspace(0.01, 0.3, 99), np.isin(np.arange(99), [10, 50])  # (2 + 1) / (99 + 1) is 3%
    found = certify_decided(y, p, threshold=0.5, max_error=0.03, target="expected undetected")
    assert (found.coverage, found.errors) == (1.0, 2)
    found = certify_decided(y, p, threshold=0.5, max_error=0.0299, target="expected undetected")
    assert (found.coverage, found.errors) == (50 / 99, 1)


@pytest.mark.parametrize(("limit", "fewest"), [(0.1, 9), (0.05, 19), (0.03, 33), (0.7, 1)])
def test_rows_needed_for_mistakes_on_average_are_those_of_the_test(limit, fewest):
    """The fewest n with 1 / (n + 1) <= limit, by trying them."""
    asked = {"threshold": 0.5, "max_error": limit, "target": "expected undetected"}
    assert next(n for n in range(1, 99) if Fraction(1, n + 1) <= Fraction(str(limit))) == fewest
    assert certify_decided([0, 1] * 50, [0.01, 0.99] * 50, **asked).certified
    for n in range(1, fewest + 1):
        found = certify_decided(np.arange(n) % 2, np.where(np.arange(n) % 2, 0.99, 0.01), **asked)
        assert (found.certified, found.rows_needed) == (n >= fewest, None if n >= fewest else fewest)
    enough = certify_decided([1] * fewest, [0.01] * fewest, **asked)
    assert enough.sentence.endswith("too many mistakes among the surest cases")


def test_too_many_mistakes_are_said():
    found = certify_decided([0, 1] * 100, [0.2, 0.1] * 100, threshold=0.5, max_error=0.1)
    assert found.sentence.endswith("no certificate, too many mistakes among the surest cases")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_error": 0.0}, r"max_error must lie in \(0, 1\)"),
        ({"threshold": 1.0}, r"threshold must lie in \(0, 1\)"),
        ({"target": "all"}, "target must be one of"),
        ({"min_rows": 0}, "min_rows must be a whole number >= 1"),
        ({"min_rows": 2, "target": "undetected"}, "min_rows= goes with target=\"selective\", got target='undetected'"),
        ({"min_rows": 2, "target": "expected undetected"}, 'min_rows= goes with target="selective"'),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        certify_decided([0, 1], [0.1, 0.9], **{"threshold": 0.5, "max_error": 0.1, **options})


def _by_definition(decided, errors, new, limit):
    """Over every number of mistakes among all: few here and too many there, where the halves are drawn at random."""
    every = decided + new
    ways = [
        sum(
            comb(total, k) * comb(every - total, decided - k)
            for k in range(errors + 1)
            if limit * new + 1e-9 < total - k <= new and decided - k <= every - total
        )
        for total in range(every + 1)
    ]
    return max(ways) / comb(every, decided)


@pytest.mark.parametrize("case", [(20, 1, 15, 0.1), (30, 0, 30, 0.1), (12, 3, 9, 0.34), (5, 0, 0, 0.1)])
def test_tail_for_new_cases_is_that_of_its_definition(case):
    assert new_cases_tail(*case) == pytest.approx(_by_definition(*case), rel=1e-10, abs=1e-15)


def test_largest_of_ten_sets_of_new_cases_passes_at_a_tenth_of_the_level():
    rng = np.random.default_rng(17)
    p, limit = rng.permutation(np.linspace(0.001, 0.999, 200)).round(3), 0.2
    y = rng.random(200) < p
    cost, wrong = np.minimum(p, 1.0 - p), (p >= 0.5)[:120] != y[:120]
    sets = [cost <= cut + 1e-9 for cut in np.sort(cost)[19::20]]
    counts = [(int(s[:120].sum()), int((s[:120] & wrong).sum()), int(s[120:].sum())) for s in sets]
    tails = np.array([_by_definition(*each, limit) for each in counts])
    passed = np.flatnonzero(tails <= 0.05 / 10)
    assert np.any(tails[passed[-1] + 1 :] < 0.05)  # would pass if it were the only one
    found = certify_decided(y[:120], p[:120], new_prob=p[120:], threshold=0.5, max_error=limit)
    assert (round(120 * found.coverage), found.errors, found.new_decided) == counts[passed[-1]]


def test_promise_about_new_cases_takes_more_and_decides_fewer():
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 0.3, 6000)
    y = rng.random(6000) < p
    asked = {"threshold": 0.5, "max_error": 0.1}
    plain = certify_decided(y[:3000], p[:3000], **asked)
    found = certify_decided(y[:3000], p[:3000], new_prob=p[3000:], **asked)
    decided = (p[3000:] <= found.zone[0]) | (p[3000:] >= found.zone[1])
    assert found.new_decided == decided.sum()
    assert 0 < found.coverage < plain.coverage
    assert "among these 3,000 new cases" in found.sentence
    none = certify_decided(y[:40], p[:40], new_prob=p[40:60], threshold=0.5, max_error=0.01)
    assert (none.certified, none.coverage, none.decided, none.errors, none.new_decided) == (False, 0.0, 0, 0, 0)
    with pytest.raises(ValueError, match='new_prob= goes with target="selective"'):
        certify_decided(y, p, target="undetected", new_prob=p, **asked)


def test_a_first_test_of_more_rows_than_there_are_is_said():
    y, p, asked = [0, 1] * 250, [0.01, 0.99] * 250, {"threshold": 0.5, "max_error": 0.1}
    assert certify_decided(y, p, min_rows=500, **asked).certified
    found = certify_decided(y, p, min_rows=501, **asked)
    assert (found.certified, found.tested, found.rows_needed) == (False, 0, 501)
    assert found.sentence.endswith("no certificate, for it takes 501 rows decided at the first test, and there are 500")
    few = certify_decided(y[:20], p[:20], min_rows=5, **asked)  # 0.9^n <= 5% from n = 29 on
    assert few.sentence.endswith("no certificate, for it takes 29 rows decided without a mistake, and there are 20")


@pytest.mark.parametrize("new", [[0.5, 0.5, 0.49], [0.5] * 400])
def test_no_set_without_a_new_case_is_certified(new):
    half_wrong = certify_decided([1, 0] * 250, [0.01] * 500, threshold=0.5, max_error=0.1, new_prob=new)
    assert (half_wrong.certified, half_wrong.zone, half_wrong.new_decided) == (False, None, 0)
    right = certify_decided([0] * 500, [0.01] * 500, threshold=0.5, max_error=0.1, new_prob=new)
    assert right.certified == (new_cases_tail(500, 0, len(new), 0.1) <= 0.005)  # all are decided
    assert right.new_decided == (len(new) if right.certified else 0)
    few = certify_decided([0] * 5, [0.01] * 5, threshold=0.5, max_error=0.1, new_prob=[0.01] * 9)
    assert few.sentence.endswith("no certificate, too few rows or too many mistakes among the surest cases")


@pytest.mark.parametrize("n", [2, 4, 10])
def test_a_chance_of_exactly_what_may_be_missed_passes(n):
    # n rows without a mistake have a chance of 2^-n where half are mistakes
    for level, certified in [(1.0 - 0.5**n, True), (1.0 - 0.5**n + 1e-9, False)]:
        found = certify_decided([0] * n, [0.1] * n, threshold=0.5, max_error=0.5, confidence_level=level)
        assert found.certified == certified


def test_log_odds_of_new_cases_are_log_odds_too():
    rng = np.random.default_rng(0)
    known, new = 3.0 * rng.normal(size=400), 3.0 * rng.normal(size=200)
    y = rng.random(400) < expit(known)
    asked = {"threshold": 0.4, "max_error": 0.2}
    found = certify_decided(y, known, new_prob=new, logits=True, **asked)
    assert found.sentence == certify_decided(y, expit(known), new_prob=expit(new), **asked).sentence
    assert found.certified


@pytest.mark.parametrize("target", ["selective", "undetected", "expected undetected"])
def test_a_sentence_names_the_share_that_is_certified(target):
    found = certify_decided([0] * 99 + [1], [0.1] * 100, threshold=0.5, max_error=0.1, target=target)
    what = "mistakes per case decided" if target == "selective" else "undetected mistakes per case"
    assert found.sentence.startswith(f"{what} <= 10%, ")


@pytest.mark.parametrize("c", [0.3, 0.5])
def test_a_score_at_the_threshold_is_a_decision_to_act(c):
    # of 100 rows at the threshold one is a negative: the only mistake, as all are acted on
    found = certify_decided([1] * 99 + [0], [c] * 100, threshold=c, max_error=0.1)
    assert (found.decided, found.errors, found.coverage) == (100, 1, 1.0)


def test_tests_start_at_a_fifth_of_the_rows():
    # the surest eight of 1,000 are mistakes, and no other: too many among 29, few enough among 200
    y, p = rows_of(np.arange(1000) < 8, 1.0 - np.arange(1000) / 1000)
    asked = {"threshold": 0.5, "max_error": 0.1}
    found = certify_decided(y, p, **asked)
    assert (found.decided, found.errors, found.tested) == (1000, 8, 801)
    assert certify_decided(y, p, min_rows=200, **asked) == found
    assert not certify_decided(y, p, min_rows=29, **asked).certified
