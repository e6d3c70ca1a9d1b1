"""The page of many actions: no scripts, and names from outside are text."""

import re

import numpy as np
import pytest

from stakes.actions import evaluate_actions
from stakes.report import render_actions
from tests.report.conftest import HOSTILE
from tests.report.pages import Page


def test_names_of_models_classes_and_actions_are_text():
    count = len(HOSTILE)
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(count), 60)
    y = rng.integers(0, count, 60)
    models = {name: prob if k else prob[:, ::-1] for k, name in enumerate(HOSTILE[:3])}
    found = evaluate_actions([HOSTILE[k] for k in y], models, matrices=1 - np.eye(count), labels=HOSTILE)
    page = render_actions(found, title="<script>alert(1)</script>")
    assert "<script" not in page
    assert "<img" not in page
    assert 'javascript:alert(2)"' not in page
    assert "\u202e" not in page
    assert "x" * 500 not in re.sub(r'title="[^"]*"', "", page)  # the whole name is shown on demand only
    assert "script-src" not in page


def test_no_probability_of_being_best_is_told():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 200)
    y = [rng.choice(3, p=row) for row in prob]
    page = Page(render_actions(evaluate_actions(y, {"a": prob, "b": prob[:, ::-1]}, matrices=1 - np.eye(3))))
    assert "robability of being best" not in page.one("main").text
    assert [head.text for head in page.all("th", scope="col")][:5] == [
        *("#", "Model", "Mean cost of a decision", "Less that of the best", "Skill")
    ]


@pytest.mark.parametrize(("weight", "once"), [(1.0, True), (2.0, False)])
def test_the_page_says_whether_every_row_counts_once(weight, once):
    y, weights = np.arange(30) % 3, np.repeat([weight, 1.0], [5, 25])
    models = {"a": np.full((30, 3), 1 / 3), "b": np.eye(3)[y]}
    page = Page(render_actions(evaluate_actions(y, models, matrices=1 - np.eye(3), sample_weight=weights)))
    assert ("every row counts once" in page.one("main").text) is once
