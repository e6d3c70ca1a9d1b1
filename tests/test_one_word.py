"""One word for one thing: a name that was given up comes back in no signature, option or key of a file of options."""

import importlib
import inspect
import subprocess
import sys

import pytest

import stakes

ROOMS = sorted(name for name in stakes.__all__ if inspect.ismodule(getattr(stakes, name)))
# what is said today, and where else the old word means another thing
GIVEN_UP = {
    "n_bootstrap": ("n_resamples", ()),
    "resamples": ("n_resamples", ()),
    "n_draws": ("n_resamples", ()),
    "n_folds": ("cv", ()),
    "folds": ("cv", ()),
    "first": ("a", ()),
    "second": ("b", ()),
    "y_probs": ("y_prob", ()),
    "weights": ("matrix_weights", ("costs.Empirical", "costs.Mixture")),  # of values, of parts
    "old": ("training_prior", ()),
    "new": ("prior", ()),
    "sampling": ("keep", ()),
    "k": ("capacity", ()),
    "max_selected": ("capacity", ()),
    "defer_cost": ("deferral", ()),
    "tried": ("n_tried", ()),
    "for_": ("question", ()),
}
# which functions say the cost ratio of decisions as costs, and what is known of it as knowledge, not as a threshold
NO_THRESHOLD = {"advise", "apply_deferral", "deferral_curve", "deferral_zone", "evaluate_deferral", "fit_deferral"}
NO_THRESHOLD |= {"Advice", "DeferralClassifier", "DeferralDisplay.from_estimator", "DeferralDisplay.from_predictions"}
GIVEN_UP_FLAGS = {name.strip("_").replace("_", "-") for name in GIVEN_UP} | {"defer-cost"}
TOP = """
    PartlyVerified RowCosts ScoreTable TimeToEvent __version__ advise bounded_brier_loss bounded_log_loss compare
    decompose evaluate evaluate_frame expected_regret get_scorer load metric_interval money net_benefit_curve
    net_benefit_score precision_recall_curve promised_regret regret_curve reliability_curve roc_curve threshold_table
    undo_class_weight undo_sampling value_of_information
    actions boundary correction costs curves display evaluation inference information metrics monitoring outcomes
    report tables training uncertainty utility
"""
TO_TEXT = {"to_html", "to_json", "to_latex", "to_markdown", "to_onnx", "to_parquet", "to_sql", "to_word"}


def callables(module, room):
    """Yield every public function, class and method of a module by its name."""
    for name in dir(module):
        value = getattr(module, name)
        if inspect.ismodule(value) or not callable(value):
            continue
        yield f"{room}.{name}", value
        if inspect.isclass(value):
            methods = (key for key in dir(value) if not key.startswith("_"))
            yield from (
                (f"{room}.{name}.{key}", getattr(value, key)) for key in methods if callable(getattr(value, key))
            )


def parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # types of Python itself
        return {}


def relapses(module, room):
    """Return where a name that was given up is a parameter or a field."""
    found = []
    for path, function in callables(module, room):
        for name in parameters(function):
            instead, elsewhere = GIVEN_UP.get(name, ("", ()))
            if instead and not path.startswith(tuple(elsewhere) or ("-",)):
                found.append(f"{path}({name}=): say {instead}")
            if name == "threshold" and path.partition(".")[2] in NO_THRESHOLD:
                found.append(f"{path}(threshold=): say costs, or knowledge")
    return found


@pytest.mark.parametrize("room", ["stakes", *ROOMS])
def test_no_public_signature_says_it_in_another_word(room):
    pytest.importorskip("sklearn")
    assert relapses(stakes if room == "stakes" else getattr(stakes, room), room) == []


def test_a_name_that_comes_back_is_found():
    class Planted:
        @staticmethod
        def compare(first, second, *, n_bootstrap=10):
            return first, second, n_bootstrap

        class advise:  # noqa: N801  (a public function, planted)
            def __init__(self, threshold, weights):
                self.found = threshold, weights

        class Mixture:
            def __init__(self, weights):
                self.weights = weights

        def __dir__(self):
            return ["Mixture", "advise", "compare"]

    assert relapses(Planted(), "costs") == [
        "costs.advise(threshold=): say costs, or knowledge",
        "costs.advise(weights=): say matrix_weights",
        "costs.compare(first=): say a",
        "costs.compare(second=): say b",
        "costs.compare(n_bootstrap=): say n_resamples",
    ]


def flags():
    """Return the options of every command, which are the keys of a file of options too."""
    pytest.importorskip("click")
    return importlib.import_module("stakes.cli.program").PROGRAM.options_of_all()


def test_no_option_or_key_of_a_file_says_it_in_another_word():
    found = flags()
    assert {"advise", "boundary.fit", "decide", "evaluate", "plan"} <= set(found)
    assert [(command, flag) for command, options in found.items() for flag in GIVEN_UP_FLAGS & set(options)] == []
    assert not {"threshold"} & (set(found["advise"]) | set(found["decide"]))
    assert {"capacity", "knowledge"} <= set(found["advise"])
    assert {"capacity", "costs", "deferral", "prior", "training-prior"} <= set(found["decide"])
    assert {"capacity", "deferral", "n-tried"} <= set(found["evaluate"])


def test_every_text_that_is_returned_can_be_written():
    found = []
    for room in ROOMS:
        for path, function in callables(getattr(stakes, room), room):
            if path.rpartition(".")[2] in TO_TEXT:
                path_taken = parameters(function).get("path")
                found.append(path)
                assert path_taken is not None, path
                assert path_taken.default is None, path
    assert {path.rpartition(".")[2] for path in found} == TO_TEXT


def test_labels_come_first_and_scores_second():
    for room in ROOMS:
        for path, function in callables(getattr(stakes, room), room):
            given = [name for name in parameters(function) if name != "self"]
            for scores in ("y_prob", "y_score"):
                if "y_true" in given and scores in given:
                    assert given.index(scores) == given.index("y_true") + 1, path


def test_the_top_level_offers_these_names():
    assert stakes.__all__ == sorted(TOP.split())
    assert dir(stakes) == stakes.__all__


@pytest.mark.parametrize("room", ROOMS)
def test_a_module_shows_its_public_names_alone(room):
    module = getattr(stakes, room)
    assert dir(module) == sorted(module.__all__)
    assert not any(name.startswith(("_", "as_")) for name in dir(module))
    assert not {"select", "holm", "largest_of", "Moments", "PAIRED_NEEDS_ROWS"} & set(dir(module))


def test_the_report_and_the_tables_are_imported_when_they_are_asked_for():
    code = "import sys, stakes; before = {'stakes.report', 'stakes.tables'} & set(sys.modules); "
    code += "print(sorted(before), stakes.report.__name__, stakes.tables.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["[]", "stakes.report stakes.tables\n"]
