"""Text from outside appears as text, wherever it is put."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from stakes.outputs.text import shorten
from stakes.report._page import json_for_script, named, text_html

anything = st.text(st.characters(codec=None, categories=["L", "N", "P", "S", "Z", "C"]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("logistic regression", "logistic regression"),
        ("a\u202eb", "a\\u202eb"),
        ("a\nb\x00", "a\\nb\\x00"),
        ("\ud800", "\\ud800"),
        ("", "(no name)"),
        ("   ", "(no name)"),
        ("مرحبا", "مرحبا"),
        ("a\u200db", "a\u200db"),
    ],
)
def test_characters_that_hide_or_rearrange_text_are_shown_as_escapes(text, shown):
    assert named(text) == shown


@given(anything)
def test_visible_text_can_be_encoded_and_holds_no_controls(text):
    shown = named(text)
    assert shown.encode().decode() == shown
    assert not any(ord(char) < 32 or char in "\u2028\u2029\u202e" for char in shown)


@given(anything, st.integers(10, 60))
def test_text_for_html_has_no_markup_of_its_own(text, limit):
    inner = text_html(text, limit).replace("<wbr>", "").removesuffix("</bdi>").partition(">")[2]
    assert "<" not in inner
    assert '"' not in inner


@given(st.recursive(anything | st.floats(allow_nan=False, allow_infinity=False), st.lists))
def test_json_in_a_script_reads_back_and_cannot_end_it(value):
    text = json_for_script(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_long_text_keeps_both_its_ends():
    short = shorten("first " + "x" * 100 + " last", 20)
    assert len(short) == 20
    assert short.startswith("first ")
    assert short.endswith(" last")


def test_shortened_text_is_whole_in_its_title():
    assert 'title="' + "x" * 100 in text_html("x" * 100, 20)
