"""Slow oracles that only use definitions: quadrature of densities in 40 digits, loops over rows and thresholds.

Nothing here imports the package. Floats enter exactly (as `Decimal` or `Fraction`), so a value that comes out is
right to the last digit of a float.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise

DIGITS = 40
PI = Decimal("3.14159265358979323846264338327950288419716939937511")
STEPS_PER_UNIT, REACH = 32, 5


@cache
def tanh_sinh_rule():
    """Nodes x in (0, 1), their complements 1 - x (exact for x near 1), and weights."""
    rule = []
    with localcontext(prec=DIGITS + 10):
        for j in range(-REACH * STEPS_PER_UNIT, REACH * STEPS_PER_UNIT + 1):
            grown = (Decimal(j) / STEPS_PER_UNIT).exp()
            sinh, cosh = (grown - 1 / grown) / 2, (grown + 1 / grown) / 2
            odds = (PI * sinh).exp()
            x, y = odds / (1 + odds), 1 / (1 + odds)
            rule.append((x, y, PI * cosh * x * y / STEPS_PER_UNIT))
    return rule


def integrate(function, low, high):
    """Integral of function(c, 1 - c) over [low, high]; end points may be singular."""
    with localcontext(prec=DIGITS):
        lo, hi = Decimal(low), Decimal(high)
        if lo >= hi:
            return Decimal(0)
        width, beyond = hi - lo, 1 - hi
        return width * sum(w * function(lo + width * x, beyond + width * y) for x, y, w in tanh_sinh_rule())


@dataclass(frozen=True)
class Measure:
    """A measure on cost ratios written down from its definition: a density w(c, 1 - c), atoms, or a sum of such.

    `breaks` are cost ratios where the density has a kink; `open_low` and `open_high` say that its integral diverges
    at 0 and at 1.
    """

    density: object = None
    low: float = 0.0
    high: float = 1.0
    breaks: tuple = ()
    atoms: tuple = ()
    tie: float = 1.0
    open_low: bool = False
    open_high: bool = False
    parts: tuple = field(default=())  # (factor, Measure)

    def over(self, kind, low, high):
        """Integral of c ("c"), 1 - c ("k") or 1 ("one") times the density over [low, high] inside the support."""
        lo, hi = max(low, self.low), min(high, self.high)
        if self.density is None or not lo < hi:
            return Decimal(0)
        factor = {"c": lambda c, _: c, "k": lambda _, k: k, "one": lambda *_: 1}[kind]
        cuts = [lo, *(b for b in self.breaks if lo < b < hi), hi]
        return sum(integrate(lambda c, k: factor(c, k) * self.density(c, k), a, b) for a, b in pairwise(cuts))

    def negative_loss(self, score):
        """Integral of c over c < score, plus tie * score * W{score}."""
        if self.parts:
            return sum(float(f) * m.negative_loss(score) for f, m in self.parts)
        if self.open_high and score >= 1:
            return float("inf")
        below = sum(Decimal(c) * Decimal(w) for c, w in self.atoms if c < score)
        at = sum(Decimal(self.tie) * Decimal(c) * Decimal(w) for c, w in self.atoms if c == score)
        return float(self.over("c", 0.0, score) + below + at)

    def positive_loss(self, score):
        """Integral of 1 - c over c > score, plus (1 - tie) * (1 - score) * W{score}."""
        if self.parts:
            return sum(float(f) * m.positive_loss(score) for f, m in self.parts)
        if self.open_low and score <= 0:
            return float("inf")
        above = sum((1 - Decimal(c)) * Decimal(w) for c, w in self.atoms if c > score)
        missed = 1 - Decimal(self.tie)
        at = sum(missed * (1 - Decimal(c)) * Decimal(w) for c, w in self.atoms if c == score)
        return float(self.over("k", score, 1.0) + above + at)

    def mass(self, low=0.0, high=1.0):
        """Weight of the closed interval [low, high]."""
        if self.parts:
            return sum(float(f) * m.mass(low, high) for f, m in self.parts)
        if (self.open_low and low <= 0) or (self.open_high and high >= 1):
            return float("inf")
        return float(self.over("one", low, high) + sum(Decimal(w) for c, w in self.atoms if low <= c <= high))

    def density_at(self, c):
        """Density of the continuous part at c strictly inside (0, 1)."""
        if self.parts:
            return sum(float(f) * m.density_at(c) for f, m in self.parts)
        if self.density is None or not self.low <= c <= self.high:
            return 0.0
        with localcontext(prec=DIGITS):
            return float(self.density(Decimal(c), 1 - Decimal(c)))


# ------------------------------------------------------------------ densities, from the paper's definitions
def uniform(_c, _k):
    return Decimal(1)


def log_odds_uniform(c, k):
    return 1 / (c * k)


def net_benefit_uniform(_c, k):
    return 1 / k


def net_benefit_uniform_flipped(c, _k):
    return 1 / c


def beta(a, b):
    """Beta density; its normaliser is an integral too."""
    a, b = Decimal(a), Decimal(b)

    def shape(c, k):
        return c ** (a - 1) * k ** (b - 1)

    total = integrate(shape, 0, 1)
    return lambda c, k: shape(c, k) / total


def shifted(median):
    """Density of c when logit c = logit u + logit median with u uniform: du/dc = u (1 - u) / (c (1 - c))."""
    m = Decimal(median)

    def density(c, k):
        scale = c * (1 - m) + k * m
        return (c * (1 - m) / scale) * (k * m / scale) / (c * k)

    return density


def piecewise_linear(knots, values):
    x, y = [Decimal(v) for v in knots], [Decimal(v) for v in values]

    def density(c, _k):
        for j in range(len(x) - 1):
            if c <= x[j + 1]:
                return (y[j] * (x[j + 1] - c) + y[j + 1] * (c - x[j])) / (x[j + 1] - x[j])
        return y[-1]

    return density


def bell(centre, spread):
    centre, spread = Decimal(centre), Decimal(spread)
    return lambda c, _k: (-(((c - centre) / spread) ** 2)).exp()


# ------------------------------------------------------------------ rows, thresholds, isotonic regression
class Rows:
    """Labels, scores and weights as exact fractions; rows of weight zero are dropped first."""

    def __init__(self, y, score, weight=None):
        weight = [1] * len(y) if weight is None else weight
        kept = [(bool(a), b, w) for a, b, w in zip(y, score, weight, strict=True) if w > 0]
        self.y = [a for a, _, _ in kept]
        self.score = [float(b) + 0.0 for _, b, _ in kept]
        self.weight = [Fraction(float(w)) for _, _, w in kept]
        self.total = sum(self.weight)
        self.levels = sorted(set(self.score))

    def at_level(self, *, positive, power=1):
        """Sum of weights (to a power) of one class at each distinct score."""
        sums = dict.fromkeys(self.levels, Fraction(0))
        for y, s, w in zip(self.y, self.score, self.weight, strict=True):
            if y == positive:
                sums[s] += w**power
        return [sums[s] for s in self.levels]

    def errors(self, threshold):
        """Share of all weight in false positives and in false negatives when acting at score >= threshold."""
        false_positive = false_negative = Fraction(0)
        for y, s, w in zip(self.y, self.score, self.weight, strict=True):
            if s >= threshold and not y:
                false_positive += w
            if s < threshold and y:
                false_negative += w
        return false_positive / self.total, false_negative / self.total

    def regret(self, c, rule):
        """c * FP + (1 - c) * FN at the threshold that the rule takes; "optimal" tries them all."""
        thresholds = {"score": [c], "optimal": [*self.levels, float("inf")]}.get(rule, [rule])
        exact = Fraction(c)
        return min(exact * fp + (1 - exact) * fn for fp, fn in map(self.errors, thresholds))

    def isotonic(self):
        """Event rate of each distinct score by the min-max formula of isotonic regression."""
        positives, negatives = self.at_level(positive=True), self.at_level(positive=False)
        m = len(self.levels)
        best = []
        for k in range(m):
            lows = []
            for i in range(k + 1):
                p, n = sum(positives[i:k]), sum(negatives[i:k])
                rates = []
                for j in range(k, m):
                    p, n = p + positives[j], n + negatives[j]
                    rates.append(p / (p + n))
                lows.append(min(rates))
            best.append(max(lows))
        return best

    def integral(self, measure, rule):
        """Regret curve integrated piece by piece over a measure without divergence, atoms one by one."""
        if measure.parts:
            return sum(float(f) * self.integral(m, rule) for f, m in measure.parts)
        total = Decimal(0)
        knots = sorted({0.0, 1.0, *(s for s in self.levels if 0 < s < 1), *map(float, self.crossings(rule))})
        for lo, hi in pairwise(knots):
            middle = (lo + hi) / 2
            thresholds = {"score": [middle], "optimal": [*self.levels, float("inf")]}.get(rule, [rule])
            fp, fn = min(map(self.errors, thresholds), key=lambda e: Fraction(middle) * (e[0] - e[1]) + e[1])
            total += _decimal(fp) * measure.over("c", lo, hi) + _decimal(fn) * measure.over("k", lo, hi)
        for c, w in measure.atoms:
            acts, waits = (self._at_atom(c, rule, strict=strict) for strict in (False, True))
            tie = Fraction(measure.tie)
            total += _decimal(Fraction(w) * (tie * acts + (1 - tie) * waits))
        return float(total)

    def _at_atom(self, c, rule, *, strict):
        """Regret at an atom when a score equal to it acts (or, strict, does not): only "score" ever meets a tie."""
        if rule != "score" or not strict:
            return self.regret(c, rule)
        above = [s for s in self.levels if s > c]
        fp, fn = self.errors(above[0] if above else float("inf"))
        return Fraction(c) * fp + (1 - Fraction(c)) * fn

    def crossings(self, rule):
        """Cost ratios at which another threshold becomes the best one."""
        return [r for r in self.isotonic() if 0 < r < 1] if rule == "optimal" else []


def _decimal(value):
    with localcontext(prec=DIGITS):
        return Decimal(value.numerator) / Decimal(value.denominator)
