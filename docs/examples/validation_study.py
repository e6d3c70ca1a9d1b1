"""A validation study in one sitting: from a file of follow-up and predicted risks to tables, figures and a report.

python validation_study.py gbsg.csv FOLDER
"""

import sys
from pathlib import Path

import pandas as pd

from stakes import TimeToEvent, evaluate
from stakes.evaluation import evaluate_horizons
from stakes.inference import calibration_summary, confidence_band

source, folder = sys.argv[1], Path(sys.argv[2])
data, horizons = pd.read_csv(source), [1, 3, 5]
follow_up = {"event": data["event"], "time": data["years"]}

# How well do the models predict by 1, 3 and 5 years, and how much do they differ?
risks = {name: data[[f"{name}_{h}" for h in horizons]] for name in ("clinical", "with_pgr")}
outcome = TimeToEvent(**follow_up, horizon=5)
over_time = evaluate_horizons(outcome, risks, horizons=horizons, threshold=0.3)
print(over_time.to_markdown())
print(over_time.differences().to_markdown())
over_time.to_word(folder / "horizons.docx")
over_time.plot().figure_.savefig(folder / "horizons.png", dpi=200)

# Are their risks by 5 years right?
models = {name: risk.iloc[:, 2] for name, risk in risks.items()}
for name, risk in models.items():
    print(name, calibration_summary(outcome, risk))
display = confidence_band(outcome, models["with_pgr"], "smooth", name="with_pgr").plot()
display.figure_.savefig(folder / "calibration.png", dpi=200)

# Whom would one treat? One more recurrence prevented is worth from four patients treated in vain (20%) to one (50%).
study = evaluate(outcome, models, costs=(0.2, 0.5), action="treat", event="recurrence or death")
print(study.answer)
table = study.clinical_table([0.2, 0.3, 0.4, 0.5])
table.to_word(folder / "net_benefit.docx")
print(table.to_markdown())
study.plot(kind="paper", thresholds=[0.2, 0.3, 0.4, 0.5]).savefig(folder / "decision_curve.png", dpi=200)
study.to_html(folder / "report.html")
(folder / "methods.md").write_text(study.methods(), encoding="utf-8")
