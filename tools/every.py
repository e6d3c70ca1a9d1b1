"""Run every part of a package of long scripts, one after the other, and go on where it stopped.

``python -m replications all`` and ``python -m benchmarks all`` are this. What a part printed is kept in a file of its
own, with what it was made by; a part whose file is there is not run again.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks._table import describe_run

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = {"numpy", "scipy", "scikit-learn", "polars", "torch"}
PARTIAL = ".part"  # of a file whose part has not ended


def parse(package, arguments, names):
    parser = argparse.ArgumentParser(prog=f"python -m {package} all", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: to see that everything runs, not to quote")
    parser.add_argument("--folder", type=Path, help="what is finished is kept and read there (results/PACKAGE)")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", default=names, help="these parts alone")
    options = parser.parse_args(arguments)
    options.folder = (options.folder or Path("results") / package).absolute() / ("quick" if options.quick else "whole")
    return options


def run_every(package, steps, folder, about):
    """Run the steps (a name and its arguments) that have no page yet; return the last words of those that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [name for name in steps if not page_of(folder, name).exists()]
    done = len(steps) - len(waiting)
    said(f"{done} of {len(steps)} are finished in {folder}; to do: {', '.join(waiting) or 'nothing'}")
    failed = {}
    for position, name in enumerate(waiting, start=1):
        said(f"{done + position} of {len(steps)}: {typed(package, steps[name])}")
        spent = processor_time()
        if trouble := run_step(package, steps[name], page_of(folder, name), about):
            failed[name] = trouble
        left = ", ".join(waiting[position:]) or "nothing"
        said(f"  {trouble or 'finished'}, {processor_time() - spent:.0f} CPU seconds; left: {left}")
    write_whole(folder, steps, failed)
    return failed


def run_step(package, arguments, page, about):
    """Run one part; return nothing, or the last line of what it said where it failed."""
    partial, log = page.with_suffix(PARTIAL), page.with_suffix(".log")
    spent = processor_time()
    with partial.open("w", encoding="utf-8") as out, log.open("w", encoding="utf-8") as errors:
        command = [sys.executable, "-m", package, *arguments]
        done = subprocess.run(command, cwd=ROOT, stdout=out, stderr=errors, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        lines = log.read_text(encoding="utf-8").strip().splitlines()
        return f"failed ({done.returncode}): {lines[-1] if lines else 'no word'}"
    facts = {"made": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), **about}
    facts["CPU seconds"] = f"{processor_time() - spent:.0f}"
    head = [f"## {page.stem}", f"`{typed(package, arguments)}`"]
    head.append("\n".join(f"- {key}: {value}" for key, value in facts.items()))
    text = partial.read_text(encoding="utf-8").strip()
    partial.write_text("\n\n".join([*head, text]) + "\n", encoding="utf-8")
    partial.replace(page)
    log.unlink()
    return None


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


def processor_time():
    """Return what the children took, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def said(text):
    print(text, file=sys.stderr, flush=True)


def main(package, arguments, whole, quick):
    """Run everything; ``whole`` and ``quick`` give the arguments of each part, {folder} being that of the results."""
    options = parse(package, arguments, list(whole))
    chosen = quick if options.quick else whole
    steps = {name: [text.format(folder=options.folder) for text in chosen[name]] for name in options.only}
    about = {key: value for key, value in describe_run(LIBRARIES).items() if key not in {"date", "data"}}
    about["load average"] = f"{os.getloadavg()[0]:.2f} at the start"
    failed = run_every(package, steps, options.folder, about)
    return 1 if failed else 0
