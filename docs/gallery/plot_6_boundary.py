"""
A threshold that depends on uncertainty
=======================================

Scores learned from few examples are less sure. A boundary over score and uncertainty finds more positives at the same
precision. Simulated, with the scores of an estimate from 1 to 300 earlier cases.
"""

import numpy as np

from stakes.boundary import fit_boundary

rng = np.random.default_rng(4)
evidence = np.exp(rng.uniform(0.0, np.log(300.0), 20_000)).astype(int)
truth = rng.beta(0.5, 1.0, 20_000)
repaid = rng.random(20_000) < truth
score = (rng.binomial(evidence, truth) + 0.1) / (evidence + 0.2)
uncertainty = 1.0 / np.sqrt(evidence)

boundary = fit_boundary(repaid, score, uncertainty, min_precision=0.8)
display = boundary.plot()
