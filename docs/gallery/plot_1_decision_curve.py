"""
Which model to act on
=====================

A decision curve shows the net benefit of refusing applicants from each risk on, beside refusing everyone and no one.
The shaded range holds the thresholds at which one bad loan is as bad as three to nine good ones lost. On average over
it the forest, which has the highest AUC of the three, gains least.
"""

from importlib.resources import files

import numpy as np
import pandas as pd

from stakes.display import DecisionCurveDisplay
from stakes.inference import confidence_band

data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")
bad, models = data["bad"], data[["logistic", "forest", "boosting"]]

display = DecisionCurveDisplay.from_predictions(bad, models, bounds=(0.10, 0.25))

# %%
# A band holds the whole curve of one model with 95% confidence.

thresholds = np.linspace(0.05, 0.5, 46)
band = confidence_band(bad, models["logistic"], "net_benefit", thresholds=thresholds)
_ = band.plot()
