"""Which known name a mistyped, shortened or foreign one most probably means."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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
    """Return "; did you mean NAME?" for the nearest name, between two marks, or nothing where none is near.

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
