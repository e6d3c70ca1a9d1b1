"""
How many cases to act on, judged by F1
======================================

The expected F1 of acting on the k highest scores, for every k at once. The best number depends on the whole batch, so
it is found anew for each.
"""

from importlib.resources import files

import pandas as pd

from stakes.utility import F1, expected_utility

data = pd.read_csv(files("stakes") / "data" / "breast_cancer.csv")

result = expected_utility(data["random_forest"], F1())
display = result.plot()
print(f"{result.best_k} of {len(data)} cases, from a score of {result.threshold:.3f} on")
