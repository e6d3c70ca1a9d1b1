"""statsmodels: logistic recalibration, intervals of means, shares and areas, and the heterogeneity of centres."""

import numpy as np
import statsmodels.api as sm
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.nonparametric import rank_compare_2indep
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from conformance._inputs import load
from conformance._record import Record

INPUTS = ["calibrated", "overconfident", "underconfident", "rare", "tied", "small"]
SHARES = {"wilson": "wilson", "clopper-pearson": "beta"}
# estimates of centres, and their standard errors
CENTRES = [
    ([-0.4, -0.2, -0.9, -0.5, -0.1], [0.2, 0.1, 0.3, 0.2, 0.1]),
    ([1.2, 1.5, 0.8, 1.1], [0.2, 0.25, 0.15, 0.3]),
    ([0.1, 0.3, 0.08, 0.11], [0.01, 0.02, 0.015, 0.01]),
]


def _recalibrate(record, name, model):
    data = load(name)
    odds, how = np.log(data[model] / (1 - data[model])), {"family": sm.families.Binomial()}
    large = sm.GLM(data["y"], np.ones(len(odds)), offset=odds, **how).fit(tol=1e-14)
    both = sm.GLM(data["y"], sm.add_constant(odds), **how).fit(tol=1e-14, cov_type="HC0")
    for function, fit, terms in (
        ("GLM, offset", large, ["calibration_in_the_large"]),
        ("GLM", both, ["joint_intercept", "slope"]),
    ):
        read = [f"{term}:value" for term in terms]
        record.add(function, name, "calibration", fit.params, tolerance=1e-8, read=read, model=model)
    read = ["joint_intercept:standard_error", "slope:standard_error"]
    asked = {"arguments": {"cov_type": "HC0"}, "tolerance": 1e-8, "read": read, "model": model}
    record.add("GLM, standard errors", name, "calibration", both.bse, **asked)


def _means(record, name, model):
    y, p = load(name)["y"], load(name)[model]
    rows = DescrStatsW((p - y) ** 2)
    asked = {"metric": "bounded_brier_loss", "read": ["value", "se"], "model": model}
    record.add("DescrStatsW", name, "interval", [rows.mean, rows.std_mean], **asked)
    pairs = rank_compare_2indep(p[y == 1], p[y == 0])
    error = np.sqrt(pairs.var / pairs.nobs)
    asked["metric"] = "roc_auc_score"
    record.add("rank_compare_2indep", name, "interval", [pairs.prob1, error], **asked)


def _shares(record, name):
    data = load(name)
    place = np.ceil(data["p"] * 5).astype(int)
    counts = np.array([[data["y"][place == k].sum(), (place == k).sum()] for k in np.unique(place)]).T
    for interval, method in SHARES.items():
        low, high = proportion_confint(*counts, method=method)
        asked = {"n_bins": 5, "binning": "uniform", "interval": interval, "arguments": {"method": method}}
        record.add("proportion_confint", name, "binned", low, read="ci_low", **asked)
        record.add("proportion_confint", name, "binned", high, read="ci_high", **asked)


def make():
    """Return the values."""
    record = Record("statsmodels")
    for name in INPUTS:
        for model in ("p", "q"):
            if name != "small":  # 24 rows: not enough to compare errors of a fit
                _recalibrate(record, name, model)
            _means(record, name, model)
        _shares(record, name)
    for centres in CENTRES:
        estimates, errors = np.array(centres)
        found = combine_effects(estimates, errors**2)
        record.add("combine_effects", "none", "pooled", found.q, read=["q"], centres=centres)
    return record


if __name__ == "__main__":
    make().write()
