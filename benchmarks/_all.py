"""What `python -m benchmarks all` runs, and with `--quick` in sizes that say nothing but that it runs."""

# their files and models make these slow at any number of rows, or the rows are not what grows
_QUICK = {
    "boundary": "--sizes 2000 --repeat 1 --only levels",
    "cliffs": "--small --only help",
    "engines": "--sizes 20000 --repeat 1",
    "report": "--sizes 2000 --repeat 1",
}
_REPEATED = {"engines": 1}  # a run of 10^8 rows takes half a minute; the others run three times


def steps(names, *, quick):
    """Return the arguments of each step; measurements lie beside the pages, where the suite can write them."""
    found = {}
    for name in names:
        timed = "" if name == "cliffs" else f"--json {{folder}}/{name}.json --repeat {_REPEATED.get(name, 3)}"
        tiny = _QUICK.get(name, "--sizes 1000 --repeat 1") if quick else ""
        found[name] = [name, *timed.split(), *tiny.split()]
    return found
