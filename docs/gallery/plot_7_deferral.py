"""
Leaving unsure cases to a person
================================

What a case costs if some may be left to somebody else, over the fee that this takes. Where the fee is high the option
is worth nothing; where it is low most cases go there.
"""

from importlib.resources import files

import pandas as pd

from stakes.actions import deferral_curve

data = pd.read_csv(files("stakes") / "data" / "breast_cancer.csv")
y_true, y_prob = data["malignant"], data["naive_bayes"]

curve = deferral_curve(y_true, y_prob, costs=0.2)
display = curve.plot()
