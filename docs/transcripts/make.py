"""Run every command on the pages that show commands and write what they print: `python docs/transcripts/make.py`.

Each console block of `docs/cli.md` and `docs/start.md` is typed, command by command, into a terminal of 80 columns, in
a folder of its own that holds the files beside this script, the shipped example as `predictions.csv`, and simulated
loans with a score, its uncertainty and their outcome: `loans.csv`, and `may.csv` and `june.csv`, in which more of them
are repaid; followed patients, `patients.csv`; and orders with their amounts, `orders.csv`. Lines that begin with `$ `
are commands and those with `> ` their continuations; everything else in the block is what the terminal showed.

A command that needs no shell runs in a child of this process, which has loaded the program already. With `--blocks`,
blocks are read from standard input as JSON, one a line, and answered likewise.
"""

import json
import os
import pkgutil
import pty
import re
import shlex
import shutil
import sys
import tempfile
import traceback
from importlib import import_module, resources
from pathlib import Path

import numpy as np

import stakes.cli

HERE = Path(__file__).parent
PAGES = [HERE.parent / "cli.md", HERE.parent / "start.md"]
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
NEEDS_A_SHELL = re.compile(r"[|<>;&$*?~`#]|^(?!stakes )")
EXIT_CODE = "$ echo $?"  # asked for where it is not 0
ROWS_AND_COLUMNS = (50, 80)
# A terminal without colours and without a cursor that moves: what is left is text.
TERMINAL = {"TERM": "dumb", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
LOANS = {"loans.csv": (6_000, 1.0, 4), "may.csv": (1_000, 1.0, 11), "june.csv": (1_000, 0.75, 12)}
DROPPED = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "STAKES_CONFIG")


def blocks(text):
    """Return the console blocks of a page."""
    return BLOCK.findall(text)


def commands(block):
    """Yield the commands of a block as the lines that were typed."""
    typed = []
    for line in block.splitlines():
        if line.startswith("$ ") and line != EXIT_CODE:
            typed.append([line])
        elif line.startswith("> ") and typed and typed[-1][-1].endswith("\\"):
            typed[-1].append(line)
    return typed


def replay(block):
    """Type the commands of a block again and return it with what they print now."""
    with tempfile.TemporaryDirectory() as scratch:
        work = prepare(Path(scratch).resolve())
        spoken_of = {word for typed in commands(block) for line in typed for word in line.split()}
        for name in spoken_of & set(LOANS):
            write_loans(work / name, *LOANS[name])
        for name in spoken_of & set(OTHERS):
            OTHERS[name](work / name)
        lines = []
        for typed in commands(block):
            text = "\n".join(line[2:] for line in typed)
            lines += [*typed, *shown(text, work)]
    return "\n".join(lines) + "\n"


def prepare(scratch):
    """Make a folder with the files of the examples, and a command `stakes` beside it."""
    work, programs = scratch / "trial", scratch / "bin"
    work.mkdir()
    programs.mkdir()
    for path in HERE.iterdir():
        if path.suffix in {".csv", ".toml"}:
            shutil.copy(path, work)
    with resources.as_file(resources.files("stakes") / "data" / "german_credit.csv") as example:
        shutil.copy(example, work / "predictions.csv")
    program = programs / "stakes"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m stakes "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return work


def write_loans(path, rows, share, seed):
    """Simulate loans whose score was learned from few or many earlier ones; `share` of the defaults come true."""
    rng = np.random.default_rng(seed)
    earlier = np.exp(rng.uniform(0.0, np.log(300.0), rows)).astype(int)
    risk = rng.beta(0.5, 1.0, rows)
    score = (rng.binomial(earlier, risk) + 0.1) / (earlier + 0.2)
    lines = zip(rng.random(rows) < share * risk, score, 1.0 / np.sqrt(earlier), rng.integers(0, 24, rows), strict=True)
    text = "".join(f"{d:d},{s:.4f},{u:.4f},{hour}\n" for d, s, u, hour in lines)
    path.write_text("defaulted,score,spread,hour\n" + text, encoding="utf-8")


def write_patients(path):
    """Simulate patients of whom many are lost before two years, and two models of their risk of a relapse by then."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=800)
    relapse, lost = rng.exponential(6.0 * np.exp(-x)), rng.exponential(4.0, 800)
    new, old = (-np.expm1(-np.exp(x + noise) / 3.0) for noise in (0.0, 0.7 * rng.normal(size=800)))
    lines = zip(np.minimum(relapse, lost), relapse <= lost, new, old, strict=True)
    text = "".join(f"{t:.3f},{e:d},{a:.4f},{b:.4f}\n" for t, e, a, b in lines)
    path.write_text("years,relapse,new,old\n" + text, encoding="utf-8")


def write_orders(path):
    """Simulate orders, some of them fraud, and what each is worth."""
    rng = np.random.default_rng(8)
    risk, amount = rng.beta(1.0, 9.0, 2_000), rng.lognormal(4.0, 0.7, 2_000)
    lines = zip(rng.random(2_000) < risk, risk, amount, strict=True)
    path.write_text("fraud,risk,amount\n" + "".join(f"{f:d},{p:.4f},{a:.2f}\n" for f, p, a in lines), encoding="utf-8")


OTHERS = {"patients.csv": write_patients, "orders.csv": write_orders}


def shown(command, work):
    """Return the lines that a command prints on a terminal, and its exit code where that is not 0."""
    status, screen = on_terminal(command, work)
    text = screen.decode().replace("\r\n", "\n").replace(str(work), "~/trial")
    code = os.waitstatus_to_exitcode(status)
    return [*(line.rstrip() for line in text.splitlines()), *([EXIT_CODE, str(code)] if code else [])]


def on_terminal(command, work):
    """Run a command of the shell on a terminal of its own; return its status and all that was written there."""
    environment = {key: value for key, value in os.environ.items() if key not in DROPPED} | TERMINAL
    environment["PATH"] = f"{work.parent / 'bin'}{os.pathsep}{environment['PATH']}"
    child, terminal = pty.fork()
    if child == 0:
        set_size(0)
        os.chdir(work)
        if not NEEDS_A_SHELL.search(command):
            become(shlex.split(command.replace("\\\n", " ")), environment)
        os.execve("/bin/sh", ["/bin/sh", "-c", command], environment)  # noqa: S606  (commands of our own page)
    screen = b""
    try:
        while piece := os.read(terminal, 65_536):
            screen += piece
    except OSError:  # how Linux says that the other side of a terminal has been closed
        pass
    os.close(terminal)
    return os.waitpid(child, 0)[1], screen


def load():
    """Import what the commands use, so that their processes need not; not polars, whose threads no child inherits."""
    for module in pkgutil.iter_modules(stakes.cli.__path__, "stakes.cli."):
        import_module(module.name)
    for name in ("stakes.boundary", "stakes.metrics._losses", "stakes.evaluation", "stakes.inference", "scipy.stats"):
        import_module(name)
    if "polars" in sys.modules:
        raise RuntimeError("a part of the program imports polars before it reads a file.")


def become(argv, environment):
    """Go on as the program `stakes`, in a process that was parted from one that has loaded it."""
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  (the process ends with them)
    sys.stdout, sys.stderr = (open(n, "w", buffering=1, encoding="utf-8", closefd=False) for n in (1, 2))  # noqa: SIM115
    sys.argv, code = argv, 1
    try:
        code = stakes.cli.main(argv[1:])
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001  (nothing of the parent may go on in this process)
        traceback.print_exc()
    finally:
        os._exit(code)


def set_size(terminal):
    """Give a terminal its rows and columns."""
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *ROWS_AND_COLUMNS, 0, 0))


def answer():
    """Replay the blocks that come in on standard input."""
    for line in sys.stdin:
        print(json.dumps(replay(json.loads(line))), flush=True)


if __name__ == "__main__":
    load()
    if sys.argv[1:] == ["--blocks"]:
        answer()
        sys.exit()
    for page in PAGES:
        page.write_text(BLOCK.sub(lambda found: replay(found[0]), page.read_text(encoding="utf-8")), encoding="utf-8")
