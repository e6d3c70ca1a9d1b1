"""What `python -m replications all` runs, and with `--quick` in sizes that say nothing but that it runs."""

_KEPT = dict.fromkeys(("deferral", "information", "refitting", "selection"), "--folder {folder}")
_KEPT |= {
    "ledger": "--out {folder}/ledger.jsonl",
    "loss_calibration": "--output {folder}",
    "penalized_shares": "--output {folder}",
    "risk_curves": "--output {folder}",
}
LONGEST = ("boundary", "ledger", "boundary_gain", "posterior_network", "coverage_bands")  # begin before the others
QUICK = {
    "assel": "--patients 20000",
    "calibration_tests": "--runs 20 --bootstrap 19",
    "correction_models": "--data htru2_pulsar",
    "loss_calibration": "--networks 1",
    "expected_utility": "--splits 2 --data breast_cancer_wisconsin",
    "batch_effect": "--scale 0.01",
    "penalized": "--seeds 2 --epochs 2 --tasks image_segmentation",
    "leakage": "--folds 1 --tasks healthy_older_people",
    "penalized_shares": "--draws 2000",
    "posterior_network": "--seeds 1 --others 1 --regions 12 --parts order",
    "deferral": "--draws 4",
    "information": "--draws 2",
    "selection": "--draws 2 --models 2 --rows 500",
    "refitting": "--draws 4",
    "boundary": "--parts tables positivity calibration times --seeds 1 --designs A --levels 3 --repeats 1 --data",
    "boundary_gain": "--repeats 2 --chosen 1",
    "boundary_promise": "--repeats 2 --rare 2 --others 1 --few 1",
    "coverage_intervals": "--runs 4 --sizes 300",
    "coverage_bands": "--runs 4 --sizes 300",
    "coverage_decomposition": "--runs 4 --sizes 300",
    "coverage_calibration": "--samples 4 --curves 2 --sizes 300",
    "coverage_outcomes": "--samples 4",
    "outcome_findings": "--samples 4",
    "false_alarms": "--runs 2",
    "action_claims": "--runs 2",
    "update_gain": "--runs 4 --sizes 200",
    "centres": "--runs 4 --centres 4 --sizes 100",
    "watch": "--streams 4 --looks 100 --reach 50",
    "ledger": "--samples 2 --only bcsc",
}


def steps(names, *, quick):
    """Return the arguments of each step: its module, where it keeps what is finished, its sizes."""
    sizes = QUICK if quick else {}
    found = {name: [name, *_KEPT.get(name, "").split(), *sizes.get(name, "").split()] for name in names}
    information = ["action_claims", "--part", "information", *sizes.get("action_claims", "").split()]
    return found | {"action_claims_information": information}
