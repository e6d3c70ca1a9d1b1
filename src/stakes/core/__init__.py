"""The score table, its regret under a cost distribution, and the options of an evaluation."""
