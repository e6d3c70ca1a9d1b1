"""The answer on one screen: sentences and one table, which the terminal, notebooks, Markdown and the report show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.numerics import ascending
from stakes.evaluation._calibration import decomposition_of, promise_of
from stakes.evaluation._groups import times
from stakes.evaluation._standings import Standings, cost_of_terms, why_unsaid
from stakes.evaluation._words import Unit, Words, capital, meaning
from stakes.outputs.files import delivered
from stakes.outputs.result_table import (
    MOST_ROWS,
    ResultTable,
    TableColumn,
    Tabular,
    listed,
    markdown_cell,
    markdown_table,
    plain,
    table as html_table,
)
from stakes.outputs.text import (
    MISSING,
    REFERENCES,
    fixed,
    join,
    level_name,
    number,
    percent,
    percents,
    say,
    short_names,
    stated,
    with_short_names,
)
from stakes.variance.sums import half_width

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from stakes.evaluation._finding import Finding, Findings

_MOST_NAMED, _MOST_OFF = 4, 2
_MOST_ROWS, _ALIKE = 1e6, 0.01  # so many rows nobody gets to show a difference below this share of the cost
_TIMES = np.geomspace(1.0, 1e12, 481)  # the rows at hand
_THOUGH = ", though its AUC is higher"
_SHIFT = 0.75, 4.0 / 3.0  # slopes at which a shift of the log-odds leaves no more than 0.4% of the cost to be saved
_POWER = 0.8416  # standard errors more, for four samples in five


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Tabular):
    """What an evaluation says, on one screen: every face renders these sentences and this table.

    Costs in sentences and in the table are in one unit, ``per``. Names of models stand as they are: faces escape them.

    Parameters
    ----------
    read : str
        What was read: rows, events and models.
    meaning : str
        What the range of thresholds means.
    advice : str
        What to do, in one line.
    cost : str
        What that costs, and against what.
    table : ResultTable
        The models from the lowest cost on, then acting on everyone and on no one: "cost", "more" than the first
        model, each with an interval of the column ("cost_low", "cost_high", "more_low", "more_high"), "may_be_best"
        and "auc". Numbers are in the unit of the sentences.
    unit : str
        What a cost of 1 is.
    shown : tuple of str
        What these rows show, all at once.
    not_shown : tuple of str
        What they do not show, and what it would take.
    calibration : str
        On the risks themselves, in one line; empty where there is nothing to say.
    findings : tuple of Finding
        Errors and warnings that no sentence above says, and at most one fact.
    details : tuple of str
        What stands behind the answer, for those who ask.
    per : str
        What costs are counted per.
    factor : float
        From the scale of the evaluation to the unit of the answer.
    decimals : int
        Of costs in the table.
    confidence_level : float
        Of every interval.
    more : str
        Where more is.

    Examples
    --------
    >>> from stakes import evaluate
    >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 50, "b": [0.4, 0.6, 0.5, 0.4] * 50}
    >>> evaluate([0, 1, 0, 1] * 50, models, costs=(0.2, 0.6)).answer.advice
    'USE a. b costs 150.0 more per 1,000 decisions.'
    """

    read: str
    meaning: str
    advice: str
    cost: str
    table: ResultTable
    unit: str
    shown: tuple[str, ...]
    not_shown: tuple[str, ...]
    calibration: str
    findings: tuple[Finding, ...]
    details: tuple[str, ...]
    per: str
    factor: float
    decimals: int
    confidence_level: float
    more: str

    @property
    def sentences(self) -> list[str]:
        """The advice, its cost and unit, what is shown and not shown, and the calibration."""
        return [self.advice, self.cost, self.unit, *self.beneath]

    @property
    def beneath(self) -> list[str]:
        """Sentences that stand below the table, without its unit."""
        return [*self.shown, *self.not_shown, *([self.calibration] if self.calibration else [])]

    def cells(self) -> list[list[str]]:
        """Return heads and rows of the table as text, numbers of a column with the same decimals.

        Examples
        --------
        >>> from stakes import evaluate
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 50, "b": [0.4, 0.6, 0.5, 0.4] * 50}
        >>> evaluate([0, 1, 0, 1] * 50, models, costs=(0.2, 0.6)).answer.cells()[2]
        ['2', 'b', '165.6', '148.0 to 183.3', '150.0 (134.7 to 165.3)', 'no', '.625']
        """
        write = partial(fixed, decimals=self.decimals)
        rows = self.table.rows
        costs = _spans([(row["cost_low"], row["cost_high"]) for row in rows], write)
        more = _spans([(row["more_low"], row["more_high"]) for row in rows], write)
        values = [write(row["more"]) for row in rows]
        width = max(map(len, values))
        found = []
        for place, (row, cost, gap, value) in enumerate(zip(rows, costs, more, values, strict=True)):
            best = {None: MISSING, True: "yes", False: "no"}[row["may_be_best"]]
            auc = "" if row["kind"] == "reference" or math.isnan(row["auc"]) else _area(row["auc"])
            told = f"{value:>{width}} ({gap})" if gap != MISSING else value
            told = told if place else MISSING
            rank = "" if row["rank"] is None else str(row["rank"])
            found.append([rank, row["label"], _least(row["cost"], self.decimals), cost, told, best, auc])
        level = level_name(self.confidence_level)
        return [["", self.per, "cost", f"{level} interval", "more than the first", "may be best", "AUC"], *found]

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the answer as Markdown, and write it where a path is given."""
        header, *rows = [[markdown_cell(cell) for cell in row] for row in self._shortened()]
        said = [self.unit, *self.beneath, *(f"{each.code}: {each.sentence}" for each in self.findings)]
        lines = [markdown_cell(line) for line in (self.read, self.meaning, self.advice, self.cost, *said)]
        parts = [*lines[:2], f"**{lines[2]}**", lines[3], markdown_table(header, rows), *lines[4:]]
        return delivered("\n\n".join(parts), path)

    def _shortened(self) -> list[list[str]]:
        short = short_names(row["model"] for row in self.table.rows)
        return [[short.get(cell, cell) for cell in row] for row in self.cells()]

    def _repr_html_(self) -> str:
        header, *rows = self._shortened()
        lead = f"<p>{self._html(self.read)}</p><p>{self._html(self.meaning)}</p>"
        lead += f"<p><b>{self._html(self.advice)}</b></p><p>{self._html(self.cost)}</p>"
        models, caption = len(rows) - len(REFERENCES), f"simultaneous {level_name(self.confidence_level)} intervals"
        if len(rows) > MOST_ROWS:
            rows = [*rows[: MOST_ROWS - len(REFERENCES)], *rows[-len(REFERENCES) :]]
            caption = f"{models:,} models, the best {MOST_ROWS - len(REFERENCES)} shown; {caption}"
        said = [*map(self._html, [self.unit, *self.beneath])]
        said += [f"<b>{each.severity} {each.code}</b>: {self._html(each.sentence)}" for each in self.findings]
        return f"{lead}{html_table(header, rows, caption)}{listed(said)}<p>{self._html(self.more)}</p>"

    def _html(self, sentence: str) -> str:
        return plain(with_short_names(sentence, [row["model"] for row in self.table.rows]), _LONGEST_SENTENCE)

    def _records(self) -> list[dict[str, Any]]:
        return self.table._records()

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


_LONGEST_SENTENCE = 2_000


def _least(value: float, decimals: int) -> str:
    return Unit(1.0, "", decimals).told(value)


def _area(auc: float) -> str:
    return f"{auc:.3f}".removeprefix("0")


def _spans(ends: Sequence[tuple[float, float]], write: Callable[[float], str]) -> list[str]:
    """Intervals whose ends stand below each other."""
    texts = [(write(low), write(high)) for low, high in ends]
    known = [pair for pair, (low, high) in zip(texts, ends, strict=True) if not (math.isnan(low) or math.isnan(high))]
    wide = [max((len(pair[k]) for pair in known), default=0) for k in (0, 1)]
    return [f"{pair[0]:>{wide[0]}} to {pair[1]:>{wide[1]}}" if pair in known else MISSING for pair in texts]


def answer_of(standings: Standings, findings: Findings) -> Answer:
    """Make the answer from what an evaluation found."""
    leads = [value for value, low, _ in standings.more_than_first.values() if low > 0.0]
    unit = Unit.of(standings.options, [result.score for result in standings.results], leads)
    maker = _Maker(standings, findings, unit, standings.words)
    advice, cost, (shown, unshown) = maker.advice(), maker.cost(), maker.shown()
    return Answer(
        read=standings.read,
        meaning=meaning(standings.options),
        advice=advice,
        cost=cost,
        table=ResultTable("Models by expected cost", _COLUMNS, maker.rows),
        unit=maker.unit_line(),
        shown=shown,
        not_shown=unshown,
        calibration=maker.calibration(),
        findings=maker.left(advice, cost, unshown),
        details=tuple(maker.details()),
        per=unit.per,
        factor=unit.factor,
        decimals=unit.decimals,
        confidence_level=standings.confidence_level,
        more="More: .tables(), .findings, .groups, .to_html('report.html').",
    )


_COLUMNS = (
    *(TableColumn("rank", "#", "rank"), TableColumn("label", "model", "text")),
    TableColumn("cost", "cost", interval="cost"),
    TableColumn("more", "more than the first", "difference", interval="more"),
    *(TableColumn("may_be_best", "may be best", "yes"), TableColumn("auc", "AUC", "number", 3)),
)


@dataclass(frozen=True, eq=False, repr=False)
class _Maker:
    """Everything that the sentences are made from."""

    standings: Standings
    findings: Findings
    unit: Unit
    words: Words

    @property
    def first(self) -> str:
        """The model with the lowest cost."""
        return self.standings.ranking[0]

    @property
    def chosen(self) -> str:
        """The decision with the lowest cost, or the first model where nothing can be said of that."""
        choice = self.standings.selection
        return self.first if choice is None else choice.chosen

    def advice(self) -> str:
        """What to do, or that the rows do not tell."""
        known, choice = self.standings, self.standings.selection
        if choice is None:
            return f"No decision can be called best here, for {why_unsaid(known.moments, known.options)}."
        possible, first = choice.possible, self.first
        if first in self._accused("inverted"):
            return f"Decide nothing yet: the scores of {first}, or the labels, seem to be turned round."
        references = [name for name in REFERENCES if name in possible]
        if choice.chosen in REFERENCES:
            return f"{capital(self.words.row(choice.chosen))}: no model is shown to cost less."
        equal = self._equal()
        rivals = [name for name in (*known.ranking, *references) if name in possible and name not in equal]
        if rivals:
            told = first if len(equal) == 1 else f"{_few(equal)}, which cost the same on each,"
            return f"These rows cannot tell {told} from {self._listed(rivals, 'or')}."
        if len(equal) > 1:
            either = "either" if len(equal) == 2 else "any of them"
            return f"{_few(equal)} cost the same on each of these rows: {either} will do."
        return self._use()

    def _equal(self) -> list[str]:
        """The first model and those that cost as much on every row; sums of clusters may agree where rows do not."""
        known, found = self.standings, [self.first]
        for name in known.ranking[1:]:
            if known.more_than_first[name] == (0.0, 0.0, 0.0):
                gap = known.moments.difference(known.place(self.first), known.place(name))
                if not any(gap.carriers) and not (gap.clustered and gap.room):
                    found.append(name)
        return found

    def _use(self) -> str:
        """What to do where one model is shown to cost less than all else; one score for every row is no model."""
        known, first = self.standings, self.first
        if first not in self._accused("constant") or known.options.per_stake:
            return f"USE {first}.{self._instead()}"
        score = percent(float(known.score_tables[known.place(first)].scores[0]))
        share = f"{percent(known.prevalence)} are {self.words.events}"
        return f"Decide nothing by {first}: every row has the score {score}, and {share}."

    def _accused(self, code: str) -> tuple[str, ...]:
        """Models of a finding; none where it was not raised."""
        return next((finding.models for finding in self.findings if finding.code == code), ())

    def _instead(self) -> str:
        """What the model costs that one would else have taken: that of the highest AUC, or the next one."""
        known, first = self.standings, self.first
        rivals = [name for name in known.ranking[1:] if math.isfinite(known[name].score)]
        if not rivals:
            return ""
        rival = next((name for name in rivals if (name, first) == self._accused("auc-disagrees")), rivals[0])
        though = _THOUGH if round(known[rival].auc, 3) > round(known[first].auc, 3) else ""
        more = self.unit.told(known[rival].score - known[first].score).replace("below", "less than")
        return f" {rival} costs {more} more {self.unit.per}{though}."

    def cost(self) -> str:
        """What the decision costs, how sure that is, and against what."""
        known, choice, chosen = self.standings, self.standings.selection, self.chosen
        result = known[chosen]
        if not math.isfinite(result.score):
            return self._boundless([chosen])[0]
        low, high = result.interval if choice is None else choice.intervals[chosen]
        sure = ""
        if not (math.isnan(low) or math.isnan(high)):
            level = level_name(known.confidence_level)
            most = self.unit.told(high)
            sure = f" ({level}: {most if most.startswith('below') else f'{self.unit.fixed(low)} to {most}'})"
        if known.rule == "optimal":
            sure = " on the rows that its thresholds are fitted to, which is optimistic"
        told = f"{capital(self.words.decision(chosen)) if chosen in REFERENCES else chosen} costs "
        told += f"{self.unit.told(result.score)} {self.unit.per}{sure}"
        if result.score == 0.0 and known.scale == "regret" and chosen not in REFERENCES:
            return f"{told}: no decision by it is wrong on these rows."
        told += f", {self._against(chosen)}"
        return f"{told}.{self._carried(chosen)}"

    def _against(self, chosen: str) -> str:
        """The cost beside that of the cheaper reference, or of the best model."""
        known, called = self.standings, self.words.decision
        if chosen in REFERENCES:
            return self._beside(chosen)
        other = REFERENCES[ascending([known[name].score for name in REFERENCES])[0]]
        own, cost = known[chosen].score, known[other].score
        if math.isinf(cost):
            return f"and {called(other)} an infinite amount"
        share = 1.0 - own / cost if cost > 0.0 else math.nan
        if math.isnan(share) or not math.isfinite(share):
            return f"{called(other)} {self.unit.told(cost)}"
        if abs(share) < 0.005:
            return f"as much as {called(other)}"
        choice = known.selection
        here = " on these rows" if choice is not None and other in choice.possible else ""
        told = "over 99%" if 0.995 <= share < 1.0 else f"{abs(share):.0%}"
        return f"{told} {'less' if share > 0.0 else 'more'} than {called(other)}{here}"

    def _beside(self, reference: str) -> str:
        """The cost of the best model."""
        known, best = self.standings, self.standings.best
        if not math.isfinite(best.score):
            return f"and {best.name} an infinite amount"
        if known.more_than_first[reference][0] == 0.0:
            return f"as much as {best.name}"
        told = self.unit.told(best.score)
        return f"while {best.name} costs {told}" if len(known.models) == 1 else f"{best.name}, the best model, {told}"

    def _carried(self, chosen: str) -> str:
        """How many rows add to the cost, and how unevenly, where the interval is widened for their being few."""
        if all(finding.code != "few-events" for finding in self.findings):
            return ""
        found = self.standings.moments.of(self.standings.place(chosen))
        if found.value == 0.0:
            return ""
        scarce = [k for k in (1, 0) if found.scarce[k]]
        if not scarce:
            return "".join(f" {f.sentence}" for f in self.findings if f.code == "few-events" and not f.models)
        k = scarce[0]
        add, alike = int(found.carriers[k]), math.floor(found.equal[k] + 0.5)
        one, what = (self.words.event, self.words.events) if k else ("other", "others")
        if found.clustered:
            one, what = f"cluster with {what}", f"clusters with {what}"
        beyond = " beyond the harm" if chosen in self.standings.harms else ""
        whole, verb = f"{found.rows[k]:,.0f}", "adds" if add == 1 else "add"
        if found.short[k]:
            below = f" How far that cost{beyond} is below the most"
            return f"{below} rests on about {found.carrying[k]:.2g} of the {whole} {what}."
        if whole == "1":
            return f" The only {one} adds {'' if add else 'nothing '}to that cost{beyond}."
        uneven = f", as unevenly as if just {alike} did" if alike < add else ""
        few = f"{'' if uneven else 'Just '}{add:,}" if add else "None"
        return f" {few} of the {whole} {what} {verb} to that cost{beyond}{uneven}."

    def rows(self) -> list[dict[str, Any]]:
        """The models from the lowest cost on, then the references."""
        known, choice, by = self.standings, self.standings.selection, self.unit.factor
        found = []
        for rank, name in enumerate((*known.ranking, *REFERENCES), start=1):
            result, model = known[name], name not in REFERENCES
            low, high = (math.nan, math.nan) if choice is None else choice.intervals[name]
            more = known.more_than_first[name]
            found.append(
                {
                    "rank": rank if model else None,
                    "model": name,
                    "label": self.words.row(name),
                    "kind": "model" if model else "reference",
                    "cost": by * result.score,
                    "cost_low": by * low,
                    "cost_high": by * high,
                    **dict(zip(("more", "more_low", "more_high"), (by * each for each in more), strict=True)),
                    "may_be_best": None if choice is None else name in choice.possible,
                    "auc": result.auc,
                }
            )
        return found

    def unit_line(self) -> str:
        """What a cost of 1 is."""
        known, words = self.standings, self.words
        harm = f" {known.harm_line}" if known.harms else ""
        if known.options.per_stake:
            return "Costs are the share of what is at stake that mistakes lose, times 1,000."
        if known.scale != "regret":
            return f"Costs are on the scale of the {known.scale}.{harm}"
        pair = f"one missed {words.event} plus one false alarm"
        if known.unit_cost != 1.0:
            return f"Costs are in money: {pair} cost {stated(known.unit_cost)}.{harm}"
        return f"A cost of 1 is {pair}.{harm}"

    def shown(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the differences from the first model show, all at once, and what they leave open."""
        known, choice = self.standings, self.standings.selection
        if choice is None or choice.chosen in REFERENCES:
            return (), ()
        equal = self._equal()
        others = [name for name in (*known.ranking, *REFERENCES) if name not in equal]
        alone = choice.possible == (self.first,)
        less = [name for name in others if alone or known.more_than_first[name][1] > 0.0]
        open_ = [name for name in others if name in choice.possible and name not in less]
        every = len(less) == len(others) and len(equal) == 1 and len(known.models) > 1
        level = level_name(known.confidence_level)
        shown = [f"Shown ({level}, all at once): {self._less(less, every=every)}."] if less else []
        if any(name not in choice.possible and known.more_than_first[name][1] <= 0.0 for name in others):
            shown.append(
                "An interval reaches 0 or less beside a no: it is two-sided, and what may be best is judged by a "
                "one-sided limit."
            )
        if choice.incumbent in choice.against:
            against = choice.against[choice.incumbent]
            verb = "is shown to cost" if against.shown else "is not shown to cost"
            shown.append(f"{self.first} {verb} less than {choice.incumbent}, named beforehand.")
        return tuple(shown), ((self._open(open_),) if open_ else ())

    def _less(self, less: list[str], *, every: bool) -> str:
        known = self.standings
        named = "every other" if every else self._listed(less)
        average = "" if known.costs.low == known.costs.high else " on average over the range"
        found = known.by_threshold
        always = [name for name in less if found is not None and name in found.everywhere]
        if not always or not average:
            return f"{self.first} costs less than {named}{average}"
        if len(always) == len(less):
            return f"{self.first} costs less than {named}, at every threshold of the range"
        own = self._listed(always)
        return f"{self.first} costs less than {named}{average}, and than {own} at every threshold"

    def _listed(self, names: Sequence[str], last: str = "and") -> str:
        """Decisions in a sentence, both references as one."""
        both = set(REFERENCES) <= set(names)
        told = [name for name in names if not (both and name in REFERENCES)]
        alike = [f"{self.words.acting} everyone or no one"] if both else []
        return _few([*map(self.words.decision, told), *alike], last)

    def _open(self, names: list[str]) -> str:
        """What is not shown, and how many rows would show all of it if the differences are what they are here."""
        told = f"Not shown: that {self.first} costs less than {self._listed(names, 'or')}"
        times = [self._times_the_rows(name) for name in names]
        if any(map(math.isnan, times)):
            return f"{told}."
        most = max(times)
        hardest, rows = names[times.index(most)], most * self.standings.n_rows
        near = self.standings.more_than_first[hardest][0] < _ALIKE * self.standings[self.first].score
        if math.isinf(most) or (near and rows > _MOST_ROWS):
            nearest = self.words.decision(hardest)
            return f"{told}; {nearest} costs so nearly the same that no realistic number of rows would."
        large = "the difference is" if len(names) == 1 else "the differences are"
        return f"{told}; about {_rounded(rows)} rows would, if {large} truly as large as here."

    def _times_the_rows(self, name: str) -> float:
        """How many times these rows would show that the first model costs less; nan where no number would.

        With more rows the variance falls, and the allowance for rows not seen as fast as its square.
        """
        known = self.standings
        gap, low, _ = known.more_than_first[name]
        found = known.moments.difference(known.place(name), known.place(self.first)).scaled(known.factor)
        alpha = found.p_value(low)  # of the interval that holds with all others at once
        if not (gap > 0.0 and alpha < 1.0):
            return math.nan
        variance = found.variance / _TIMES
        reach = half_width(variance, found.degrees * _TIMES, found.room / _TIMES**2, alpha)
        enough = _TIMES[reach + _POWER * np.sqrt(variance) <= gap]
        return float(enough[0]) if len(enough) else math.inf

    def calibration(self) -> str:
        """What is wrong with the risks on average, what recalibrating would save, and costs without a bound."""
        found = self._off() or self._recalibration()
        others = [n for n in self.standings.ranking if self.standings[n].score == math.inf and n != self.chosen]
        return " ".join([*found, *self._promise(), *self._boundless(others)])

    def _off(self) -> list[str]:
        """Models whose risks are off on average, and what mends them."""
        codes = {finding.code: finding for finding in self.findings}
        if "calibration-in-the-large" not in codes:
            return []
        seen, said = codes["calibration-in-the-large"].evidence, []
        ratios = {k: ratio for k, ratio in seen["observed_to_expected"].items() if k not in self._accused("inverted")}
        for name, ratio in list(ratios.items())[:_MOST_OFF]:
            ends = [seen[f"observed_to_expected_{end}"][name] for end in ("low", "high")]
            high = ratio < 1.0
            low, most = sorted(1.0 / end if high else end for end in ends) if all(ends) else (math.nan, math.nan)
            sure = "" if math.isnan(low) else f" ({number(low)} to {number(most)})"
            least, steepest = seen["slope_low"][name], seen["slope_high"][name]
            shift = _SHIFT[0] <= least <= 1.0 <= steepest <= _SHIFT[1]
            mends = "stakes correct mends that" if shift else "recalibrate on other rows"
            times = number(1.0 / ratio if high else ratio)
            said.append(f"{name}'s risks are {times} times too {'high' if high else 'low'}{sure}: {mends}.")
        return said

    def _promise(self) -> list[str]:
        """What the first model's own scores promise, where it is shown not to cost that."""
        known, first, told = self.standings, self.first, self.unit.fixed
        found = promise_of(known, first)
        # the first is picked for its cost, so that its interval must hold beside those of all that were tried
        tried = max(len(known.models), known.options.n_tried or 0)
        low, high = found.interval(1.0 - (1.0 - known.confidence_level) / tried)
        if math.isnan(low) or low <= 0.0 <= high or not math.isfinite(found.value):
            return []
        if first in self._accused("inverted"):
            return []
        own = known[first].score - known.factor * float(known.options.harms([first])[0])
        if told(own - found.value) == told(own):
            return []
        bare = "without the harm " if known.harms.get(first) else ""
        return [f"{first}'s own scores promise {told(own - found.value)} {self.unit.per}; {bare}it costs {told(own)}."]

    def _recalibration(self) -> list[str]:
        """What recalibrating the first model would save on new rows, where that is shown."""
        known, first, told = self.standings, self.first, self.unit.fixed
        found = decomposition_of(known, first)
        silent = any(f.code in {"inverted", "constant"} and first in f.models for f in self.findings)
        if found is None or silent or known[first].score == 0.0:
            return []
        factor = known.options.factor
        _, (low, high) = times(factor, found.miscalibration, least=0.0)
        saving, (least, most) = times(factor, found.saving)
        whole = told(known[first].score)
        if low > 0.0 and least > 0.0:
            saved = f"{told(saving)} ({told(least)} to {told(most)}) of its {whole} {self.unit.per}"
            return [f"Recalibrating {first} (isotonic regression on other rows) would save about {saved}."]
        if low > 0.0:
            new = f"{told(least)} to {told(most)} {self.unit.per}"
            return [f"Recalibrating {first} (isotonic regression on other rows) is not shown to save ({new})."]
        most_wrong = self.unit.told(high)
        of = most_wrong if most_wrong.startswith("below") else f"{told(low)} to {most_wrong}"
        return [f"Recalibration: nothing shown that is worth repairing ({of} of the {whole})."]

    def _boundless(self, names: list[str]) -> list[str]:
        """Models whose cost is infinite, and why."""
        cause = say("certain" if isinstance(self.standings.rule, str) else "fixed")
        words = "boundless_one" if len(names) == 1 else "boundless"
        return [say(words, others=_few(names), cause=cause)] if names else []

    def details(self) -> Iterator[str]:
        """Sentences behind the answer."""
        known, choice, told = self.standings, self.standings.selection, self.unit.told
        level = level_name(known.confidence_level)
        yield f"Pointwise {level} intervals, each of one number alone; those of the answer hold for a column at once."
        if choice is not None and told(choice.corrected_cost) != told(choice.cost) and choice.chosen == self.first:
            among = f"{max(choice.n_tried or 0, choice.n_models):,} models"
            tried = " tried" if choice.n_tried else ""
            amount = f"{told(choice.corrected_cost)} {self.unit.per}"
            yield f"{self.first} costs {amount} after correction for selection among {among}{tried}."
        parts = known.best.decomposition
        if parts is not None:
            yield (
                f"MCB miscalibration, DSC discrimination: {cost_of_terms(known)} = MCB - DSC + "
                f"{self.unit.fixed(parts.uncertainty)}, the last being what acting on the prevalence costs; skill: the "
                "share of it that is saved; acts on: share of rows, averaged over the thresholds."
            )
        share, mean, rate = known.best.in_range
        if math.isfinite(rate) and known.costs.low < known.costs.high:
            low, high = percents([known.costs.low, known.costs.high])
            words = "all_cases" if share == 1.0 else "cases"
            shares = dict(zip(("share", "mean", "rate"), map(percent, (share, mean, rate)), strict=True))
            yield say(words, best=self.first, low=low, high=high, **shares)
        yield from (finding.sentence for finding in self.findings if finding.code == "half-outside")

    def left(self, advice: str, cost: str, unshown: tuple[str, ...]) -> tuple[Finding, ...]:
        """Findings that no sentence says, and one fact at most."""
        carried, area, known = self._carried(self.chosen), self._accused("auc-disagrees"), self.standings
        off = [name for name in self._accused("calibration-in-the-large") if name not in self._accused("inverted")]
        references = known.selection is None or self.chosen in REFERENCES
        said = {
            "few-events": carried != "" and cost.endswith(carried),
            "not-better": references or any(self.words.decision(name) in " ".join(unshown) for name in REFERENCES),
            "auc-disagrees": f"USE {'. '.join(reversed(area))} costs " in advice and advice.endswith(_THOUGH + "."),
            "calibration-in-the-large": len(off) <= _MOST_OFF,
        }
        grave = [f for f in self.findings if f.severity != "info" and not said.get(f.code)]
        return (*grave, *[f for f in self.findings if f.severity == "info" and f.code != "half-outside"][:1])


def _few(names: Sequence[str], last: str = "and") -> str:
    """List names, the first few of many."""
    if len(names) > _MOST_NAMED:
        names = [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} others"]
    return join(names, last)


def _rounded(count: float) -> str:
    digits = 10.0 ** max(math.floor(math.log10(count)) - 1, 0)
    return f"{math.ceil(count / digits) * digits:,.0f}"
