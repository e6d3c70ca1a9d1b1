"""
Which model to act on
=====================

A decision curve shows the net benefit of acting from each threshold on, beside treating everyone and no one. The shaded
range holds the thresholds that somebody might have; the band holds the whole curve with 95% confidence.
"""

from importlib.resources import files

import numpy as np
import pandas as pd

from stakes.display import DecisionCurveDisplay
from stakes.inference import confidence_band

data = pd.read_csv(files("stakes") / "data" / "breast_cancer.csv")
y_true, models = data.pop("malignant"), data

display = DecisionCurveDisplay.from_predictions(y_true, models, bounds=(0.05, 0.30))

# %%
# The difference to the next model is small; a band says how small it may be.

thresholds = np.linspace(0.02, 0.5, 49)
band = confidence_band(y_true, models["logistic_regression"], "net_benefit", thresholds=thresholds)
_ = band.plot()
