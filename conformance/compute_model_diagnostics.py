"""model-diagnostics: decompositions of the squared error and the log loss, elementary scores."""

from model_diagnostics.scoring import ElementaryScore, LogLoss, SquaredError, decompose

from conformance._inputs import load
from conformance._record import BETWEEN, Record

INPUTS = ["calibrated", "overconfident", "underconfident", "tied", "weighted", "tied-weighted", "flares", "niamey"]
TERMS = ["score", "miscalibration", "discrimination", "uncertainty"]


def make():
    """Return the values."""
    record = Record("model-diagnostics")
    for name in INPUTS:
        data = load(name)
        weighted = {"weighted": True} if "w" in data else {}
        for of, scoring in (("brier", SquaredError()), ("log", LogLoss())):
            if of == "log" and (data["p"].min() <= 0 or data["p"].max() >= 1):
                continue
            found = decompose(data["y"], data["p"], data.get("w"), scoring_function=scoring)
            record.add("decompose", name, "decomposed", [found[term][0] for term in TERMS], of=of, **weighted)
    for name in ("calibrated", "rare", "weighted"):
        data = load(name)
        values = [ElementaryScore(cut, "mean")(data["y"], data["p"], data.get("w")) for cut in BETWEEN]
        weighted = {"weighted": True} if "w" in data else {}
        record.add("ElementaryScore", name, "elementary", values, at=BETWEEN, **weighted)
    return record


if __name__ == "__main__":
    make().write()
