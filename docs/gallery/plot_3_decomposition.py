"""
What to mend: miscalibration against discrimination
===================================================

Models on one line have the same loss. Moving up is better discrimination, moving left better calibration: the picture
says which of the two a model lacks.
"""

from importlib.resources import files

import pandas as pd

from stakes import decompose
from stakes.display import DecompositionDisplay

data = pd.read_csv(files("stakes") / "data" / "breast_cancer.csv")
y_true, models = data.pop("malignant"), data

parts = {name: decompose(y_true, models[name], costs=(0.05, 0.30)) for name in models}
display = DecompositionDisplay(parts).plot()
