"""
How many cases to act on, judged by F1
======================================

The expected F1 of refusing the k applicants with the highest risks, for every k at once. The best number depends on
the whole batch, so it is found anew for each.
"""

from importlib.resources import files

import pandas as pd

from stakes.utility import F1, expected_utility

data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")

result = expected_utility(data["logistic"], F1())
display = result.plot()
print(f"{result.best_k} of {len(data)} applicants, from a risk of {result.threshold:.3f} on")
