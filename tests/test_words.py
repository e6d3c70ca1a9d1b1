"""Documentation and product speak the field's English: words that a textbook would not use are not in their sentences.

The list is of words that were used here once. What stands between backticks or in a fenced block of a page is code or
what a program printed, and is left alone; what programs print is held to the list in their source.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "examples").glob("*.md"))]
# the words, and what a textbook would say
NOT_TO_USE = {
    r"(having|had|was|were|been) picked|picked (by|for|among)": "chosen, selected; after correction for selection",
    r"room for|with room": "is widened because ...",
    r"told": "distinguished; raised, reported",
    r"(is|are) then to be said|what is to be said": "the caveat",
    r"stands? for": "replaces, represents, means",
    r"(at most|of|or|runs|among|by) so many": "this number of, a given number of",
    r"parts (in|of) an? (error|variance|standard error)": "contributions",
    r"honest(ly)?": "valid, unbiased, true; or the name of the method",
    r"(the|a) bill": "the cost",
    r"costs not yet seen": "few events carry the estimate",
}
ONLY_OF_PAGES = r"stands? for"  # "k stands for k equal rows" in a message is plain enough
SOURCE = sorted((ROOT / "src").rglob("*.py"))
ANY = re.compile(rf"\b({'|'.join(NOT_TO_USE)})\b", re.IGNORECASE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def prose(text):
    """Return a page without its fenced blocks and its code, every line where it was."""
    text = FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)
    return re.sub(r"`[^`\n]*`", "", text)


def relapses(text):
    """Return the words of the list that a text uses, each with its line and what to say instead."""
    found, flat = [], text.replace("\n", " ")
    for words, instead in NOT_TO_USE.items() if ANY.search(flat) else ():
        for match in re.finditer(rf"\b({words})\b", flat, re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"line {line}: {match[0]!r}: say {instead}")
    return found


def sentences(source):
    """Yield the texts of a program with at least one space that are no docstrings, each with its line."""
    tree = ast.parse(source)
    said = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body[0] for node in ast.walk(tree) if isinstance(node, said) and node.body]
    docstrings = {id(first.value) for first in bodies if isinstance(first, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_uses_no_word_of_the_list(page):
    assert relapses(prose(page.read_text(encoding="utf-8"))) == []


def test_no_sentence_of_the_product_uses_a_word_of_the_list():
    assert len(SOURCE) > 100
    found = []
    for path in SOURCE:
        for line, text in sentences(path.read_text(encoding="utf-8")):
            spoken = [each for each in relapses(text) if not re.search(ONLY_OF_PAGES, each)] if " " in text else []
            found += [f"{path.relative_to(ROOT)}:{line}: {each}" for each in spoken]
    assert found == []


def test_sentence_of_a_program_is_found_and_its_docstring_left_alone():
    source = 'def f():\n    """As we were told."""\n    return "it was " "told so"\n'
    assert [text for _, text in sentences(source)] == ["it was told so"]


def test_word_of_the_list_is_found_across_lines_and_left_alone_in_code():
    assert relapses(prose("An interval with\nroom for costs.\n")) == ["line 1: 'with room': say is widened because ..."]
    assert relapses(prose("See `told`.\n\n```text\nhaving been picked\n```\n")) == []
