"""What commands print stays as it is: the code and the numbers are those of the table kept, with every option."""

import json
import math

import numpy as np
import pytest

if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    pytest.skip("older libraries write some numbers otherwise.", allow_module_level=True)
for library in ("click", "rich", "polars"):
    pytest.importorskip(library)

from tests.cli import kept_commands  # noqa: E402

KEPT = json.loads(kept_commands.KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", kept_commands.commands())
def test_a_command_prints_the_numbers_of_the_table(command, folder):
    kept_commands.write_rows(folder)
    code, *found = kept_commands.run(command)
    assert code == KEPT[command][0]
    for (count, *sums, _), (count_before, *sums_before, _) in zip(found, KEPT[command][1:], strict=True):
        assert count == count_before
        for value, before in zip(sums, sums_before, strict=True):
            assert math.isclose(value, before, abs_tol=3e-7 * sums_before[1])


def test_the_table_names_every_command_and_nearly_all_of_them_are_done():
    assert list(KEPT) == kept_commands.commands()
    assert [command for command, (code, *_) in KEPT.items() if code not in {0, 4}] == []
