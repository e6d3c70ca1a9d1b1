"""What a check says when it finds something: a code, a sentence, the numbers behind it, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stakes.outputs.result_table import Tabular, build_frame, table
from stakes.outputs.text import join, short_names

Severity = Literal["error", "warning", "info"]
Looked = Literal["never", "always", "apart", "clustered"]
SEVERITIES = ("error", "warning", "info")
Evidence = Mapping[str, float | Mapping[str, float]]

# Checks that ask whether something is wrong beyond chance share this level, so that together they seldom are wrong.
LEVEL = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class Observation:
    """What a check saw: a sentence with ``{0}``, ``{1}`` in place of models, then groups; their names; and numbers.

    ``remedy`` is what to do where it is not what the check says.
    """

    template: str
    models: tuple[str, ...] = ()
    evidence: Evidence = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    remedy: str = ""


def slots(count: int) -> str:
    """List the places of so many names in a template."""
    return join([f"{{{i}}}" for i in range(count)])


@dataclass(frozen=True)
class Check:
    """One coded check of an evaluation.

    Parameters
    ----------
    code : str
        Its name, by which it is silenced.
    severity : {"error", "warning", "info"}
        Do not act on the result as it is; the result can mislead; a fact about the chosen setting or the rows.
    summary : str
        What it finds, in one line.
    raised : str
        The rule by which it is raised.
    remedy : str
        What to do.
    look : callable
        From what is judged, such as standings, to an observation or None.
    of_amounts : bool, default False
        Whether it holds for amounts by row, whose scores are no probabilities.
    of_rows : {"never", "always", "apart", "clustered"}, default "never"
        When it looks at the rows themselves, which are not kept where a data engine sums over them: always, where they
        are in no clusters, or where they are.

    Examples
    --------
    >>> from stakes.evaluation import FINDINGS
    >>> FINDINGS["half-outside"].severity
    'info'
    """

    code: str
    severity: Severity
    summary: str
    raised: str
    remedy: str
    look: Callable[[Any], Observation | None]
    of_amounts: bool = False
    of_rows: Looked = "never"

    def needs_rows(self, *, clustered: bool, by_amount: bool) -> bool:
        """Whether it finds nothing where rows, in clusters or with amounts, are not kept.

        Parameters
        ----------
        clustered, by_amount : bool
            Whether rows are in clusters, and whether each has amounts of its own.

        Returns
        -------
        bool

        Examples
        --------
        >>> from stakes.evaluation import FINDINGS
        >>> FINDINGS["inverted"].needs_rows(clustered=True, by_amount=False)
        True
        """
        looked = self.of_amounts or not by_amount
        return looked and self.of_rows in ("always", "clustered" if clustered else "apart")

    def run(self, standings: Any) -> Finding | None:
        """Look, and make a finding of what is seen."""
        seen = self.look(standings) if self.of_amounts or not standings.options.per_stake else None
        if seen is None:
            return None
        return Finding(
            self.code,
            self.severity,
            seen.template,
            seen.models,
            seen.groups,
            dict(seen.evidence),
            seen.remedy or self.remedy,
        )


@dataclass(frozen=True, repr=False)
class Finding:
    """Something about an evaluation that its reader should know before acting on it.

    Parameters
    ----------
    code : str
        Name of the check, by which it can be silenced.
    severity : {"error", "warning", "info"}
        Do not act on the result as it is; the result can mislead; a fact about the chosen setting.
    template : str
        The sentence, with ``{0}``, ``{1}`` in place of the names of models, and of groups after them.
    models, groups : tuple of str
        Those names.
    evidence : dict
        Numbers by what they are; where they differ between models or groups, a dict by name.
    remedy : str
        What to do.

    Examples
    --------
    >>> from stakes import evaluate
    >>> finding = evaluate([0, 1] * 50, {"a": [0.1, 0.8] * 50}, costs=(0.02, 0.1)).findings[-1]
    >>> finding.code, finding.severity, finding.evidence
    ('half-outside', 'info', {'low': 0.02, 'high': 0.1})
    """

    code: str
    severity: Severity
    template: str
    models: tuple[str, ...]
    groups: tuple[str, ...]
    evidence: dict[str, Any] = field(hash=False)
    remedy: str

    @property
    def sentence(self) -> str:
        """What was found."""
        return self.told(str)

    def told(self, show: Callable[[str], str]) -> str:
        """Return the sentence with every name of a model or group as ``show`` writes it.

        Parameters
        ----------
        show : callable
            From a name to the text that stands for it.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes import evaluate
        >>> finding = evaluate([0, 1] * 50, {"a": [0, 1] * 50}, costs=(0.02, 0.1)).findings[0]
        >>> finding.told(str.upper)[:26]
        'A gives only the scores 0 '
        """
        return self.template.format(*map(show, (*self.models, *self.groups)))

    def record(self) -> dict[str, Any]:
        """Return the finding as plain values, for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "sentence": self.sentence,
            "models": list(self.models),
            "groups": list(self.groups),
            "evidence": self.evidence,
            "remedy": self.remedy,
        }

    def __repr__(self) -> str:
        return f"Finding({self.code}, {self.severity}: {self.sentence})"


class Findings(tuple[Finding, ...], Tabular):  # noqa: SLOT001  (a mix-in without slots)
    """The findings of an evaluation, the gravest first.

    Examples
    --------
    >>> from stakes import evaluate
    >>> evaluate([0, 1, 1, 0] * 25, {"a": [0, 1, 0, 1] * 25}, costs=(0.3, 0.4)).findings.codes
    ('hard-labels', 'not-better', 'half-outside')
    """

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the findings, in their order."""
        return tuple(finding.code for finding in self)

    def frame(self, backend: Any = None) -> Any:
        """Return one row for each finding as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``code``, ``severity``, ``sentence``, ``remedy``.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1] * 50, {"a": [0, 1] * 50}, costs=(0.3, 0.6)).findings.frame("polars").columns
        ['code', 'severity', 'sentence', 'remedy']
        """
        rows = self._cells()
        return build_frame({head: [row[i] for row in rows[1:]] for i, head in enumerate(rows[0])}, backend)

    def _records(self) -> list[dict[str, Any]]:
        return [finding.record() for finding in self]

    def _repr_html_(self) -> str:
        if not self:
            return "<p>No findings.</p>"
        short = short_names(name for found in self for name in (*found.models, *found.groups))
        cells = [[found.severity, found.code, found.told(short.__getitem__), found.remedy] for found in self]
        return table(["severity", "code", "sentence", "remedy"], cells)

    def _cells(self) -> list[list[str]]:
        heads = ["code", "severity", "sentence", "remedy"]
        return [heads, *[[str(getattr(finding, head)) for head in heads] for finding in self]]
