"""The page of cost monitors: what each says, its picture and its latest days, and what an alarm does not say."""

from __future__ import annotations

import base64
import html
import io
import math
from typing import TYPE_CHECKING, Any

from stakes.outputs.hooks import draw
from stakes.outputs.text import number
from stakes.report._page import bullets, fixed, table, text_html, whole_page

if TYPE_CHECKING:
    from stakes.monitoring import CostMonitor, CostMonitors

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
