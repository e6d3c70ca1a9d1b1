"""
A precision that is promised
============================

Which applicants can be refused at once, if at least half of those must turn out bad? The score is the corrected
forest's, and how far it lies from the logistic model's says how unsure it is. The promise is tested on rows that the
rule was not learned from. The rule refuses to the right of the line in the middle; to the left of the line at the left
edge it would refuse too, but nobody has such a score.
"""

from importlib.resources import files

import pandas as pd

from stakes.boundary import fit_boundary
from stakes.correction import undo_class_weight

data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")
risk = undo_class_weight(data["forest"], class_weight={0: 3, 1: 7})
unsure = abs(risk - data["logistic"])

boundary = fit_boundary(data["bad"], risk, unsure, min_precision=0.5, confidence_level=0.95, random_state=0)
display = boundary.plot()
print(boundary.certificate)
