"""Run every part of a package of long scripts, one after the other, and go on where it stopped.

``python -m replications all`` and ``python -m benchmarks all`` are this. What a part printed is kept in a file of its
own, with what it was made by; a part whose file is there is not run again. ``--jobs 2`` runs two parts side by side:
their processor time hardly changes, their time on the clock does.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import stakes

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = {"numpy", "scipy", "scikit-learn", "polars", "torch"}
PARTIAL = ".part"  # of a file whose part has not ended
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


def parse(package, arguments, names):
    parser = argparse.ArgumentParser(prog=f"python -m {package} all", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: to see that everything runs, not to quote")
    parser.add_argument("--folder", type=Path, help="what is finished is kept and read there (results/PACKAGE)")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", default=names, help="these parts alone")
    parser.add_argument("--jobs", type=int, default=1, help="parts side by side, with their share of threads (1)")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs must be at least 1, got {options.jobs}")
    options.folder = (options.folder or Path("results") / package).absolute() / ("quick" if options.quick else "whole")
    return options


def run_every(package, steps, folder, about, *, first=(), jobs=1):
    """Run the steps (a name and its arguments) that have no page yet; return the last words of those that failed.

    Those in ``first`` begin before the others, in its order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [name for name in dict.fromkeys([*first, *steps]) if name in steps and not page_of(folder, name).exists()]
    done = len(steps) - len(waiting)
    said(f"{done} of {len(steps)} are finished in {folder}; to do: {', '.join(waiting) or 'nothing'}")
    failed, left = {}, list(waiting)

    def run(name, position):
        said(f"{done + position} of {len(steps)}: {typed(package, steps[name])}")
        trouble, spent = run_step(package, steps[name], page_of(folder, name), about, jobs)
        if trouble:
            failed[name] = trouble
        left.remove(name)
        said(f"  {name} {trouble or 'finished'}, {spent:.0f} CPU seconds; left: {', '.join(left) or 'nothing'}")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run, waiting, range(1, len(waiting) + 1)))
    write_whole(folder, steps, failed)
    return failed


def run_step(package, arguments, page, about, jobs):
    """Run one part; return nothing, or the last line of what it said where it failed, and its processor seconds."""
    partial, log = page.with_suffix(PARTIAL), page.with_suffix(".log")
    with partial.open("w", encoding="utf-8") as out, log.open("w", encoding="utf-8") as errors:
        command = [sys.executable, "-m", package, *arguments]
        started = subprocess.Popen(
            command, cwd=ROOT, env=share_of(jobs), stdout=out, stderr=errors, stdin=subprocess.DEVNULL
        )
        _, status, used = os.wait4(started.pid, 0)
    started.returncode, spent = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    if started.returncode:
        lines = log.read_text(encoding="utf-8").strip().splitlines()
        return f"failed ({started.returncode}): {lines[-1] if lines else 'no word'}", spent
    facts = {"made": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), **about, "CPU seconds": f"{spent:.0f}"}
    head = [f"## {page.stem}", f"`{typed(package, arguments)}`"]
    head.append("\n".join(f"- {key}: {value}" for key, value in facts.items()))
    text = partial.read_text(encoding="utf-8").strip()
    partial.write_text("\n\n".join([*head, text]) + "\n", encoding="utf-8")
    partial.replace(page)
    log.unlink()
    return None, spent


def share_of(jobs):
    """Return the environment of one of so many jobs: where nothing else is set, as many threads as are its share."""
    if jobs == 1:
        return None
    return dict.fromkeys(THREADS, str(max(1, (os.cpu_count() or 1) // jobs))) | os.environ


def write_whole(folder, steps, failed):
    """Put the pages after each other into one, with what is missing at its head."""
    there = [name for name in steps if page_of(folder, name).exists()]
    lines = [f"{len(there)} of {len(steps)} parts are finished."]
    lines += [f"- {name}: {failed.get(name, 'not run yet')}" for name in steps if name not in there]
    pages = [page_of(folder, name).read_text(encoding="utf-8").strip() for name in there]
    (folder / "all.md").write_text("\n\n".join(["\n".join(lines), *pages]) + "\n", encoding="utf-8")
    said(f"{lines[0]} The tables: {folder / 'all.md'}")


def typed(package, arguments):
    return f"python -m {package} {' '.join(arguments)}"


def page_of(folder, name):
    return folder / f"{name}.md"


def said(text):
    print(text, file=sys.stderr, flush=True)


def describe_run(libraries):
    """Return what a reader needs to judge the numbers: date, machine, versions."""
    versions = {name: version_of(name) for name in sorted(set(libraries))}
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": f"{_cpu_model()}, {os.cpu_count()} CPUs",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items() if version),
        "stakes": _commit() if Path(stakes.__file__).is_relative_to(ROOT) else "an installed copy",
    }


def _commit():
    """Name the commit that is measured, or say that what is measured is none."""
    command = ["git", "-C", str(ROOT), "status", "--porcelain", "--branch", "--untracked-files=no"]
    head = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    asked = [subprocess.run(one, capture_output=True, text=True, check=False) for one in (command, head)]
    if any(one.returncode for one in asked) or len(asked[0].stdout.splitlines()) > 1:
        return "working tree"
    return f"commit {asked[1].stdout.strip()}"


def _cpu_model():
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    models = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def version_of(library):
    """Return the version of an installed distribution, or None."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def main(package, arguments, whole, quick, first=()):
    """Run everything; ``whole`` and ``quick`` give the arguments of each part, {folder} being that of the results."""
    options = parse(package, arguments, list(whole))
    chosen = quick if options.quick else whole
    steps = {name: [text.format(folder=options.folder) for text in chosen[name]] for name in options.only}
    about = {key: value for key, value in describe_run(LIBRARIES).items() if key != "date"}
    about["load average"] = f"{os.getloadavg()[0]:.2f} at the start"
    failed = run_every(package, steps, options.folder, about, first=first, jobs=options.jobs)
    return 1 if failed else 0
