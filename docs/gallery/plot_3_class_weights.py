"""
What class weights do to probabilities, and how to undo it
==========================================================

``class_weight="balanced"`` counted every bad loan 7 times where it counted a good one 3 times, which multiplies the
odds of the scores by 7/3. The correction takes that away without fitting anything, and the curve moves to the
diagonal. What is left, a curve steeper than the diagonal, is the forest's habit of keeping its scores in the middle.
"""

from importlib.resources import files

import pandas as pd

from stakes.correction import undo_class_weight
from stakes.display import ReliabilityDisplay

data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")
bad, forest = data["bad"], data["forest"]

scores = {"as trained": forest, "corrected": undo_class_weight(forest, class_weight={0: 3, 1: 7})}
display = ReliabilityDisplay.from_predictions(bad, scores)
