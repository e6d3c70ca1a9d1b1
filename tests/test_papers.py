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


# What the specifications of the reference folder name, read from them; where that folder is absent the test skips.
SPECIFIED = {"000": "errata.md", "001": "expected_utility.md", "004": "boundary.md"}


@pytest.mark.parametrize("paper", SPECIFIED)
def test_tables_and_algorithms_that_the_specifications_name_have_their_outcome(paper, reference_dir):
    text = (reference_dir / "reference" / SPECIFIED[paper]).read_text(encoding="utf-8")
    if paper == "000":
        text = text.partition("## 2. Errata of 000")[2].partition("## 3.")[0]
    told = " ".join(item for item, *_ in outcomes()[paper])
    for kind in ("table", "algorithm"):
        assert numbers(text, kind) <= numbers(told, kind), kind


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


# In the specifications an erratum begins with a bold code and heading: "**E5. Thm 3.4, D.6: sign.**"
HEADINGS = re.compile(r"^\*\*([ECP]\d+)\. (.+?)\*\*", re.MULTILINE)
OF_PAPER = {"E": "000", "C": "002", "P": "003"}
PLACES = re.compile(r"\b[A-J]\.\d+|\b\d\.\d\b|\b(?:Thm|Alg\.|Cor\.|Prop\.|Def\.) \d(?!\.)")
IN_FULL = {"Thm": "theorem", "Alg.": "algorithm", "Cor.": "corollary", "Prop.": "proposition", "Def.": "definition"}


def test_every_place_that_an_erratum_of_the_specifications_names_is_on_the_pages(reference_dir):
    text = (reference_dir / "reference" / "errata.md").read_text(encoding="utf-8")
    headings = HEADINGS.findall(text)
    assert len(headings) >= 30
    missing = []
    for code, heading in headings:
        paper = OF_PAPER[code[0]]
        told = " ".join([where for where, *_ in errata() if where.startswith(paper)])
        told = " ".join([told, *(item for item, *_ in outcomes()[paper])])
        for place in PLACES.findall(heading):
            kind, _, number = place.rpartition(" ")
            known = numbers(told, IN_FULL[kind]) if kind else set(re.findall(PLACES, told)) | spans(told)
            if number not in known:
                missing.append(f"{code}: {place}")
    assert not missing


def spans(text):
    """The places between the ends of "D.1 to D.3"."""
    ends = re.findall(r"\b([A-J])\.(\d+) to \1\.(\d+)", text)
    return {f"{letter}.{k}" for letter, low, high in ends for k in range(int(low), int(high) + 1)}
