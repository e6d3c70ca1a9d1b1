"""Small changes to the code, each of which a test must notice: ``python -m tests.mutants --sample 300 --seed 4``.

A change swaps a comparison, an operator, `and` with `or`, a sign or a truth value, or moves a number. Texts of errors,
annotations and `strict=` are left alone. The sample is uniform over all changes of all files, or of those that
``--of costs boundary/_solvers.py`` names. The same sample and seed give the same changes in the same order, so that
those which an interrupted run has tried are a uniform sample too. `mutants_alike.txt` lists the changes that mean the
same, and why.

For each change the files of tests of its part of the library are asked, and those that name what holds it, the nearest
by name first, until a test fails. The first change that a file of tests does not notice shows which of its tests reach
which statement; of later changes only the tests that reach them run, the quick ones before the slow ones, each change
in a fork whose functions have it. A change of what runs as modules are imported is tried in a process that has it from
its start. What survives is tried once more at the end, with three times the time, as by then more files of tests are
known to reach it, and on all tests of these files: what a fixture or a cache computes once for several tests is reached
by the first of them alone.

What became of each change, and what each file of tests reaches, is kept in the folder ``--kept``: an interrupted run
goes on where it stopped, ``--again`` tries those once more that no test noticed, and ``--reached`` names a file of what
tests reach that several samples of the same code share. A test that fails as the code stands is named, and not asked.
``--jobs 2`` tries two changes at a time.
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from itertools import chain, pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from mutated import SOURCE, Mutant, changing, count, functions, put, start_with, watch  # noqa: E402

# the tests beside those of the folder of the same name
METHODS = ["tests/test_mistakes.py", "tests/test_invariants.py", "tests/test_other_things.py", "tests/test_answers.py"]
METHODS += ["tests/test_limits.py", "tests/test_kept_edges.py"]
METHODS += ["tests/test_honest_mistakes.py", "tests/test_clinicians_mistakes.py"]
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
    "metrics": [*METHODS, "tests/test_decomposition.py", "tests/test_docs.py"],
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
OPTIONS += ["-m", "not simulation and not thorough"]
LATE = 5.0  # times what a test takes: whoever works so long works for ever
STUCK = 20.0  # times the time allowed on the processor: whoever waits so long waits for ever
START = 30.0  # seconds on the processor for what comes before the tests
LONG = 12.0  # seconds of a test of which nothing is known yet
SLOW = 1.0  # seconds of a test that waits until the quick ones are through
AGAIN = 3.0  # times the time for what survived
NEAREST = 2  # files of tests that are asked before all that are known to reach a change
MOST = 12  # times that a file of tests names what holds the change: more tell no more


class Tests:
    """A plugin of pytest that runs chosen tests until one fails, or watches all of them but some that are left out."""

    def __init__(self, chosen=None, reached=None, left_out=(), *, until_one_fails=True):
        self.chosen, self.reached, self.left_out, self.found, self.failed = chosen, reached, left_out, {}, False
        self.until_one_fails = until_one_fails

    def pytest_runtest_logreport(self, report):
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session):
        by_name = {item.nodeid: item for item in session.items if item.nodeid not in self.left_out}
        at_import = frozenset(self.reached or ())  # what the file computes once, for all of its tests
        for name, following in pairwise([*(self.chosen or by_name), None]):
            if self.until_one_fails:
                allowed = LATE * self.chosen[name] + 5.0 if self.chosen else LATE * LONG
                signal.setitimer(signal.ITIMER_PROF, allowed)  # it ends the process
            start, item, self.failed = time.process_time(), by_name[name], False
            if self.reached is not None:
                self.reached.clear()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=by_name.get(following))
            places = sorted({*at_import, *(self.reached or ())})
            self.found[name] = None if self.failed else [time.process_time() - start, places]
            if self.failed and self.until_one_fails:
                break
        return True

    def noticed(self):
        """Run the chosen tests, each of which comes with its seconds, until one fails or is late; say if one did."""
        code = pytest.main([*OPTIONS, *dict.fromkeys(map(_file_of, self.chosen))], plugins=[self])
        return self.failed or code != 0

    def watched(self, file):
        """Run the tests of a file; return the seconds that each takes and what it reaches, None where it fails."""
        pytest.main([*OPTIONS, file], plugins=[self])
        return self.found, [
            k for k, each in sys.modules.items() if "site-packages" in (getattr(each, "__file__", "") or "")
        ]


def _file_of(name):
    return name.partition("::")[0]


def in_fork(work, seconds):
    """Return what the work returns in its own process, a text where it fails or only waits; None where it is late."""
    with tempfile.TemporaryFile("w+") as answer:
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            signal.setitimer(signal.ITIMER_PROF, seconds)
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


class Reached:
    """Which statements each test reaches, file of tests by file of tests, as they are asked for; kept in a file."""

    def __init__(self, path, reached):
        self.path, self.reached, self.known, self.passing, self.failing = Path(path), reached, {}, set(), set()
        self.of_import = frozenset(reached)
        paths = [*ROOT.glob("tests/**/test_*.py"), *files()]
        self.files = sorted(str(path.relative_to(ROOT)) for path in paths)
        self.source = hashlib.sha256(b"".join(path.read_bytes() for path in files())).hexdigest()
        self.states, self.read = {}, 0
        self.look()

    def look(self):
        """Read what was added to the file, by whoever."""
        if self.path.exists():
            with self.path.open("rb") as kept:
                kept.seek(self.read)
                added = kept.read()
            self.read += len(added)
            for line in added.decode().splitlines():
                entry = _parsed(line)
                if entry and entry[0] in self.files and entry[1] == self._state(entry[0]):
                    self.known[entry[0]] = self._unpacked(entry[2])

    def of(self, file):
        """Return the seconds and the statements of each test of a file, of those that pass as the code stands."""
        if file not in self.known:
            answer = in_fork(lambda: Tests(None, self.reached, until_one_fails=False).watched(file), 600.0)
            if not isinstance(answer, list):
                sys.exit(f"{file}: {answer}")
            found = self._found(answer)
            self._fail(*(name for name, entry in found.items() if entry is None))
            self._keep(file, found)
        return self.known[file]

    def notice(self, file, changes):
        """Say whether the tests of a file, of which nothing is known, notice changes; if not, keep what they reach."""

        def changed():
            put(changes)
            return Tests(None, self.reached, self.failing).watched(file)

        while isinstance(answer := in_fork(changed, 4.0 * START), list):
            found = self._found(answer)
            failing = [name for name, entry in found.items() if entry is None]
            if not failing:
                if found:
                    self._keep(file, found)
                return False
            if failing[0] not in self.passing:  # does it as the code stands?
                if in_fork(Tests({failing[0]: LONG}).noticed, START):
                    self._fail(failing[0])
                    continue
                self.passing.add(failing[0])
            return True
        return False  # late, or it only waits: whoever asks looks what tests take as the code stands

    def _found(self, answer):
        found, modules = answer
        for module in modules:  # once, for all forks
            with contextlib.suppress(Exception):
                importlib.import_module(module)
        return found

    def _fail(self, *names):
        self.failing.update(names)
        sys.stdout.writelines(f"{name} fails as the code stands\n" for name in names)

    def _state(self, file):
        if file not in self.states:
            self.states[file] = hashlib.sha256((ROOT / file).read_bytes()).hexdigest() + self.source
        return self.states[file]

    def _keep(self, file, found):
        sys.stdout.write(f"{file}: {len(found)} tests take {sum(e[0] for e in found.values() if e):.1f} s\n")
        packed = {}
        for name, (took, places) in ((name, entry) for name, entry in found.items() if entry):
            packed[name] = [round(took, 3), {}]
            for path, at in places:
                packed[name][1].setdefault(os.path.relpath(path, SOURCE), []).append(at)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = f"{json.dumps([file, self._state(file), packed])}\n"
        with self.path.open("ab", buffering=0) as kept:  # at once, as others may add to it
            kept.write(line.encode())
        self.known[file] = self._unpacked(packed)

    @staticmethod
    def _unpacked(packed):
        return {
            name: (took, {(str(SOURCE / path), at) for path, every in places.items() for at in every})
            for name, (took, places) in packed.items()
        }


class Trial:
    """What tries changes on the tests that reach them."""

    def __init__(self, reached, seconds):
        self.reached, self.seconds, self.whole_files = reached, seconds, False
        self.texts, self.living = {}, functions()

    def word(self, mutant):
        """What to call a change that no test notices, and how many tests were asked; no word where one does."""
        self.reached.look()
        asked = self._asked(mutant)
        noticed, tried = False, {}
        if mutant.mark is not None:
            noticed = self._in_place(mutant, asked, tried)
        if not noticed and (mutant.mark is None or mutant.mark in self.reached.of_import or not tried):
            noticed = self._from_the_start(mutant, asked)
        return ("" if noticed else "survived"), len(tried)

    def _asked(self, mutant):
        """The files of tests that are asked, in order: those known to reach the statement, then the nearest."""
        own, names = str(mutant.path.relative_to(ROOT)), _names(mutant)
        wanted = [own, *asked_of(room_of(mutant.path)), str(mutant.path.parent.relative_to(ROOT))]

        def mentions(file):
            return min(sum(self._text(file).count(name) for name in names), MOST)

        def rank(file):
            part = next((k for k, each in enumerate(wanted) if Path(file).is_relative_to(each)), 1.5)
            shared = len(_words(mutant.path) & _words(Path(file)))
            return part > 1.5, -3 * shared - mentions(file), part, file

        where = mutant.using if mutant.mark is None else {mutant.mark}

        def is_asked(file):
            of_room = any(Path(file).is_relative_to(each) for each in wanted)
            reaching = any(not where.isdisjoint(on) for _, on in self.reached.known.get(file, {}).values())
            named = file.startswith("tests/") and file != "tests/test_mutants.py" and mentions(file)
            return of_room or reaching or named

        every = [file for file in self.reached.files if is_asked(file)]
        known = sorted((f for f in every if f in self.reached.known), key=rank)
        unknown = sorted((f for f in every if f not in self.reached.known), key=rank)
        return [*known, *unknown]

    def _text(self, file):
        if file not in self.texts:
            self.texts[file] = (ROOT / file).read_text("utf-8")
        return self.texts[file]

    def _in_place(self, mutant, asked, tried):
        """Ask the tests that reach the statement, the slow ones after all the others."""
        changes = changing(mutant, self.living, watched=True)
        known = [f for f in asked if any(mutant.mark in on for _, on in self.reached.known.get(f, {}).values())]
        slow = {}
        for some in [known[:NEAREST], known, *([f] for f in asked if f not in known)] if changes else []:
            if some and some[0] not in self.reached.known and self._notices(mutant, changes, some[0], tried):
                return True
            found = self._reaching(mutant, some, tried)
            slow |= {name: took for name, took in found.items() if took > SLOW}
            quick = self._fitting({name: took for name, took in found.items() if took <= SLOW}, tried)
            if quick and self._run(mutant, changes, quick, tried):
                return True
        rest = self._fitting(slow, tried)
        return bool(rest) and self._run(mutant, changes, rest, tried)

    def _notices(self, mutant, changes, file, tried):
        """Say whether the tests of a file notice a change, of which nothing is known."""
        if self.reached.notice(file, changes):
            return True
        if file in self.reached.known:  # all of them passed
            tried |= self._reaching(mutant, [file], tried)
        return False

    def _reaching(self, mutant, some, tried):
        """The tests of some files that reach the statement and were not tried yet, with what they take."""
        found = {}
        for file in some:
            tests = self.reached.of(file)
            reaching = {name for name, (_, places) in tests.items() if mutant.mark in places}
            if self.whole_files and reaching:
                reaching = set(tests)
            found |= {name: tests[name][0] for name in tests if name in reaching and name not in tried}
        return found

    def _fitting(self, found, tried):
        """The quickest that fit into the time."""
        spent, some = sum(tried.values()), {}
        for name, took in sorted(found.items(), key=lambda entry: entry[1]):
            spent += took
            if spent <= self.seconds:
                some[name] = took
        return some

    @staticmethod
    def _run(mutant, changes, chosen, tried):
        """Say whether tests notice a change, or are late."""
        tried |= chosen

        def changed():
            put(changes)
            return [Tests(chosen).noticed()]

        found = in_fork(changed, START + LATE * sum(chosen.values()))
        if isinstance(found, str):
            sys.exit(f"{mutant}: {found}")
        return found is None or found == [True]

    def _from_the_start(self, mutant, asked):
        """Say whether tests notice a change in a process that has it from its start."""
        using = mutant.using if mutant.mark is None else {mutant.mark}
        first, second, spent = [], [], 0.0
        for file in asked:
            if file.startswith("src/"):  # pytest imports a file of examples itself, past the change
                continue
            for name, (took, places) in self.reached.of(file).items():
                if not using.isdisjoint(places):
                    first.append((took, name))
                elif not places or any(path == str(mutant.path) for path, _ in places):
                    second.append((took, name))
        chosen = {}
        for took, name in [*sorted(first), *sorted(second)]:
            if spent + took <= self.seconds:
                spent += took
                chosen[name] = took
        given = json.dumps({"path": str(mutant.path), "index": mutant.index, "chosen": chosen})
        command = [sys.executable, "-m", "tests.mutants", "--given"]
        try:
            done = subprocess.run(
                command, input=given, text=True, cwd=ROOT, check=False, capture_output=True, timeout=STUCK * 60.0
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def _given():
    """Be that process: exit with 0 where all tests pass."""
    given = json.load(sys.stdin)
    start_with(Mutant.at_place(Path(given["path"]), given["index"]))
    signal.setitimer(signal.ITIMER_PROF, START)
    sys.exit(bool(given["chosen"]) and Tests(given["chosen"]).noticed())


def _names(mutant):
    """What tests may call that holds the change: its definition at the top of the file and inside of it."""
    return [name for name in mutant.within if not name.startswith("__") and len(name) > 5]


def _words(path):
    return {*path.stem.removeprefix("test_").strip("_").split("_")}


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


def drawn(size, seed, of=(".",)):
    """Draw changes of all files, or of some folders and files, each as likely as any other, but for those alike."""
    some = [path for path in files() if any(path.is_relative_to(SOURCE / each) for each in of)]
    places = [(path, index) for path in some for index in range(count(path))]
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
    """What became of changes, a line each, in a file of a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def read(self):
        """Return the word for each change: survived, or nothing where a test noticed it; the last one counts."""
        lines = [line for path in self.folder.glob("changes.jsonl") for line in path.read_text("utf-8").splitlines()]
        return dict(found for line in lines if (found := _parsed(line)))

    def add(self, mutant, word):
        """Keep one, at once: whoever is stopped then has it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "changes.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps([str(mutant), word])}")  # what was cut off stays a line of its own


def _parsed(line):
    try:
        return json.loads(line)
    except ValueError:  # the end of a run that was stopped
        return None


def _try(left, chosen, kept, asked):
    """Try some of the changes, in their order."""
    if not left:
        return
    reached = watch()
    for path in files():
        with contextlib.suppress(ImportError):  # of a library that is not here
            importlib.import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
    trial = Trial(Reached(asked.reached or kept.folder / "reached.jsonl", reached), asked.seconds)
    survivors = []
    for mutant in chain(left, survivors):
        if mutant in survivors:
            trial.seconds, trial.whole_files = AGAIN * asked.seconds, True
        word, size = trial.word(mutant)
        kept.add(mutant, word)
        sys.stdout.write(f"{chosen.index(mutant) + 1:4} {word or 'noticed'} {mutant} ({size} tests)\n")
        sys.stdout.flush()
        if word and mutant not in survivors:
            survivors.append(mutant)


def everywhere(asked):
    """Try a sample, in the order in which it was drawn, and print the shares."""
    kept = Kept(asked.kept or ROOT / ".mutants" / f"sample-{asked.sample}-seed-{asked.seed}")
    chosen, total = drawn(asked.sample, asked.seed, asked.of)
    if asked.at:
        chosen = [each for each in chosen if each.at in asked.at]
    known = kept.read()
    left = [each for each in chosen if known.get(str(each)) is None or (asked.again and known[str(each)])]
    sys.stdout.write(f"{total:,} changes; {len(chosen)} drawn, {len(left)} to try\n")
    sys.stdout.flush()
    workers = []
    for job in range(asked.jobs):
        workers.append(os.fork())
        if not workers[-1]:
            _try(left[job :: asked.jobs], chosen, kept, asked)
            os._exit(0)
    codes = [os.waitpid(worker, 0)[1] for worker in workers]
    for line in table(chosen, kept.read()):
        sys.stdout.write(line + "\n")
    if any(codes):
        sys.exit("not every change was tried")


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


def run(argv=None):
    """Read the command line, try the changes, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", nargs="+", default=["."], help="folders and files of the library to draw from")
    parser.add_argument("--sample", type=int, help="how many changes; by default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests for each change, on the processor")
    parser.add_argument("--at", nargs="+", metavar="FILE:LINE", help="only the changes of these lines")
    parser.add_argument("--kept", help="folder of what became of the changes; by default one under .mutants")
    parser.add_argument("--reached", help="file of what tests reach; by default one in that folder")
    parser.add_argument("--jobs", type=int, default=1, help="changes at a time")
    parser.add_argument("--again", action="store_true", help="try those again that no test noticed")
    parser.add_argument("--given", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(argv)
    os.chdir(ROOT)
    os.environ.setdefault("STAKES_EXAMPLES", "few")
    for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "POLARS_MAX"):  # threads do not outlive a fork
        os.environ.setdefault(f"{library}_THREADS", "1")
    if asked.given:
        _given()
    else:
        everywhere(asked)


if __name__ == "__main__":
    run()
