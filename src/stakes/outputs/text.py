"""Numbers, names and sentences as text, with unsafe characters escaped."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Untrusted text: characters that hide, move or reorder text are escaped, and long text is cut.

LONGEST_NAME = 40
NO_NAME = "(no name)"
# Controls, invisible formats (right-to-left overrides among them), surrogates, private use and unassigned code points,
# line and paragraph separators.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = {"\u200c", "\u200d"}  # required by Persian, Indic scripts and emoji


def visible(text: str, *, keep: str = "") -> str:
    r"""Escape every character that hides, moves or reorders text, except those to keep.

    Examples
    --------
    >>> print(visible("a\u202eb\n"))
    a\u202eb\n
    """
    if text.isprintable():
        return text
    return "".join(char if char in keep else _shown(char) for char in text)


def _shown(char: str) -> str:
    if char in _JOINERS or unicodedata.category(char) not in _HIDDEN:
        return char
    return char.encode("ascii", "backslashreplace").decode() if ord(char) > 127 else repr(char)[1:-1]


def shorten(text: str, longest: int = LONGEST_NAME) -> str:
    """Shorten a long text by cutting out its middle.

    Examples
    --------
    >>> shorten("logistic regression with density", 20)
    'logistic reg…density'
    """
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def shown_name(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a displayable name of a column, model or file, with a placeholder for a blank one."""
    return shorten(visible(text), longest) if text.strip() else NO_NAME


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return displayable names, no two alike: those that would be are cut before they differ, or numbered.

    Examples
    --------
    >>> long = [f"gradient boosting of {'many ' * 9}trees, {rate} a step, fold 1" for rate in (0.1, 0.2)]
    >>> list(short_names(long).values())
    ['gradient boos… trees, 0.1 a step, fold 1', 'gradient boos… trees, 0.2 a step, fold 1']
    """
    given = list(names)
    whole = {name: visible(name) if name.strip() else NO_NAME for name in sorted(given)}
    short = {name: shorten(text) for name, text in whole.items()}
    for _, group in itertools.groupby(sorted(whole, key=short.__getitem__), {**short}.get):
        alike = list(group)
        first, last = (end([whole[name] for name in alike]) for end in (min, max))
        start = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        short |= {name: _cut_before(whole[name], start) for name in alike if len(alike) > 1}
    taken: set[str] = set()
    for name, text in short.items():
        each = itertools.chain([text], (f"{text} ({k})" for k in itertools.count(2)))
        short[name] = next(found for found in each if found not in taken)
        taken.add(short[name])
    return {name: short[name] for name in given}


def _cut_before(text: str, start: int) -> str:
    """Shorten a long text by cutting out what stands some characters before a place, and its end."""
    if len(text) <= LONGEST_NAME:
        return text
    head = text[: LONGEST_NAME // 3]
    room = LONGEST_NAME - len(head) - 1
    tail = text[min(start - LONGEST_NAME // 5, len(text) - room) :]
    return f"{head}…{tail if len(tail) <= room else f'{tail[: room - 1]}…'}"


def with_short_names(sentence: str, names: Iterable[str]) -> str:
    """Write every long name in a sentence short, and none like another one.

    Examples
    --------
    >>> with_short_names(f"{'a' * 99} costs least.", ["a" * 99])
    'aaaaaaaaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaa costs least.'
    """
    short = short_names(names)
    for name in sorted(short, key=len, reverse=True):
        if len(name) > LONGEST_NAME:
            sentence = sentence.replace(name, short[name])
    return sentence


# Numbers and lists in sentences and tables; callers with a typographic minus pass it as ``minus``.

MINUS = "\N{MINUS SIGN}"
MISSING = "-"
_PLAIN = (1e-4, 1e3)  # sizes that are written with three significant digits
_MOST_DECIMALS = 12
_LARGEST_SHARE = 0.99  # beyond, four digits of a share tell its weight to no better than 1%
_ALL = 1.0 - 1e-9  # a share that only rounding tells from all


def number(value: float) -> str:
    """Write a number with three significant digits.

    Examples
    --------
    >>> number(0.01234), number(12345.6), number(float("inf"))
    ('0.0123', '12,346', 'infinite')
    """
    if math.isinf(value):
        return "infinite" if value > 0.0 else "-infinite"
    if abs(float(f"{value:.3g}")) >= _PLAIN[1]:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".") if abs(value) >= _PLAIN[0] else f"{value or 0.0:.3g}"


def class_weights(*shares: float) -> tuple[str, list[str]]:
    """Name and write relative weights of the positive class: as shares, or all as ratios where one would round to 1.

    Examples
    --------
    >>> class_weights(0.75, 0.90333)
    ('positive_share', ['0.75', '0.9033'])
    >>> class_weights(0.75, 0.99996)
    ('scale_pos_weight', ['3.00', '24,999'])
    """
    if not any(share > _LARGEST_SHARE for share in shares):
        return "positive_share", [f"{share:.4g}" for share in shares]
    ratios = [share / (1.0 - share) if share < 1.0 else math.inf for share in shares]
    return "scale_pos_weight", [number(ratio) for ratio in ratios]


def stated(value: float) -> str:
    """Write a number as it was stated: in full down to the units, and with six significant digits at least.

    Examples
    --------
    >>> stated(1234567.0), stated(0.025), stated(2.0)
    ('1,234,567', '0.025', '2')
    """
    return f"{value + 0.0:,.{min(max(len(f'{abs(value):.0f}'), 6), 15)}g}"


def fixed(value: float, decimals: int, *, sign: bool = False, minus: str = "-", missing: str = MISSING) -> str:
    """Format a number with a fixed number of decimals, never as minus zero.

    Examples
    --------
    >>> fixed(0.01234, 4), fixed(-1e-9, 4), fixed(1234.5, 1, sign=True), fixed(float("nan"), 2)
    ('0.0123', '0.0000', '+1,234.5', '-')
    """
    if math.isnan(value):
        return missing
    text = "inf" if math.isinf(value) else f"{abs(value):,.{decimals}f}"
    if not text.strip("0."):
        return text
    return (minus if value < 0.0 else "+" if sign else "") + text


def percent(share: float, digits: int = 3) -> str:
    """Write a share as a percentage; one below 1 has the digits that it takes not to be 100%.

    Examples
    --------
    >>> percent(0.0163), percent(0.25), percent(1e-8), percent(float("nan")), percent(0.99962)
    ('1.63%', '25%', '0.000001%', '-', '99.96%')
    """
    if not math.isfinite(share):
        return fixed(share, 0)
    import numpy as np

    text = np.format_float_positional(float(f"{100.0 * share:.{digits}g}") + 0.0, trim="-")
    return percent(share, digits + 1) if text == "100" and share < _ALL else f"{text}%"


def percents(shares: Sequence[float]) -> list[str]:
    """Write shares as percentages, with the digits that it takes to tell different ones apart.

    Examples
    --------
    >>> percents([0.1, 0.1234, 0.12341])
    ['10%', '12.34%', '12.341%']
    """
    each = (list(map(partial(percent, digits=digits), shares)) for digits in range(3, 18))
    return next((texts for texts in each if len(set(texts)) == len(set(shares))), list(map(percent, shares)))


def level_name(level: float) -> str:
    """Write a confidence level, with six digits at most.

    Examples
    --------
    >>> level_name(0.95), level_name(0.9545)
    ('95%', '95.45%')
    """
    return percent(level, 6)


def p_value(value: float) -> str:
    """Format a p-value with "=" or "<".

    Examples
    --------
    >>> p_value(0.0001), p_value(0.0321)
    ('< 0.001', '= 0.032')
    """
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"


def threshold_name(threshold: float) -> str:
    """Write a threshold on the score; an infinite one selects nothing.

    Examples
    --------
    >>> threshold_name(0.25), threshold_name(float("inf"))
    ('0.25', 'nothing')
    """
    return "nothing" if threshold == math.inf else f"{threshold + 0.0:.6g}"


def odds(threshold: float) -> str:
    """Format a threshold as odds, such as 1:4.

    Examples
    --------
    >>> odds(1 / 51), odds(0.4), odds(0.8)
    ('1:50', '1:1.5', '4:1')
    """
    if threshold in {0.0, 1.0}:
        return "0:1" if threshold == 0.0 else "1:0"
    ratio = (1.0 - threshold) / threshold
    return f"1:{times(ratio)}" if ratio >= 1.0 else f"{times(1.0 / ratio)}:1"


def times(ratio: float) -> str:
    """Format a factor: integers from ten on, three significant digits from a thousand on.

    Examples
    --------
    >>> times(2.333), times(60.3), times(123456)
    ('2.3', '60', '123,000')
    """
    return f"{float(f'{round(ratio):.3g}'):,.0f}" if ratio >= 10.0 else f"{ratio:.2g}"


def count(value: float) -> str:
    """Format a count with thousands separators.

    Examples
    --------
    >>> count(10732), count(1234.56)
    ('10,732', '1,234.6')
    """
    return f"{round(value, 1) + 0.0:,.1f}".removesuffix(".0")


def decimals_needed(value: float, digits: int) -> int:
    """Return the decimals needed to show some significant digits of a number; 0 if it is zero or not finite.

    Examples
    --------
    >>> decimals_needed(0.0123, 2), decimals_needed(123.0, 2)
    (3, 0)
    """
    if not math.isfinite(value) or value == 0.0:
        return 0
    return min(max(digits - 1 - math.floor(math.log10(abs(value))), 0), _MOST_DECIMALS)


def decimals_for(errors: Iterable[float], values: Iterable[float] = ()) -> int:
    """Return the decimals that show the smallest standard error with two digits, or else the smallest value with three.

    Examples
    --------
    >>> decimals_for([0.0123, 0.5]), decimals_for([], [0.00123])
    (3, 5)
    """
    for numbers, digits in ((errors, 2), (values, 3)):
        sizes = [abs(each) for each in numbers if math.isfinite(each) and each != 0.0]
        if sizes:
            return decimals_needed(min(sizes), digits)
    return 3


def join(names: Sequence[str], last: str = "and") -> str:
    """List names, with "and" or another word before the last.

    Examples
    --------
    >>> join(["a"]), join(["a", "b", "c"]), join(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


# Every sentence that both the library and, for a range chosen by the reader, the page of the report write.
#
# The page uses these templates unchanged and fills their slots with its own numbers and names, so that a
# sentence is changed here and nowhere else. A slot is a name in braces.

REFERENCES = ("treat all", "treat none")

SENTENCES = {
    # the range of thresholds
    "at": "At a threshold of {low}",
    "average": "On average over thresholds from {low} to {high}{weighting}",
    "uniform": "",
    "log-odds": ", uniform in log-odds",
    # the choice, worded to hold although the best was picked; {where} is empty or ends in ", "
    "costs_least": "{where}{best} costs least on these {rows} rows: {amount} per {decisions}{sure}.",
    "costs": "{where}{best} costs {amount} per {decisions}{sure} on these {rows} rows.",
    "costs_shared": "{where}{best} share the lowest cost on these {rows} rows: {amount} per {decisions}{sure}.",
    "no_model": "{where}no model costs less than {best} on these {rows} rows: {best} costs {amount} per {decisions}"
    "{sure}, {other}.",
    "other_model": "{model} {amount}",
    "other_best_model": "{model}, the best model, {amount}",
    "other_same": "{models} the same",
    "sure": " ({unit}{interval})",
    "sure_picked": " ({unit}{corrected} after correction for selection among {among}; {interval}, valid after "
    "selection)",
    "unit": "{scale}; ",
    "picked_interval": "{level} interval {low} to {high}",
    "picked_no_interval": "no interval",
    "among_shown": "{count} models",
    "among_tried": "{count} models tried",
    "only_possible": "{best} is the only possible {what}{included} ({level}){others}.",
    "best_among": "The {what}{included} is among {names} ({level}){others}.",
    "best_shown": "best of the {count} shown",
    "best_decision": "best decision",
    "best_decision_shown": "best of the decisions shown",
    "other_models": "; {count} models were tried",
    "included": ", {references} included",
    "all_or_none": "treating everyone or no one",
    "count_of": "{count}: {names}",
    "more": "{count} more",
    "probable": "{best} is the best decision with probability {share}{aside}.",
    "probable_each": "Probability of being the best decision: {each}.",
    "share_of": "{name} {share}",
    "sure_share": "above 99%",
    "choosing": "Choosing {best}",
    "choice_loss": "{choosing} now is expected to cost {loss} more per 1,000 {decisions} than the truly best decision.",
    "less_than": "less than {amount}",
    "shown": "{best} is shown to cost less than {shown}: {limits}.",
    "not_shown": "{best} is not shown to cost less than {unshown}: {limits}.",
    "shown_partly": "{best} is shown to cost less than {shown}, but is not shown to cost less than {unshown}: "
    "{limits}.",
    "by_at_least": "{name} (by at least {amount})",
    "beforehand": "{name}, named beforehand",
    "limits": "limits of {level} for all of these at once, valid after selection",
    "carried": "Note: {note}.",
    # cost of obtaining a score for each case, in missed positives
    "harm": "Obtaining a score costs each case as much as {harm} missed positives (test harm): the costs of models, "
    "their differences and net benefit count it; decomposition, skill and AUC do not.",
    "harms": "Obtaining a score costs each case, in missed positives (test harm): {each}. The costs of models, their "
    "differences and net benefit count it; decomposition, skill and AUC do not.",
    "harm_of": "{name} {harm}",
    "unsaid": "Which decision is best cannot be said with confidence here, for {why}.",
    # the same at every threshold, or not
    "every_threshold": "{best} is shown to cost less than {other} at every threshold from {low} to {high}.",
    "crossing": "{best} {cost} least on average over the range, not at every threshold: {clauses}.",
    "crossing_one": "{other} is shown to cost less {there}",
    "crossing_both": "{other} is shown to cost less {there}, {best} {here}",
    "stretch": "from {low} to {high}",
    "stretch_point": "at {low}",
    # the conclusion
    "lead": "{where}, {best} has the lowest expected cost: {amount} per {decisions} ({unit}){note}.",
    "lead_alone": "{where}, {best} has an expected cost of {amount} per {decisions} ({unit}){note}.",
    "in_units": "{scale}, in units of cost",
    "hindsight": "; its thresholds are fitted to these very rows, so this is optimistic",
    "aside": " ({text})",
    "boundless_one": "{others} has an infinite cost: {cause}.",
    "boundless": "{others} have an infinite cost: {cause}.",
    "certain": "a score of exactly 0 for a positive case, or of exactly 1 for a negative one",
    "fixed": "a mistake at a fixed threshold costs infinitely much where the range of thresholds reaches 0 or 1",
    "treat all": "treating everyone",
    "treat none": "treating no one",
    "cases": "{share} of cases get a score between {low} and {high} from {best}: their mean score is {mean}, and "
    "{rate} of them were positive.",
    "all_cases": "All cases get a score in this range from {best}: their mean score is {mean}, and {rate} of them were "
    "positive.",
    "recalibrate": "Recalibrating {best} would save about {saving} of its cost on these rows, on new ones usually "
    "less.",
    "recalibrate_little": "Recalibrating {best} would save little there: about {saving} of its cost on these rows.",
    "acts_like": "In this range {models} practically acts like {constant}.",
    "act_like": "In this range {models} practically act like {constant}.",
}


def say(sentence: str, **filled: str) -> str:
    """Fill the slots of a template.

    Examples
    --------
    >>> say("at", low="2%")
    'At a threshold of 2%'
    """
    return SENTENCES[sentence].format(**filled)


# The most similar known name for a mistyped or shortened one.


def nearest(word: str, known: Iterable[str], foreign: Mapping[str, str] | None = None) -> str | None:
    """Return the known name nearest to a word, or None where none is near.

    A name that ``foreign`` gives for the word comes first, then the name most alike, then the shortest that holds all
    words of the one asked for.

    Examples
    --------
    >>> nearest("errors", ["error", "warning"])
    'error'
    >>> nearest("brier", ["bounded_brier_loss", "roc_auc_score"])
    'bounded_brier_loss'
    >>> nearest("auc", ["auc_regret", "roc_auc_score"], {"auc": "roc_auc_score"})
    'roc_auc_score'
    """
    names, plain = {_plain(name): name for name in known}, _plain(word)
    meant = (foreign or {}).get(plain)
    if meant is not None and _plain(meant) in names:
        return names[_plain(meant)]
    alike = get_close_matches(plain, names, n=1)
    parts = set(plain.split("_")) - {""}
    holding = [name for name in names if parts and parts <= set(name.split("_"))]
    found = alike or sorted(holding, key=len)
    return names[found[0]] if found else None


def guess(word: str, known: Iterable[str], foreign: Mapping[str, str] | None = None, mark: str = "") -> str:
    """Return "; did you mean NAME?" for the nearest name, in quotation marks, or "" if none is near.

    Examples
    --------
    >>> guess("eror", ["error", "warning"])
    '; did you mean error?'
    >>> guess("zzz", ["error", "warning"])
    ''
    """
    near = nearest(word, known, foreign)
    return "" if near is None else f"; did you mean {mark}{near}{mark}?"


def _plain(name: str) -> str:
    return "_".join(name.casefold().replace("-", " ").replace("_", " ").split())


def named(name: str) -> str:
    """Return a decision's name within a sentence."""
    return say(name) if name in REFERENCES else name


_MOST_NAMED = 5


def capital(text: str) -> str:
    """Capitalise the start of a sentence, except the name of a model."""
    return text[0].upper() + text[1:] if text in map(named, REFERENCES) else text


def listed(names: Sequence[str]) -> str:
    """List names in a sentence, up to a maximum number."""
    if len(names) <= _MOST_NAMED:
        return join(names)
    more = say("more", count=str(len(names) - _MOST_NAMED + 1))
    return say("count_of", count=str(len(names)), names=join([*names[: _MOST_NAMED - 1], more]))


# Names of the values of a column, as of groups and centres.

_WRITTEN = re.compile(r"(-?\d+|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d)(?:[T ](\d\d:\d\d:\d\d))?(?:\.0+)?")
_DATES = ("Y", "M", "W", "D")  # units of times that are no times of the day
_LARGEST_WHOLE = 2.0**63  # below it, floats are called as integers of 64 bits are


def names_of(values: NDArray[Any]) -> list[str]:
    """Name values alike whatever the type of their column: whole floats as integers, times in any unit as datetimes.

    Bytes are read as UTF-8.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.outputs.text import names_of
    >>> names_of(np.array([1.0, 2.5])), names_of(np.array(["2026-01-01T05:00"], dtype="datetime64[ns]"))
    (['1', '2.5'], ['2026-01-01 05:00:00'])
    """
    import numpy as np

    if values.dtype.kind in "OS":
        rows = values.tolist()
        names = [_object_name(v) for v in rows]
    else:
        names = values.astype(str).tolist()
    if values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] not in _DATES:
        times = values.astype("datetime64[us]")
        each = zip(times.tolist(), (times == values).tolist(), names, strict=True)
        return [str(time) if exact and isinstance(time, dt.datetime) else name for time, exact, name in each]
    if values.dtype.kind not in "fO":
        return names
    return [
        f"{value + 0.0:.0f}"
        if isinstance(value, (float, np.floating)) and value.is_integer() and -_LARGEST_WHOLE < value < _LARGEST_WHOLE
        else name
        for value, name in zip(values.tolist(), names, strict=True)
    ]


def _object_name(value: object) -> str:
    """Name an object: bytes as their text, and a decimal as the float or integer of the same digits."""
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, Decimal) and value.is_finite():
        plain = f"{value:f}" if value else "0"
        return plain.rstrip("0").removesuffix(".") if "." in plain else plain
    return str(value)


def name_key(name: str) -> str:
    """Return what names of one value share that differ in writing: 1 and 1.0, true and True, a day and its midnight.

    Examples
    --------
    >>> from stakes.outputs.text import name_key
    >>> name_key("1.0"), name_key("v1.0"), name_key("2026-01-01T00:00:00.000")
    ('1', 'v1.0', '2026-01-01')
    """
    found = _WRITTEN.fullmatch(name)
    if found is None:
        return name.lower() if name.lower() in {"true", "false"} else name
    value, time = found.groups()
    return value if time in (None, "00:00:00") else f"{value} {time}"
