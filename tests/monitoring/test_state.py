"""The state of a monitor: small, whole after every kill, and refused by its first wrong entry."""

import json
import time

import numpy as np
import pytest

from stakes import evaluate
from stakes.evaluation import KeptEvaluation
from stakes.monitoring import ChallengerMonitor, CostMonitor, CostMonitors
from stakes.outputs import files

COSTS = (0.05, 0.3)


def days(count, seed=0, rise_at=10**9, n=200):
    """Yield the sums of days whose rows cost .4 with probability .12, or .2 from a day on."""
    rng = np.random.default_rng(seed)
    for day in range(1, count + 1):
        dear = int(rng.binomial(n, 0.2 if day >= rise_at else 0.12))
        yield {"day": day, "n": n, "total": 0.4 * dear, "squares": 0.16 * dear}


def fed(count, unit="day", **options):
    monitor = CostMonitor(COSTS, budget=0.05, unit=unit, force=True)
    for sums in days(count, **options):
        monitor.update_sums(**sums)
    return monitor


@pytest.mark.parametrize("unit", ["day", "row"])
def test_a_state_goes_on_to_the_last_bit(unit):
    pytest.importorskip("polars")
    whole, part = fed(900, unit, rise_at=820), CostMonitor(COSTS, budget=0.05, unit=unit, force=True)
    for sums in days(900, rise_at=820):
        if sums["day"] % 97 == 0:
            part = CostMonitor.from_json(part.to_json())
        part.update_sums(**sums)
    assert part.to_json() == whole.to_json() == CostMonitor.from_json(whole.to_json()).to_json()
    assert 820 <= whole.alarm_day <= 880
    assert (part.alarm_day, part.since, part.limits) == (whole.alarm_day, whole.since, whole.limits)
    assert part.frame("polars").equals(whole.frame("polars"))


def test_exact_rows_go_on_too():
    rng = np.random.default_rng(2)
    monitor = CostMonitor(COSTS, budget=0.05, unit="exact", force=True)
    for day in range(1, 200):
        monitor.update_costs(day, 0.4 * (rng.random(50) < 0.1))
    text = monitor.to_json()
    assert CostMonitor.from_json(text).to_json() == text
    assert len(text) < 100_000
    for more in (0.5, -0.5):
        state = json.loads(text)
        state["factors"][7][3] += more
        with pytest.raises(ValueError, match=r"day 7 of days must be whole .*factors must be those of rows with these"):
            CostMonitor.from_json(json.dumps(state))


def test_days_no_longer_kept_leave_everything_but_their_sums(monkeypatch):
    whole = fed(400)
    monkeypatch.setitem(__import__("stakes.monitoring._monitor", fromlist=["x"]).KEPT_DAYS, "day", 50)
    short = fed(400)
    assert len(json.loads(short.to_json())["days"]) == 50
    assert short.log_evidence == whole.log_evidence
    assert short.limits == pytest.approx(whole.limits, rel=1e-12)
    assert (short.n_days, short.n_rows, short.mean) == (whole.n_days, whole.n_rows, pytest.approx(whole.mean))


def test_an_alarm_of_a_day_no_longer_kept_is_read_if_it_is_earlier_than_those_kept(monkeypatch):
    monkeypatch.setitem(__import__("stakes.monitoring._monitor", fromlist=["x"]).KEPT_DAYS, "day", 50)
    watch = fed(400, rise_at=200)
    state = json.loads(watch.to_json())
    assert watch.alarm_day < min(state["days"]) == 351
    assert CostMonitor.from_json(watch.to_json()).alarm_day == watch.alarm_day
    for day in (401, "2026-01-01"):
        with pytest.raises(ValueError, match=r"alarm_day must be one of days, or earlier"):
            CostMonitor.from_json(json.dumps(state | {"alarm_day": day}))


def test_a_reference_that_cost_nothing_is_read():
    kept = KeptEvaluation.of(evaluate([0, 1] * 200, {"sure": [0.0, 1.0] * 200}, costs=COSTS))
    watch = CostMonitor(COSTS, reference=kept)
    assert watch.budget > 0.0
    assert CostMonitor.from_json(watch.to_json()).to_json() == watch.to_json()


def test_ten_years_of_a_million_rows_a_day_stay_small_and_fast():
    rng = np.random.default_rng(0)
    start = np.datetime64("2026-01-01")
    monitor = CostMonitor(COSTS, budget=0.05)
    for day in range(3653):
        dear = int(rng.binomial(10**6, 0.121))
        sums = {
            "n": 10**6,
            "total": 0.41234567890123 * dear,
            "squares": 0.17002893 * dear,
            "promised": 0.4123456 * dear,
        }
        monitor.update_sums(str(start + day), **sums)
    text = monitor.to_json()
    assert len(text) < 100_000
    begun = time.process_time()
    CostMonitor.from_json(text).update_sums("2037-01-01", n=10**6, total=5e4, squares=2e4).to_json()
    assert time.process_time() - begun < 1.0


HOSTILE = {
    "another version": (
        lambda s: s.update(format="stakes-cost-monitor-0"),
        "format 'stakes-cost-monitor-1', got format",
    ),
    "other costs": (lambda s: s["costs"].update(kind="unform"), "costs and rule must be whole"),
    "a negative budget": (lambda s: s.update(budget=-0.05), "budget must be between 1e-140 and largest"),
    "a budget next to nothing": (lambda s: s.update(budget=1e-300), "budget must be between 1e-140 and largest"),
    "a largest cost without squares": (lambda s: s.update(largest=1e200), "largest must be above 0, at most 1e.140"),
    "a budget of text": (lambda s: s.update(budget="0.05"), "budget must be a number"),
    "alpha of 1": (lambda s: s.update(alpha=1.0), "alpha must be between 0 and 1"),
    "an unknown unit": (lambda s: s.update(unit="week"), "unit must be one of day, row, exact"),
    "no unit": (lambda s: s.pop("unit"), "unit must be there"),
    "a negative total": (lambda s: s["total"].__setitem__(3, -1.0), "day 3 of days must be whole .*total must lie"),
    "an edited total": (
        lambda s: s["total"].__setitem__(3, s["total"][3] + 0.4),
        "log_capital must be what past and days",
    ),
    "squares too large": (
        lambda s: s["squares"].__setitem__(5, 100.0),
        "day 5 of days must be whole .*squares must lie",
    ),
    "a missing square": (lambda s: s["squares"].pop(), "squares must be 80 numbers"),
    "negative rows": (lambda s: s["rows"].__setitem__(0, -1), "rows must be counts"),
    "no rows": (lambda s: s["rows"].__setitem__(0, 0), "day 0 of days must be whole .*n must be at least one"),
    "a day twice": (lambda s: s["days"].__setitem__(4, 4), "day 4 of days must be whole .*was counted already"),
    "a day of another kind": (lambda s: s["days"].__setitem__(4, "2026-01-01"), "day 4 of days must be whole"),
    "a day that is true": (lambda s: s.update(days=[True, *s["days"][1:]]), "day 0 of days must be whole"),
    "edited evidence": (lambda s: s["log_capital"].__setitem__(2, 9.0), "log_capital must be what past and days say"),
    "evidence short": (lambda s: s["log_capital"].pop(), "log_capital must be what past and days say"),
    "no alarm": (lambda s: s.update(alarm_day=None), "alarm_day must be [0-9]+, as days say, got None"),
    "another alarm": (lambda s: s.update(alarm_day=7), "alarm_day must be [0-9]+, as days say, got 7"),
    "an alarm of text": (lambda s: s.update(alarm_day="soon"), "alarm_day must be null or a day, got 'soon'"),
    "since true": (lambda s: s.update(since=True), "since must be null or a day, got True"),
    "a past out of nothing": (lambda s: s["past"].update(squares=5.0), "past.rows must be at least days"),
    "a past too dear": (lambda s: s["past"].update(total=5.0), "past.rows must be at least days"),
    "a tolerance of nothing": (lambda s: s.update(tolerance=0.5), "tolerance must be >= 0, and 0 without a reference"),
    "factors of days": (lambda s: s.update(factors="x"), "factors must be null, as unit is 'day'"),
    "a promise of nobody": (
        lambda s: s["promised"].__setitem__(3, -5.0),
        "day 3 of days must be whole .*promised must lie from n times 0 to n times 0.825, got -5 of 200",
    ),
    "a past without evidence": (lambda s: s["past"].update(days=3, rows=9), "past.log_capital must be 11 numbers"),
    "days no list": (lambda s: s.update(days=3), "days must be a list"),
    "monitor of nothing": (lambda s: s.clear(), "format"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_states_are_refused_by_their_first_wrong_entry(name):
    spoil, message = HOSTILE[name]
    state = json.loads(fed(80, rise_at=20).to_json())
    spoil(state)
    with pytest.raises(ValueError, match=message):
        CostMonitor.from_json(json.dumps(state))


@pytest.mark.parametrize("text", ["", "[]", "NaN", '{"format": NaN}', "{" * 100_000, '{"a": 1, "a": 2}'])
def test_what_is_no_state_is_refused(text):
    for kind in (CostMonitor, CostMonitors):
        with pytest.raises(ValueError, match="text must be a state of"):
            kind.from_json(text)


def test_budget_and_reference_that_contradict_are_refused():
    from tests.monitoring.test_monitor import COSTS as SHARED, kept

    state = json.loads(CostMonitor(SHARED, reference=kept(), model="new", tolerance=0.1).to_json())
    for spoil, message in [
        (lambda s: s.update(tolerance=0.5), "budget must be .1 . tolerance. times reference.upper"),
        (lambda s: s["reference"].update(mean=-1.0), "reference.mean, square and upper"),
        (lambda s: s["reference"].pop("rows"), "reference.rows must be there"),
    ]:
        other = json.loads(json.dumps(state))
        spoil(other)
        with pytest.raises(ValueError, match=message):
            CostMonitor.from_json(json.dumps(other))


class Killed(BaseException):
    """The process ends here."""


def test_killed_at_a_hundred_moments_the_state_is_the_old_or_the_new_one(tmp_path, monkeypatch):
    path, chance = tmp_path / "watch.json", np.random.default_rng(5)
    undisturbed = fed(130, rise_at=60)
    CostMonitor(COSTS, budget=0.05, force=True).to_json(path)
    steps = {"write_bytes": 0, "put": 0, "flush": 0}
    killed = 0

    def dying(name, real, *, after):
        def call(*given, **options):
            if after:
                real(*given, **options)
            steps[name] += 1
            raise Killed

        return call

    for sums in days(130, rise_at=60):
        while killed < 100 and chance.random() < 0.5:
            old = path.read_text(encoding="utf-8")
            monitor = CostMonitor.from_json(old).update_sums(**sums)
            name = chance.choice(list(steps))
            place = type(path) if name == "write_bytes" else files
            with monkeypatch.context() as patch:
                patch.setattr(place, name, dying(name, getattr(place, name), after=chance.random() < 0.5))
                with pytest.raises(Killed):
                    monitor.to_json(path)
            killed += 1
            left = path.read_text(encoding="utf-8")
            assert left in {old, monitor.to_json()}
            if left != old:
                break
        now = CostMonitor.from_json(path.read_text(encoding="utf-8"))
        if now.last_day != sums["day"]:
            now.update_sums(**sums).to_json(path)
        with pytest.raises(ValueError, match="was counted already"):
            CostMonitor.from_json(path.read_text(encoding="utf-8")).update_sums(**sums)
    assert killed == 100
    assert all(steps.values())
    assert path.read_text(encoding="utf-8") == undisturbed.to_json()
    assert 60 <= undisturbed.alarm_day <= 110


@pytest.mark.parametrize("end", ["largest", "least"])
def test_a_past_beyond_what_its_rows_can_cost_is_refused(monkeypatch, end):
    monkeypatch.setitem(__import__("stakes.monitoring._monitor", fromlist=["x"]).KEPT_DAYS, "row", 50)
    watch = ChallengerMonitor(COSTS)
    for day in range(80):
        watch.update_sums(day, n=100, total=-1.0 if end == "least" else 1.0, squares=0.5)
    state = json.loads(watch.to_json())
    assert (state["past"]["rows"], state["largest"]) == (3000, 2.0 * state["shift"])
    most = 3000 * state["shift"] * (-1.0 if end == "least" else 1.0)
    state["past"] |= {"total": 0.9 * most, "squares": (0.95 * most) ** 2 / 3000}
    assert ChallengerMonitor.from_json(json.dumps(state)).n_rows == 8000
    for wrong in ({"total": 1.1 * most, "squares": (1.1 * most) ** 2 / 3000}, {"squares": (0.85 * most) ** 2 / 3000}):
        edited = state | {"past": state["past"] | wrong}
        with pytest.raises(
            ValueError, match=r"past\.total and squares must be sums of 3000 numbers from -0\.825 to 0\.8"
        ):
            ChallengerMonitor.from_json(json.dumps(edited))


@pytest.fixture(scope="module")
def with_past():
    whole = CostMonitor(COSTS, budget=0.05)
    for day in range(1, 741):
        whole.update_sums(day, n=200, total=9.0 + 0.1 * (day % 3), squares=3.6)
    return whole


# Ten days of 200 rows that cost 0 to .825: sums of costs x in [0, M] hold (sum x)^2 / n <= sum x^2 <= M sum x.
@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("total", -1.0, "total and squares: 2000"),
        ("total", 1700.0, "total and squares: 2000"),
        ("squares", -5.0, "total and squares: 2000"),
        ("squares", 90.0**2 / 2000 - 0.05, "total and squares: 2000"),
        ("squares", 90.0, "total and squares: 2000"),
        ("day_means", -0.1, "day_means and day_squares: 10"),
        ("day_means", 0.0, "day_means and day_squares: 10"),
        ("day_means", 8.3, "day_means and day_squares: 10"),
        ("day_squares", -1.0, "day_means and day_squares: 10"),
        ("day_squares", 0.0455**2 * 10 - 1e-3, "day_means and day_squares: 10"),
        ("day_squares", 0.4, "day_means and day_squares: 10"),
    ],
)
def test_sums_of_past_days_that_no_days_have_are_refused(with_past, name, value, named):
    state = json.loads(with_past.to_json())
    assert state["past"]["days"] == 10
    state["past"][name] = value
    entries, n = named.split(": ")
    with pytest.raises(ValueError, match=rf"past\.{entries} must be sums of {n} numbers from 0 to 0\.825 .* got "):
        CostMonitor.from_json(json.dumps(state))


@pytest.mark.parametrize("promised", [-0.01, 8.3, 50.0, np.inf, -np.inf])
def test_a_promise_that_no_rows_have_is_refused(promised):
    monitor = CostMonitor(COSTS, budget=0.05)
    with pytest.raises(ValueError, match=r"^promised must lie from n times 0 to n times 0\.825, got .* of 10 rows\.$"):
        monitor.update_sums(1, n=10, total=1.0, squares=0.2, promised=promised)
    assert monitor.n_days == 0


def test_a_promise_may_be_all_that_rows_can_cost_or_unknown():
    monitor = CostMonitor(COSTS, budget=0.05)
    for day, promised in enumerate((0.0, 8.25, np.nan)):
        monitor.update_sums(day, n=10, total=1.0, squares=0.2, promised=promised)
    assert CostMonitor.from_json(monitor.to_json()).to_json() == monitor.to_json()


@pytest.fixture(scope="module")
def kept():
    rng = np.random.default_rng(5)
    scores = {"a": rng.random(300).round(2), "b": rng.random(300).round(2)}
    site = np.array(["x", "y"])[rng.integers(0, 2, 300)]
    return KeptEvaluation.of(evaluate(rng.integers(0, 2, 300), scores, costs=COSTS, groups={"site": site}))


# The mean of 1 - c over c from .05 to .3 is .825, the most that a row costs; from 0 to .3 it is .85.
@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("costs", "low"), 0.0, r"largest must be 0\.85, as costs says, got 0\.825"),
        (("largest",), 2.0, r"largest must be 0\.825, as costs says, got 2"),
        (("centre",), 0.3, r"centre must be 0\.\d+, as reference\.mean says, got 0\.3"),
        (("reference", "square"), 0.9, r"reference\.mean, square and upper must be .* <= largest \* mean, got "),
    ],
)
def test_what_follows_from_costs_and_reference_is_held_against_them(path, value, named, kept):
    state = json.loads(CostMonitor(COSTS, reference=kept, model="a").to_json())
    inner = state if len(path) == 1 else state[path[0]]
    inner[path[-1]] = value
    with pytest.raises(ValueError, match=f"^text is no whole state of a cost monitor: {named}"):
        CostMonitor.from_json(json.dumps(state))


@pytest.mark.parametrize(("name", "value"), [("largest", 2.0), ("shift", 0.5), ("costs", {"kind": "fixed", "c": 0.3})])
def test_bounds_of_a_challenger_are_held_against_its_costs(name, value):
    state = json.loads(ChallengerMonitor(COSTS).to_json())
    state[name] = value
    with pytest.raises(ValueError, match=r"^text is no whole state of a cost monitor: "):
        ChallengerMonitor.from_json(json.dumps(state))


def test_a_largest_cost_that_was_named_is_kept():
    monitor = CostMonitor(0.5, budget=40.0, largest=500.0)
    assert CostMonitor.from_json(monitor.to_json()).to_json() == monitor.to_json()


@pytest.mark.parametrize(("name", "value"), [("pos_label", 3), ("alpha", 0.01), ("tolerance", 0.25), ("unit", "row")])
def test_monitors_that_ask_otherwise_than_the_first_are_refused(name, value, kept):
    state = json.loads(CostMonitors(COSTS, reference=kept).to_json())
    one = state["monitors"]["b, site = y"]
    if name == "tolerance":
        one["budget"] *= 1.0 + value
    one[name] = value
    with pytest.raises(ValueError, match=rf"monitors\.b, site = y\.{name} must be that of the first monitor, .*, got "):
        CostMonitors.from_json(json.dumps(state))


def test_monitors_under_another_name_or_without_their_model_are_refused(kept):
    whole = json.loads(CostMonitors(COSTS, reference=kept).to_json())
    renamed, lacking, nameless = (json.loads(json.dumps(whole)) for _ in range(3))
    renamed["monitors"]["c"] = renamed["monitors"].pop("b")
    del lacking["monitors"]["a"]
    nameless["monitors"]["a"]["reference"]["model"] = "other"
    for state in (renamed, lacking, nameless):
        with pytest.raises(ValueError, match=r"must be named after its reference\.model, which is watched too"):
            CostMonitors.from_json(json.dumps(state))


def test_a_group_is_known_by_its_own_name_first_and_by_another_spelling_only_where_that_is_one():
    y, score = np.tile([0, 1, 0, 0, 1], 60), np.tile([0.1, 0.2, 0.05, 0.3, 0.25], 60)
    names = np.tile(["1", "1.0", "true"], 100)
    kept = KeptEvaluation.of(evaluate(y, {"a": score}, costs=COSTS, groups={"by": names}))
    state = CostMonitors(COSTS, reference=kept).to_json()

    def rows_of(*values):
        given = {"by": np.array(values, dtype=object)}
        watch = CostMonitors.from_json(state).update(1, y[: len(values)], {"a": score[: len(values)]}, groups=given)
        return [watch.monitors[f"a, by = {name}"].n_rows for name in ("1", "1.0", "true")]

    assert rows_of("1", "1.0", "1.0", "true") == [1, 2, 1]
    assert rows_of(1, 1.0, "1.0", None) == [2, 1, 0]  # numbers that are whole are called 1
    assert rows_of(np.True_, "TRUE", "true", "1") == [1, 0, 3]
    for odd in ("1.00", "false"):
        with pytest.raises(ValueError, match=rf"groups\['by'\] must hold groups that are watched, .* got '{odd}'"):
            rows_of("1", odd)
