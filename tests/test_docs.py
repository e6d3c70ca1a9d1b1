"""The generated pages of the documentation are up to date, and the examples of all pages are true."""

import doctest
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_generated_pages_are_what_the_code_makes_today():
    spec = spec_from_file_location("docs_generate", DOCS / "generate.py")
    generate = module_from_spec(spec)
    spec.loader.exec_module(generate)
    for name, text in generate.pages().items():
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
