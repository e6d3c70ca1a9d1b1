"""Nothing from outside may hide, move or reorder the text around it."""

import sys
import unicodedata

import pytest

from stakes.outputs.result_table import plain
from stakes.outputs.text import NO_NAME, p_value, shorten, shown_name, visible

STEERING = [chr(i) for i in range(sys.maxunicode + 1) if unicodedata.category(chr(i)) in {"Cc", "Cf", "Cs"}]


@pytest.mark.parametrize("show", [visible, plain], ids=["text", "html"])
def test_no_steering_character_survives(show):
    joiners = {"\u200c", "\u200d"}
    left = {char for char in STEERING if char in show(f"a{char}b")} - joiners
    assert left <= ({"\n", "\t"} if show is plain else set())


def test_escapes_name_the_character():
    assert visible("a\x1b\x9bb\u202ec\U000e0001d\n") == r"a\x1b\x9bb\u202ec\U000e0001d\n"
    assert visible("क्\u200dष") == "क्\u200dष"


def test_long_names_keep_both_ends_and_their_length():
    text = "".join(chr(97 + i % 26) for i in range(200))
    short = shorten(text, 40)
    assert len(short) == 40
    head, tail = short.split("…")
    assert text.startswith(head)
    assert text.endswith(tail)


@pytest.mark.parametrize(
    ("value", "text"), [(0.00099, "< 0.001"), (0.001, "= 0.001"), (0.00104, "= 0.001"), (0.0321, "= 0.032")]
)
def test_p_values_below_a_thousandth_are_said_to_be_below(value, text):
    assert p_value(value) == text


def test_blank_name_is_named_so():
    assert shown_name(" \t") == NO_NAME
