"""Numbers, shares, odds and lists as text, where one way of writing ends and the next begins."""

import math

import numpy as np
import pytest

from stakes.outputs import text

NAN, INF = math.nan, math.inf
WRITTEN = {
    text.number: {
        0.0: "0",
        1e-4: "0.000100",
        0.99e-4: "9.9e-05",
        -1e-4: "-0.000100",
        0.01234: "0.0123",
        999.4: "999",
        1000.0: "1,000",
        -1000.0: "-1,000",
        12345.6: "12,346",
        INF: "infinite",
        5.0: "5.00",
        999.7: "1,000",
        -999.7: "-1,000",
    },
    text.stated: {1234567.0: "1,234,567", 1000.0: "1,000", 2.5: "2.5", 0.025: "0.025", 1234567.8: "1,234,568"},
    text.level_name: {0.95: "95%", 0.975: "97.5%", 0.9996: "99.96%", 0.9545: "95.45%", 0.9999997: "99.99997%"},
    text.p_value: {0.0009999: "< 0.001", 0.001: "= 0.001", 1.0: "= 1", 0.05: "= 0.05"},
    text.percent: {
        0.9996: "99.96%",
        0.9994: "99.9%",
        0.99997: "99.997%",
        1.0 - 1e-15: "100%",
        0.0: "0%",
        1.0: "100%",
        0.12345: "12.3%",
        1e-8: "0.000001%",
        -0.5: "-50%",
        INF: "inf",
        NAN: "-",
    },
    text.threshold_name: {INF: "nothing", 0.25: "0.25", 1 / 3: "0.333333", 0.0: "0"},
    text.odds: {0.0: "0:1", 1.0: "1:0", 0.5: "1:1", 1 / 51: "1:50", 0.8: "4:1", 1e-3: "1:999", 0.6: "1.5:1"},
    text.times: {9.94: "9.9", 10.0: "10", 1.0: "1", 99.6: "100", 1234.0: "1,230", 0.5: "0.5", 123456.0: "123,000"},
    text.count: {0.0: "0", 1234.56: "1,234.6", 10732: "10,732", 2.04: "2"},
    text.capital: {"treating everyone": "Treating everyone", "forest": "forest", "treating no one": "Treating no one"},
    text.named: {"treat all": "treating everyone", "treat none": "treating no one", "forest": "forest"},
    text.shown_name: {"": text.NO_NAME, " ": text.NO_NAME, "a": "a", "a\n": r"a\n"},
}


@pytest.mark.parametrize(("write", "value"), [(write, value) for write, of in WRITTEN.items() for value in of])
def test_it_is_written_so(write, value):
    assert write(value) == WRITTEN[write][value]


@pytest.mark.parametrize(
    ("given", "options", "wanted"),
    [
        ((0.01234, 4), {}, "0.0123"),
        ((-0.01234, 4), {}, "-0.0123"),
        ((-0.01234, 1), {}, "0.0"),
        ((0.0, 2), {"sign": True}, "0.00"),
        ((1234.5, 1), {"sign": True}, "+1,234.5"),
        ((-2.0, 0), {"minus": text.MINUS}, f"{text.MINUS}2"),
        ((INF, 2), {}, "inf"),
        ((-INF, 2), {"sign": True}, "-inf"),
        ((INF, 2), {"sign": True}, "+inf"),
        ((NAN, 2), {}, "-"),
        ((NAN, 2), {"missing": "?"}, "?"),
    ],
)
def test_decimals_are_fixed(given, options, wanted):
    assert text.fixed(*given, **options) == wanted


@pytest.mark.parametrize(
    ("value", "digits", "wanted"),
    [
        (0.0123, 2, 3),
        (0.1, 2, 2),
        (1.0, 2, 1),
        (9.99, 2, 1),
        (10.0, 2, 0),
        (123.0, 2, 0),
        (-0.0123, 3, 4),
        (1e-30, 2, 12),
        (0.0, 2, 0),
        (INF, 2, 0),
        (NAN, 3, 0),
    ],
)
def test_decimals_show_so_many_digits(value, digits, wanted):
    assert text.decimals_needed(value, digits) == wanted
    if 0.0 < abs(value) < 1.0 and wanted < 12:  # as many digits as were asked for are written
        assert len(f"{abs(value):.{wanted}f}".lstrip("0.")) == digits


def test_decimals_are_those_of_the_smallest_error_or_else_of_the_smallest_value():
    assert text.decimals_for([0.0123, 0.5], [1e-9]) == 3
    assert text.decimals_for([0.0, NAN, INF], [0.00123, 7.0]) == 5
    assert text.decimals_for([], []) == 3
    assert text.decimals_for([-0.02], []) == 3


@pytest.mark.parametrize("count", range(1, 9))
def test_lists_name_five_at_most(count):
    names = [f"m{k}" for k in range(count)]
    found = text.listed(names)
    assert [name in found for name in names] == [k < 5 if count <= 5 else k < 4 for k in range(count)]
    if count > 5:
        assert found == f"{count}: m0, m1, m2, m3 and {count - 4} more"
    elif count > 1:
        assert found == f"{', '.join(names[:-1])} and {names[-1]}"
    assert text.join(names, "or") == (", ".join(names[:-1]) + " or " + names[-1] if count > 1 else "m0")


@pytest.mark.parametrize("length", [1, 2, 5, 20, 39, 40, 41, 100])
@pytest.mark.parametrize("longest", [5, 20, 40])
def test_long_text_is_cut_to_its_length_and_keeps_twice_as_much_of_its_beginning(length, longest):
    whole = "".join(chr(97 + k % 26) for k in range(length))
    found = text.shorten(whole, longest)
    assert len(found) == min(length, longest)
    if length <= longest:
        assert found == whole
    else:
        head, tail = found.split("…")
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert 0 <= 2 * len(tail) - len(head) <= 2
    sentence = f"{whole} costs least."
    shown = text.with_short_names(sentence, [whole])
    assert shown == (sentence if length <= 40 else f"{text.shorten(whole)} costs least.")


@pytest.mark.parametrize(
    ("word", "known", "wanted"),
    [
        ("errors", ["error", "warning"], "error"),
        ("brier", ["bounded_brier_loss", "shifted_brier_loss_score"], "bounded_brier_loss"),
        ("Log-Loss", ["log_loss", "loss"], "log_loss"),
        ("zzz", ["error"], None),
        ("", ["error"], None),
        ("_", ["a_b"], None),
    ],
)
def test_the_nearest_name_is_guessed(word, known, wanted):
    assert text.nearest(word, known) == wanted
    assert text.guess(word, known, mark="'") == ("" if wanted is None else f"; did you mean '{wanted}'?")


def test_a_foreign_name_comes_first_where_it_is_known():
    assert text.nearest("auc", ["auc_regret", "roc_auc_score"], {"auc": "ROC-AUC score"}) == "roc_auc_score"
    assert text.nearest("auc", ["auc_regret"], {"auc": "roc_auc_score"}) == "auc_regret"


def test_a_share_below_one_is_never_written_as_all_and_is_within_its_rounding():
    for exponent in np.linspace(1.0, 8.9, 200):
        share = 1.0 - 10.0**-exponent
        written = text.percent(share)
        assert written != "100%"
        decimals = len(written.strip("%").partition(".")[2])
        assert abs(float(written.strip("%")) / 100.0 - share) <= 0.5001 * 10.0 ** (-decimals - 2)


def test_zero_has_no_sign():
    assert text.number(-0.0) == "0"


def test_different_shares_are_written_differently():
    assert text.percents([0.1, 0.25, 0.1234]) == ["10%", "25%", "12.3%"]
    assert text.percents([0.1234, 0.12341]) == ["12.34%", "12.341%"]
    assert text.percents([0.5, 0.5]) == ["50%", "50%"]


def test_minus_zero_is_written_as_zero():
    assert [write(-0.0) for write in (text.percent, text.stated, text.count, text.threshold_name)] == ["0%", *"000"]
    assert [text.count(-0.04), text.count(-1.04), text.percents([-0.0, 0.1])] == ["0", "-1", ["0%", "10%"]]
