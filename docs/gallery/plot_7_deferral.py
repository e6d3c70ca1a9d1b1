"""
Leaving unsure cases to a person
================================

What an applicant costs if some may be left to a loan officer, over the fee that this takes. Where the fee is high the
option is worth nothing; where it is low most applications go there.
"""

from importlib.resources import files

import pandas as pd

from stakes.actions import deferral_curve

data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")

curve = deferral_curve(data["bad"], data["logistic"], costs=1 / 6)
display = curve.plot()
