"""The page on which a file is dropped: it reads and evaluates in the browser, with the scripts of the report."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from string import Template

from stakes._version import __version__
from stakes.evaluation import Words
from stakes.outputs.text import REFERENCES
from stakes.report._figures import Figure
from stakes.report._page import DROPPED, SCRIPTS, SPOKEN, asset, filled, follows, whole_page

# Scripts by what they are for. The report's own are used as they are; those of the page that makes it stand between.

_SHARED = ("costs", "scores", "beta", "moments")  # by the report and the worker, which both begin with them
_WORKER = (
    *("drop_reader", "drop_rows", "drop_tables", "drop_moments"),
    *("drop_selection", "drop_payload", "drop_worker"),
)
_START = '(() => {\n"use strict";\n'
_BEFORE = {"figures": "drop_screen", "page": "drop_own"}
_MAIN = ("script_numbers", "drop_main")
EXAMPLE, LABEL, RANGE = "german_credit.csv", "bad", (0.10, 0.25)
_EXAMPLE_WORDS = Words("refuse", "bad loan")
_TITLE = "What acting on these predictions would cost"
# stand for what only the browser knows
_SLOTS = {"facts": "\ue000facts\ue000", "made": "\ue000made\ue000", "payload": "\ue000payload\ue000"}
_HEADINGS = {
    "stake": "The answer",
    "decision": "Decision curve",
    "threshold": "At one threshold",
    "reliability": "Reliability",
    "groups": "Groups",
    "decomposition": "Where the cost comes from",
    "roc": "ROC curves, and what they assume",
    "beyond": "What this page leaves out",
    "data": "Data",
}
_CLOSED = ("decomposition", "roc", "data")


def render_drop_page(*, example: bool = False) -> str:
    """Return a page on which a CSV file is dropped and evaluated in the browser; nothing leaves the machine.

    Parameters
    ----------
    example : bool, default False
        Whether the page opens with the shipped example.

    Returns
    -------
    str
        One HTML file with styles, scripts and words in it, to be written as UTF-8. Its policy lets it ask the network
        for nothing.

    Examples
    --------
    >>> from stakes.report import render_drop_page
    >>> page = render_drop_page()
    >>> "default-src 'none'" in page, len(page.encode()) < 220_000
    (True, True)
    """
    main, report = _joined(_MAIN), _report_script()
    parts = {
        "report": _report_page(),
        "shared": _shared(),
        "script": report.removeprefix(_shared()),
        "worker": _joined(_WORKER, ""),
        "words": _words(Words()),
        "example": _example() if example else None,
        "slots": _SLOTS,
    }
    return Template(asset("drop.html")).substitute(
        policy=_policy(main, report),
        version=__version__,
        style=_lean(asset("style.css")),
        own_style=_lean(asset("drop.css")),
        # nothing in them ends the script that holds them, or starts a comment in it
        parts=json.dumps(parts, separators=(",", ":")).replace("</", "<\\/").replace("<!", "\\u003c!"),
        script=main,
    )


def _policy(*scripts: str) -> str:
    """Content-security policy: these scripts, a worker made in the page, inline styles, pictures made in the page."""
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {digests}; worker-src blob:; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _joined(names: tuple[str, ...], start: str = _START) -> str:
    """Scripts as one, with nothing of theirs in the names of the window."""
    parts = "\n".join(_lean(asset(f"{name}.js")) for name in names)
    return f"{start}{parts}}})();"


@cache
def _shared() -> str:
    """How the scripts of the report and of the worker begin."""
    return _START + "".join(f"{_lean(asset(f'script_{name}.js'))}\n" for name in _SHARED)


def _lean(script: str) -> str:
    """A script or style without indentation, comments, ends of lines in a list or after ";": no text has several."""
    lines = [line for line in map(str.strip, script.splitlines()) if line and not line.startswith("//")]
    return "".join(line if line[-1] in "{,([;" and "//" not in line else f"{line}\n" for line in lines)


@cache
def _report_script() -> str:
    """The report's scripts, between them those that fill the screen from the numbers."""
    names: list[str] = []
    for name in (each for each in SCRIPTS if each not in _SHARED):
        names += [_BEFORE[name]] if name in _BEFORE else []
        names.append(f"script_{name}")
    return _joined(tuple(names), _shared())


@cache
def _report_page() -> str:
    """The report as a page of its own, with slots in place of styles and scripts, which stand in this page once."""
    figures = {figure.key: figure.html((), _LEGEND) for figure in _figures()}
    regret = figures.pop("regret")
    bodies = {
        "stake": _first_screen(regret),
        "threshold": asset("threshold.html"),
        "groups": '<div data-part="groups"></div>',
        "beyond": '<div data-part="beyond"></div>',
        "data": '<dl data-part="data"></dl>',
        **figures,
    }
    bodies["reliability"] += f"<details><summary>The numbers within the range</summary>{_table('in-range')}</details>"
    bodies["decomposition"] += _table("decomposition") + follows("missing", "")
    script, style = _report_script(), asset("style.css")
    page = whole_page(
        _TITLE,
        _SLOTS["facts"],
        {key: (heading, bodies[key]) for key, heading in _HEADINGS.items()},
        closed=_CLOSED,
        made=_SLOTS["made"],
        controls=asset("controls.html"),
        script=script,
        payload=_SLOTS["payload"],
    )
    return page.replace(style, "\ue000style\ue000").replace(script, "\ue000script\ue000")


_LEGEND = '<fieldset class="legend" data-part="legend"><legend>Models shown</legend></fieldset>'
_NO_BAND = "No band is drawn: it would be simulated, which the command does in its report."


def _figures() -> tuple[Figure, ...]:
    """The report's figures, with no model yet."""
    return (*_threshold_figures(), *_other_figures())


def _threshold_figures() -> tuple[Figure, ...]:
    """Cost and net benefit against the threshold."""
    shaded, precision = follows("shaded", "", "span"), follows("precision", "", "span")
    weightings = '<option value="uniform">uniform</option><option value="log-odds">uniform in log-odds</option>'
    lines = "Line chart of {} against the threshold, for the models, for acting on everyone and on no one."
    return (
        Figure(
            "regret",
            "cost per 1,000 decisions, at each threshold (lower is better)",
            lines.format("cost"),
            filled("caption_regret.html", precision=precision, range=shaded, band=_NO_BAND),
            near=True,
            settings=filled("settings.html", weightings=weightings),
        ),
        Figure(
            "decision",
            "net benefit per 1,000 cases (higher is better)",
            lines.format("net benefit"),
            filled("caption_decision.html", precision="", band=_NO_BAND),
            near=True,
        ),
    )


def _other_figures() -> tuple[Figure, ...]:
    """Reliability, decomposition and ROC."""
    shapes = (
        "Isotonic: steps that never fall, without bins. Binned: ten groups of cases with neighbouring scores and equal "
        "weight."
    )
    return (
        Figure(
            "reliability",
            "observed share of positives (above), share of cases scored lower (below)",
            "Reliability diagram of the models, with the distribution of their scores below. The table beside it has "
            "every model's numbers within the range.",
            filled("caption_reliability.html", shapes=shapes, band=""),
            near=True,
            shapes=("isotonic", "binned"),
            below="scores",
        ),
        Figure(
            "decomposition",
            "discrimination DSC (more is better)",
            "Chart of miscalibration against discrimination. The table below has the numbers.",
            filled("caption_decomposition.html", cost="cost", costs="Cost"),
        ),
        Figure(
            "roc",
            "share of positives acted on (true positive rate)",
            "ROC curves. The part that the plausible thresholds use is thick.",
            filled("caption_roc.html"),
        ),
    )


def _first_screen(figure: str) -> str:
    return (
        f'<p class="range">{follows("meaning", "", "span")}</p>{follows("advice", "")}<div class="screen">{figure}'
        f'<div>{_table("answer")}{follows("beneath", "")}<p class="tools" data-part="saves"></p></div></div>'
    )


def _table(key: str) -> str:
    """The place of a table that the scripts make."""
    name = {"answer": "Costs", "in-range": "Cases scored within the range", "decomposition": "Decomposition"}[key]
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{name}" data-follows="{key}"></div>'


def _words(words: Words) -> dict[str, object]:
    """What the report calls decisions and events, and its sentences."""
    return {
        "words": {
            "rows": {name: words.row(name) for name in REFERENCES},
            "decisions": {name: words.decision(name) for name in REFERENCES},
            "acting": words.acting[:1].upper() + words.acting[1:],
            "event": words.event,
            "events": words.events,
            "unit": f"A cost of 1 is one missed {words.event} plus one false alarm.",
        },
        "perWords": "per 1,000 decisions",
        "sentences": SPOKEN | DROPPED,
    }


def _example() -> dict[str, object]:
    """The shipped example and what is asked of it."""
    text = resources.files("stakes").joinpath("data", EXAMPLE).read_text(encoding="utf-8")
    words = {key: value for key, value in _words(_EXAMPLE_WORDS).items() if key == "words"}
    return {"file": EXAMPLE, "text": text, "label": LABEL, "range": list(RANGE), "words": words}
