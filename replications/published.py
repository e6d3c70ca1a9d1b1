"""Printed tables whose numbers follow from files their authors published: what is printed, and what the files give.

Table 2 of Flores et al. (arXiv:2504.04528), ten risk models of breast cancer of which it prints four, over thresholds
whose odds are 1.66% and 3%; and Ahmadian et al. (arXiv:2407.17697), how F1 follows the Brier and the penalized Brier
score over 100 epochs of nine networks, and the F1 of the epochs that the two choose.
"""

import sys

from replications._classification import data_folder
from replications._kept import markdown
from stakes import ScoreTable, bounded_brier_loss, bounded_log_loss
from stakes.metrics import roc_auc_score
from stakes.training import compare_monitors

BOUNDS = (0.0166 / 1.0166, 0.03 / 1.03)  # printed as percentages, used as odds
MODELS = {
    "logistic_minimal": (0.601, 0.0263, 0.156, 0.0153, 0.000662),
    "logistic_+_density": (0.606, 0.0263, 0.156, 0.0153, 0.000662),
    "xgboost": (0.574, 0.0263, 0.155, 0.0153, 0.000662),
    "xgboost_2pct": (0.591, 0.0415, 0.193, 0.0123, 0.000545),
}
MEASURES = {
    "AUC": roc_auc_score,
    "Brier": bounded_brier_loss,
    "log loss": bounded_log_loss,
    "bounded log loss": lambda table: bounded_log_loss(table, bounds=BOUNDS, scale="loss"),
    "bounded Brier": lambda table: bounded_brier_loss(table, bounds=BOUNDS, scale="loss"),
}


def read(name):
    import pandas as pd

    return pd.read_csv(data_folder() / "data" / f"{name}.csv.gz")


def risk_models():
    """Return a row for each model and measure: as printed, and to six digits from the file."""
    data = read("bcsc_predictions/bcsc_predictions")
    rows = []
    for model, printed in MODELS.items():
        table = ScoreTable.from_predictions(data["cancer"].to_numpy(), data[model].to_numpy())
        for (measure, value_of), stated in zip(MEASURES.items(), printed, strict=True):
            shown = {"printed": f"{stated:g}", "file": f"{value_of(table):.6g}"}
            rows.append({"model": model, "measure": measure} | shown)
    return rows


def correlations():
    """Return a row for each network: printed correlations with F1, those of the file, and F1 where each stops."""
    histories = read("penalized_brier_histories/penalized_brier_histories")
    printed = read("penalized_brier_histories/expected/published_correlations").set_index("dataset")
    found = compare_monitors(histories, criteria={"brier": "lower", "pbs": "lower"}, run="dataset")
    chosen = {(choice.run, choice.rule, choice.criterion): choice for choice in found.choices}
    rows = []
    for network in printed.index:
        row = {"network": network}
        for criterion in ("brier", "pbs"):
            row[f"{criterion}: printed"] = f"{printed.loc[network, f'cor_f1_neg_{criterion}']:.4f}"
            row[f"{criterion}: file"] = f"{chosen[network, 'checkpoint', criterion].correlation:.4f}"
        for rule in ("early stopping", "checkpoint"):
            values = [chosen[network, rule, criterion].report["f1"] for criterion in ("brier", "pbs")]
            row[f"F1, {rule}"] = " / ".join(f"{value:.4f}" for value in values)
        rows.append(row)
    return rows


def show(rows):
    print(markdown(rows[0], [row.values() for row in rows]))


def main(arguments=()):
    if arguments:
        sys.exit("python -m replications published takes no options.")
    print("Four risk models (Flores et al., Table 2)\n")
    show(risk_models())
    print("\nNine networks (Ahmadian et al.): correlation of F1 with minus the score; F1 chosen by brier / by pbs\n")
    show(correlations())
