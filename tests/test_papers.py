"""Every statement about a paper says where it stands, and every numbered item that is spoken of has its outcome."""

import re
from pathlib import Path

import pytest

from replications.__main__ import NAMES

DOCS = Path(__file__).parents[1] / "docs"
PAPERS = ("000", "001", "002", "003", "004")
STATES = ("reproduced", "in kind", "cannot be had")
KINDS = "section|appendix|table|figure|algorithm|theorem|proposition|lemma|corollary|definition|equation"
NUMBERED = re.compile(
    rf"\b(?:{KINDS}|figures|tables|theorems|propositions|algorithms|lemmas)\s+\(?[A-J]?\.?\d", re.IGNORECASE
)
LETTERED = re.compile(r"\bappendix [A-J]\b", re.IGNORECASE)


def located(text):
    return bool(
        NUMBERED.search(text)
        or LETTERED.search(text)
        or re.search(r"\b(?:theorem|figures?|lemma)s? [A-J]\.\d", text, re.IGNORECASE)
        or re.search(r"\babstract\b|\bappendices [A-J]\.\d", text)
    )


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def errata():
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    table = text.partition("| where | printed (in our words unless quoted) | true |")[2].partition("\n\n")[0]
    return [cells(line) for line in table.splitlines()[2:]]


def outcomes():
    """Rows of the page of replications by paper."""
    text = (DOCS / "replications.md").read_text(encoding="utf-8").partition("## Our own")[0]
    parts = re.split(r"^\*\*(\d{3})\*\*", text, flags=re.MULTILINE)
    return {
        paper: [cells(line) for line in part.splitlines() if line.startswith("| ")][2:]
        for paper, part in zip(parts[1::2], parts[2::2], strict=True)
    }


def numbers(text, kind):
    """The numbers after a kind of item, such as 2 and 3 of "Tables 2, 3" or 9 to 11 of "Propositions 9 to 11"."""
    found = set()
    for listed in re.findall(rf"\b{kind}s? ((?:[A-Z]?\.?\d[\w.]*(?:, | and | to )?)+)", text, re.IGNORECASE):
        for part in re.split(r", | and ", listed):
            ends = part.strip(" .").split(" to ")
            if len(ends) == 2 and all(end.isdigit() for end in ends):
                found |= {str(k) for k in range(int(ends[0]), int(ends[1]) + 1)}
            else:
                found |= {end.strip(" .") for end in ends if end}
    return found


RULES = [(paper, *row) for paper, rows in outcomes().items() for row in rows]


def test_both_pages_are_read():
    assert tuple(outcomes()) == PAPERS
    assert len(RULES) >= 60
    assert len(errata()) >= 45


@pytest.mark.parametrize("row", errata(), ids=lambda row: row[0])
def test_an_erratum_says_where_and_what_is_printed_and_what_is_true(row):
    where, printed, true = row
    assert where[:3] in PAPERS
    assert located(where)
    assert printed
    assert true


@pytest.mark.parametrize("row", RULES, ids=lambda row: f"{row[0]} {row[1]}")
def test_an_item_has_its_place_its_outcome_and_what_shows_it(row):
    _, item, says, state, by, found = row
    without_place = says.startswith("(No number or section in the texts used here.) ")
    assert re.match(r"Unnumbered: \w", item) if without_place else located(item)
    assert says.endswith((".", ".)"))
    assert state in STATES
    assert found.endswith(".")
    assert bool(by) == (state != "cannot be had")
    for name in re.findall(r"`([^`]+)`", by):
        if name.startswith("tests/"):
            assert (DOCS.parent / name).is_file(), name
        elif not name.startswith("python -m"):
            assert name.split()[0] in NAMES, name
    for link in re.findall(r"\]\(([^)#]+)", by):
        assert (DOCS / link).is_file() or link.startswith("auto_gallery"), link


@pytest.mark.parametrize("kind", ["table", "figure", "algorithm", "theorem", "proposition"])
@pytest.mark.parametrize("paper", PAPERS)
def test_what_the_errata_speak_of_has_its_outcome(paper, kind):
    spoken = "; ".join(where for where, *_ in errata() if where.startswith(paper))
    told = " ".join(item for item, *_ in outcomes()[paper])
    wanted = numbers(spoken, kind)
    assert wanted <= numbers(told, kind) | {n for n in wanted if re.search(rf"\b{re.escape(n)}\b", told)}


def quotations(text):
    """What stands between quotation marks, outside code."""
    return re.findall(r'"([^"]+)"', re.sub(r"`[^`]*`", "", text))


STATEMENTS = [(f"errata, {row[0]}", row[1]) for row in errata()]
STATEMENTS += [(f"{paper}, {item}", f"{says} {found}") for paper, item, says, _, _, found in RULES]


@pytest.fixture(scope="module")
def specifications(reference_dir):
    texts = [path.read_text(encoding="utf-8") for path in sorted((reference_dir / "reference").glob("*.md"))]
    return " ".join(" ".join(texts).split())


def test_quotations_are_found_between_their_marks():
    assert quotations('"a b" and `"code"`, then "c"') == ["a b", "c"]
    assert sum(len(quotations(text)) for _, text in STATEMENTS) >= 60


@pytest.mark.parametrize(("place", "text"), STATEMENTS, ids=[place for place, _ in STATEMENTS])
def test_what_is_quoted_is_printed_so_in_the_specifications(place, text, specifications):
    assert text.count('"') % 2 == 0
    for quoted in quotations(text):
        assert quoted in specifications, place


# Where the specifications of the reference folder speak of each paper, from one line to another.
SPECIFIED = {
    "000": ("errata.md", "## 2. Errata of 000", "## 3. "),
    "001": ("expected_utility.md", "## 7. Errata and theory checks", "## 8. "),
    "002": ("errata.md", "## 4. Errata of 002", "## 5. "),
    "003": ("errata.md", "## 5. Errata of 003", "## 6. "),
    "004": ("boundary.md", "# Decision boundaries", "## 9. "),
}
ITEM = re.compile(
    r"\b(Thm|Theorem|Alg\.|Algorithm|Cor\.|Prop\.|Lemma|Def\.|Table|Figure|Eq\.)s? \(?((?:[A-J]\.)?\d+(?:\.\d+)?)"
)
IN_FULL = {"Thm": "theorem", "Alg.": "algorithm", "Cor.": "corollary", "Prop.": "proposition", "Def.": "definition"}
IN_FULL["Eq."] = "equation"


@pytest.mark.parametrize("paper", SPECIFIED)
def test_every_place_that_the_specifications_name_is_on_the_pages(paper, reference_dir):
    file, first, last = SPECIFIED[paper]
    text = (reference_dir / "reference" / file).read_text(encoding="utf-8").partition(first)[2].partition(last)[0]
    told = " ; ".join([f"{where} {printed}" for where, printed, _ in errata() if where.startswith(paper)])
    told = " ; ".join([told, *(item for item, *_ in outcomes()[paper])])
    named = {(IN_FULL.get(kind, kind.lower()), number) for kind, number in ITEM.findall(text)}
    assert len(named) >= 3
    assert not {(kind, number) for kind, number in named if number not in numbers(told, kind)}
    if paper == "000":  # whose appendices are named by their letters alone, too
        ends = re.findall(r"\b([A-J])\.(\d+) to \1\.(\d+)", told)
        spans = {f"{letter}.{k}" for letter, low, high in ends for k in range(int(low), int(high) + 1)}
        assert set(re.findall(r"\b[A-J]\.\d+", text)) <= spans | set(re.findall(r"\b[A-J]\.\d+", told))
