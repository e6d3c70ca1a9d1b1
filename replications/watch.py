"""False alarms and delays of the cost monitor, beside what else one would watch a daily cost with.

Each stream has 200 rows a day, of which a few cost much: mean .0496, standard deviation .149, as costs averaged over
thresholds from 5 to 30%. False alarms are counted at the budget, the true mean, over all looks. The delay is that from
a rise by a fifth or a half, on the first day or on day 201; streams that alarmed before are counted as false. Three
sigma take the mean and spread of 30 days before; ADWIN and Page-Hinkley are river's, on the day means over the budget,
where it is installed. MAPIE's RiskMonitoring takes mistakes that are made or not, no costs; of it the limit is printed
that its bound makes of the costs of the same thirty days: a rise that stays below it is never seen.
"""

from __future__ import annotations

import argparse
import math
import time
from importlib.util import find_spec

import numpy as np

from replications._kept import markdown
from stakes.monitoring import _monitor as evidence

ROWS = 200
VALUES, CHANCES = np.array([0.0, 0.1, 0.825]), np.array([0.74276, 0.2243, 0.03294])
MEAN = float(CHANCES @ VALUES)
SPREAD = math.sqrt(float(CHANCES @ VALUES**2) - MEAN**2)
REFERENCE_DAYS = 30


def days(rng, count, streams, factor=1.0, shock=0.0):
    """Total cost and squares of days (first axis) of each stream."""
    missed = CHANCES[2] + (factor - 1.0) * MEAN / VALUES[2]
    strength = 1.0 + shock * rng.choice((-1.0, 1.0), (count, streams))[..., None]
    wrong = strength * np.array([CHANCES[1], missed])
    counts = rng.multinomial(ROWS, np.concatenate([1.0 - wrong.sum(axis=-1, keepdims=True), wrong], axis=-1))
    return counts @ VALUES, counts @ VALUES**2


class AnyStart:
    """The monitor: evidence over every start, by days or by rows."""

    def __init__(self, streams, unit, alpha=0.05):
        self.unit, self.alpha = unit, alpha
        self.capital = np.full((streams, len(evidence.BETS)), -np.inf)

    def __call__(self, look):
        day, total, squares = look
        if self.unit == "day":
            factors = evidence.day_factors(total / ROWS, MEAN)
        else:
            factors = evidence.row_factors(float(ROWS), total, squares, MEAN)
        self.capital = evidence.advance(self.capital, factors, day)
        return evidence.log_evidence(self.capital, day) >= -math.log(self.alpha)


class DailyTest:
    """A one-sided z test at 5% every day, of that day or of all days so far."""

    def __init__(self, streams, whole):
        self.whole, self.sums = whole, np.zeros((2, streams))

    def __call__(self, look):
        day, total, squares = look
        self.sums = self.sums * self.whole + np.array([total, squares])
        n = ROWS * (day if self.whole else 1)
        mean, square = self.sums / n
        error = np.sqrt(np.maximum(square - mean**2, 1e-12) / n)
        return (mean - MEAN) / error > 1.6449


class ThreeSigma:
    """A day mean above three standard deviations of thirty reference days."""

    def __init__(self, streams, rng):
        means = days(rng, REFERENCE_DAYS, streams)[0] / ROWS
        self.limit = means.mean(axis=0) + 3.0 * means.std(axis=0, ddof=1)

    def __call__(self, look):
        return look[1] / ROWS > self.limit


class River:
    """A detector of river on each stream's day means, as they are or in standard deviations."""

    def __init__(self, streams, kind, *, scaled):
        from river import drift

        self.each = [getattr(drift, kind)() for _ in range(streams)]
        self.scaled = scaled

    def __call__(self, look):
        means = look[1] / ROWS
        if self.scaled:
            means = (means - MEAN) / (SPREAD / math.sqrt(ROWS))
        found = []
        for detector, value in zip(self.each, means.tolist(), strict=True):
            detector.update(value)
            found.append(detector.drift_detected)
        return np.array(found)


METHODS = {
    "any start, row": lambda streams, _: AnyStart(streams, "row"),
    "any start, day": lambda streams, _: AnyStart(streams, "day"),
    "daily z, that day": lambda streams, _: DailyTest(streams, whole=False),
    "daily z, all days so far": lambda streams, _: DailyTest(streams, whole=True),
    "three sigma of 30 days": ThreeSigma,
}
DETECTORS = {
    "ADWIN (river)": lambda streams, _: River(streams, "ADWIN", scaled=False),
    "ADWIN, standardised": lambda streams, _: River(streams, "ADWIN", scaled=True),
    "Page-Hinkley (river)": lambda streams, _: River(streams, "PageHinkley", scaled=False),
    "Page-Hinkley, standardised": lambda streams, _: River(streams, "PageHinkley", scaled=True),
}
if find_spec("river") is not None:
    METHODS |= DETECTORS
RISES = [(1.2, 1), (1.2, 201), (1.5, 1), (1.5, 201)]


def first_alarms(name, looks, asked, *, factor=1.0, begins=1, shock=0.0, streams=None):
    """Day of the first alarm of each stream, 0 without one."""
    rng = np.random.default_rng([asked.seed, int(100 * factor), begins])
    streams = streams or asked.streams
    method, alarm = METHODS[name](streams, rng), np.zeros(streams, dtype=int)
    day = 0
    while day < looks and not (alarm > 0).all():
        count = min(1000, looks - day)
        if day < begins - 1:
            count = min(count, begins - 1 - day)
        total, squares = days(rng, count, streams, factor if day >= begins - 1 else 1.0, shock)
        for i in range(count):
            day += 1
            alarm[(alarm == 0) & method((day, total[i], squares[i]))] = day
    return alarm


def delay_words(alarm, begins):
    """Median and ninth decile of the delay of streams that had not alarmed before, and the share that had."""
    false = float(np.mean((alarm > 0) & (alarm < begins)))
    late = np.where(alarm == 0, np.inf, alarm - begins + 1.0)[(alarm == 0) | (alarm >= begins)]
    if not len(late):
        return "all false before"
    middle, most = (float(np.quantile(late, share, method="higher")) for share in (0.5, 0.9))
    words = "never" if math.isinf(middle) else f"{middle:.0f} ({'-' if math.isinf(most) else f'{most:.0f}'})"
    return words + (f", {false:.2f} false" if false else "")


def mapie_limits(asked):
    """Upper limits that MAPIE's reference bound makes of thirty days, as multiples of the true mean, one a stream."""
    from mapie.exchangeability_testing.bounds import hoeffding_bound

    rng = np.random.default_rng(asked.seed)
    costs = rng.choice(VALUES, (asked.streams, REFERENCE_DAYS * ROWS), p=CHANCES)
    return np.array([hoeffding_bound(each, 0.025, bound_side="upper") for each in costs]) / MEAN


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m replications watch", description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--looks", type=int, default=10_000, help="of the streams without a rise")
    parser.add_argument("--reach", type=int, default=600, help="days after a rise")
    parser.add_argument("--long", type=int, default=0, help="also so many looks of 20 streams, such as 1000000")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(argv)
    started = time.process_time()
    rows = []
    for name in METHODS:
        looks = min(asked.looks, 2000) if name in DETECTORS else asked.looks
        alarm = first_alarms(name, looks, asked)
        cells = [f"{np.mean(alarm > 0):.3f} in {looks:,}"]
        for factor, begins in RISES:
            found = first_alarms(name, begins - 1 + asked.reach, asked, factor=factor, begins=begins)
            cells.append(delay_words(found, begins))
        rows.append([name, *cells])
        print(f"{name}: {'; '.join(cells)}", flush=True)
    heads = [f"+{factor - 1.0:.0%}, day {begins}" for factor, begins in RISES]
    print("\n" + markdown(["method", "false alarms, looks", *heads], rows))
    if find_spec("mapie") is not None:
        limits = mapie_limits(asked)
        print(
            f"\nMAPIE: the limit from {REFERENCE_DAYS} days is {np.median(limits):.2f} times the mean (least "
            f"{limits.min():.2f}): a rise by a fifth stays below it in {np.mean(limits > 1.2):.3f} of streams"
        )
    shaken = []
    for unit in ("row", "day"):
        alarms = [first_alarms(f"any start, {unit}", asked.looks, asked, shock=shock) for shock in (0.1, 0.3)]
        shaken.append([unit, *(f"{np.mean(alarm > 0):.3f}" for alarm in alarms)])
    print("\nFalse alarms where days are dearer and cheaper by a share, by the unit:\n")
    print(markdown(["unit", "10%", "30%"], shaken))
    if asked.long:
        for unit in ("day", "row"):
            alarm = first_alarms(f"any start, {unit}", asked.long, asked, streams=20)
            print(f"\n{asked.long:,} looks of 20 streams, unit {unit}: {np.mean(alarm > 0):.3f} alarmed")
    print(f"\n{asked.streams} streams; {time.process_time() - started:.0f} s of one core")


if __name__ == "__main__":
    main()
