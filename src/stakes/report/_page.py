"""The page of a report: its parts, its sentences, the figures of a watch, assets and escaping."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import math
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

from stakes._version import __version__
from stakes.outputs import text
from stakes.outputs.hooks import draw
from stakes.outputs.text import NO_NAME, number, short_names, shorten, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from stakes.evaluation import Evaluation, ModelResult

    Floats = NDArray[np.float64]
    from stakes.monitoring import CostMonitor, CostMonitors


# The files beside this module: page, styles, scripts, words.

# in the order in which they build on each other
SCRIPTS = (
    "costs",
    "scores",
    "beta",
    "moments",
    "table",
    "numbers",
    "chart",
    "figures",
    "ranking",
    "conclusion",
    "threshold",
    "range",
    "page",
)


def asset(name: str) -> str:
    """Text of a file of this room."""
    return resources.files("stakes.report").joinpath(name).read_text(encoding="utf-8")


def filled(name: str, **values: str) -> str:
    """A file of this room with its placeholders filled by ready HTML."""
    return Template(asset(name)).substitute(values)


@cache
def page_script() -> str:
    """The scripts of the page as one, with nothing of theirs in the names of the window."""
    parts = "\n".join(asset(f"script_{name}.js") for name in SCRIPTS)
    # a browser reads every line end in a page as one character, and the policy's hash is taken of what it reads
    return f'(() => {{\n"use strict";\n{parts}\n}})();'.replace("\r\n", "\n").replace("\r", "\n")


# Pieces of HTML: sections, lists of facts, tables that scroll on a phone.

# ready HTML, or that with the number it shows
Cell = str | tuple[str, float]


def section(key: str, heading: str, body: str, fold: str | None) -> str:
    """A section of the page with its heading; ``fold`` is "open" or "" (closed), None for one that cannot be closed."""
    head = f'<h2 id="{key}-h">{heading}</h2>'
    inside = f"{head}\n{body}" if fold is None else f"<details {fold}><summary>{head}</summary>\n{body}\n</details>"
    return f'<section id="{key}" aria-labelledby="{key}-h">{inside}</section>'


def follows(key: str, body: str, tag: str = "div") -> str:
    """A part of the page that the scripts replace when the reader changes the range."""
    return f'<{tag} data-follows="{key}">{body}</{tag}>'


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    key: str = "",
    follow: str = "",
    kind: str = "",
) -> str:
    """A table from ready HTML cells; the second cell of each row names it, or a cell is whole with its tags.

    ``follow`` names what the scripts replace, ``kind`` a class of its own in the style sheet.
    """
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "\n".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    name = f' id="{key}"' * bool(key) + f' class="{kind}"' * bool(kind)
    label = html.escape(caption)
    follower = f' data-follows="{follow}"' if follow else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"{follower}><table{name}>'
        f"<caption>{label}</caption><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _cells(row: Sequence[Cell]) -> str:
    rank, name, *rest = row
    head = name if str(name).startswith("<th") else f'<th scope="row">{name}</th>'
    return f"<td>{rank}</td>{head}" + "".join(map(_cell, rest))


def _cell(cell: Cell) -> str:
    """A cell, with the number that it shows in full where it is given."""
    text, value = (cell, "") if isinstance(cell, str) else (cell[0], f' data-value="{cell[1]!r}"')
    return f"<td{value}>{text}</td>"


def bullets(items: Iterable[str]) -> str:
    """A list of sentences, from ready HTML."""
    return f'<ul class="findings">{"".join(f"<li>{item}</li>" for item in items)}</ul>'


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """A list of terms and what they are, from ready HTML."""
    return "<dl>" + "".join(f"<div><dt>{term}</dt><dd>{value}</dd></div>" for term, value in pairs) + "</dl>"


# Text from outside, made harmless: names, titles and file names appear as text in HTML, in figures and in JSON.


def named(text: str) -> str:
    r"""Write hidden characters as their escapes, and say of a blank name that it is none.

    Examples
    --------
    >>> print(named("a\u202eb"), named(" "))
    a\u202eb (no name)
    """
    return visible(text) if text.strip() else NO_NAME


def text_html(text: str, limit: int) -> str:
    """Text isolated from its neighbours, shortened; the full text is in the title attribute.

    Examples
    --------
    >>> text_html("a < b", 10)
    '<bdi>a &lt; b</bdi>'
    """
    full = named(text)
    return isolated(full, shorten(full, limit))


def isolated(full: str, short: str) -> str:
    """HTML of a visible text by its short form."""
    title = "" if short == full else f' title="{html.escape(full)}"'
    # a narrow column may break a name after an underscore
    return f"<bdi{title}>{html.escape(short).replace('_', '_<wbr>')}</bdi>"


def json_for_script(value: Any) -> str:
    r"""JSON that cannot end the script element it stands in.

    Examples
    --------
    >>> print(json_for_script("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


# The page around the sections: head, contents, and a policy that lets nothing run but the scripts it names.

_TITLE_LIMIT = 120


def made_now() -> str:
    """Date and time of the page."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def whole_page(
    title: str,
    facts: str,
    bodies: Mapping[str, tuple[str, str]],
    *,
    closed: Collection[str] = ("costs", "data", "method"),
    made: str | None = None,
    controls: str = "",
    script: str = "",
    payload: str = "",
) -> str:
    """A page from ready HTML: the heading and body of each section by its key, and the scripts where there are any.

    The first section is the first screen; the others fold, and those named are closed at first.
    """
    (first, answer), *rest = bodies.items()
    data = f'<script type="application/json" id="payload">{payload}</script>\n<script>{script}</script>'
    return filled(
        "page.html",
        policy=_policy(script),
        version=__version__,
        title=html.escape(shorten(title, _TITLE_LIMIT)),
        style=asset("style.css"),
        heading=text_html(title, _TITLE_LIMIT),
        facts=facts,
        contents="".join(f'<li><a href="#{key}">{heading}</a></li>' for key, (heading, _) in rest),
        controls=controls,
        answer=section(first, *answer, None),
        sections="\n".join(section(key, *each, "" if key in closed else "open") for key, each in rest),
        made=made or made_now(),
        scripts=data if script else "",
    )


def _policy(script: str) -> str:
    """Content-security policy: this script and inline styles, pictures made in the page, nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; {scripts}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


# Numbers as the report writes them: with a minus sign, infinite and undefined ones named.


def fixed(value: float, decimals: int, *, sign: bool = False) -> str:
    """Write a number with a fixed count of decimals.

    Examples
    --------
    >>> fixed(0.01234, 4), fixed(float("inf"), 4), fixed(float("nan"), 4)
    ('0.0123', '∞', 'undefined')
    """
    return text.fixed(value, decimals, sign=sign, minus=text.MINUS, missing="undefined").replace("inf", "∞")


def percent_text(share: float, digits: int = 3) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent_text(0.0163), percent_text(1e-8), percent_text(float("nan"))
    ('1.63%', '0.000001%', 'undefined')
    """
    return text.percent(share, digits).replace("-", text.MINUS) if math.isfinite(share) else fixed(share, 0)


def skill_percent(skill: float) -> str:
    """Write a skill as a percentage with one decimal; infinite and undefined ones are named.

    Examples
    --------
    >>> skill_percent(0.0827), skill_percent(float("nan"))
    ('8.3%', 'undefined')
    """
    return fixed(100.0 * skill, 1) + "%" * math.isfinite(skill)


def interval(ends: tuple[float, float], decimals: int, *, sign: bool = False) -> str:
    """Write an interval, or say that there is none.

    Examples
    --------
    >>> interval((0.1, 0.25), 2)
    '0.10 to 0.25'
    """
    if math.isnan(ends[0]) or math.isnan(ends[1]):
        return "no interval"
    return f"{fixed(ends[0], decimals, sign=sign)} to {fixed(ends[1], decimals, sign=sign)}"


def at_most(bound: float) -> str:
    """Write a bound with two digits, rounded up.

    Examples
    --------
    >>> at_most(0.000961), at_most(1.23e-5)
    ('0.00097', '0.000013')
    """
    if bound <= 0.0:
        return "0"
    decimals = 1 - math.floor(math.log10(bound))
    return f"{math.ceil(bound * 10.0**decimals) / 10.0**decimals:.{max(decimals, 0)}f}"


# How each model appears: its number, its name made harmless, its colour and its dashes, the same in every figure.

NAME_LIMIT = 40
# the colours are in style.css: --model-1 to --model-10, for light and for dark pages
COLOURS = 10
DASHES = (
    "solid",
    "8px,3px",
    "3px,2px",
    "10px,3px,3px,3px",
    "14px,4px",
    "6px,2px,2px,2px,2px,2px",
    "5px,5px",
    "16px,3px,2px,3px",
    "2px,4px",
    "12px,2px,5px,2px",
)
REFERENCE_DASHES = {"treat all": "7px,4px", "treat none": "2px,3px"}
_TOKEN = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A model as the report shows it.

    Parameters
    ----------
    rank : int
        Place in the ranking, from 1: the number by which figures call it.
    name : str
        The name as it was given: only to ask the evaluation with, never to be written.
    full, short : str
        The name with its hidden characters made visible, and that shortened and unique.
    colour : int
        Slot of the palette, from 1.
    dash : str
        Pattern of its lines.
    result : ModelResult
        What the evaluation found.
    """

    rank: int
    name: str
    full: str
    short: str
    colour: int
    dash: str
    result: ModelResult

    @property
    def html(self) -> str:
        """The name for HTML."""
        return isolated(self.full, self.short)

    @property
    def sample(self) -> str:
        """The name for HTML beside a sample of the model's line."""
        return f'<span class="name">{swatch(f"--model-{self.colour}", self.dash)} {self.html}</span>'


def swatch(colour: str, dash: str) -> str:
    """A sample of a line, hidden from screen readers."""
    pattern = "" if dash == "solid" else f' stroke-dasharray="{dash.replace("px", "")}"'
    return (
        '<svg class="swatch" viewBox="0 0 34 10" width="34" height="10" aria-hidden="true">'
        f'<path d="M1 5H33" stroke="var({colour})" stroke-width="3"{pattern} fill="none"/></svg>'
    )


def models_of(evaluation: Evaluation) -> tuple[Model, ...]:
    """The models in the order of the ranking; colours follow the order in which they were given."""
    given = {name: index for index, name in enumerate(evaluation.models)}
    short = short_names(evaluation.ranking)
    return tuple(
        Model(
            rank=rank,
            name=name,
            full=named(name),
            short=short[name],
            colour=given[name] % COLOURS + 1,
            dash=DASHES[(given[name] + given[name] // COLOURS) % len(DASHES)],
            result=evaluation[name],
        )
        for rank, name in enumerate(evaluation.ranking, start=1)
    )


def answer_html(evaluation: Evaluation, models: Sequence[Model]) -> dict[str, list[str]]:
    """The sentences of the answer by what they are, names of models marked.

    The evaluation is asked with stand-ins for the names, so that no name can be taken for a word of the sentence.
    """
    by_name = {model.name: model for model in models}
    stand_in = {name: f"\ue000{index}\ue001" for index, name in enumerate(evaluation.models)}
    asked = replace(
        evaluation,
        models=tuple(stand_in[name] for name in evaluation.models),
        results=tuple(replace(r, name=stand_in.get(r.name, r.name)) for r in evaluation.results),
        options=evaluation.options.renamed(stand_in),
        imputations=tuple(
            replace(one, models=tuple(stand_in[name] for name in evaluation.models)) for one in evaluation.imputations
        ),
    )
    # what takes long, and hangs on no name
    known = evaluation.by_threshold
    vars(asked)["by_threshold"] = known and known.renamed(stand_in)
    vars(asked)["decompositions"] = evaluation.decompositions
    findings = (replace(each, models=tuple(map(stand_in.__getitem__, each.models))) for each in evaluation.findings)
    vars(asked)["findings"] = type(evaluation.findings)(findings)

    def name_html(match: re.Match[str]) -> str:
        return f"<b>{by_name[evaluation.models[int(match[1])]].html}</b>"

    def sentence_html(sentence: str) -> str:
        return _TOKEN.sub(name_html, typeset(visible(sentence, keep="\ue000\ue001")))

    answer = asked.answer
    found = {
        **{key: [getattr(answer, key)] for key in ("read", "meaning", "advice", "cost", "unit", "calibration")},
        "shown": answer.shown,
        "details": answer.details,
        "not_shown": answer.not_shown,
    }
    return {key: [sentence_html(text) for text in sentences if text] for key, sentences in found.items()}


def typeset(text: str) -> str:
    """Escape, write minus signs, and keep p-values on one line."""
    text = re.sub(r"(?<=\s)-(?=[\d.])", "\N{MINUS SIGN}", text)
    return html.escape(re.sub(r"\bp ([=<]) ", "p\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text))


# Drawings that need no script: lines of models and words in a picture of the page.


def line(x: Floats, y: Floats, model: Model) -> str:
    """The line of a model, in units of the picture."""
    return path(x, y, f"--model-{model.colour}", model.dash)


def path(x: Floats, y: Floats, colour: str, dash: str) -> str:
    """A line in a colour of the style sheet."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    pattern = "" if dash == "solid" else f' stroke-dasharray="{dash.replace("px", "")}"'
    return f'<polyline points="{points}" stroke="var({colour})" stroke-width="2"{pattern} fill="none"/>'


def word(x: float, y: float, text: str, anchor: str) -> str:
    """A word in a picture."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" fill="var(--muted)">{text}</text>'


# In which unit costs are: that of the answer.


def counted_per(evaluation: Evaluation) -> float:
    """How many decisions costs are counted for."""
    return 1000.0 if evaluation.per == 1.0 else evaluation.per


_TITLE = "Has the cost risen since the models were taken into use?"
_HEADS = ("", "Day", "Rows", "Cost", "Promised", "Mean so far", "Limits at all looks", "Log10 evidence")
_LATEST = 30
_METHOD = """\
The evidence is the capital of bets against the budget, spread over every day on which a rise may have begun. While \
the expected cost keeps within the budget, it ever reaches the alarm with the stated probability at most, however \
often one looks (Ville 1939; Shin, Ramdas and Rinaldo 2024).
The limits hold at all looks together, and are wider than an interval for one look.
An alarm says that the mean cost exceeds the budget. It does not say why, on which day it began (only about when), or \
that another model would do better.
The promise is what the scores say of their own cost: right as far as they are. Where it rises with the cost, cases \
became harder; where the cost rises alone, the scores no longer hold.""".splitlines()


def render_watch(watch: CostMonitors, *, title: str | None = None) -> str:
    """Make the page of cost monitors.

    Parameters
    ----------
    watch : CostMonitors
        What to report.
    title : str, optional
        Heading of the page.

    Returns
    -------
    str
        One HTML file that needs no network.

    Raises
    ------
    ImportError
        If matplotlib is not installed (``pip install 'stakes[plot]'``).

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.evaluation import KeptEvaluation
    >>> from stakes.monitoring import CostMonitors
    >>> from stakes.report import render_watch
    >>> kept = KeptEvaluation.of(evaluate([0, 1, 0, 0] * 30, {"a": [0.1, 0.8, 0.3, 0.6] * 30}, costs=(0.2, 0.6)))
    >>> render_watch(CostMonitors((0.2, 0.6), reference=kept))[:15]
    '<!doctype html>'
    """
    alarms = [name for name, monitor in watch.monitors.items() if monitor.alarm]
    lead = "Yes: " + ", ".join(map(_name, alarms)) + "." if alarms else "Nothing shows that it has."
    said = [f"<b>{_name(name)}</b>: {html.escape(monitor.describe())}" for name, monitor in watch.monitors.items()]
    bodies = {"stake": ("Conclusion", f'<p class="advice">{lead}</p>{bullets(said)}')}
    for place, (name, monitor) in enumerate(watch.monitors.items()):
        if monitor.n_days:
            bodies[f"monitor-{place}"] = (_name(name), _picture(monitor, name) + _days(monitor))
    bodies["method"] = ("How to read this", bullets(map(html.escape, _METHOD)))
    count = len(watch.monitors)
    facts = f"{count} monitor{'s' * (count != 1)}; costs per 1,000 decisions"
    return whole_page(title or _TITLE, facts, bodies, closed=())


def _name(text: str) -> str:
    return text_html(text, 80)


def _picture(monitor: CostMonitor, name: str) -> str:
    """Picture of a monitor as part of the page."""
    buffer = io.BytesIO()
    draw(monitor).figure_.savefig(buffer, format="svg")
    data = base64.b64encode(buffer.getvalue()).decode()
    about = html.escape(f"Cost of each day, running mean with limits, and evidence of {name}", quote=True)
    return (
        f'<p><img src="data:image/svg+xml;base64,{data}" alt="{about}" style="max-width: 100%; background: #fff"></p>'
    )


def _days(monitor: CostMonitor) -> str:
    rows = []
    for record in monitor._records()[-_LATEST:]:
        low, high = (number(1000.0 * record[f"simultaneous_{side}"]) for side in ("low", "high"))
        costs = [_cost(record[key]) for key in ("cost", "promised", "mean")]
        power = fixed(record["log_evidence"] / math.log(10.0), 2)
        rows.append(["", html.escape(str(record["day"])), f"{record['rows']:,}", *costs, f"{low} to {high}", power])
    caption = f"The latest {len(rows)} days, costs per 1,000 decisions"
    return table(caption, _HEADS, rows)


def _cost(value: Any) -> str:
    return "" if math.isnan(value) else number(1000.0 * value)


SPOKEN = {
    # the answer for a range of the reader's own, after whose choice no model can be claimed to be best
    "meaning": "{acting} from a risk of {where}{weighting}: one missed {event} is {bad}.",
    "meaning_rule": "{acting} from a score of {rule}, judged at thresholds of {where}{weighting}: one missed {event} "
    "is {bad}.",
    "low_to_high": "{low} to {high}",
    "uniform": "",
    "log-odds": ", counted alike in log-odds",
    "worse": "worse than any number of false alarms",
    "no_alarm": "as bad as no false alarm",
    "any_number": "as bad as any number of false alarms",
    "at_most": "as bad as {many} false alarm{plural} at most",
    "at_least": "as bad as {many} false alarm{plural} at least",
    "as_bad": "as bad as {many} false alarm{plural}",
    "least": "On these rows {best} costs least.",
    "no_model": "{best}: no model costs less on these rows.",
    "same_cost": "{models} cost the same on these rows.",
    "all_infinite": "No decision can be called best here, for every cost is infinite.",
    "looked": "Range chosen after looking: intervals of single models hold, claims over models do not.",
    "looked_fitted": "The thresholds are fitted to these very rows: costs are optimistic, and no model can be called "
    "best.",
    "costs": "{best} costs {cost} {per}{level}, {against}.",
    "alone": " ({level}: {low} to {high})",
    "infinite": text.say("boundless_one", others="{best}", cause=text.say("certain")),
    "best_model": "{best}, the best model, {cost}",
    "best_infinite": "and {best} an infinite amount",
    "on_scale": "on the scale of the {scale}",
    "unit_on_scale": "Costs are on the scale of the {scale}.",
    "other_cost": "{other} {cost}",
    "as_much": "as much as {other}",
    "less": "{share} less than {other}",
    "nearly_all": "over 99%",
    "dearer": "{share} more than {other}",
    "note_like": "acts like “{constant}”",
    "below": "below {least}",
    "interval_head": "{level} interval",
    "answer_alone": "Costs {per}. Each interval is of its row alone.",
    "at_threshold": "Per {count} cases at a threshold of {at} (odds {odds}): one missed {event} is {bad}{sure}",
    "known_in_part": "; Acted on counts all cases, the other numbers are estimates",
    "limits": "; {level} intervals, each of its number alone",
    "within": "costs {per} are within {bound} of those of all rows",
    "approximate": "intervals are approximate.",
    "sure": "so are the intervals.",
    # tables and figures
    "shaded_one": "The line marks the threshold {low} (odds {odds}).",
    "shaded": "Shaded: the plausible thresholds, {low} to {high} (odds {odds} to {odds_high}).",
    "exact": "Computed in this page from the table it holds, as the library computes it: exact but for rounding; "
    "{sureness}",
    "thinned": "Computed in this page from the table it holds, as the library computes it; the table is thinned, and "
    "{reach}; {sureness}",
    "boundless_error": "so near to 0 or 1 no bound of the error can be given",
    "unsure_here": "there are no intervals, for {why}.",
    "over_one": "at threshold {low}",
    "over": "over thresholds from {low} to {high}",
    "decomposition": "Decomposition of the cost {per} {over}, in-sample",
    "in_range": "Cases with a score between {low} and {high}",
}

# of the page on which a file is dropped, for the range that was named before the answer was seen
DROPPED = {
    "read": "{file}: {rows} rows, {positives} {events} ({share}) in {label}; {models}",
    "use": "USE {best}.{instead}",
    "instead": " {rival} costs {more} more {per}{though}.",
    "though": ", though its AUC is higher",
    "cannot_tell": "These rows cannot tell {best} from {others}.",
    "no_model_shown": "{best}: no model is shown to cost less.",
    "equal": "{models} cost the same on each of these rows: {either} will do.",
    "either": "either",
    "any": "any of them",
    "alike": ", which cost the same on each,",
    "no_choice": "No decision can be called best here: the rows bear no interval.",
    "constant": "Decide nothing by {best}: every row has the score {score}, and {share} are {events}.",
    "answer_all": "Costs {per}; intervals hold for all rows of a column at once",
    "shown_less": "Shown ({level}, all at once): {best} costs less than {others}{average}.",
    "average": " on average over the range",
    "every_other": "every other",
    "not_shown": "Not shown: that {best} costs less than {others}.",
    "one_sided": "An interval reaches 0 or less beside a no: it is two-sided, and what may be best is judged by a "
    "one-sided limit.",
    "few": "Few rows carry the cost of {models}: the interval is widened for those that were not seen.",
    "only_model": "while {best} costs {cost}",
    "here": " on these rows",
    "carried": " {few} of the {rows} {what} {verb} to that cost{uneven}.",
    "uneven": ", as unevenly as if just {alike} did",
    "just": "Just {count}",
    "none": "None",
    "others": "others",
    "add": "add",
    "adds": "adds",
    "only": " The only {one} adds {nothing}to that cost.",
    "nothing": "nothing ",
    "other": "other",
    "few_of_class": " There are only {count} {name}{weighted}; with fewer than {needed} an interval means little.",
    "equal_weight": " (rows of equal weight that would tell as much)",
    "checks": "Whether the scores can be taken at their word, stakes check says: see what this page leaves out.",
    "drawn": "Intervals of a whole column come from 20,000 draws of the errors, and so differ in the third digit from "
    "the command's.",
    "groups": "Over the range as reported; costs {per}, each interval of its number alone ({level}). The cost depends "
    "on how many positives a group has.",
    "no_groups": "No column divides the rows: choose one above to see each group.",
    "group_table": "Every model in every group of {group}",
    "beyond": "Computed here as the library computes it: costs, their intervals, which decisions may be best, "
    "decomposition, net benefit. The command does what follows too.",
}


def say(sentence: str, **filled: str) -> str:
    """Fill the slots of a sentence of the page.

    Examples
    --------
    >>> say("less", share="9%", other="treating everyone")
    '9% less than treating everyone'
    """
    return SPOKEN[sentence].format(**filled)
