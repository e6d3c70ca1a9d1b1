"""Count the files that one must open to follow a call: ``python -m tools.files_to_open``.

Each job runs in a process of its own; counted are the files of the package of which the job calls a function. With
``--list`` the files are printed too. The exit status is 1 where a job calls into more files than its limit.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "stakes"

ROWS = """
import numpy as np
rng = np.random.default_rng(0)
y = (rng.random(400) < 0.3).astype(int)
a, b, c = (np.clip(0.3 + 0.4 * (y - 0.3) * k + 0.2 * rng.standard_normal(400), 0.01, 0.99) for k in (1.0, 0.8, 0.5))
"""
CSV = """
import csv
with open("scores.csv", "w", newline="") as file:
    csv.writer(file).writerows([("y", "a"), *zip(y, a)])
"""

# For each job: what is made ready, the job itself, and the most files that it may call into.
JOBS = {
    "bounded Brier loss": ("from stakes import bounded_brier_loss", "bounded_brier_loss(y, a, bounds=(0.1, 0.4))", 5),
    "interval of a difference": ("from stakes import compare", "compare(y, a, b, costs=(0.1, 0.4)).interval", 8),
    "decision curve with band to picture": (
        "from stakes.inference import confidence_band\nimport matplotlib.pyplot",
        "confidence_band(y, a, 'net_benefit').plot()",
        9,
    ),
    "stakes correct": (
        f"{CSV}\nfrom stakes.cli import main",
        "main(['correct', 'scores.csv', '--models', 'a', '--scale-pos-weight', '3', '-o', 'out.csv'])",
        9,
    ),
    "evaluate three models": (
        "from stakes import evaluate",
        "evaluate(y, {'a': a, 'b': b, 'c': c}, costs=(0.1, 0.4)).frame()",
        18,
    ),
    "evaluate to report": (
        "from stakes import evaluate",
        "evaluate(y, {'a': a, 'b': b, 'c': c}, costs=(0.1, 0.4)).to_html('report.html')",
        60,
    ),
}
TRACED = """
import os, sys
{ready}
opened, importing, package = set(), 0, {package!r}
def called(frame, event, _):
    global importing
    code = frame.f_code
    if code.co_name == "<module>":
        importing += (event == "call") - (event == "return")
    # what runs while a module is imported defines functions and classes: it is no part of the job
    elif event == "call" and not importing and code.co_filename.startswith(package):
        opened.add(os.path.relpath(code.co_filename, package))
sys.setprofile(called)
try:
    {job}
finally:
    sys.setprofile(None)
    with open({found!r}, "w") as file:
        file.write("\\n".join(sorted(opened)))
"""


def files_of(name: str, folder: Path) -> list[str]:
    """Files of the package, of which a job calls functions; what it writes goes into the folder."""
    ready, job, _ = JOBS[name]
    found = folder / "opened.txt"
    program = TRACED.format(ready=ROWS + ready, job=job, package=str(PACKAGE), found=str(found))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed: {done.stderr.strip()}")
    return found.read_text(encoding="utf-8").split("\n")


def main(arguments: list[str] | None = None) -> int:
    """Print one line for each job, and its files where they are asked for."""
    from tempfile import TemporaryDirectory

    parser = argparse.ArgumentParser(prog="python -m tools.files_to_open", description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the files too")
    asked, above = parser.parse_args(arguments), 0
    for name, (_, _, most) in JOBS.items():
        with TemporaryDirectory() as folder:
            opened = files_of(name, Path(folder))
        above += len(opened) > most
        print(f"{name:38} {len(opened):3} files, at most {most}")
        if asked.list:
            print(*(f"    {path}" for path in opened), sep="\n")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
