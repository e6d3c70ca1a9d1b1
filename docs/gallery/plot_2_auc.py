"""
Why not by AUC
==============

The ROC curve looks at the order of the scores alone: the forest's area is the largest. On the right is what the
decisions cost. The forest was fitted with class weights, so its scores are too high to be risks; whoever refuses from
a score of 10% or 25% on refuses too many, and the cost is close to that of refusing everyone.
"""

from importlib.resources import files

import matplotlib.pyplot as plt
import pandas as pd

from stakes.display import RegretCurveDisplay, RocCurveDisplay

data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")
bad, models = data["bad"], data[["logistic", "forest", "boosting"]]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
RocCurveDisplay.from_predictions(bad, models, ax=left)
display = RegretCurveDisplay.from_predictions(bad, models, bounds=(0.10, 0.25), ax=right)
