"""Small changes to the code, each of which a test must notice: ``python -m tests.mutants --sample 300 --seed 4``.

A change swaps a comparison, an operator, `and` with `or`, a sign or a truth value, or moves a number. Texts of errors,
annotations and `strict=` are left alone. The tests of the room run once, watched, to see which of them reach which
line; then each change is put into the running functions of a fork, where the tests that reach its line run, the
quickest first, until one fails. A change of what runs as modules are imported is tried in a process that has it from
its start, on the tests that reach its file. The same sample and seed give the same changes. `mutants_alike.txt` lists
the changes that mean the same, and why.

The sample is uniform over all changes of all files; ``--module costs`` draws from the files of one list instead. What
became of each change is kept in the folder ``--kept``: an interrupted run goes on where it stopped, and ``--again``
tries those once more that no test noticed. ``--jobs 2`` tries two parts of the library at a time.
"""

import argparse
import contextlib
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from mutated import SOURCE, Mutant, count, mutants, put_in_place, start_with  # noqa: E402

# the files of a room, and the tests that are asked
ROOMS = {
    "costs": (["costs/*.py"], ["tests/costs", "tests/actions/test_deferral.py"]),
    "score_table": (
        ["core/score_table.py", "base/numerics.py"],
        ["tests/core", "tests/test_decomposition.py", "tests/inference/test_calibration.py", "tests/correction"],
    ),
    "regret": (
        ["core/regret.py"],
        ["tests/core/test_regret.py", "tests/metrics/test_reference.py", "tests/metrics/test_common.py"],
    ),
    "decomposition": (["metrics/_skill.py"], ["tests/test_decomposition.py", "tests/test_invariants.py"]),
    "correction": (
        ["correction/_weights.py", "correction/_implied_weight.py"],
        ["tests/correction"],
    ),
    "utility": (
        ["utility/_exponential.py", "utility/_summation.py", "utility/_fourier.py"],
        [
            *(
                f"tests/utility/test_{name}.py"
                for name in ("brute_force", "blocks", "exponential_nodes", "certificate")
            ),
            *(f"tests/utility/test_{name}.py" for name in ("theory", "batch_effect", "reference", "result")),
        ],
    ),
    "boundary": (
        ["boundary/_solvers.py", "boundary/_rules.py"],
        [
            "tests/boundary/test_choice.py",
            "tests/boundary/test_exact.py",
            "tests/boundary/test_fit.py",
            "tests/boundary/test_rows.py",
            "tests/tables/test_rules_in_engines.py",
        ],
    ),
    "inference": (
        ["variance/decisions.py", "variance/sums.py", "variance/influence.py"],
        [
            *(f"tests/inference/test_{name}.py" for name in ("exact_moments", "student", "one_pass", "intervals")),
            *(f"tests/inference/test_{name}.py" for name in ("many_models", "metric_interval", "pair_sums")),
            "tests/inference/test_selection_rows.py",
            *(f"tests/evaluation/test_{name}.py" for name in ("groups", "dependence", "tables", "true_answers")),
        ],
    ),
    "outcomes": (
        ["outcomes/_time_to_event.py", "outcomes/_row_costs.py"],
        [f"tests/outcomes/test_{name}.py" for name in ("time_to_event", "row_costs", "common", "amounts", "imputed")],
    ),
    "actions": (
        ["actions/_deferral.py", "actions/_many_actions.py"],
        [
            f"tests/actions/test_{name}.py"
            for name in ("deferral", "evaluate_actions", "classifier", "evaluate_deferral")
        ],
    ),
    "files": (
        ["tables/_text_files.py", "tables/_columns.py", "outputs/files.py"],
        [
            *(
                f"tests/tables/test_{name}.py"
                for name in ("content_and_text", "copy", "read_in_parts", "read_predictions", "scored")
            ),
            *("tests/outputs/test_files.py", "tests/cli/test_bad_input.py"),
        ],
    ),
}
# of a sample over all files: the tests beside those of the folder of the same name
METHODS = ["tests/test_mistakes.py", "tests/test_invariants.py", "tests/test_other_things.py"]
BESIDE = {
    "core": [
        *(*METHODS, "tests/test_decomposition.py", "tests/metrics", "tests/correction"),
        "tests/inference/test_calibration.py",
    ],
    "costs": [*METHODS, "tests/actions/test_deferral.py"],
    "base": [
        *(*METHODS, "tests/core", "tests/metrics", "tests/correction", "tests/tables/test_rules_in_engines.py"),
        *("tests/inference/test_calibration.py", "tests/utility/test_estimators.py"),
    ],
    "metrics": [*METHODS, "tests/test_decomposition.py"],
    "variance": [
        *(*METHODS, "tests/inference"),
        *(f"tests/evaluation/test_{name}.py" for name in ("groups", "dependence", "tables", "true_answers")),
    ],
    "boundary": [*METHODS, "tests/tables/test_rules_in_engines.py", "tests/cli/test_boundary_apply.py"],
    "actions": [*METHODS, "tests/cli/test_many_actions.py"],
    "display": [*METHODS, "tests/test_example.py"],
    "report": ["tests/test_example.py", "tests/cli/test_files.py"],
    "tables": ["tests/evaluation/test_tables.py", "tests/cli/test_bad_input.py"],
    "outputs": ["tests/evaluation/test_evaluate.py", "tests/cli/test_bad_input.py"],
}
OPTIONS = ["-n", "0", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
LATE = 5.0  # times what the tests take: whoever works so long works for ever
STUCK = 20.0  # times the time allowed on the processor: whoever waits so long waits for ever


class Lines:
    """Which lines of some files run, while it watches."""

    def __init__(self, paths):
        self.names, self.reached = {str(path) for path in paths}, set()

    def __enter__(self):
        self._set(lambda frame, _event, _value: self._local if frame.f_code.co_filename in self.names else None)
        return self

    def __exit__(self, *_):
        self._set(None)

    def _set(self, watch):
        threading.settrace(watch)
        sys.settrace(watch)

    def _local(self, frame, event, _value):
        if event == "line":
            self.reached.add((frame.f_code.co_filename, frame.f_lineno))
        return self._local


class Tests:
    """A plugin of pytest that holds the tests as collected, and runs them in forks."""

    def __init__(self, then):
        self.then, self.items, self.failed = then, [], False

    def pytest_runtest_logreport(self, report):
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session):
        self.items = session.items
        self.then(self)
        return True

    def run(self, chosen):
        """Run some tests until the first fails; say whether one did."""
        items = [*(self.items[k] for k in chosen), None]
        for item, following in pairwise(items):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return True
        return False

    def watched(self, paths):
        """Run every test; return the seconds that each takes on the processor and the lines it reaches, and modules."""
        found = []
        for item, following in pairwise([*self.items, None]):
            start = time.process_time()
            with Lines(paths) as lines:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return f"{item.nodeid} fails as the code stands"
            found.append((time.process_time() - start, sorted(lines.reached)))
        return found, list(sys.modules)


def in_fork(work, seconds):
    """Return what the work returns in its own process, a text where it fails or only waits; None where it is late."""
    import resource

    with tempfile.TemporaryFile("w+") as answer:
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (round(seconds) + 1, round(seconds) + 2))
            try:
                found = work()
            except BaseException as error:  # noqa: BLE001  (the other process ends with it)
                found = repr(error)
            json.dump(found, answer)
            answer.flush()
            os._exit(0)
        end = time.monotonic() + STUCK * seconds
        while not os.waitpid(child, os.WNOHANG)[0]:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return "waits for what does not come"
            time.sleep(0.02)
        answer.seek(0)
        text = answer.read()
    return json.loads(text) if text else None


class Room:
    """The changes of a room, and the tests that reach them."""

    def __init__(self, name, asked, chosen=None):
        self.name, self.asked, self.left, self.seconds, self.finished = name, asked, [], [], False
        self.keep = lambda _mutant, _word: None
        if chosen is None:
            self.patterns, self.asked_tests = ROOMS[name]
            paths = [path for pattern in self.patterns for path in SOURCE.glob(pattern) if path.name != "__init__.py"]
            every = [mutant for path in sorted(paths) for mutant in mutants(path)]
            if asked.at:
                every = [each for each in every if each.at in asked.at]
        else:
            self.asked_tests, every = asked_of(name), chosen
            paths = {mutant.path for mutant in chosen}
        self.paths = sorted(paths)
        self.collecting = Lines(self.paths)
        self.every = [each for each in every if not each.alike]
        size = len(self.every) if asked.sample is None or chosen else min(asked.sample, len(self.every))
        self.tried = self.every if chosen else random.Random(asked.seed).sample(self.every, size)  # noqa: S311
        self.alike = len(every) - len(self.every)

    def examine(self, tests):
        """Try every change of the sample."""
        self.collecting.__exit__()
        answer = in_fork(lambda: tests.watched(self.paths), 100.0 * self.asked.seconds)
        if not isinstance(answer, list):
            sys.exit(f"{self.name}: {answer}")
        watched, modules = answer
        for module in modules:  # once, for all forks
            with contextlib.suppress(Exception):
                importlib.import_module(module)
        self.seconds = seconds = [took for took, _ in watched]
        reached = [{tuple(line) for line in lines} for _, lines in watched]
        total = sum(seconds)
        sys.stdout.write(f"{self.name}: {len(seconds)} tests take {total:.0f} s\n")
        for mutant in sorted(self.tried, key=lambda each: (each.path, each.index)):
            quick = sorted(range(len(seconds)), key=seconds.__getitem__)
            of_line = [k for k in quick if not mutant.lines.isdisjoint(reached[k])]
            # of numbers and defaults, tests may look at nothing else
            of_file = [k for k in quick if not reached[k] or any(path == str(mutant.path) for path, _ in reached[k])]
            word = self._try(tests, mutant, self._some(of_line, seconds), self._some(of_file or quick, seconds))
            self.keep(mutant, word)
            if word:
                self.left.append(mutant)
                sys.stdout.write(f"{word} {mutant} ({len(of_line)} tests reach it)\n")
            sys.stdout.flush()
        self.finished = True

    def _some(self, chosen, seconds):
        """The quickest tests that fit into the time."""
        spent, some = 0.0, []
        for k in chosen:
            spent += seconds[k]
            if spent > self.asked.seconds:
                break
            some.append(k)
        return some

    def _try(self, tests, mutant, of_line, of_file):
        """What to call a change that no test notices; empty where one does."""

        def changed():
            return put_in_place(mutant) and [tests.run(of_line)]

        noticed = in_fork(changed, LATE * sum(self.seconds[k] for k in of_line) + 10.0)
        if noticed is False or (noticed == [False] and not mutant.lines.isdisjoint(self.collecting.reached)):
            # pytest imports a file of examples itself, past the change
            names = [name for name in (tests.items[k].nodeid for k in of_file) if name.startswith("tests/")]
            noticed = in_fork(lambda: _from_the_start(mutant, names), 60.0)
        if isinstance(noticed, str):
            sys.exit(f"{mutant}: {noticed}")
        return "survived" if noticed in (False, [False]) else ""


def _from_the_start(mutant, names):
    """Say whether the tests notice a change in a process that has it from its start."""
    given = json.dumps({"path": str(mutant.path), "index": mutant.index, "names": names})
    command = [sys.executable, "-m", "tests.mutants", "--given"]
    done = subprocess.run(command, input=given, text=True, cwd=ROOT, check=False, capture_output=True)
    return done.returncode != 0


def _given():
    """Be that process: exit with 0 where all tests pass."""
    import pytest

    given = json.load(sys.stdin)
    start_with(Mutant.at_place(Path(given["path"]), given["index"]))
    files = dict.fromkeys(name.partition("::")[0] for name in given["names"])
    wanted, failed = set(given["names"]), []

    def run(tests):
        failed.append(tests.run([k for k, item in enumerate(tests.items) if item.nodeid in wanted]))

    code = pytest.main([*OPTIONS, *files], plugins=[Tests(run)])
    sys.exit(code if code not in (0, 5) else int(failed != [False]))


def files():
    """Every file of the library that a change may be in."""
    return sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")


def room_of(path):
    """The part of the library that a file belongs to: its folder, or itself."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def asked_of(room):
    """The tests that are asked of a part of the library."""
    own = [f"tests/{room}"] if (ROOT / "tests" / room).is_dir() else []
    return list(dict.fromkeys([*own, *BESIDE.get(room, METHODS if own else ["tests/cli"])]))


def drawn(size, seed):
    """Draw changes of all files, each as likely as any other, but for those that mean the same."""
    places = [(path, index) for path in files() for index in range(count(path))]
    random.Random(seed).shuffle(places)  # noqa: S311
    found = []
    for path, index in places:
        mutant = Mutant.at_place(path, index)
        if not mutant.alike:
            found.append(mutant)
        if len(found) == size:
            break
    return found, len(places)


class Kept:
    """What became of changes, a line each, in a file for each part of the library."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def read(self):
        """Return the word for each change: survived, or nothing where a test noticed it; the last one counts."""
        lines = [line for path in sorted(self.folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
        return dict(found for line in lines if (found := _parsed(line)))

    def add(self, mutant, word):
        """Keep one, at once: whoever is stopped then has it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{room_of(mutant.path)}.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps([str(mutant), word])}")  # what was cut off stays a line of its own


def _parsed(line):
    try:
        return json.loads(line)
    except ValueError:  # the end of a run that was stopped
        return None


def everywhere(asked):
    """Try a sample of all files, part after part or some at a time, and print the shares."""
    kept = Kept(asked.kept or ROOT / ".mutants" / f"sample-{asked.sample}-seed-{asked.seed}")
    chosen, total = drawn(asked.sample, asked.seed)
    known = kept.read()
    left = [each for each in chosen if known.get(str(each)) is None or (asked.again and known[str(each)])]
    rooms = sorted({room_of(each.path) for each in left}, key=lambda room: -sum(room_of(m.path) == room for m in left))
    sys.stdout.write(f"{total:,} changes in {len(files())} files; {len(chosen)} drawn, {len(left)} to try\n")
    sys.stdout.flush()
    with ThreadPoolExecutor(asked.jobs) as pool:
        codes = pool.map(partial(_one_room, left, kept, asked), rooms)
        failed = [room for room, code in zip(rooms, codes, strict=True) if code]
    known = kept.read()
    for line in table(chosen, known):
        sys.stdout.write(line + "\n")
    if failed:
        sys.exit(f"not every change was tried: {', '.join(failed)}")


def _one_room(left, kept, asked, room):
    """Try the changes of one part in a process of its own, as tests leave traces."""
    given = [[str(each.path), each.index] for each in left if room_of(each.path) == room]
    pythons = dict(each.split("=", 1) for each in asked.python)
    command = [pythons.get(room, sys.executable), "-m", "tests.mutants", "--room", room, "--kept", str(kept.folder)]
    command += ["--seconds", str(asked.seconds)]
    kept.folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with (kept.folder / f"{room}.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(command, input=json.dumps(given), text=True, check=False, stdout=log, stderr=log)
    word = "done" if done.returncode == 0 else f"stopped, see {kept.folder / (room + '.log')}"
    sys.stdout.write(f"{room}: {len(given)} changes, {word} ({time.monotonic() - started:.0f} s)\n")
    sys.stdout.flush()
    return done.returncode


def table(chosen, known):
    """Lines that list the survivors, and say how many changes of each part were noticed, and of all."""
    done = [(each, known[str(each)]) for each in chosen if str(each) in known]
    lines = [f"{word} {each}" for each, word in sorted(done, key=lambda pair: pair[0].at) if word]
    for room in [*sorted({room_of(each.path) for each in chosen}), "all"]:
        words = [word for each, word in done if room in (room_of(each.path), "all")]
        size = sum(room in (room_of(each.path), "all") for each in chosen)
        noticed = words.count("")
        share = f"{noticed / len(words):.1%}" if words else "none tried"
        lines.append(f"{room:14} {size:4} drawn, {len(words):4} tried, {noticed:4} noticed ({share})")
    return lines


def _examined(room):
    """Run the tests of a room, and try its changes."""
    import pytest

    with room.collecting:
        pytest.main([*OPTIONS, *room.asked_tests, *map(str, room.paths)], plugins=[Tests(room.examine)])
    if not room.finished:
        sys.exit(f"{room.name}: not every change was tried")


def run(argv=None):
    """Read the command line, try the changes, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", nargs="+", choices=ROOMS, help="only the files of these lists")
    parser.add_argument("--sample", type=int, help="how many changes, of each list; by default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests for each change, on the processor")
    parser.add_argument("--at", nargs="+", metavar="FILE:LINE", help="only the changes of these lines")
    parser.add_argument("--kept", help="folder of what became of a sample of all files; by default one under .mutants")
    parser.add_argument("--again", action="store_true", help="try those again that no test noticed")
    parser.add_argument("--jobs", type=int, default=1, help="parts of the library at a time")
    parser.add_argument("--python", nargs="+", default=[], metavar="PART=PATH", help="for parts with other libraries")
    parser.add_argument("--room", help=argparse.SUPPRESS)
    parser.add_argument("--given", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(argv)
    os.chdir(ROOT)
    os.environ.setdefault("STAKES_EXAMPLES", "few")
    if asked.given:
        _given()
    if asked.room:
        room = Room(asked.room, asked, [Mutant.at_place(Path(path), index) for path, index in json.load(sys.stdin)])
        room.keep = Kept(asked.kept).add
        _examined(room)
    elif asked.module is None and asked.at is None and asked.sample is not None:
        everywhere(asked)
    else:
        _lists(asked, asked.module or list(ROOMS))


def _lists(asked, names):
    for name in names if len(names) > 1 else []:  # each in a process of its own, as tests leave traces
        rest = [*(["--sample", str(asked.sample)] if asked.sample else []), *(["--at", *asked.at] if asked.at else [])]
        given = ["--module", name, "--seed", str(asked.seed), "--seconds", str(asked.seconds), *rest]
        subprocess.run([sys.executable, "-m", "tests.mutants", *given], check=True)
    if len(names) == 1:
        room = Room(names[0], asked)
        _examined(room)
        tried, noticed = len(room.tried), len(room.tried) - len(room.left)
        counts = f"{len(room.every):5} changes ({room.alike} more mean the same), {tried:4} tried, {noticed:4} noticed"
        sys.stdout.write(f"{room.name:14} {counts} ({noticed / max(tried, 1):.1%})\n")


if __name__ == "__main__":
    run()
