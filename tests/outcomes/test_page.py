"""The code of docs/outcomes.md prints what the page shows."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "outcomes.md"


def test_code_of_the_page_prints_what_it_shows(reference_dir, monkeypatch, capsys):
    pytest.importorskip("pandas")
    if not hasattr(pytest.importorskip("polars").LazyFrame, "collect_batches"):
        pytest.skip("this polars streams no rows, of which the page has an example")
    monkeypatch.chdir(reference_dir / "data" / "dcurves")
    blocks = re.findall(r"^```(?:pycon|python)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    code = "\n".join(blocks)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(doctest.DocTestParser().get_doctest(code, {}, "page", str(PAGE), 0))
    assert runner.failures == 0, capsys.readouterr().out
    assert runner.tries > 20
