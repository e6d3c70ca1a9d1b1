"""Nothing from outside may hide, move or reorder the text around it."""

import sys
import unicodedata

import numpy as np
import pytest

from stakes.outputs.result_table import plain
from stakes.outputs.text import LONGEST_NAME, NO_NAME, class_weights, p_value, short_names, shorten, shown_name, visible

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


@pytest.mark.parametrize("seed", range(20))
def test_names_are_shortened_so_that_no_two_are_alike(seed):
    rng = np.random.default_rng(seed)
    parts = [
        "gradient_boosting",
        "_depth=4",
        "_depth=6",
        "_rate=0.05",
        "_rate=0.10",
        "_l2=0.1",
        "_calibrated",
        "\u202e",
    ]
    names = list({"".join(rng.choice(parts, size=int(rng.integers(0, 12)))) for _ in range(60)})
    shown = short_names(names)
    assert list(shown) == names
    assert len({*shown.values()}) == len(names)
    assert all(len(text) <= LONGEST_NAME + len(" (60)") for text in shown.values())
    assert shown == {name: short_names(reversed(names))[name] for name in names}
    assert all(shown[name] == shown_name(name) for name in names if short_names([name])[name] == name)
    assert [*short_names(names[:1]).values()] == [shown_name(names[0])]


def test_names_that_differ_in_the_middle_show_where():
    name = "hist_gradient_boosting_depth={}_rate={}_l2=0.1_calibrated_fold1"
    given = [(4, "0.05"), (4, "0.10"), (6, "0.05")]
    shown = short_names(name.format(*each) for each in given)
    assert all(f"depth={depth}_rate={rate}" in text for (depth, rate), text in zip(given, shown.values(), strict=True))
    assert [*short_names(["", " ", "a"]).values()] == [NO_NAME, f"{NO_NAME} (2)", "a"]


def test_a_class_that_weighs_alone_has_no_ratio():
    name, written = class_weights(0.75, 1.0)
    assert (name, written[0]) == ("scale_pos_weight", "3.00")
    assert "inf" in written[1]
