"""
What to mend: miscalibration against discrimination
===================================================

Models on one line have the same loss. Moving up is better discrimination, moving left better calibration: the picture
says which of the two a model lacks. The forest discriminates best and lies far to the right; the correction moves it
left.
"""

from importlib.resources import files

import pandas as pd

from stakes import decompose
from stakes.correction import undo_class_weight
from stakes.display import DecompositionDisplay

data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")
bad, models = data["bad"], data[["logistic", "forest", "boosting"]]
models = models.assign(corrected=undo_class_weight(models["forest"], class_weight={0: 3, 1: 7}))

parts = {name: decompose(bad, models[name], costs=(0.10, 0.25)) for name in models}
display = DecompositionDisplay(parts).plot()
