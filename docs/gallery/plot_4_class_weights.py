"""
What class weights do to probabilities, and how to undo it
==========================================================

Each positive counted ten times in training multiplies all odds by ten. The correction takes that away, and the curve
comes back to the diagonal. Simulated loans.
"""

import numpy as np

from stakes.correction import undo_class_weight
from stakes.display import ReliabilityDisplay

rng = np.random.default_rng(0)
truth = rng.beta(1, 9, 8_000)
default = rng.random(8_000) < truth
weighted = 10 * truth / (10 * truth + 1 - truth)

scores = {"as trained": weighted, "corrected": undo_class_weight(weighted, pos_weight=10)}
display = ReliabilityDisplay.from_predictions(default, scores)
