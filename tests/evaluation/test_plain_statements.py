"""Single numbers that were wrong, or were said wrongly: each with what it must say."""

import re

import numpy as np
import pytest
from scipy import stats

from stakes import TimeToEvent, advise, evaluate
from stakes.inference import metric_difference

polars = pytest.importorskip("polars")


def test_a_difference_that_no_positive_shows_has_room_for_one_that_would():
    # 0 discordant positives and 7 negatives on one side: plain Student's t says p = .024 or less
    y = np.repeat([True, False], [45, 255])
    a = np.where(y, 0.5, 0.05)
    b = a.copy()
    b[45:52] = 0.2
    gap = np.where(b >= 0.1, 0.1 / 0.9, 0.0) - np.where(a >= 0.1, 0.1 / 0.9, 0.0)
    assert stats.ttest_1samp(np.where(y, 0.0, gap), 0.0).pvalue < 0.025
    found = metric_difference(y, a, b, "net_benefit_score", threshold=0.1)
    low, high = found.interval
    assert found.difference == pytest.approx(7 * (0.1 / 0.9) / 300, rel=1e-12)
    assert low < 0.0 < high
    assert found.p_value > 0.05
    assert "no positive tells the two apart" in found.note


def test_how_many_rows_would_do_is_said():
    # three positives that only one model misses, at costs of 1, 1 and x: (2 + x^2)^2 / (2 + x^4) = 2.7 effective
    # rows, and 237 * 5 / 2.7 = 438.9
    x = np.sqrt((4.0 - np.sqrt(16.0 - 4.0 * 1.7 * 1.4)) / 3.4)
    low, high = 0.05, 0.2
    whole = ((1.0 - low) ** 2 - (1.0 - high) ** 2) / 2.0  # of 1 - c, from low to high
    partly = 1.0 - np.sqrt((1.0 - high) ** 2 + 2.0 * x * whole)
    y = np.repeat([True, False], [237, 3000])
    a = np.where(y, 0.5, 0.01)
    b = a.copy()
    b[:3] = low, low, partly
    b[300:420] = 0.1
    found = metric_difference(y, a, b, "expected_regret", costs=(low, high))
    assert found.note == (
        "the difference rests on about 2.7 of 237 positives: few, so the interval is widened; "
        "about 440 positives would do"
    )


def test_treating_all_cannot_miss_and_is_not_widened_for_misses():
    y = np.random.default_rng(0).random(2000) < 0.02
    found = evaluate(y, {"a": np.where(y, 0.3, 0.01)}, costs=(0.01, 0.1))["treat all"]
    # it costs the mean threshold for each negative: a plain interval of a share
    share = np.mean(~y)
    plain = 0.055 * np.sqrt(share * (1.0 - share) / 1999)
    assert found.score == pytest.approx(0.055 * share, rel=1e-12)
    assert found.standard_error == pytest.approx(plain, rel=1e-9)
    assert np.ptp(found.interval) <= 1.05 * 2 * 1.959964 * plain
    assert found.note == ""


def test_with_a_known_prevalence_treating_no_one_has_no_error():
    rng = np.random.default_rng(1)
    y = rng.random(500) < 0.5
    found = evaluate(y, {"a": rng.random(500)}, costs=(0.1, 0.3), prevalence=0.02)
    for name, cost in (("treat none", 0.02 * 0.8), ("treat all", 0.98 * 0.2)):
        assert found[name].standard_error == 0.0
        assert found[name].interval == pytest.approx((cost, cost), rel=1e-12)


def test_signs_of_sentences_and_tables_agree_and_intervals_have_two_ends(tmp_path, monkeypatch, capsys):
    pytest.importorskip("click")
    from stakes.cli import main

    rng = np.random.default_rng(2)
    risk = rng.beta(1.0, 6.0, 800)
    y = (rng.random(800) < risk).astype(int)
    polars.DataFrame({"y": y, "good": risk, "poor": rng.permutation(risk)}).write_csv(tmp_path / "p.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["evaluate", "p.csv", "--label", "y", "--costs", "0.05:0.3"]) == 0
    out = capsys.readouterr().out
    assert not re.search(r"±|\+-|\+/-", out)
    found = evaluate(y, {"good": risk, "poor": np.loadtxt("p.csv", delimiter=",", skiprows=1)[:, 2]}, costs=(0.05, 0.3))
    shown = re.sub(r"(?<=\()\s+|\s+(?=\s)", "", out.replace("\u2212", "-"))
    for other in ("poor", "treat all", "treat none"):
        gap, low, high = (1000.0 * each for each in found.more_than_first[other])
        assert low < gap < high
        assert f" {gap:.1f} ({low:.1f} to {high:.1f})" in shown
    assert "Shown (95%, all at once): good costs less than every other" in " ".join(out.split())


def test_errors_stand_directly_under_the_headline_of_the_report():
    rng = np.random.default_rng(3)
    y = rng.random(1000) < 0.1
    found = evaluate(y, {"noise": rng.random(1000)}, costs=(0.2, 0.4))
    assert "worse-than-prevalence" in found.findings.codes
    page = found.to_html()
    places = [
        page.index(words) for words in ('class="advice"', 'class="grave"', 'class="screen"', "<code>worse-than-pre")
    ]
    assert places == sorted(places)


# levels, shares and stated numbers, whose rounding must not say something else


def noisy(n=400, seed=1):
    draws = np.random.default_rng(seed)
    y = draws.integers(0, 2, n)
    return y, np.clip(0.25 + 0.5 * y + draws.normal(0, 0.3, n), 0.01, 0.99)


@pytest.mark.parametrize(("level", "written"), [(0.975, "97.5%"), (0.995, "99.5%"), (0.9996, "99.96%")])
def test_every_sentence_of_an_evaluation_names_the_level_that_was_asked_for(level, written):
    y, p = noisy()
    found = evaluate(y, {"a": p, "b": 1.0 - p}, costs=0.3, confidence_level=level).with_deferral(0.1)
    said = " ".join([*found.answer.sentences, *found.answer.details, *found.deferral.conclusion, *found.methods()])
    levels = re.findall(r"\(([\d.]+%)(?:,|:| interval)|([\d.]+%) (?:interval|confidence)", said)
    assert {first or second for first, second in levels} == {written}


def test_shares_of_nearly_all_are_not_all():
    y, p = noisy()
    wrong = advise(decisions="independent", knowledge="unknown", prevalence=0.0004).wrong["accuracy"]
    assert "accuracy of 99.96% here" in wrong
    heads = evaluate(y, {"a": p}, costs=0.3).clinical_table([0.1234, 0.12341, 0.9999]).to_markdown().splitlines()[0]
    assert [f"at {at}" in heads for at in ("12.34% ", "12.341% ", "99.99% ")] == [True] * 3
    time, event = np.full(5000, 2.0), np.ones(5000)
    time[0], event[0] = 0.5, 0
    outcome = TimeToEvent(time=time, event=event, horizon=1.0)
    assert "1 of unknown status (0.02%)" in outcome.summary
    assert any(said.startswith("The status of 0.02% of the cases") for said in outcome.methods)


def test_a_large_number_of_decisions_is_written_in_full():
    y, p = noisy()
    found = evaluate(y, {"a": p}, costs=0.3, per=1234567)
    assert "per 1,234,567 decisions" in found.answer.sentences[1]
