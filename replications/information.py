"""Value of information and rows needed: published cells, where the normal form errs, and whether plans keep their word.

`gusto`: 500 rows of a published study at a threshold of 2%, under three priors, by the exact form, the normal form and
draws. `normal`: the largest error of the normal form against the exact one for a model beside treating all, by how many
events or non-events decide. `planning`: what an interval, a test or a certificate does at the number of rows planned,
by simulation.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import norm

from replications._kept import kept, markdown, spent
from stakes import value_of_information
from stakes.actions import certify_decided
from stakes.inference import calibration_summary, largest_of, metric_interval
from stakes.information import rows_needed
from stakes.information._value import cell_value, pseudo_rows

GUSTO, AT = (41, 310, 2, 147), 0.02
NORMAL = 1.959964


def gusto(draws):
    """EVPI of the published cells."""
    t, odds, cells = AT, AT / (1.0 - AT), np.array(GUSTO, float)
    rng = np.random.default_rng(0)
    gains = np.array([[0.0, 1.0, 1.0], [0.0, -odds, -odds], [0.0, 0.0, 1.0], [0.0, 0.0, -odds]])
    found = {}
    for prior in ("haldane", "indifference", "uniform"):
        up, down = pseudo_rows(prior, t)
        added = cells + np.array([up, down, up, down])
        exact = cell_value(tuple(added), t)
        shares = added / added.sum()
        mean = shares @ gains
        covariance = ((gains.T * shares) @ gains - np.outer(mean, mean)) / added.sum()
        drawn = rng.dirichlet(added, draws) @ gains
        largest = drawn.max(axis=1)
        lost = largest - drawn[:, mean.argmax()]
        found[prior] = {
            "exact": exact.evpi,
            "normal": largest_of(mean, covariance).excess,
            "drawn": lost.mean(),
            "error": lost.std() / draws**0.5,
            "raw": largest.mean() - mean.max(),
            "raw error": largest.std() / draws**0.5,
            "p": value_of_information(*rows_of(GUSTO, t), threshold=t, prior=prior).p_useful["model"],
        }
    return found


def rows_of(cells, t):
    """Labels and scores of TP, FP, FN and TN rows."""
    tp, fp, fn, tn = cells
    return [1] * tp + [0] * fp + [1] * fn + [0] * tn, [t + 0.01] * (tp + fp) + [t / 2] * (fn + tn)


def normal(deciding):
    """Largest error in standard errors, and the largest share by which it is off within one of indifference."""
    worst = share = 0.0
    for many in (1, 2, 5, 20, 100):
        for fn, tn in {(deciding, deciding * many), (deciding * many, deciding)}:
            total = 1000.0 * (fn + tn)  # the rows acted on are many, and cost the same
            for z in np.linspace(-3.0, 3.0, 61):
                exact, plain, error, at = one_of_two(fn, tn, total, z)
                if error > 0.0:
                    worst = max(worst, abs(exact - plain) / error)
                    if abs(at) <= 1.0:
                        share = max(share, abs(plain / exact - 1.0))
    return {"worst": worst, "share": share}


def one_of_two(fn, tn, total, z):
    """Exact and normal E (gain of treating all)+ where treating all leads by about z standard errors."""
    m = fn / (fn + tn)
    t = m - z * np.sqrt(m * (1.0 - m) / (fn + tn))
    if not 0.0 < t < 1.0:
        return 0.0, 0.0, 0.0, z
    odds = t / (1.0 - t)
    exact = cell_value((0.0, 0.0, fn, tn), t).evpi + max(0.0, fn - odds * tn) / (fn + tn)
    lead = fn - odds * tn
    error = np.sqrt(fn + odds**2 * tn - lead**2 / total)
    at = lead / error
    return exact * (fn + tn), lead * norm.cdf(at) + error * norm.pdf(at), error, at


def coverage_of_plans(draws):
    """Mean width, or share shown or issued, at the rows planned for."""
    rng, told = np.random.default_rng(5), []
    cells = {"prevalence": 0.1, "sensitivity": 0.7, "specificity": 0.8, "threshold": 0.1}
    few = {**cells, "sensitivity": 0.55, "specificity": 0.6}
    for asked, given in (({"width": 0.02}, cells), ({"width": 0.1}, few)):
        n = rows_needed(question="net_benefit", **asked, **given).rows
        told.append(("net benefit", asked, n, np.mean([benefit_width(rng, n, given) for _ in range(draws)])))
    for given in (cells, few):
        n = rows_needed(question="gain", power=0.8, **given).rows
        told.append(("gain over all", {"power": 0.8}, n, gain_power(rng, n, given, 20 * draws)))
    n = rows_needed(question="auc", auc=0.8, prevalence=0.1, width=0.1).rows
    told.append(("AUC of 0.8", {"width": 0.1}, n, np.mean([auc_width(rng, n) for _ in range(draws)])))
    n = rows_needed(question="o_to_e", prevalence=0.1, width=0.4).rows
    told.append(("O:E", {"width": 0.4}, n, np.mean([ratio_width(rng, n) for _ in range(draws)])))
    n = rows_needed(question="slope", linear_predictor=(-2.0, 1.0), width=0.4).rows
    told.append(("slope", {"width": 0.4}, n, np.mean([slope_width(rng, n) for _ in range(draws)])))
    asked = {"error": 0.05, "max_error": 0.1}
    n = rows_needed(question="certificate", power=0.8, **asked).rows
    issued = [certify(rng, n) for _ in range(10 * draws)]
    told.append(("certificate", {"power": 0.8}, n, float(np.mean(issued))))
    return {"plans": [[name, " ".join(map(str, *asked.items())), int(n), float(got)] for name, asked, n, got in told]}


def drawn_cells(rng, n, given, size=None):
    positive = given["prevalence"] * np.array([given["sensitivity"], 1.0 - given["sensitivity"]])
    negative = (1.0 - given["prevalence"]) * np.array([1.0 - given["specificity"], given["specificity"]])
    return rng.multinomial(n, [positive[0], negative[0], positive[1], negative[1]], size)


def benefit_width(rng, n, given):
    t = given["threshold"]
    low, high = metric_interval(*rows_of(drawn_cells(rng, n, given), t), "net_benefit_score", threshold=t).interval
    return high - low


def gain_power(rng, n, given, draws):
    """Share of samples in which treating only some is shown to be better than treating all."""
    odds = given["threshold"] / (1.0 - given["threshold"])
    _, _, fn, tn = drawn_cells(rng, n, given, draws).T
    mean = (odds * tn - fn) / n
    error = np.sqrt(((odds**2 * tn + fn) / n - mean**2) / n)
    return float(np.mean(mean > NORMAL * error))


def auc_width(rng, n):
    y = rng.random(n) < 0.1
    score = 1.0 / (1.0 + np.exp(-rng.normal(size=n) - np.sqrt(2.0) * norm.ppf(0.8) * y))
    low, high = metric_interval(y, score, "roc_auc_score").interval
    return high - low


def ratio_width(rng, n):
    q = np.full(n, 0.1)
    q[::2], q[1::2] = 0.05, 0.15
    low, high = calibration_summary(rng.random(n) < q, q).interval("o_e_ratio")
    return high - low


def slope_width(rng, n):
    q = 1.0 / (1.0 + np.exp(2.0 - rng.normal(size=n)))
    low, high = calibration_summary(rng.random(n) < q, q).interval("slope")
    return high - low


def certify(rng, n):
    """Whether the limit is certified where all rows count as one set of decided."""
    wrong = rng.random(n) < 0.05
    return certify_decided(wrong, np.full(n, 0.1), threshold=0.5, max_error=0.1).certified


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m replications information", description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--parts", nargs="+", choices=("gusto", "normal", "planning"))
    parser.add_argument("--folder", type=Path, default=Path("results"), help="finished settings are kept and read here")
    chosen = parser.parse_args(options)
    parts = chosen.parts or ("gusto", "normal", "planning")
    if "gusto" in parts:
        (record,) = records = list(kept(chosen.folder / "information_gusto.jsonl", [(100 * chosen.draws,)], gusto))
        heads = ("prior", "exact EVPI", "normal form", "draws (error)", "raw mean of the best (error)", "model useful")
        told = [
            (prior, f"{r['exact']:.7f}", f"{r['normal']:.6f}", *map(with_error, *pairs_of(r)), f"{r['p']:.4f}")
            for prior, r in record.items()
            if isinstance(r, dict)
        ]
        print(f"## gusto\n\n{markdown(heads, told)}\n\n{spent(records)}\n", flush=True)
    if "normal" in parts:
        records = list(kept(chosen.folder / "information_normal.jsonl", [(e,) for e in (1, 5, 8, 20, 40)], normal))
        told = [(str(r["setting"][0]), f"{r['worst']:.3f}", off(r["share"])) for r in records]
        print(
            f"## normal\n\n{markdown(('deciding rows', 'largest error, in SE', 'off by'), told)}\n\n{spent(records)}\n"
        )
    if "planning" in parts:
        records = list(kept(chosen.folder / "information_planning.jsonl", [(chosen.draws,)], coverage_of_plans))
        told = [(name, asked, f"{n:,}", f"{got:.4f}") for name, asked, n, got in records[0]["plans"]]
        print(f"## planning\n\n{markdown(('of', 'asked', 'rows', 'came'), told)}\n\n{spent(records)}")


def off(share):
    """A share in words: a factor where it is large."""
    return f"{share:.0%}" if share < 1.0 else f"a factor of {share + 1.0:,.0f}"


def pairs_of(record):
    return (record["drawn"], record["raw"]), (record["error"], record["raw error"])


def with_error(value, error):
    return f"{value:.6f} ({error:.6f})"
