"""The numbers of report pages stay as they are: those of each part, drawings too, are those of the table kept."""

import json
import math

import numpy as np
import pytest

from tests.report import kept_pages

if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    pytest.skip("older libraries write some numbers otherwise.", allow_module_level=True)

KEPT = json.loads(kept_pages.KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", kept_pages.PAGES)
def test_the_numbers_of_a_page_are_those_of_the_table(name):
    found = kept_pages.numbers_of(kept_pages.PAGES[name]())
    assert list(found) == list(KEPT[name])
    for part, (count, *sums, _) in KEPT[name].items():
        assert found[part][0] == count, part
        for value, before in zip(found[part][1:-1], sums, strict=True):
            assert math.isclose(value, before, abs_tol=3e-7 * sums[1]), part


def test_the_table_names_every_page_and_no_other():
    assert list(KEPT) == list(kept_pages.PAGES)
