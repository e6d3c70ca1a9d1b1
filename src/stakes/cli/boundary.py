"""``stakes boundary``: thresholds over score and uncertainty, from labelled rows to decisions that are watched."""

import typer

from stakes.cli import boundary_apply, boundary_certify, boundary_fit, boundary_monitor
from stakes.cli._command import Command

app = typer.Typer(
    rich_markup_mode=None, help="Thresholds over score and uncertainty: fit, certify, apply and monitor them."
)
_ABOUT = {
    "fit": "Find a threshold for each level of uncertainty, and say whether it pays.",
    "certify": "Find the rows whose precision can be promised.",
    "apply": "Add the decisions of a boundary to a file.",
    "monitor": "Watch the promised precision after deployment.",
}
app.command(cls=Command, epilog=boundary_fit.EPILOG, short_help=_ABOUT["fit"])(boundary_fit.fit)
app.command(cls=Command, epilog=boundary_certify.EPILOG, short_help=_ABOUT["certify"])(boundary_certify.certify)
app.command(cls=Command, epilog=boundary_apply.EPILOG, short_help=_ABOUT["apply"])(boundary_apply.apply)
app.command(cls=Command, epilog=boundary_monitor.EPILOG, short_help=_ABOUT["monitor"])(boundary_monitor.monitor)
