"""``stakes boundary``: thresholds over score and uncertainty, from labelled rows to decisions that are watched."""

from typing import ClassVar

from stakes.cli._group import Group


class _Boundary(Group):
    home = "stakes.cli.boundary_"
    about: ClassVar = {
        "fit": "Find a threshold for each level of uncertainty, and say whether it pays.",
        "certify": "Find the rows whose precision can be promised.",
        "apply": "Add the decisions of a boundary to a file.",
        "monitor": "Watch the promised precision after deployment.",
    }


_ABOUT = "Thresholds over score and uncertainty: fit, certify, apply and monitor them."
GROUP = _Boundary(name="boundary", help=_ABOUT, rich_markup_mode=None)
