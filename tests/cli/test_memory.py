"""The program's own process keeps freed memory for the next arrays, and needs one thread of BLAS."""

import os
import platform
import subprocess
import sys

import pytest

from stakes import cli

FAULTS = """
import resource, sys
import numpy as np
if sys.argv[1] == "kept":
    from stakes.cli.memory import keep_freed
    keep_freed()
def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        held = [np.ones(int(sys.argv[2])) for _ in range(6)]
        del held
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults(1)
print(faults(20_000_000 // int(sys.argv[2])))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such option")
@pytest.mark.parametrize("length", [10**6, 6 * 10**6])  # 8 and 48 MB
def test_freed_arrays_make_room_for_the_next_ones_without_the_system(length):
    def faults(how):
        command = [sys.executable, "-c", FAULTS, how, str(length)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert faults("kept") < 100
    assert faults("default") > 2000


def test_a_call_within_another_program_leaves_its_memory_alone(monkeypatch, capsys):
    pytest.importorskip("click")
    pytest.importorskip("rich")
    for name in ("keep_freed", "one_blas_thread", "skip_last_collection"):
        monkeypatch.setattr(cli, name, lambda: pytest.fail("the process is not the program's own"))
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("stakes ")


def test_the_program_ends_without_a_last_garbage_collection(tmp_path):
    pytest.importorskip("click")
    code = """
import atexit, gc, sys
from stakes.cli import main
atexit.register(lambda: print(gc.get_freeze_count() > 0.9 * len(gc.get_objects()) + 1000))
sys.exit(main())
"""
    (tmp_path / "program.py").write_text(code, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, tmp_path / "program.py", "--version"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout.splitlines()[-1], run.stderr) == (0, "True", "")


@pytest.mark.parametrize(
    ("given", "threads"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2), ({"OMP_NUM_THREADS": "2"}, 2)]
)
def test_the_program_uses_one_thread_of_blas_unless_the_user_says_otherwise(given, threads):
    pytest.importorskip("click")
    code = """
import atexit, sys
def tell():
    import numpy, threadpoolctl
    print({pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"})
atexit.register(tell)
from stakes.cli import main
sys.exit(main())
"""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if processors < threads:
        pytest.skip("OpenBLAS starts no more threads than there are processors")
    env = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")} | given
    run = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True, env=env)
    if run.stdout.splitlines()[-1] == "set()":
        pytest.skip("numpy works with another library here")
    assert run.stdout.splitlines()[-1] == f"{{{threads}}}"


LIMITED = pytest.mark.skipif(sys.platform != "linux", reason="needs limits of the address space.")
JUDGED = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3"]


def run_limited(mebibytes, *argv):
    """Run the program with an address space of so many MiB; one that does not end in time fails."""
    import resource

    limit = mebibytes << 20
    return subprocess.run(
        [sys.executable, "-m", "stakes", *map(str, argv)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


@LIMITED
@pytest.mark.parametrize("mebibytes", [800, 1000])
def test_limited_address_space_gives_the_same_answer(mebibytes, data, cli):
    pytest.importorskip("polars")
    run = run_limited(mebibytes, "evaluate", data, *JUDGED, "--json")
    assert run.returncode == 0, run.stderr
    assert run.stdout == cli("evaluate", data, *JUDGED, "--json").out


@LIMITED
@pytest.mark.parametrize(("command", "mebibytes"), [("evaluate", 200), ("check", 400), ("demo", 600), ("check", 639)])
def test_too_small_an_address_space_is_one_message(command, mebibytes, data):
    pytest.importorskip("rich")
    run = run_limited(mebibytes, command, *([] if command == "demo" else [data, *JUDGED]))
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        f"error: the address space is limited to {mebibytes} MiB (ulimit -v), and the libraries that read and judge a "
        "file reserve up to 640 MiB: raise the limit, or limit the memory in use instead\n"
    )


@LIMITED
def test_help_and_mistakes_in_usage_need_no_such_space(data):
    pytest.importorskip("rich")
    assert run_limited(300, "evaluate", "--help").returncode == 0
    assert run_limited(300, "evaluate", data, "--lable", "cancer").returncode == 2


FATE = """
import os, signal, sys
from stakes.cli.memory import supervised
def work():
    how = sys.argv[1]
    if how == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("there", flush=True)
        signal.pause()
        signal.pause()
    return int(how) if how.isdigit() else os.kill(os.getpid(), getattr(signal, how))
sys.exit(supervised(work))
"""


@LIMITED
@pytest.mark.parametrize(
    ("how", "code"), [("0", 0), ("3", 3), ("SIGABRT", 1), ("SIGSEGV", 1), ("SIGTERM", 143), ("SIGKILL", 137)]
)
def test_how_the_work_ends_is_how_the_program_ends(how, code):
    run = subprocess.run([sys.executable, "-c", FATE, how], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == code
    assert ("error: there is not enough memory for these data" in run.stderr) == (how in {"SIGABRT", "SIGSEGV"})


def test_a_library_that_does_not_fit_into_a_limit_is_not_called_absent(monkeypatch):
    console = pytest.importorskip("stakes.cli.console", exc_type=ImportError)
    monkeypatch.setattr(console, "limit_in_words", lambda: "an address space of 1 GB")
    full = "libfit.so: failed to map segment from shared object"
    assert console.explain(ImportError(full)).message == f"{full}: an address space of 1 GB"
    assert console.explain(ImportError("needs polars")).message == "needs polars"


@LIMITED
def test_work_that_does_not_heed_the_end_is_ended():
    with subprocess.Popen([sys.executable, "-c", FATE, "hang"], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "there\n"
        run.terminate()
        assert run.wait(timeout=30) == 143
