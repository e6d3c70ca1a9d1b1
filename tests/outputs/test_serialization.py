"""Kept results are read as what they hold, or refused by the name of the entry and its place."""

import pytest

from stakes.outputs.serialization import JsonReader


@pytest.mark.parametrize("length", [57, 58, 59, 400])
def test_refusals_show_a_value_of_up_to_60_characters_whole(length):
    value = "x" * length  # and its two quotes
    with pytest.raises(ValueError, match="got 'x") as refused:
        JsonReader({"costs": [value]}, "thing").numbers("costs")
    shown = str(refused.value).partition("got ")[2].partition(" at place")[0]
    assert shown == (f"'{value}'" if length + 2 <= 60 else f"'{'x' * 56}...")


@pytest.mark.parametrize(
    "allowed", [{}, {"undefined": True}, {"infinite": True}, {"undefined": True, "infinite": True}]
)
def test_a_list_of_numbers_holds_numbers_and_what_is_allowed_beside_them(allowed):
    def read(*values):
        return JsonReader({"costs": list(values)}, "thing").numbers("costs", **allowed).tolist()

    assert read(1, 2.5) == [1.0, 2.5]
    for value in ("1.5", "abc", True, [2.0], None, "inf"):
        if value is None and "undefined" in allowed:
            assert str(read(1.0, None)) == "[1.0, nan]"
        elif value == "inf" and "infinite" in allowed:
            assert str(read(1.0, "inf")) == "[1.0, inf]"
        else:
            with pytest.raises(ValueError, match=r"costs must be a list of (finite )?numbers, got .* at place 1"):
                read(1.0, value)


def test_counts_are_added_up_to_what_64_bits_hold():
    counts = JsonReader({"rows": [2**62, 2**62 - 1]}, "thing").counts("rows", shape=(2,))
    assert int(counts.sum()) == 2**63 - 1
    with pytest.raises(ValueError, match=r"rows must be .* numbers whose sum is at most 2\^63 - 1"):
        JsonReader({"rows": [2**62, 2**62]}, "thing").counts("rows", shape=(2,))
