"""The generated pages of the documentation are up to date, and the examples of all pages are true."""

import doctest
import re
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


def load(name):
    spec = spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_what_the_code_makes_today():
    for name, text in load("generate").pages().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"run python docs/generate.py: {name} is old"


@pytest.mark.parametrize(
    "name", [path.name for path in sorted(DOCS.glob("*.md")) if "```python" in path.read_text(encoding="utf-8")]
)
def test_python_examples_of_a_page_print_what_they_show(name):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    namespace = {}
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for library in re.findall(r">>> import (duckdb|pandas|polars|pyarrow)\b", "".join(blocks)):
        pytest.importorskip(library)
    for number, block in enumerate(blocks):
        example = doctest.DocTestParser().get_doctest(block, namespace, f"block {number}", name, 0)
        runner.run(example, clear_globs=False)
        namespace = example.globs
    assert runner.summarize(verbose=False).failed == 0


def test_figures_of_a_page_are_numbered_below_code_that_draws():
    figures = load("figures")
    assert len(figures.pages()) >= 5
    for page in figures.pages():
        found = list(figures.BLOCK_OR_FIGURE.finditer(page.read_text(encoding="utf-8")))
        names = [each["name"] for each in found if each["name"]]
        assert names == [f"{page.stem}_{number}" for number in range(1, len(names) + 1)]
        for above, each in pairwise(found):
            assert not each["name"] or ">>> display = " in (above["code"] or ""), f"{each['name']} is below no picture"


@pytest.mark.thorough
def test_every_figure_of_a_page_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    load("figures").write(tmp_path)
    for picture in tmp_path.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 10_000, f"{picture.name} is next to empty"
    shown = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert sorted(re.findall(r"_static/figures/(\w+)\.png", shown)) == sorted(path.stem for path in tmp_path.glob("*"))
