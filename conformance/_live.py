"""Run every Python package that is installed on its inputs now, and compare what it says at once."""

import importlib

from conformance._suite import check_values

MODULES = [
    *("dcurves", "empulse", "fairlearn", "hmeasure", "lifelines", "mapie", "model-diagnostics", "netcal"),
    *("pmvalsampsize", "rtichoke", "scikit-learn", "scikit-survival", "scores", "scoringrules", "statsmodels"),
    "torchmetrics",
]


def run_package(name, known):
    """Compute a package's values and ask stakes the same; None where the package is not installed."""
    try:
        module = importlib.import_module(f"conformance.compute_{name.replace('-', '_')}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("conformance", "stakes"):
            raise
        return None
    record = module.make()
    if hasattr(module, "add_printed"):
        module.add_printed(record)
    return check_values({**record.head, "cases": record.cases}, known)
