"""Reproduce published tables and figures: `python -m replications NAME`, or all of them, one after the other.

`python -m replications record FOLDER` puts what `all` left in a folder on pages of the site.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from replications._all import LONGEST, steps
from tools import every, record

NAMES = {
    "action_claims": "how often what is said of many actions is false, and what further rows truly save",
    "assel": "net benefit and bounded scores of Assel et al.'s eight tests, corrected, exactly and by simulation",
    "boundary": "recall by thresholds over score and uncertainty: designs, real models, sweeps, theory, run times",
    "boundary_gain": "how often a boundary's report says that uncertainty helps, where it does and where it cannot",
    "boundary_promise": "how often boundaries and single thresholds keep the precision they promise, and their recall",
    "coverage_bands": "coverage of the intervals and bands of curves and of their differences",
    "calibration_tests": "size and power of the tests of loss-calibration",
    "correction_models": "real models with class weights and undersampling, before and after correction",
    "coverage_calibration": "coverage of the intervals of O:E, calibration in the large, slope, ICI, E50, E90, Emax",
    "coverage_decomposition": "coverage of the intervals of MCB, DSC, the H-measure and hull AUC",
    "coverage_intervals": "coverage of the closed-form intervals, for calibrated, miscalibrated and tied forecasts",
    "coverage_outcomes": "coverage of the intervals of censored follow-up, amounts by row and labels seen for some",
    "outcome_findings": "how often findings on follow-up and amounts are raised where they should be, and where not",
    "batch_effect": "where looking at the batch beats one threshold for the population, and where it does not",
    "deferral": "optimism of fitted thresholds, broken certificates, CIFAR-10 halves, intervals of the option's value",
    "expected_utility": "expected utility, plug-in threshold and one half for four measures, on the paper's data",
    "false_alarms": "how often each finding is raised where nothing is wrong, in 1,000 simulations of seven designs",
    "grid_search": "which model a search picks by our scorer, scikit-learn's and briertools'",
    "penalized": "which epoch Brier, penalized and log scores and accuracy choose, and its test F1",
    "leakage": "which model plain folds and h-blocks choose on ordered sensor readings, and what the choice gives",
    "penalized_shares": "how often a wrong forecast scores better than a right one, over laws and numbers of classes",
    "information": "value of information of published cells, errors of its normal form, what plans come to",
    "ledger": "how often claims of the conclusion and printed intervals are false, in 126 designs",
    "published": "printed tables that follow from published files: risk models, penalized scores beside F1",
    "risk_curves": "regret and net benefit of the four risk models of Flores et al. over the threshold",
    "refitting": "bias and coverage of cross-validation, Harrell and .632+, and of claims about the best estimator",
    "selection": "what picking the best of many models does to its numbers, and whether select_best repairs it",
    "posterior_network": "evidence of a Posterior Network beside true sample sizes, its bias, its log loss on adult",
    "update_gain": "coverage of the intervals of what an update of a model saves, and what the closed test chooses",
    "centres": "coverage of the mean over centres, and of prediction intervals for another one",
    "watch": "false alarms and delays of the cost monitor beside daily tests, three sigma and river's detectors",
    "loss_calibration": "Figures 3 and 4 of Caplin, Martin and Marx, redrawn on adult income",
}
TITLE = "All replications and simulations, as they ran"
ABOUT = """\
What each command printed, but for the level of headings and the name of the folder. What it means and why it
differs from what the papers print stands on [the page of replications](../replications.md) and in the guides."""
PICTURES = {
    "loss_calibration": "figure_*.png",
    "penalized_shares": "penalized_shares.png",
    "risk_curves": "risk_curves_*.png",
}  # what parts leave in the folder besides


def main() -> None:
    if sys.argv[1:2] == ["record"]:
        page = record.Page("replications", TITLE, ABOUT, list(steps(NAMES, quick=False)), NAMES, PICTURES)
        record.write_apart(page, record.parse("replications", sys.argv[2:]))
        return
    if sys.argv[1:2] == ["all"]:
        whole, quick = (steps(NAMES, quick=quick) for quick in (False, True))
        sys.exit(every.main("replications", sys.argv[2:], whole, quick, LONGEST))
    parser = argparse.ArgumentParser(
        prog="python -m replications",
        description=__doc__,
        epilog="\n".join(f"  {name}: {what}" for name, what in ({"all": "every one; --help"} | NAMES).items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    name, options = parser.parse_known_args()
    import_module(f"replications.{name.name}").main(options)


if __name__ == "__main__":
    main()
