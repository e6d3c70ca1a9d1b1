"""The page around the sections: head, contents, and a policy that lets nothing run but the scripts it names."""

from __future__ import annotations

import base64
import hashlib
import html
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from stakes._version import __version__
from stakes.report._assets import asset, filled
from stakes.report._escaped import text_html
from stakes.report._html import section
from stakes.shown.text import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

_TITLE_LIMIT = 120


def made_now() -> str:
    """Date and time of the page."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def whole_page(
    title: str,
    facts: str,
    bodies: Mapping[str, tuple[str, str]],
    *,
    made: str | None = None,
    controls: str = "",
    script: str = "",
    payload: str = "",
) -> str:
    """A page from ready HTML: the heading and body of each section by its key, and the scripts where there are any."""
    data = f'<script type="application/json" id="payload">{payload}</script>\n<script>{script}</script>'
    return filled(
        "page.html",
        policy=_policy(script),
        version=__version__,
        title=html.escape(shorten(title, _TITLE_LIMIT)),
        style=asset("style.css"),
        heading=text_html(title, _TITLE_LIMIT),
        facts=facts,
        contents="".join(f'<li><a href="#{key}">{heading}</a></li>' for key, (heading, _) in bodies.items()),
        controls=controls,
        sections="\n".join(section(key, heading, body) for key, (heading, body) in bodies.items()),
        made=made or made_now(),
        scripts=data if script else "",
    )


def _policy(script: str) -> str:
    """Content-security policy: this script and inline styles, pictures made in the page, nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; {scripts}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
