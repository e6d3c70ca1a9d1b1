"""The generated pages of the documentation are up to date."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_generated_pages_are_what_the_code_makes_today():
    spec = spec_from_file_location("docs_generate", DOCS / "generate.py")
    generate = module_from_spec(spec)
    spec.loader.exec_module(generate)
    for name, text in generate.pages().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"run python docs/generate.py: {name} is old"
