"""
Is it calibrated where it matters?
==================================

Reliability without bins: the best monotone relabelling of the scores. Of the cases to which naive Bayes gives a score
anywhere between 0.1% and 95%, half are malignant: it is too sure at both ends. A smooth curve with its band says how
well the forest's scores are known to be calibrated.
"""

from importlib.resources import files

import pandas as pd

from stakes.display import ReliabilityDisplay, SmoothCalibrationDisplay

data = pd.read_csv(files("stakes") / "data" / "breast_cancer.csv")
y_true, models = data.pop("malignant"), data

display = ReliabilityDisplay.from_predictions(y_true, models[["random_forest", "naive_bayes"]])

# %%
display = SmoothCalibrationDisplay.from_predictions(y_true, models["random_forest"])
