"""The documentation speaks the field's English: words that a textbook would not use are not in its sentences.

The list is of words that were used here once. What stands between backticks or in a fenced block is code or what a
program printed, and is left alone.
"""

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
    r"the best decision with probability": "may be best: yes or no",
    r"costs not yet seen": "few events carry the estimate",
}
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def prose(text):
    """Return a page without its fenced blocks and its code, every line where it was."""
    text = FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)
    return re.sub(r"`[^`\n]*`", "", text)


def relapses(text):
    """Return the words of the list that a text uses, each with its line and what to say instead."""
    found = []
    for words, instead in NOT_TO_USE.items():
        for match in re.finditer(rf"\b({words})\b", text.replace("\n", " "), re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"line {line}: {match[0]!r}: say {instead}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_uses_no_word_of_the_list(page):
    assert relapses(prose(page.read_text(encoding="utf-8"))) == []


def test_word_of_the_list_is_found_across_lines_and_left_alone_in_code():
    assert relapses(prose("An interval with\nroom for costs.\n")) == ["line 1: 'with room': say is widened because ..."]
    assert relapses(prose("See `told`.\n\n```text\nhaving been picked\n```\n")) == []
