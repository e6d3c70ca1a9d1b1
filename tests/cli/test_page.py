"""``stakes page``: it writes the page, and refuses what it cannot write."""

from __future__ import annotations

import pytest

from stakes.report import render_drop_page


def test_page_is_written(cli, tmp_path):
    target = tmp_path / "drop.html"
    outcome = cli("page", "-o", target)
    assert outcome.code == 0
    assert outcome.err == f"note: page written to {target}\n"
    assert target.read_text(encoding="utf-8") == render_drop_page()


def test_page_can_open_with_the_example(cli, tmp_path):
    target = tmp_path / "front.html"
    assert cli("page", "--example", "-o", target).code == 0
    assert '"file":"german_credit.csv"' in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["page"], "name the file to write, as in: stakes page -o drop.html"),
        (["page", "-o", "drop.txt"], "--output must name a file that ends in .html or .htm, got 'drop.txt'"),
        (["page", "risks.csv", "-o", "drop.html"], "takes options only, got also 'risks.csv'"),
    ],
)
def test_what_cannot_be_written_is_refused(cli, words, says):
    outcome = cli(*words)
    assert outcome.code == 2
    assert says in outcome.err
