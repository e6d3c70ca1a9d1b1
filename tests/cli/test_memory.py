"""The program's own process keeps memory that is freed for the next arrays."""

import platform
import subprocess
import sys

import pytest

from stakes import cli

FAULTS = """
import resource, sys
import numpy as np
if sys.argv[1] == "kept":
    from stakes.cli._memory import keep_freed
    keep_freed()
def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        held = [np.ones(10**6) for _ in range(6)]
        del held
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults(1)
print(faults(20))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such option")
def test_freed_arrays_make_room_for_the_next_ones_without_the_system():
    def faults(how):
        run = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
        return int(run.stdout)

    assert faults("kept") < 100
    assert faults("default") > 2000


def test_a_call_within_another_program_leaves_its_memory_alone(monkeypatch, capsys):
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    monkeypatch.setattr(cli, "keep_freed", lambda: pytest.fail("the process is not the program's own"))
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("stakes ")
