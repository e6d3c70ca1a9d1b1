"""A page as a browser would read it: its elements, their attributes and their text."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np

from stakes import ScoreTable

EMPTY = {"meta", "link", "input", "br", "wbr", "img", "path", "circle"}


def numbers(value):
    """Decode an array of the page."""
    ((kind, text),) = value.items()
    return np.frombuffer(base64.b64decode(text), dtype=f"<{kind}").astype(float)


@dataclass
class Element:
    """An element, with the text of everything inside it."""

    tag: str
    attributes: dict[str, str]
    inside: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A parsed report."""

    source: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self):
        super().__init__()
        self._open = []
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs), tuple(outer.tag for outer in self._open))
        self.elements.append(element)
        if tag not in EMPTY:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(Element(tag, dict(attrs), tuple(outer.tag for outer in self._open)))

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data):
        for element in self._open:
            element.text += data

    def all(self, tag, **attributes):
        """Return the elements with a tag and attributes (`data_view` stands for `data-view`)."""
        wanted = {name.replace("_", "-").strip("-"): value for name, value in attributes.items()}
        return [e for e in self.elements if e.tag == tag and wanted.items() <= e.attributes.items()]

    def one(self, tag, **attributes):
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} of <{tag}> with {attributes}"
        return found[0]

    @property
    def payload(self):
        return json.loads(self.one("script", id="payload").text)

    def table(self, name, columns="scores"):
        """Return one of a model's tables that the page computes with, as the library's own."""
        model = next(model for model in self.payload["models"] if model["name"] == name)
        found = {key: numbers(value) for key, value in model[columns].items()}
        ups, downs = found["positives"], found["negatives"]
        return ScoreTable(found["scores"], ups, downs, ups, downs, round(float(ups.sum() + downs.sum())))

    @property
    def policy(self):
        content = self.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
        return dict(part.strip().split(" ", 1) for part in content.split(";"))

    def rows(self, name):
        """Return the rows of a table as lists of text, by the identifier or a word of the caption."""
        tables = []
        for element in self.elements:
            if element.tag == "table":
                tables.append((element, []))
            elif element.tag == "tr" and "tbody" in element.inside:
                tables[-1][1].append([])
            elif element.tag in {"td", "th"} and "tbody" in element.inside:
                tables[-1][1][-1].append(element.text)
        captions = [element.text for element in self.elements if element.tag == "caption"]
        for (table, rows), caption in zip(tables, captions, strict=True):
            if table.attributes.get("id") == name or name in caption:
                return rows
        raise AssertionError(name)
