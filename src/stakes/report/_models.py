"""How each model appears: its number, its name made harmless, its colour and its dashes, the same in every figure."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stakes.report._escaped import isolated, named
from stakes.shown.text import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation, ModelResult

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
# so many comparisons in one sentence are a list
_DETAIL = re.compile(r"\s*\([^()]*interval[^()]*\)")


@dataclass(frozen=True, eq=False)
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
    shorts = _unique([shorten(named(name), NAME_LIMIT) for name in evaluation.ranking])
    return tuple(
        Model(
            rank=rank,
            name=name,
            full=named(name),
            short=shorts[rank - 1],
            colour=given[name] % COLOURS + 1,
            dash=DASHES[(given[name] + given[name] // COLOURS) % len(DASHES)],
            result=evaluation[name],
        )
        for rank, name in enumerate(evaluation.ranking, start=1)
    )


def _unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def conclusion_html(evaluation: Evaluation, models: Sequence[Model]) -> list[str]:
    """The sentences of the conclusion, names marked and figures in brackets set back.

    The evaluation is asked with stand-ins for the names, so that no name can be taken for a word of the sentence.
    """
    by_name = {model.name: model for model in models}
    stand_in = {name: f"\ue000{index}\ue001" for index, name in enumerate(evaluation.models)}
    asked = replace(
        evaluation,
        models=tuple(stand_in[name] for name in evaluation.models),
        results=tuple(replace(r, name=stand_in.get(r.name, r.name)) for r in evaluation.results),
        options=evaluation.options.renamed(stand_in),
    )
    known = evaluation.by_threshold
    vars(asked)["by_threshold"] = known and known.renamed(stand_in)  # which takes long, and hangs on no name

    def name_html(match: re.Match[str]) -> str:
        return f"<b>{by_name[evaluation.models[int(match[1])]].html}</b>"

    return [_TOKEN.sub(name_html, _set_back(sentence)) for sentence in asked.conclusion]


def _set_back(sentence: str) -> str:
    """HTML of a sentence, with the figures in brackets set back."""
    return _DETAIL.sub(lambda found: f'<span class="detail">{found[0]}</span>', typeset(sentence))


def typeset(text: str) -> str:
    """Escape, write minus signs, and keep p-values on one line."""
    text = re.sub(r"(?<=\s)-(?=[\d.])", "\N{MINUS SIGN}", text)
    return html.escape(re.sub(r"\bp ([=<]) ", "p\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text))
